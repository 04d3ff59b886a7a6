package txn_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"moka/kv"
	"moka/txn"
	"moka/txn/txntest"
)

// Clients of the simulation that lock rows before they read them, as statements of SQL do. Deadlocks, timeouts, lost locks and
// owners taken for dead are all part of it; the checkers know nothing of locks and must find nothing.

// lockAll takes the row locks and, like a first statement, moves the snapshot as often as a row has changed.
func (t *simTxn) lockAll(c *simClient, o txn.LockOptions, cs ...kv.Column) ([]bool, error) {
	for {
		got, err := t.Lock(c.ctx, cs, o)
		if !errors.Is(err, txn.ErrConflict) {
			return got, err
		}
		t.Advance()
	}
}

// lockedTransfer is transfer, with the accounts locked first, in any order.
func (c *simClient) lockedTransfer(cl *txn.Client, name string, rng *rand.Rand) {
	from := rng.IntN(simAccounts)
	to := (from + 1 + rng.IntN(simAccounts-1)) % simAccounts
	amount, oneByOne, both := 1+rng.IntN(20), rng.IntN(2) == 0, rng.IntN(2) == 0
	o := txn.LockOptions{NoWait: rng.IntN(6) == 0}
	t := c.begin(cl, name, txn.TxnOptions{})
	var err error
	if oneByOne {
		if _, err = t.lockAll(c, o, account(from)); err == nil {
			// The snapshot is seen: a change is a conflict.
			if both {
				var v txn.Value
				if v, _, err = t.LockAndGet(c.ctx, account(to), o); err == nil {
					t.r.Reads = append(t.r.Reads, txntest.Read{Column: columnName(account(to)), Value: string(v.Data)})
				}
			} else {
				_, err = t.Lock(c.ctx, []kv.Column{account(to)}, o)
			}
		}
	} else {
		_, err = t.lockAll(c, o, account(from), account(to))
	}
	var a, b string
	if err == nil {
		a, err = t.get(c.ctx, account(from))
	}
	if err == nil {
		b, err = t.get(c.ctx, account(to))
	}
	if err == nil {
		t.put(account(from), fmt.Sprintf("%d by %s", balance(a)-amount, name), txn.WriteOptions{})
		t.put(account(to), fmt.Sprintf("%d by %s", balance(b)+amount, name), txn.WriteOptions{})
	}
	t.end(c.ctx, err)
}

// guard: of two guards one must stay. Who leaves has locked the other's cell, shared or alone, and has looked at it.
func (c *simClient) guard(cl *txn.Client, name string, rng *rand.Rand) {
	cells := []kv.Column{col("a-guard"), col("z-guard")}
	i, share := rng.IntN(2), rng.IntN(2) == 0
	t := c.begin(cl, name, txn.TxnOptions{})
	_, err := t.lockAll(c, txn.LockOptions{Share: share}, cells[1-i])
	if err == nil {
		if share {
			t.LockShared(cells[1-i])
		} else {
			t.LockForUpdate(cells[1-i])
		}
		_, err = t.Lock(c.ctx, cells[i:i+1], txn.LockOptions{})
	}
	var mine, other string
	if err == nil {
		mine, err = t.get(c.ctx, cells[i])
	}
	if err == nil {
		other, err = t.get(c.ctx, cells[1-i])
	}
	switch {
	case strings.HasPrefix(mine, "off"):
		t.put(cells[i], "on by "+name, txn.WriteOptions{})
	case !strings.HasPrefix(other, "off"):
		t.put(cells[i], "off by "+name, txn.WriteOptions{})
	}
	t.end(c.ctx, err)
}

// statements is a READ COMMITTED transaction: each statement has a snapshot of its own, and what it writes is bound to that one.
// Reads are not recorded, as the checker knows one snapshot for each transaction.
func (c *simClient) statements(cl *txn.Client, name string, rng *rand.Rand) {
	t := c.begin(cl, name, txn.TxnOptions{})
	var err error
	picked := rng.Perm(simAccounts)[:2]
	amount := 1 + rng.IntN(20)
	for k, i := range picked {
		if _, err = t.lockAll(c, txn.LockOptions{}, account(i)); err != nil {
			break
		}
		var v []byte
		if v, _, err = t.Get(c.ctx, account(i)); err != nil {
			break
		}
		sign := 1 - 2*k
		t.put(account(i), fmt.Sprintf("%d by %s", balance(string(v))+sign*amount, name), txn.WriteOptions{})
		t.Advance()
	}
	t.end(c.ctx, err)
}

// guards checks, in the state after each commit, that one guard is there.
func guards(now map[string]string, at kv.Timestamp) error {
	if strings.HasPrefix(now["a-guard"], "off") && strings.HasPrefix(now["z-guard"], "off") {
		return fmt.Errorf("guards: nobody is left at %v", at)
	}
	return nil
}

// invariants are checked in every snapshot that was taken after a commit: what Require and LockForUpdate promise cannot be seen
// from one column alone.
func (s *simulation) invariants(stored []txntest.StoredVersion) (wrong []error) {
	slices.SortFunc(stored, func(a, b txntest.StoredVersion) int { return int(a.CommitTS) - int(b.CommitTS) })
	now := map[string]string{}
	for i, v := range stored {
		now[v.Column] = v.Value
		if i+1 < len(stored) && stored[i+1].CommitTS == v.CommitTS {
			continue
		}
		if strings.HasPrefix(now["a-doctor"], "off") && strings.HasPrefix(now["z-doctor"], "off") {
			wrong = append(wrong, fmt.Errorf("on call: nobody is left at %v", v.CommitTS))
		}
		if err := guards(now, v.CommitTS); err != nil {
			wrong = append(wrong, err)
		}
		for c, val := range now {
			if strings.HasPrefix(c, "z-child") && val != "" && now["a-parent"+c[len("z-child"):len("z-child")+1]] == "" {
				wrong = append(wrong, fmt.Errorf("family: %s has no parent at %v", c, v.CommitTS))
			}
		}
	}
	return wrong
}
