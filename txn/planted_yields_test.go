package txn_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// TestYieldsFindPlantedMistakes: mistakes that show only if somebody else runs between two steps of one command, or between two of a real
// shard's. A review planted them, and neither simulation nor tests found any.
func TestYieldsFindPlantedMistakes(t *testing.T) {
	if kvtest.RaceEnabled {
		t.Skip("how many seeds it takes to meet a mistake depends on the schedule, which the race detector draws anew each time; without it the seeds are known to meet each")
	}
	only := func(calm int, what ...int) func(*simulation) {
		return func(s *simulation) { s.only, s.calm = what, calm }
	}
	with := func(fs ...func(*simulation)) []func(*simulation) { return slices.Clip(fs) }
	none := func() kv.Coprocessor {
		return txn.NewCoprocessor(txn.CoprocessorOptions{MaxRequires: 1024, RangeFrom: 1})
	}
	mistakes := map[string]struct {
		plant kv.Coprocessor
		more  func(*simulation) // plants it instead
		with  []func(*simulation)
	}{
		"commits forget reads without a timestamp": {
			plant: txn.PlantForgetful(txn.Memory.ForgetLatest),
			with:  with(yielding(2), only(400, simWritePair, simReadPair)),
		},
		"timestamps of commits are chosen before guards are up": {
			plant: txn.Plant(txn.GuardLate), with: with(yielding(2), only(400, 0, 0, 3, 5)),
		},
		"min_commit_ts of asynchronous commits is chosen before guards are up": {
			plant: txn.Plant(func(cmd kv.CommandID, e kv.Eval) kv.Eval {
				if cmd == txn.CmdPrewrite {
					return txn.GuardLate(cmd, e)
				}
				return e
			}),
			with: with(yielding(2), only(400, 0, 0, 3)),
		},
		"snapshots are noted when they have been read": {
			plant: txn.PlantForgetful(txn.Memory.RaiseLate), with: with(yielding(2), only(400, 0, 0, 3)),
		},
		"tablets that come bring no safe point": {
			plant: txn.PlantDeaf(txn.CoprocessorOptions{RangeFrom: 1}),
			with:  with(onShards, yielding(8), only(12, 0, 3, 18, 0), func(s *simulation) { s.moves, s.idle = true, 3 }),
		},
		"splits do not raise generations": {
			more: splitsUnnoticed, with: with(onShards, yielding(8), only(25, 0, 3, 3)),
		},
	}
	for name, m := range mistakes {
		coprocessor, more := m.plant, m.with
		if coprocessor == nil {
			coprocessor, more = none(), append(m.with, m.more)
		}
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= mostSeeds; seed++ {
				var wrong []error
				synctest.Test(t, func(t *testing.T) { _, wrong = simulate(t, seed, coprocessor, more...) })
				if len(wrong) > 0 {
					t.Logf("found with seed %d: %v", seed, wrong[0])
					synctest.Test(t, func(t *testing.T) {
						if _, wrong := simulate(t, seed, none(), m.with...); len(wrong) > 0 {
							t.Errorf("seed %d finds something that was not planted: %v", seed, wrong[0])
						}
					})
					return
				}
			}
			t.Errorf("%d histories and nothing found", mostSeeds)
		})
	}
}
