package sim

import (
	"flag"
	"os"
	"strconv"
	"testing"
	"testing/cryptotest"
	"time"
)

var oneSeed = flag.Uint64("seed", 0, "play this history only, and print it")

// play runs one seed: raft's own chance is seeded too.
func play(t *testing.T, o Options) Result {
	cryptotest.SetGlobalRandom(t, o.Seed)
	return Run(o)
}

// TestSimulation plays histories and finds nothing. MOKA_SIM_SEEDS says how many (300); a seed that fails is played again, readably,
// with -seed.
func TestSimulation(t *testing.T) {
	if *oneSeed != 0 {
		r := play(t, Options{Seed: *oneSeed, Verbose: true})
		t.Logf("%s%s\n%+v", r.Trace, r.Violation, r.Stats)
		if r.Violation != "" {
			t.Fail()
		}
		return
	}
	seeds := 300
	if s := os.Getenv("MOKA_SIM_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		seeds = n
	}
	var all Stats
	events := 0
	began := time.Now()
	for seed := range uint64(seeds) {
		r := play(t, Options{Seed: seed + 1})
		all.Add(r.Stats)
		events += r.Events
		if r.Violation != "" {
			t.Errorf("seed %d: %s\n\tgo test -tags gms_pure_go ./kv/sim -run 'TestSimulation$' -v -args -seed %d", seed+1, r.Violation, seed+1)
		}
	}
	t.Logf("%d histories, %d events, %v: %+v", seeds, events, time.Since(began), all)
	if all.Acked < 100*seeds/2 || all.Reads == 0 || all.Unknown == 0 || all.Leaderships < 3*seeds || all.Crashes < seeds || all.Transfers == 0 || all.Leaseless == 0 ||
		all.Truncated == 0 {
		t.Errorf("too little happened: %+v", all)
	}
}

// TestMembersChange plays histories in which replicas come and go all the while. MOKA_SIM_SEEDS says how many
// (100).
func TestMembersChange(t *testing.T) { playChanges(t, Options{Members: true}) }

// TestFullDisks plays histories in which the disk of one node after the other is full for a while. It comes
// to lack what the others have cut, and gets their state.
func TestFullDisks(t *testing.T) {
	all, seeds := playMany(t, Options{FullDisks: true})
	if all.Acked < 50*seeds || all.Full < seeds || all.Installs < seeds/2 {
		t.Errorf("too little happened: %+v", all)
	}
}

// TestGrowsFromOne plays histories that begin with one replica of each shard, as a directory of one node does
// that becomes a cluster, and others come and go from then on.
func TestGrowsFromOne(t *testing.T) { playChanges(t, Options{Alone: true}) }

func playChanges(t *testing.T, o Options) {
	all, seeds := playMany(t, o)
	if all.Acked < 50*seeds || all.Installs < seeds || all.Removed < seeds/2 {
		t.Errorf("too little happened: %+v", all)
	}
}

// playMany plays as many histories as MOKA_SIM_SEEDS says, 100 by itself; or the one of -seed, which counts
// for nothing.
func playMany(t *testing.T, o Options) (all Stats, seeds int) {
	t.Helper()
	if o.Seed = *oneSeed; o.Seed != 0 {
		o.Verbose = true
		r := play(t, o)
		t.Logf("%s%s\n%+v", r.Trace, r.Violation, r.Stats)
		if r.Violation != "" {
			t.Fail()
		}
		return all, 0
	}
	seeds = 100
	if s := os.Getenv("MOKA_SIM_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		seeds = n
	}
	began := time.Now()
	for o.Seed = 1; o.Seed <= uint64(seeds); o.Seed++ {
		r := play(t, o)
		all.Add(r.Stats)
		if r.Violation != "" {
			t.Errorf("seed %d: %s\n\tgo test -tags gms_pure_go ./kv/sim -run '%s$' -v -args "+
				"-seed %d", o.Seed, r.Violation, t.Name(), o.Seed)
		}
	}
	t.Logf("%d histories, %v: %+v", seeds, time.Since(began), all)
	return all, seeds
}

// The same seed gives the same history, to the last event.
func TestSameSeedSameHistory(t *testing.T) {
	hashes := map[uint64]bool{}
	for seed := range uint64(10) {
		a, b := play(t, Options{Seed: seed + 1}), play(t, Options{Seed: seed + 1})
		if a.Hash != b.Hash || a.Events != b.Events || a.Stats != b.Stats {
			t.Errorf("seed %d: %d events, hash %x; then %d events, hash %x", seed+1, a.Events, a.Hash, b.Events, b.Hash)
		}
		hashes[a.Hash] = true
	}
	if len(hashes) != 10 {
		t.Errorf("10 seeds give %d histories", len(hashes))
	}
}

// firstSeed plays until something is found, and returns the seed; zero if it is nothing.
func firstSeed(t *testing.T, seeds uint64, o Options) uint64 {
	t.Helper()
	for o.Seed = 1; o.Seed <= seeds; o.Seed++ {
		if r := play(t, o); r.Violation != "" {
			t.Logf("seed %d: %s", o.Seed, r.Violation)
			return o.Seed
		}
	}
	return 0
}

// A disk that loses what it has synced is beyond what Raft survives: it must be seen.
func TestLyingDiskIsSeen(t *testing.T) {
	if firstSeed(t, 100, Options{Lying: true}) == 0 {
		t.Error("100 histories with a lying disk, and nobody has noticed")
	}
}

// Leases assume that clocks count the time that a process stands still. Where they do not, the checker must see it; and who asks a quorum
// for every read needs no clock.
func TestStoppedClocks(t *testing.T) {
	if firstSeed(t, 300, Options{StoppedClocks: true}) == 0 {
		t.Error("300 histories with clocks that stand still, and nobody has noticed")
	}
	if firstSeed(t, 20, Options{StoppedClocks: true, Leaseless: true}) != 0 {
		t.Error("reads without a lease depend on a clock")
	}
}
