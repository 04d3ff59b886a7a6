package txn_test

import (
	"testing"
	"testing/synctest"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// TestLeadsFindPlantedMistakes: what must not be done when a shard's lead is lost or found, done all
// the same.
func TestLeadsFindPlantedMistakes(t *testing.T) {
	if kvtest.RaceEnabled {
		t.Skip("how many seeds it takes to meet a mistake depends on the schedule, which the race detector " +
			"draws anew each time; without it the seeds are known to meet each")
	}
	none := func() kv.Coprocessor { return txn.NewCoprocessor(txn.CoprocessorOptions{RangeFrom: 1}) }
	stale := func(s *simulation) { s.stale = true }
	onRealShards := func(s *simulation) { onShards(s); s.refusals, s.losing = true, 12 }
	for name, m := range map[string]struct {
		plant func() kv.Coprocessor
		more  func(*simulation)
		with  []func(*simulation)
	}{
		"in memory, who is deposed answers": {none, stale, []func(*simulation){changesOfLead, yielding(3)}},
		"on shards, who is deposed answers": {none, stale, []func(*simulation){
			onRealShards, yielding(2), func(s *simulation) { s.only, s.calm = []int{0, 0, 3}, 400 },
		}},
		"on shards, a state outlives its leadership": {
			func() kv.Coprocessor { return txn.PlantKept(txn.CoprocessorOptions{RangeFrom: 1}) },
			func(*simulation) {}, []func(*simulation){onRealShards, yielding(4)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := uint64(1); seed <= mostSeeds; seed++ {
				var wrong []error
				with := m.with[:len(m.with):len(m.with)]
				synctest.Test(t, func(t *testing.T) {
					_, wrong = simulate(t, seed, m.plant(), append(with, m.more)...)
				})
				if len(wrong) == 0 {
					continue
				}
				t.Logf("found with seed %d: %v", seed, wrong[0])
				synctest.Test(t, func(t *testing.T) {
					if _, wrong := simulate(t, seed, none(), with...); len(wrong) > 0 {
						t.Errorf("seed %d finds something that was not planted: %v", seed, wrong[0])
					}
				})
				return
			}
			t.Errorf("%d histories and nothing found", mostSeeds)
		})
	}
}
