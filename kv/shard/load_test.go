package shard

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"moka/kv"
)

func loadRow(i int) kv.RowKey { return kv.MakeRowKey(5, binary.BigEndian.AppendUint32(nil, uint32(i))) }

// takeAll is TakeLoads for a table of one tablet.
func oneLoad(l *loads, t kv.Tablet) Load {
	s := &Replica{}
	s.tablets.Store(newTablets([]kv.Tablet{t}, nil))
	s.loads.byTablet = l.byTablet
	all := s.TakeLoads()
	if len(all) == 0 {
		return Load{Tablet: t}
	}
	return all[0]
}

// The split row has half of the requests on either side, wherever in the key space they are; where there is no such row there is no split.
func TestSplitRow(t *testing.T) {
	tablet := kv.Tablet{ID: 3, Generation: 1, Span: kv.Span{Start: loadRow(0), End: loadRow(1 << 20)}}
	tt := newTablets([]kv.Tablet{tablet}, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		next     func() int
		requests int
		from, to int // of the split row; both zero: none
	}{
		"even":                     {func() int { return rng.IntN(1000) }, 20_000, 300, 700},
		"one end":                  {func() int { return 900 + rng.IntN(100) }, 20_000, 920, 980},
		"at the end":               {func() int { return rng.IntN(10) * rng.IntN(10) / 9 * 100 }, 20_000, 100, 400},
		"two rows":                 {func() int { return 7 + rng.IntN(2) }, 20_000, 8, 8},
		"one row":                  {func() int { return 7 }, 20_000, 0, 0},
		"the tablet's first":       {func() int { return 0 }, 20_000, 0, 0},
		"one row with all but few": {func() int { return max(0, rng.IntN(2000)-1980) }, 20_000, 0, 0},
		"too few":                  {func() int { return rng.IntN(1000) }, loadSample/2 - 1, 0, 0},
	} {
		var l loads
		for range c.requests {
			l.note(tt, []kv.RowKey{loadRow(c.next())})
		}
		got := oneLoad(&l, tablet)
		if got.Requests != uint64(c.requests)*loadEvery {
			t.Errorf("%s: %d requests are counted as %d", name, c.requests, got.Requests)
		}
		row, ok := got.SplitRow()
		if c.from+c.to == 0 {
			if ok {
				t.Errorf("%s: split at %x", name, []byte(row))
			}
			continue
		}
		if !ok {
			t.Errorf("%s: no split", name)
			continue
		}
		if i := int(binary.BigEndian.Uint32(row.Row())); i < c.from || i > c.to {
			t.Errorf("%s: split at %d, expected %d to %d", name, i, c.from, c.to)
		}
	}
	var l loads
	l.note(tt, []kv.RowKey{kv.MakeRowKey(6, nil)}) // of no tablet here
	l.note(tt, nil)
	if len(l.byTablet) != 0 {
		t.Error("a row of no tablet was counted")
	}
}
