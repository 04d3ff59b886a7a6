package memtable

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"moka/kv"
)

// model is a bounded table beside the disk that it is a part of. Batches are shown in the table, then come to
// the disk, then are settled.
type model struct {
	*Table
	rng  *rand.Rand
	disk map[string]Item
	// truth is what is there: of deletes, from when they come to the disk.
	truth    map[string]Item
	place    uint64
	underway []batch
	from     map[uint32]kv.RowKey // where the next scan of a run goes on
}

type batch struct {
	place        uint64
	sets, delete []Item
	applied      bool
}

const modelRows, modelRuns = 12, 3

func name(i Item) string {
	return fmt.Sprintf("%d %s %020d", i.Address.Run, i.Address.Row, uint64(kv.MaxTimestamp-i.Timestamp))
}

func (m *model) address() kv.Address {
	return kv.Address{Group: 20, Run: uint32(m.rng.IntN(modelRuns)),
		Column: kv.Column{Row: kv.RowKey(fmt.Sprintf("r%02d", m.rng.IntN(modelRows))), Family: 1}}
}

// latched reports whether a row has a batch under way.
func (m *model) latched(a kv.Address) bool {
	return slices.ContainsFunc(m.underway, func(b batch) bool {
		return slices.ContainsFunc(append(slices.Clone(b.sets), b.delete...), func(i Item) bool {
			return string(i.Address.Row) == string(a.Row)
		})
	})
}

// write begins a batch: a new entry, or the end of what is there, which it has looked for as commands do.
func (m *model) write() {
	a := m.address()
	if m.latched(a) {
		return
	}
	m.place++
	b := batch{place: m.place}
	if m.rng.IntN(2) == 0 {
		b.sets = []Item{{Address: a, Timestamp: kv.Timestamp(m.place), Value: []byte("v")}}
		m.Set(b.sets[0], b.place)
		m.truth[name(b.sets[0])] = b.sets[0]
	} else if v, ok := m.latest(a, true); ok {
		b.delete = []Item{{Address: a, Timestamp: v}}
	}
	m.underway = append(m.underway, b)
}

// step carries a batch on.
func (m *model) step() {
	if len(m.underway) == 0 {
		return
	}
	i := m.rng.IntN(len(m.underway))
	b := &m.underway[i]
	if !b.applied {
		b.applied = true
		for _, x := range b.sets {
			m.disk[name(x)] = x
		}
		for _, x := range b.delete {
			delete(m.disk, name(x))
			delete(m.truth, name(x))
		}
		return
	}
	for _, x := range b.delete {
		m.Delete(x.Address, x.Timestamp, b.place)
	}
	m.Settle(b.place)
	m.underway = slices.Delete(m.underway, i, i+1)
}

// latest is what the replica does.
func (m *model) latest(a kv.Address, latched bool) (kv.Timestamp, bool) {
	v, ok, disk, missed := m.Look(a, kv.MaxTimestamp)
	var d Item
	for _, x := range m.disk {
		if x.Address.Run == a.Run && string(x.Address.Row) == string(a.Row) && x.Timestamp <= disk &&
			x.Timestamp > d.Timestamp {
			d = x
		}
	}
	if d.Timestamp == 0 || ok && v.Timestamp >= d.Timestamp {
		return v.Timestamp, ok
	}
	if latched {
		m.Admit(d, missed)
	}
	return d.Timestamp, true
}

// scan goes over a run from a row on, as the replica does, some entries of it, between which anything
// happens.
func (m *model) scan(run uint32, from kv.RowKey, limit int, between func()) (seen []string, next kv.RowKey) {
	evictions := m.Evictions(run)
	see := func(a kv.Address, ts kv.Timestamp) bool {
		if len(seen) == limit {
			next = a.Row
			return false
		}
		seen = append(seen, name(Item{Address: a, Timestamp: ts}))
		return true
	}
	from, done := m.AscendHere(run, kv.Span{Start: from}, func(a kv.Address, v kv.Version) bool {
		return see(a, v.Timestamp)
	})
	if done {
		return seen, next
	}
	var found []Item
	for _, x := range m.disk {
		if x.Address.Run == run && string(x.Address.Row) >= string(from) {
			found = append(found, x)
		}
	}
	slices.SortFunc(found, func(a, b Item) int { return strings.Compare(name(a), name(b)) })
	here := true
	for _, x := range found {
		between()
		_, there := m.disk[name(x)]
		if _, ok := m.Get(x.Address, x.Timestamp); here && !ok && there {
			here = false
			m.Verified(run, evictions, from, x.Address.Row)
		}
		if !see(x.Address, x.Timestamp) {
			break
		}
	}
	if here {
		m.Verified(run, evictions, from, next)
	}
	return seen, next
}

// all is what is there of a run in rows that have no batch under way.
func (m *model) all(run uint32, names []string) (all []string) {
	for _, n := range names {
		if x, ok := m.truth[n]; ok && x.Address.Run == run && !m.latched(x.Address) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// TestBoundedTable: whatever order batches, evictions and passes come in, what is not in the table is looked
// for on disk; behind the last batch no more is in memory than may be, and a run is whole again once it fits.
func TestBoundedTable(t *testing.T) {
	whole := 0
	for seed := range uint64(30) {
		m := &model{Table: NewBounded(20, 6), rng: rand.New(rand.NewPCG(seed, 0)), disk: map[string]Item{},
			truth: map[string]Item{}, from: map[uint32]kv.RowKey{}}
		for range 200 {
			before := len(m.Spills())
			switch m.rng.IntN(4) {
			case 0, 1:
				m.write()
			case 2:
				m.step()
			case 3:
				run := uint32(m.rng.IntN(modelRuns))
				_, m.from[run] = m.scan(run, m.from[run], 4, func() {
					for range m.rng.IntN(8) {
						m.write()
						m.step()
						m.step()
					}
				})
			}
			run := uint32(m.rng.IntN(modelRuns))
			seen, _ := m.scan(run, nil, math.MaxInt, func() {})
			want := slices.Sorted(maps.Keys(m.truth))
			if got, want := m.all(run, seen), m.all(run, want); !slices.Equal(got, want) {
				t.Fatalf("seed %d: run %d has %q, want %q", seed, run, got, want)
			}
			if len(m.Spills()) < before {
				whole++
			}
			for range 3 {
				a := m.address()
				var want kv.Timestamp
				for _, x := range m.truth {
					if x.Address.Run == a.Run && string(x.Address.Row) == string(a.Row) {
						want = max(want, x.Timestamp)
					}
				}
				if got, _ := m.latest(a, false); got != want && !m.latched(a) {
					t.Fatalf("seed %d: of run %d, row %s the newest is %d, want %d", seed, a.Run, a.Row, got,
						want)
				}
			}
		}
		for len(m.underway) > 0 {
			m.step()
		}
		if m.Held() > 6 {
			t.Fatalf("seed %d: %d entries are in memory", seed, m.Held())
		}
	}
	if whole == 0 {
		t.Error("no run was ever whole again; the test does not test")
	}
}

// TestAdmitIsNotFooled: what was deleted after it had been read from disk does not come back.
func TestAdmitIsNotFooled(t *testing.T) {
	m := NewBounded(20, 1)
	a := kv.Address{Group: 20, Column: kv.Column{Row: kv.RowKey("x"), Family: 1}}
	b := a
	b.Row = kv.RowKey("y")
	m.Load(Item{Address: b, Timestamp: 1})
	m.Load(Item{Address: a, Timestamp: 2}) // there is no room for it
	_, ok, disk, missed := m.Look(a, kv.MaxTimestamp)
	if ok || disk != 2 {
		t.Fatalf("found %v, to be looked for on disk up to %d", ok, disk)
	}
	m.Delete(a, 2, 7)
	m.Admit(Item{Address: a, Timestamp: 2}, missed)
	if _, ok := m.Latest(a, kv.MaxTimestamp); ok {
		t.Error("it is there again")
	}
}
