package keys_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"pgregory.net/rapid"

	"moka/kv"
	"moka/kv/keys"
)

// The bytes of each kind of key, as the package comment draws them. They are on disk: a change here is a new format.
func TestGolden(t *testing.T) {
	row := kv.MakeRowKey(kv.TableTxn, []byte{0x10, 0x00, 'a'})
	column := kv.Address{Group: kv.GroupTxnWrite, Run: 7, Column: kv.Column{Row: row, Family: 3, Qualifier: []byte{'q', 0}}}
	stateLower, stateUpper := keys.StateSpan(5, keys.StateTablet)
	groupLower, groupUpper := keys.GroupSpan(5, 255)
	shardLower, shardUpper := keys.ShardSpan(0x0000ffff)
	spanLower, spanUpper := keys.AppendSpan(nil, 5, 16, 0xffffffff, kv.Span{Start: row})
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"node", keys.AppendNode(nil, keys.NodeCoord, []byte("x")), "0163" + "78" + "00"},
		{"state", keys.AppendState(nil, 5, keys.StateTablet, 9), "03" + "00000005" + "6174" + "0000000000000009" + "00"},
		{"state lower", stateLower, "03" + "00000005" + "6174" + "00"},
		{"state upper", stateUpper, "03" + "00000005" + "6175" + "00"},
		{"column", keys.AppendColumn(nil, 5, column), "03" + "00000005" + "6b" + "10" + "00000007" + "00000002" + "10" + "00ff" + "61" + "0001" + "03" + "7100" + "00"},
		{"version", keys.AppendVersion(keys.AppendColumn(nil, 5, column), 0x0102), "03" + "00000005" + "6b" + "10" + "00000007" + "00000002" + "10" + "00ff" + "61" + "0001" + "03" + "7100" + "00" + "0000000000000103" + "09"},
		{"version zero", keys.AppendVersion([]byte{1, 0}, 0), "0100" + "0000000000000001" + "09"},
		{"newest", keys.AppendVersion([]byte{1, 0}, kv.MaxTimestamp), "0100" + "8000000000000000" + "09"},
		{"beyond the newest", keys.AppendVersion([]byte{1, 0}, 1<<64-1), "0100" + "8000000000000000" + "09"},
		{"row bound", keys.AppendRowBound(nil, 5, 16, 7, row), "03" + "00000005" + "6b" + "10" + "00000007" + "00000002" + "10" + "00ff" + "61" + "00"},
		{"short bound", keys.AppendRowBound(nil, 5, 16, 7, kv.RowKey{9}), "03" + "00000005" + "6b" + "10" + "00000007" + "09000000" + "00"},
		{"run end", keys.AppendRunEnd(nil, 5, 16, 7), "03" + "00000005" + "6b" + "10" + "00000008" + "00"},
		{"last run's end", keys.AppendRunEnd(nil, 5, 16, 1<<32-1), "03" + "00000005" + "6b" + "11" + "00"},
		{"group lower", groupLower, "03" + "00000005" + "6b" + "ff" + "00"},
		{"last group's end", groupUpper, "03" + "00000005" + "6c" + "00"},
		{"shard lower", shardLower, "03" + "0000ffff" + "00"},
		{"shard upper", shardUpper, "03" + "0001" + "00"},
		{"span lower", spanLower, "03" + "00000005" + "6b" + "10" + "ffffffff" + "00000002" + "10" + "00ff" + "61" + "00"},
		{"span upper", spanUpper, "03" + "00000005" + "6b" + "11" + "00"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func drawRow(t *rapid.T, name string) kv.RowKey {
	table := rapid.SampledFrom([]kv.TableID{0, 1, 2, 255, 256, 1 << 31, 1<<32 - 1}).Draw(t, name+" table")
	return kv.MakeRowKey(table, rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xfe, 0xff}), 0, 6).Draw(t, name+" row"))
}

func drawKey(t *rapid.T, name string) keys.Key {
	return keys.Key{
		Shard: kv.ShardID(rapid.SampledFrom([]uint32{1, 2, 255, 256}).Draw(t, name+" shard")),
		Address: kv.Address{
			Group: kv.GroupID(rapid.SampledFrom([]byte{0, 16, 17, 255}).Draw(t, name+" group")),
			Run:   rapid.SampledFrom([]uint32{0, 1, 1<<32 - 1}).Draw(t, name+" run"),
			Column: kv.Column{
				Row: drawRow(t, name), Family: kv.FamilyID(rapid.SampledFrom([]byte{0, 1, 255}).Draw(t, name+" family")),
				Qualifier: rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'q', 0xff}), 0, 4).Draw(t, name+" qualifier"),
			},
		},
		Timestamp: kv.Timestamp(rapid.SampledFrom([]uint64{0, 1, 2, 255, 1 << 40, 1<<63 - 1}).Draw(t, name+" ts")),
	}
}

func encode(k keys.Key) []byte {
	return keys.AppendVersion(keys.AppendColumn(nil, k.Shard, k.Address), k.Timestamp)
}

// compare is the order that is wanted, said in the plainest way.
func compare(a, b keys.Key) int {
	for _, c := range []int{
		int(int64(a.Shard) - int64(b.Shard)), int(a.Address.Group) - int(b.Address.Group), int(int64(a.Address.Run) - int64(b.Address.Run)),
		bytes.Compare(a.Address.Row, b.Address.Row), int(a.Address.Family) - int(b.Address.Family), bytes.Compare(a.Address.Qualifier, b.Address.Qualifier),
		-bytes.Compare(be(uint64(a.Timestamp)), be(uint64(b.Timestamp))),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

func be(v uint64) []byte {
	return []byte{byte(v >> 56), byte(v >> 48), byte(v >> 40), byte(v >> 32), byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// Keys compare as what they stand for, decode to it, and lie in exactly the spans they should.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawKey(t, "a"), drawKey(t, "b")
		ea, eb := encode(a), encode(b)
		if got, want := sign(cockroachkvs.Compare(ea, eb)), sign(compare(a, b)); got != want {
			t.Fatalf("compare %x %x: %d, want %d", ea, eb, got, want)
		}
		d, _, err := keys.Decode(ea, nil)
		if err != nil || compare(d, a) != 0 {
			t.Fatalf("%x decodes to %+v (%v), want %+v", ea, d, err, a)
		}
		if n := cockroachkvs.Split(ea); n != keys.Prefix(ea) || !bytes.Equal(ea[:n], keys.AppendColumn(nil, a.Shard, a.Address)) {
			t.Fatalf("%x is split at %d", ea, n)
		}
		r := keys.ReplaceShard(nil, ea, b.Shard)
		if d, _, err := keys.Decode(r, nil); err != nil || d.Shard != b.Shard || !bytes.Equal(r[5:], ea[5:]) {
			t.Fatalf("%x under another shard is %x (%v)", ea, r, err)
		}
	})
}

func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKey(t, "k")
		span := kv.Span{Start: drawRow(t, "start"), End: drawRow(t, "end")}
		if rapid.Bool().Draw(t, "short start") {
			span.Start = span.Start[:rapid.IntRange(0, 4).Draw(t, "start length")]
		}
		if rapid.Bool().Draw(t, "short end") {
			span.End = span.End[:rapid.IntRange(0, 4).Draw(t, "end length")]
		}
		g := kv.GroupID(rapid.SampledFrom([]byte{0, 16, 17, 255}).Draw(t, "group"))
		run := rapid.SampledFrom([]uint32{0, 1, 1<<32 - 1}).Draw(t, "run")
		shard := kv.ShardID(rapid.SampledFrom([]uint32{1, 2, 255, 256}).Draw(t, "shard"))
		e := encode(k)
		in := func(lower, upper []byte) bool {
			for _, b := range [][]byte{lower, upper} {
				if cockroachkvs.Split(b) != len(b) {
					t.Fatalf("bound %x is not bare", b)
				}
			}
			return cockroachkvs.Compare(e, lower) >= 0 && cockroachkvs.Compare(e, upper) < 0
		}
		inShard := k.Shard == shard
		inGroup := inShard && k.Address.Group == g
		inRun := inGroup && k.Address.Run == run
		if got := in(keys.ShardSpan(shard)); got != inShard {
			t.Fatalf("%x in shard %d: %v", e, shard, got)
		}
		if got := in(keys.DataSpan(shard)); got != inShard {
			t.Fatalf("%x in data of shard %d: %v", e, shard, got)
		}
		if got := in(keys.GroupSpan(shard, g)); got != inGroup {
			t.Fatalf("%x in group %d: %v", e, g, got)
		}
		if got := in(keys.AppendSpan(nil, shard, g, run, span)); got != (inRun && span.Contains(k.Address.Row)) {
			t.Fatalf("%x in %x..%x: %v", e, []byte(span.Start), []byte(span.End), got)
		}
	})
}

// FuzzDecode: junk gives an error, never a panic, and what decodes encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	f.Add(encode(keys.Key{Shard: 1, Address: kv.Address{Group: 16, Column: kv.Column{Row: kv.MakeRowKey(2, []byte{0, 'a'}), Qualifier: []byte("q")}}, Timestamp: 5}))
	f.Add([]byte{})
	f.Add([]byte{3, 0, 0, 0, 1, 'k', 16, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9})
	f.Fuzz(func(t *testing.T, b []byte) {
		before := slices.Clone(b)
		if k, _, err := keys.Decode(b, nil); err == nil && !bytes.Equal(encode(k), before) {
			t.Fatalf("%x decodes to %+v, which encodes to %x", before, k, encode(k))
		}
		keys.GroupRun(b)
		keys.StateID(b)
		keys.NodeRest(b)
	})
}

func BenchmarkEncode(b *testing.B) {
	a := kv.Address{Group: 16, Column: kv.Column{Row: kv.MakeRowKey(2, []byte{0x10, 0, 0, 0, 7, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 1, 2, 3}), Family: 1}}
	buf := make([]byte, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		buf = keys.AppendVersion(keys.AppendColumn(buf[:0], 3, a), 12345)
	}
}

func BenchmarkDecode(b *testing.B) {
	k := encode(keys.Key{Shard: 3, Address: kv.Address{Group: 16, Column: kv.Column{Row: kv.MakeRowKey(2, []byte{0x10, 0, 0, 0, 7, 0, 0, 0, 1, 0x80, 0, 0, 0, 0, 1, 2, 3}), Family: 1}}, Timestamp: 12345})
	buf := make([]byte, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if _, buf, err = keys.Decode(k, buf); err != nil {
			b.Fatal(err)
		}
	}
}
