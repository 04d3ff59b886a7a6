package txn_test

import (
	"testing"
	"testing/synctest"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// A checker that has never found anything proves nothing. Each of these coprocessors has one rule of the protocol taken out, and
// the simulation must notice within a bounded number of histories.

// blindEval hides parts of the shard from a command, or swallows what it writes.
type blindEval struct {
	kv.Eval
	hide    func(kv.Address) bool
	swallow func(kv.Address) bool
	iter    func(kv.IterOptions) bool
	guards  bool // are not put up
}

func (b blindEval) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	if b.hide != nil && b.hide(a) {
		return kv.Version{}, false, nil
	}
	return b.Eval.Latest(a, max)
}

func (b blindEval) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	if b.hide != nil && b.hide(a) {
		return nil, false, nil
	}
	return b.Eval.Get(a, ts)
}

func (b blindEval) Iter(o kv.IterOptions) (kv.Iterator, error) {
	if b.iter != nil && b.iter(o) {
		o.Span = kv.Span{Start: kv.RowKey{0xff, 0xff}, End: kv.RowKey{0xff, 0xff}}
	}
	return b.Eval.Iter(o)
}

func (b blindEval) Set(a kv.Address, ts kv.Timestamp, v []byte) {
	if b.swallow == nil || !b.swallow(a) {
		b.Eval.Set(a, ts, v)
	}
}

func (b blindEval) Guard(a kv.Address, ts kv.Timestamp, v []byte) {
	if !b.guards {
		b.Eval.Guard(a, ts, v)
	}
}

func group(g kv.GroupID) func(kv.Address) bool {
	return func(a kv.Address) bool { return a.Group == g }
}

// A clock that hands out a timestamp twice breaks everything that rests on it.
func TestSimulationFindsRepeatedTimestamps(t *testing.T) {
	for seed := uint64(1); seed <= 500; seed++ {
		var wrong []error
		synctest.Test(t, func(t *testing.T) {
			_, wrong = simulate(t, seed, txn.NewCoprocessor(txn.CoprocessorOptions{}), func(s *simulation) { s.repeat = 7 })
		})
		if len(wrong) > 0 {
			t.Logf("found with seed %d: %v", seed, wrong[0])
			return
		}
	}
	t.Error("500 histories and nothing found")
}

// mistakes by what a shard forgets.
var mistakes = map[string]func(cmd kv.CommandID, e kv.Eval) kv.Eval{
	"no conflict check": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdPrewrite || cmd == txn.CmdCommitOnePhase {
			return blindEval{Eval: e, hide: group(kv.GroupTxnWrite)}
		}
		return e
	},
	"gets ignore locks": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdGet {
			return blindEval{Eval: e, hide: group(kv.GroupTxnLock)}
		}
		return e
	},
	"scans ignore locks": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdScan {
			return blindEval{Eval: e, iter: func(o kv.IterOptions) bool { return o.Group == kv.GroupTxnLock }}
		}
		return e
	},
	"no rollback tombstones": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		return blindEval{Eval: e, swallow: group(kv.GroupTxnRollback)}
	},
	"a repeated commit does not know itself": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdCheckStatus {
			return blindEval{Eval: e, hide: group(kv.GroupTxnWrite)}
		}
		return e
	},
	"one-phase commits do not guard": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdCommitOnePhase {
			return blindEval{Eval: e, guards: true}
		}
		return e
	},
	"prewrites are not synced": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdPrewrite {
			e.NoSync()
		}
		return e
	},
	"a lock goes early": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdPrewrite {
			return blindEval{Eval: e, swallow: group(kv.GroupTxnLock)}
		}
		return e
	},
	"asynchronous prewrites do not guard": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdPrewrite {
			return blindEval{Eval: e, guards: true}
		}
		return e
	},
	"no tombstones for missing secondaries": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdCheckSecondaries {
			return blindEval{Eval: e, swallow: group(kv.GroupTxnRollback)}
		}
		return e
	},
	"a secondary's commit is not looked for": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdCheckSecondaries {
			return blindEval{Eval: e, hide: group(kv.GroupTxnWrite)}
		}
		return e
	},
	"commits are not synced": func(cmd kv.CommandID, e kv.Eval) kv.Eval {
		if cmd == txn.CmdCommit || cmd == txn.CmdCommitOnePhase {
			e.NoSync()
		}
		return e
	},
}

func TestSimulationFindsPlantedMistakes(t *testing.T) {
	if kvtest.RaceEnabled {
		t.Skip("how many seeds it takes to meet a mistake depends on the schedule, which the race detector draws anew each time; without it the seeds are known to meet each")
	}
	coprocessors := map[string]kv.Coprocessor{
		"one-phase commits forget reads":                      txn.PlantForgetful(txn.Memory.ForgetReads),
		"commits forget pushes":                               txn.PlantForgetful(txn.Memory.ForgetPushes),
		"shards are never seeded":                             txn.PlantForgetful(txn.Memory.NeverSeed),
		"asynchronous commits are rolled back without a look": txn.PlantForgetful(txn.Memory.DecideWithoutLooking),
		"missing locks count as there":                        txn.PlantForgetful(txn.Memory.TakeMissingForLocked),
	}
	for name, broken := range mistakes {
		coprocessors[name] = txn.Plant(broken)
	}
	for name, coprocessor := range coprocessors {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= 2000; seed++ {
				var wrong []error
				synctest.Test(t, func(t *testing.T) { _, wrong = simulate(t, seed, coprocessor) })
				if len(wrong) > 0 {
					t.Logf("found with seed %d: %v", seed, wrong[0])
					return
				}
			}
			t.Error("2000 histories and nothing found")
		})
	}
}
