package raft

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"testing"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"moka/kv"
	"moka/kv/keys"
)

var sample = Entry{Flags: Structure, Term: 6, Lead: 2, Seq: 300, Truncated: 12, Commands: []Command{
	{Tablets: []kv.TabletRef{{ID: 5, Generation: 9}, {ID: 600, Generation: 1}}, Batch: []byte("batch")}, {},
}}

// The bytes of an entry and of the records beside a log are on disk and on the wire: they change with a version only.
func TestGoldenBytes(t *testing.T) {
	var b recorded
	Bootstrap(&b, 258, []uint64{1, 2, 3})
	for _, g := range []struct{ what, want string }{
		{hex.EncodeToString(sample.Append(nil)), "0101" + "06" + "02" + "ac02" + "0c" + "02" + "02" + "0509" + "d80401" + "05" + "6261746368" + "00" + "00" + "8388a115"},
		{hex.EncodeToString(keys.AppendLogEntry(nil, 258, 11)), "02000001026c000000000000000b00"},
		{hex.EncodeToString(encodeStored(&raftpb.Entry{Term: new(uint64(5)), Data: []byte("xy")})), "0105007879"},
		{string(b), "02000001026800=0105000a 02000001027400=010a05 02000001026100=010a0500 02000001026300=0103010203 "},
	} {
		if g.what != g.want {
			t.Errorf("have %s\nwant %s", g.what, g.want)
		}
	}
}

type recorded []byte

func (r *recorded) Set(k, v []byte) {
	*r = append(*r, hex.EncodeToString(k)+"="+hex.EncodeToString(v)+" "...)
}
func (r *recorded) DeleteRange(_, _ []byte) {}

// An entry is read back as it was written, and one that was changed in any byte, or cut anywhere, is refused.
func TestEntryCodec(t *testing.T) {
	b := sample.Append(nil)
	got, err := DecodeEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	got.Commands[1].Batch = nil
	if !reflect.DeepEqual(got, sample) {
		t.Errorf("%+v", got)
	}
	for i := range b {
		if _, err := DecodeEntry(b[:i]); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("cut at %d: %v", i, err)
		}
		bad := bytes.Clone(b)
		bad[i] ^= 0x40
		if _, err := DecodeEntry(bad); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(sample.Append(nil))
	f.Add([]byte{1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry(b)
		if err != nil {
			return
		}
		again, err := DecodeEntry(e.Append(nil))
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%+v, then %+v, %v", e, again, err)
		}
	})
}

// The log answers as raft's own storage in memory does, whatever is appended, overwritten or cut, with and without entries in memory,
// and after it was opened anew.
func TestLogIsAStorage(t *testing.T) {
	for _, cache := range []int{1, 400, 1 << 20} {
		s := &table{}
		var b ops
		Bootstrap(&b, 1, []uint64{1})
		b.apply(s)
		l, _, _, err := openLog(s, 1, cache)
		if err != nil {
			t.Fatal(err)
		}
		model := raft.NewMemoryStorage()
		if err := model.ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{Index: new(uint64(firstIndex)), Term: new(uint64(firstTerm)),
			ConfState: &raftpb.ConfState{Voters: []uint64{1}}}}); err != nil {
			t.Fatal(err)
		}
		term := uint64(firstTerm)
		for step := range 200 {
			b = nil
			last, _ := model.LastIndex()
			first, _ := model.FirstIndex()
			switch x := uint64(step*7919) % 10; {
			case x == 0 && last > first+3: // a conflict: the last entries are overwritten
				term++
				last -= 3
				fallthrough
			case x < 8:
				var es []*raftpb.Entry
				for i := range x + 1 {
					es = append(es, &raftpb.Entry{Term: new(term), Index: new(last + 1 + i), Type: raftpb.EntryNormal.Enum(), Data: bytes.Repeat([]byte{byte(step)}, int(x)*9)})
				}
				l.append(&b, es)
				if err := model.Append(es); err != nil {
					t.Fatal(err)
				}
			case last > first+10:
				if err := l.truncate(&b, first+2); err != nil {
					t.Fatal(err)
				}
				if err := model.Compact(first + 2); err != nil {
					t.Fatal(err)
				}
			}
			b.apply(s)
			if step%20 == 0 {
				b = nil
				l.setHard(&b, &raftpb.HardState{Term: new(term), Vote: new(uint64(1)), Commit: new(uint64(firstIndex))})
				at, _ := model.FirstIndex()
				b.Set(keys.AppendLogRecord(nil, 1, keys.LogApplied), record(at-1, term, 0))
				b.apply(s)
				if l, _, _, err = openLog(s, 1, cache); err != nil {
					t.Fatal(err)
				}
			}
			if step%5 == 4 {
				compareLogs(t, l, model)
			}
		}
	}
}

func compareLogs(t *testing.T, l *log, model *raft.MemoryStorage) {
	t.Helper()
	first, _ := model.FirstIndex()
	last, _ := model.LastIndex()
	if f, _ := l.FirstIndex(); f != first {
		t.Fatalf("first %d, want %d", f, first)
	}
	if n, _ := l.LastIndex(); n != last {
		t.Fatalf("last %d, want %d", n, last)
	}
	for i := first - 2; i <= last+1; i++ {
		have, err := l.Term(i)
		want, wantErr := model.Term(i)
		if have != want || !errors.Is(err, wantErr) {
			t.Fatalf("term of %d: %d %v, want %d %v", i, have, err, want, wantErr)
		}
	}
	for lo := first; lo <= last; lo += 1 + (last-first)/7 {
		for _, max := range []uint64{0, 100, 1 << 40} {
			have, err := l.Entries(lo, last+1, max)
			want, wantErr := model.Entries(lo, last+1, 1<<40)
			if err != nil || wantErr != nil || len(have) == 0 || max == 1<<40 && len(have) != len(want) {
				t.Fatalf("entries %d-%d: %d %v, want %d %v", lo, last, len(have), err, len(want), wantErr)
			}
			if !slices.EqualFunc(have, want[:len(have)], func(a, b *raftpb.Entry) bool {
				return a.GetIndex() == b.GetIndex() && a.GetTerm() == b.GetTerm() && bytes.Equal(a.GetData(), b.GetData())
			}) {
				t.Fatalf("entries %d-%d differ", lo, last)
			}
		}
	}
	if _, err := l.Entries(first-1, last+1, 1); !errors.Is(err, raft.ErrCompacted) {
		t.Fatal(err)
	}
}
