package txn_test

import (
	"math"
	"testing"
	"testing/synctest"

	"github.com/anishathalye/porcupine"

	"moka/kv"
	"moka/txn"
	"moka/txn/txntest"
)

// A second judge, who knows no timestamps: each column by itself must be a linearizable register. A commit writes it at some moment
// between the call and the answer, or the end of time if there was none; a snapshot reads it between the beginning of its
// transaction and the call to Commit, and a read without a snapshot between its call and its answer.

type registerOp struct {
	write bool
	value string
}

var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		if in := input.(registerOp); in.write {
			return true, in.value
		}
		return output.(string) == state.(string), state
	},
}

// registers returns the operations on each column. The history has been checked, so that unknown outcomes are settled.
func registers(h *txntest.History) map[string][]porcupine.Operation {
	ops := map[string][]porcupine.Operation{}
	for i, r := range h.Records() {
		client := i // each on its own: what is concurrent is told by the times alone
		end := r.Asked
		if r.Latest {
			end = r.Ended
		}
		for _, rd := range r.Reads {
			ops[rd.Column] = append(ops[rd.Column], porcupine.Operation{ClientId: client, Input: registerOp{}, Output: rd.Value, Call: int64(r.Began), Return: int64(end)})
		}
		if r.Outcome != txntest.Committed {
			continue
		}
		for _, w := range r.Writes {
			op := porcupine.Operation{ClientId: client, Input: registerOp{true, w.Value}, Call: int64(r.Asked), Return: math.MaxInt64}
			if r.Ended != 0 {
				op.Return = int64(r.Ended)
			}
			ops[w.Column] = append(ops[w.Column], op)
		}
	}
	return ops
}

func linearizable(h *txntest.History) (column string, ok bool) {
	for column, ops := range registers(h) {
		if !porcupine.CheckOperations(register, ops) {
			return column, false
		}
	}
	return "", true
}

func TestRegistersAreLinearizable(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 30
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		synctest.Test(t, func(t *testing.T) {
			s, _ := simulate(t, seed, txn.NewCoprocessor(txn.CoprocessorOptions{}))
			if column, ok := linearizable(&s.history); !ok {
				t.Errorf("seed %d: %s is not a linearizable register", seed, column)
			}
		})
	}
}

// TestRegistersFindStaleReads: the judge notices when readers look away from locks.
func TestRegistersFindStaleReads(t *testing.T) {
	broken := txn.Plant(func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdGet || cmd == txn.CmdGetLatest {
			return blindEval{Eval: e, hide: group(kv.GroupTxnLock)}
		}
		return e
	})
	for seed := uint64(1); seed <= 500; seed++ {
		found := false
		synctest.Test(t, func(t *testing.T) {
			s, _ := simulate(t, seed, broken)
			_, ok := linearizable(&s.history)
			found = !ok
		})
		if found {
			t.Logf("found with seed %d", seed)
			return
		}
	}
	t.Error("500 histories and nothing found")
}
