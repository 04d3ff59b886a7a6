//go:build planted

package sim

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"moka/kv/raft"
)

// changing are the mistakes that are looked for in histories in which members change.
var changing = []int{20, 21, 24, 25, 26, 27}

// mistakes lists what is planted, by the numbers of the design; the gaps in them are mistakes of parts that do not exist yet. Each names the
// first seed that finds it, and how: a history that ends otherwise has changed, and the seed is to be hunted anew:
//
//	MOKA_HUNT=57 MOKA_SIM_SEEDS=2000 go test -tags gms_pure_go,planted -run TestMistakesAreFound -v ./kv/sim
var mistakes = []struct {
	number int
	what   string
	where  string // who makes it: the driver, the model above it, or both
	seed   uint64
	found  string
}{
	{1, "acknowledges and votes before the sync", "driver", 3, "lost?"},
	{2, "a vote is not written down", "driver", 8, "lead term"},
	{3, "entries are applied when they are appended", "driver", 1, "elsewhere of term"},
	{4, "the applied record is in a later batch than the effects", "driver", 1, "differ at n"},
	{5, "ticks that were missed are made up for", "driver", 945, "have a lease"},
	{6, "a replica that was just started votes", "driver", 71, "have a lease"},
	{7, "the lease counts from when the answer came", "driver", 39, "have a lease"},
	{8, "the lease is kept over a transfer, and taken again after one that failed", "driver", 4, "have a lease"},
	{9, "the lease is asked before the read", "model", 330, "when it was read"},
	{10, "a write without a batch is answered without a lease", "model", 414, "had been seen"},
	{11, "the latch goes when the caller has gone", "model", 1, "liveness"},
	{12, "the evaluated leadership is not compared, and what runs is not waited for", "driver, model", 10, "0: lost"},
	{13, "proposals are forwarded", "driver", 2, "(R7)"},
	{14, "what was in the log of an ended leadership is proposed again", "driver", 17, "told to have failed"},
	{15, "a leadership serves before its own entry is applied", "driver", 59, "when it was read"},
	{16, "a coprocessor's memory is kept by the next leadership", "model", 163, "when it was read"},
	{17, "guards survive their leadership", "model", 2, "liveness"},
	{18, "hooks of pending proposals run after their leadership", "model", 1, "0: lost"},
	{42, "a raw write is repeated after an unknown outcome", "model", 3, "twice"},
	{43, "an older term's hint is taken", "model", 23, "goes back"},
	{20, "what is in memory is not read again behind a snapshot", "model", 1, "differ at"},
	{21, "a snapshot's index without its data", "model", 1, "differ at"},
	{24, "a replica's number is given again", "driver, model", 2, "out of range"},
	{25, "a change of members counts when it is appended", "driver", 1, "liveness"},
	{26, "only the leadership that has begun a joint step leaves it", "driver", 45, "joint step"},
	{27, "a replica is removed on the word of any other", "model", 8, "liveness"},
	{57, "a second leadership of a term has no barrier", "driver", 73, "when it was read"},
	{58, "what waited for the log is handed to the next leadership of the term", "driver", 22, "is committed at"},
}

// TestMistakesAreFound makes every mistake, and sees that its seed finds it and finds nothing without it.
func TestMistakesAreFound(t *testing.T) {
	defer func() { raft.Planted = 0 }()
	if hunt, _ := strconv.Atoi(os.Getenv("MOKA_HUNT")); hunt != 0 {
		seeds, _ := strconv.ParseUint(os.Getenv("MOKA_SIM_SEEDS"), 10, 64)
		raft.Planted = hunt
		o := Options{Members: slices.Contains(changing, hunt)}
		if firstSeed(t, cmp.Or(seeds, 2000), o) == 0 {
			t.Errorf("mistake %d is not found", hunt)
		}
		return
	}
	seen := map[int]bool{}
	for _, m := range mistakes {
		if seen[m.number] || m.seed == 0 || m.seed > 2000 || m.where == "" {
			t.Errorf("mistake %d: its line is wrong", m.number)
		}
		seen[m.number] = true
		raft.Planted = m.number
		o := Options{Seed: m.seed, Members: slices.Contains(changing, m.number)}
		switch r := play(t, o); {
		case r.Violation == "":
			t.Errorf("mistake %d (%s) is not found by seed %d; hunt another (MOKA_HUNT=%d)", m.number, m.what, m.seed, m.number)
		case !strings.Contains(r.Violation, m.found):
			t.Errorf("mistake %d (%s), seed %d: %s; expected %q", m.number, m.what, m.seed, r.Violation, m.found)
		}
		raft.Planted = 0
		if r := play(t, o); r.Violation != "" {
			t.Errorf("seed %d without a mistake: %s", m.seed, r.Violation)
		}
	}
}
