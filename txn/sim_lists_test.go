package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// The same simulation under the checker that sees no timestamps. It needs to be no sharper than the exact one, but what it says
// over the wire of a whole server is worth something only if it finds the mistakes here.

const simLists = 4

func list(i int) kv.Column { return col(fmt.Sprintf("%c-list", "akqz"[i])) }

func elements(v []byte) []int {
	es := []int{}
	for _, f := range strings.FieldsFunc(string(v), func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(f)
		if err != nil {
			n = -1
		}
		es = append(es, n)
	}
	return es
}

// appendToLists is one client's life.
func (c *simClient) appendToLists(txns int, rng *rand.Rand) {
	cl, err := txn.NewClient(c, c, txn.Options{
		LockTTL: 15 * time.Millisecond, RetryTime: 200 * time.Millisecond, LockWait: 200 * time.Millisecond,
		LockLease: 60 * time.Millisecond, RowLockWait: 150 * time.Millisecond, NoAsyncCommit: rng.IntN(3) == 0,
	})
	if err != nil {
		panic(err)
	}
	defer cl.Close()
	life := c.ctx
	for i := range txns {
		if life.Err() != nil {
			return
		}
		name := fmt.Sprintf("c%dt%d", c.id, i)
		c.ctx = context.WithValue(life, simTxnName{}, name)
		if rng.IntN(12) == 0 {
			if _, err := cl.ResolveOrphans(c.ctx, 0); err != nil && c.ctx.Err() == nil && kv.CodeOf(err) == kv.CodeCorrupt {
				panic(err)
			}
		}
		c.lists(cl, name, rng)
	}
}

// lists reads and appends to up to three of them in one transaction.
func (c *simClient) lists(cl *txn.Client, name string, rng *rand.Rand) {
	r := c.s.lists.Begin(name)
	if rng.IntN(6) == 0 { // without a snapshot
		i := rng.IntN(simLists)
		vs, err := cl.Latest(c.ctx, []kv.Column{list(i)})
		if err != nil {
			c.s.lists.End(r, txntest.Aborted)
			return
		}
		r.Ops = append(r.Ops, txntest.ListOp{Key: columnName(list(i)), Elements: elements(vs[0].Data)})
		c.s.lists.End(r, txntest.Committed)
		return
	}
	t := cl.Begin(txn.TxnOptions{})
	locked := rng.IntN(2) == 0
	err := func() error {
		for _, i := range rng.Perm(simLists)[:1+rng.IntN(3)] {
			writes := rng.IntN(3) > 0
			var v []byte
			var err error
			switch {
			case !writes || !locked:
				v, _, err = t.Get(c.ctx, list(i))
			case len(r.Ops)%2 == 0:
				var value txn.Value
				value, _, err = t.LockAndGet(c.ctx, list(i), txn.LockOptions{})
				v = value.Data
			default:
				if _, err = t.Lock(c.ctx, []kv.Column{list(i)}, txn.LockOptions{}); err == nil {
					v, _, err = t.Get(c.ctx, list(i))
				}
			}
			if err != nil {
				return err
			}
			key := columnName(list(i))
			r.Ops = append(r.Ops, txntest.ListOp{Key: key, Elements: elements(v)})
			if writes {
				e := c.s.lists.Element()
				t.Put(list(i), []byte(strings.TrimPrefix(fmt.Sprintf("%s,%d", v, e), ",")), txn.WriteOptions{})
				r.Ops = append(r.Ops, txntest.ListOp{Key: key, Append: e})
			}
		}
		return nil
	}()
	if err == nil {
		_, err = t.Commit(c.ctx)
		if err != nil && (c.ctx.Err() != nil || errors.Is(err, txn.ErrOutcomeUnknown)) {
			c.s.lists.End(r, txntest.Unknown)
			return
		}
	} else {
		t.Rollback()
	}
	outcome := txntest.Committed
	if err != nil {
		outcome = txntest.Aborted
	}
	c.s.lists.End(r, outcome)
}

// simulateLists runs one seed and returns what the checker of lists says, and nothing of what the exact one knows.
func simulateLists(t *testing.T, seed uint64, coprocessor kv.Coprocessor, with ...func(*simulation)) (h *txntest.ListHistory, wrong []error) {
	synctest.Test(t, func(t *testing.T) {
		h = &txntest.ListHistory{}
		s, _ := simulate(t, seed, coprocessor, append(with, func(s *simulation) { s.lists = h })...)
		cl, err := txn.NewClient(s.store, s.clock, txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer cl.Close()
		r := h.Begin("in the end")
		end := cl.Begin(txn.TxnOptions{ReadOnly: true})
		for i := range simLists {
			v, _, err := end.Get(context.Background(), list(i))
			if err != nil {
				t.Fatal(err)
			}
			r.Ops = append(r.Ops, txntest.ListOp{Key: columnName(list(i)), Elements: elements(v)})
		}
		h.End(r, txntest.Committed)
		wrong = h.Check(txntest.SnapshotIsolation)
	})
	return h, wrong
}

func TestSimulationLists(t *testing.T) {
	skews, committed := 0, 0
	for seed := uint64(1); seed <= uint64(max(200, *simN/10)); seed++ {
		h, wrong := simulateLists(t, seed, txn.NewCoprocessor(txn.CoprocessorOptions{}))
		if len(wrong) > 0 {
			t.Fatalf("seed %d: %v", seed, errors.Join(wrong...))
		}
		skews += len(h.Check(txntest.Serializable))
		for _, r := range h.Txns() {
			if r.Outcome == txntest.Committed {
				committed++
			}
		}
	}
	t.Logf("%d transactions committed, %d histories' cycles that only serializability forbids", committed, skews)
	if skews == 0 {
		t.Error("the load is too tame: not one write skew")
	}
}

func TestListsFindPlantedMistakes(t *testing.T) {
	if kvtest.RaceEnabled {
		t.Skip("how many seeds it takes to meet a mistake depends on the schedule, which the race detector draws anew each time; without it the seeds are known to meet each")
	}
	none := txn.NewCoprocessor(txn.CoprocessorOptions{})
	repeat := func(s *simulation) { s.repeat = 7 }
	for name, m := range map[string]struct {
		coprocessor kv.Coprocessor
		with        []func(*simulation)
	}{
		"a timestamp is handed out twice":                     {none, []func(*simulation){repeat}},
		"no conflict check":                                   {txn.Plant(mistakes["no conflict check"]), nil},
		"a lock goes early":                                   {txn.Plant(mistakes["a lock goes early"]), nil},
		"gets ignore locks":                                   {txn.Plant(mistakes["gets ignore locks"]), nil},
		"no rollback tombstones":                              {txn.Plant(mistakes["no rollback tombstones"]), nil},
		"commits are not synced":                              {txn.Plant(mistakes["commits are not synced"]), nil},
		"one-phase commits forget reads":                      {txn.PlantForgetful(txn.Memory.ForgetReads), nil},
		"asynchronous commits are rolled back without a look": {txn.PlantForgetful(txn.Memory.DecideWithoutLooking), nil},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= mostSeeds; seed++ {
				if _, wrong := simulateLists(t, seed, m.coprocessor, m.with...); len(wrong) > 0 {
					t.Logf("found with seed %d: %v", seed, wrong[0])
					return
				}
			}
			t.Errorf("%d histories and nothing found", mostSeeds)
		})
	}
}
