package txn_test

import (
	"math/rand/v2"

	"moka/kv"
	"moka/txn"
	"moka/txn/txntest"
)

// Garbage collection in the simulation runs with a safe point that is too young: transactions that are under way fall behind it.
// They may fail; what they read and commit until then has to be right. The checker needs every version that ever was, so what a
// collection removes is written down.

type watchedEval struct {
	kv.Eval
	s *simulation
}

func (w watchedEval) Delete(a kv.Address, ts kv.Timestamp) {
	if a.Group == kv.GroupTxnWrite {
		v, err := txn.StoredAt(w.Eval, a.Column, ts)
		if err != nil {
			panic(err)
		}
		w.s.mu.Lock()
		w.s.removed = append(w.s.removed, txntest.StoredVersion{Column: columnName(a.Column), StartTS: v.StartTS, CommitTS: v.CommitTS, Value: string(v.Value)})
		w.s.mu.Unlock()
	}
	w.Eval.Delete(a, ts)
}

// withRemoved adds what was removed, once: a removal that a crash has undone is both.
func (s *simulation) withRemoved(stored []txntest.StoredVersion) []txntest.StoredVersion {
	type id struct {
		column  string
		startTS kv.Timestamp
	}
	seen := map[id]bool{}
	for _, v := range stored {
		seen[id{v.Column, v.StartTS}] = true
	}
	for _, v := range s.removed {
		if k := (id{v.Column, v.StartTS}); !seen[k] {
			seen[k] = true
			stored = append(stored, v)
		}
	}
	return stored
}

func (c *simClient) collect(cl *txn.Client, rng *rand.Rand) {
	back := kv.NewTimestamp(int64(rng.IntN(4)), 0)
	ts, err := c.Next(c.ctx)
	if err != nil {
		return
	}
	if _, err := cl.CollectGarbage(c.ctx, ts-back, txn.GarbageOptions{}); kv.CodeOf(err) == kv.CodeCorrupt {
		panic(err)
	}
}
