package memtable_test

import (
	"fmt"
	"strings"
	"testing"

	"moka/kv"
	"moka/kv/memtable"
)

const group = 18

func at(run uint32, row, q string) kv.Address {
	return kv.Address{Group: group, Run: run, Column: kv.Column{Row: kv.RowKey(row), Qualifier: []byte(q)}}
}

func item(run uint32, row, q string, ts kv.Timestamp, v string) memtable.Item {
	return memtable.Item{Address: at(run, row, q), Timestamp: ts, Value: []byte(v)}
}

func text(a kv.Address, ts kv.Timestamp, v []byte) string {
	return fmt.Sprintf("%d/%s/%s@%d=%s", a.Run, a.Row, a.Qualifier, ts, v)
}

func fill() *memtable.Table {
	t := memtable.New(group)
	for _, i := range []memtable.Item{
		item(0, "a", "p", 5, "1"), item(0, "a", "p", 7, "2"), item(0, "a", "q", 5, "3"), item(0, "b", "p", 5, "4"), item(3, "a", "p", 6, "5"), item(1<<32-1, "z", "", 0, "6"),
	} {
		t.Set(i, 1)
	}
	return t
}

func TestOrderAndIndex(t *testing.T) {
	m := fill()
	collect := func(run uint32, s kv.Span) string {
		var out []string
		m.Ascend(run, s, func(a kv.Address, v kv.Version) bool {
			out = append(out, text(a, v.Timestamp, v.Value))
			return true
		})
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ got, want string }{
		{collect(0, kv.Span{}), "0/a/p@7=2 0/a/p@5=1 0/a/q@5=3 0/b/p@5=4"},
		{collect(0, kv.Span{End: kv.RowKey("b")}), "0/a/p@7=2 0/a/p@5=1 0/a/q@5=3"},
		{collect(0, kv.Span{Start: kv.RowKey("b")}), "0/b/p@5=4"},
		{collect(1<<32-1, kv.Span{}), "4294967295/z/@0=6"},
		{collect(1, kv.Span{}), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	var five []string
	m.ByTimestamp(5, func(a kv.Address, v []byte) bool {
		five = append(five, text(a, 5, v))
		m.Delete(a, 5, 2) // it may call back
		return true
	})
	if got, want := strings.Join(five, " "), "0/a/p@5=1 0/a/q@5=3 0/b/p@5=4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if ts, ok := m.Min(); !ok || ts != 0 || m.Len() != 3 {
		t.Errorf("Min %d %v, Len %d", ts, ok, m.Len())
	}
	if r := m.Runs(); len(r) != 3 || r[0] != 1 || r[3] != 1 || r[1<<32-1] != 1 {
		t.Errorf("runs %v", r)
	}
}

// A guard is seen, hides what was there, is no part of what moves or stays, and goes without a trace.
func TestGuards(t *testing.T) {
	m := memtable.New(group)
	a := at(0, "a", "")
	see := func(want string) {
		t.Helper()
		v, ok := m.Get(a, 5)
		if got := string(v); got != want || ok != (want != "") {
			t.Fatalf("%q %v, want %q", got, ok, want)
		}
	}
	persistent := func(want string) {
		t.Helper()
		var got []string
		for _, i := range m.Persistent(kv.Span{}) {
			got = append(got, string(i.Value))
		}
		if strings.Join(got, " ") != want {
			t.Fatalf("persistent %v, want %q", got, want)
		}
	}
	guard := memtable.Item{Address: a, Timestamp: 5, Value: []byte("guard")}
	old := memtable.Item{Address: a, Timestamp: 5, Value: []byte("old")}
	fresh := memtable.Item{Address: a, Timestamp: 5, Value: []byte("new")}

	m.Guard(guard)
	see("guard")
	persistent("")
	m.DropGuard(a, 5)
	see("")

	m.Set(old, 1)
	m.Guard(guard)
	see("guard")
	persistent("old")
	m.Set(fresh, 2) // under the guard
	persistent("new")
	m.DropGuard(a, 5)
	see("new")

	m.Guard(guard)
	m.Delete(a, 5, 3)
	see("guard")
	persistent("")
	m.DropGuard(a, 5)
	see("")
	m.DropGuard(a, 5) // twice is no harm
	if m.Len() != 0 || len(m.Runs()) != 0 || m.Bytes() != 0 {
		t.Fatalf("%d entries, %d bytes, runs %v", m.Len(), m.Bytes(), m.Runs())
	}
}

func walk(it *memtable.Iterator) []string {
	var out []string
	for it.NextColumn() {
		for ok := true; ok; ok = it.NextVersion() {
			out = append(out, fmt.Sprintf("%s/%s@%d", it.Column().Row, it.Column().Qualifier, it.Version().Timestamp))
		}
	}
	return out
}

func TestIterator(t *testing.T) {
	m := fill()
	for i := range 100 { // more versions than one chunk
		m.Set(item(7, "many", "", kv.Timestamp(i), ""), 1)
	}
	for _, c := range []struct {
		o    kv.IterOptions
		want string
	}{
		{kv.IterOptions{}, "a/p@7 a/p@5 a/q@5 b/p@5"},
		{kv.IterOptions{Reverse: true}, "b/p@5 a/q@5 a/p@7 a/p@5"},
		{kv.IterOptions{Max: 6, Reverse: true, Span: kv.Span{End: kv.RowKey("b")}}, "a/q@5 a/p@5"},
		{kv.IterOptions{Run: 1<<32 - 1, Reverse: true}, "z/@0"},
		{kv.IterOptions{Run: 3, Max: 5}, ""},
	} {
		c.o.Group = group
		if got := strings.Join(walk(m.NewIterator(c.o)), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.o, got, c.want)
		}
	}
	for _, reverse := range []bool{false, true} {
		got := walk(m.NewIterator(kv.IterOptions{Group: group, Run: 7, Max: 90, Reverse: reverse}))
		if len(got) != 91 || got[0] != "many/@90" || got[90] != "many/@0" {
			t.Errorf("reverse %v: %d versions, %s … %s", reverse, len(got), got[0], got[len(got)-1])
		}
	}
	it := m.NewIterator(kv.IterOptions{Group: group})
	if !it.SeekColumn(kv.Column{Row: kv.RowKey("a"), Qualifier: []byte("q")}) || string(it.Column().Qualifier) != "q" || !it.NextColumn() || string(it.Column().Row) != "b" || it.NextColumn() || it.NextColumn() {
		t.Error("seek forward")
	}
	if it = m.NewIterator(kv.IterOptions{Group: group, Reverse: true}); !it.SeekColumn(kv.Column{Row: kv.RowKey("a"), Qualifier: []byte("pp")}) || string(it.Column().Qualifier) != "p" || it.NextColumn() {
		t.Error("seek in reverse")
	}
}

// BenchmarkLockCycle is what a lock costs here: set, probe, delete, on a row that many locks came and went on. In Pebble the probe
// grows with every cycle.
func BenchmarkLockCycle(b *testing.B) {
	m := memtable.New(group)
	for i := range 1000 {
		m.Set(item(0, fmt.Sprintf("other%d", i), "", 1, ""), 1)
	}
	a := at(0, "hot", "")
	b.ReportAllocs()
	ts := kv.Timestamp(2)
	for b.Loop() {
		ts++
		m.Set(memtable.Item{Address: a, Timestamp: ts}, 1)
		if _, ok := m.Latest(a, kv.MaxTimestamp); !ok {
			b.Fatal("no lock")
		}
		m.Delete(a, ts, 2)
	}
}

// A guard that copies of one request have put up stands until the last of them drops it.
func TestGuardsOfCopies(t *testing.T) {
	m := memtable.New(group)
	a := at(0, "a", "")
	guard := memtable.Item{Address: a, Timestamp: 5, Value: []byte("guard")}
	for _, under := range []int{0, 1} {
		if under == 1 {
			m.Set(memtable.Item{Address: a, Timestamp: 5, Value: []byte("set")}, 1)
		}
		m.Guard(guard)
		m.Guard(guard)
		m.DropGuard(a, 5)
		if v, _ := m.Get(a, 5); string(v) != "guard" {
			t.Errorf("one of two has dropped it: %q is seen", v)
		}
		m.DropGuard(a, 5)
		if v, ok := m.Get(a, 5); ok != (under == 1) || ok && string(v) != "set" {
			t.Errorf("both have dropped it: %q, %v", v, ok)
		}
	}
	m.Delete(a, 5, 2)
	if m.Len() != 0 || len(m.Runs()) != 0 || m.Bytes() != 0 {
		t.Errorf("%d entries, %d bytes, runs %v", m.Len(), m.Bytes(), m.Runs())
	}
}

// A delete that comes late leaves what was set behind its place in the log.
func TestLateDelete(t *testing.T) {
	m := memtable.New(group)
	i := item(0, "a", "", 5, "set")
	for _, guarded := range []bool{false, true} {
		m.Set(i, 2)
		if guarded {
			m.Guard(i)
		}
		m.Delete(i.Address, 5, 1)
		if n := len(m.Persistent(kv.Span{})); n != 1 {
			t.Errorf("guarded %v: %d entries behind a delete from before, want 1", guarded, n)
		}
		m.Delete(i.Address, 5, 3)
		if n := len(m.Persistent(kv.Span{})); n != 0 {
			t.Errorf("guarded %v: %d entries behind a delete, want none", guarded, n)
		}
	}
}
