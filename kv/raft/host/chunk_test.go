package host

import (
	"errors"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
)

type chunks [][]byte

func (c *chunks) Recv() ([]byte, error) {
	if len(*c) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return b, nil
}

func (c *chunks) Close() {}

// A snapshot with a bit turned, a piece missing, twice or in another place, or keys of another shard
// is refused whole: what is ingested is believed.
func TestDamagedSnapshotsAreRefused(t *testing.T) {
	e, err := engine.Open("data", engine.Options{FS: vfs.NewMem(), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	key := func(id kv.ShardID, name string) []byte {
		a := kv.Address{Group: 9, Column: kv.Column{Row: kv.RowKey(name), Family: 1}}
		return keys.AppendVersion(keys.AppendColumn(nil, id, a), 7)
	}
	data := func(ks ...[]byte) []byte {
		b := []byte{chunkData}
		for _, k := range ks {
			b = appendPair(b, k, []byte("value"))
		}
		return seal(b)
	}
	at := &raft.Snapshot{Index: 77, Term: 8, Chain: 99, Members: &raft.Members{Voters: []uint64{1, 2, 3}}}
	head := seal(appendHead(nil, at))
	end := func(n uint64) []byte { return seal(appendEnd(nil, n)) }
	one, two := data(key(1, "a"), key(1, "b")), data(key(1, "c"))
	get := func(c chunks) (*raft.Snapshot, error) {
		tables := e.NewTables()
		defer tables.Discard()
		return receive(&c, raft.Wanted{Shard: 1}, tables, func() {})
	}
	s, err := get(chunks{head, one, two, end(3)})
	if err != nil || s.Index != 77 || s.Term != 8 || s.Chain != 99 || len(s.Members.Voters) != 3 {
		t.Fatalf("a whole one: %+v, %v", s, err)
	}
	if _, err := get(chunks{head, end(0)}); err != nil {
		t.Errorf("of an empty shard: %v", err)
	}
	for name, c := range map[string]chunks{
		"without its head":        {one, two, end(3)},
		"a piece missing":         {head, one, end(3)},
		"a piece twice":           {head, one, one, two, end(5)},
		"the other way round":     {head, two, one, end(3)},
		"two heads":               {head, head, one, two, end(3)},
		"of another shard":        {head, data(key(2, "a")), end(1)},
		"of the log":              {head, data(keys.AppendLogRecord(nil, 1, keys.LogHardState)), end(1)},
		"keys that descend":       {head, data(key(1, "b"), key(1, "a")), end(2)},
		"an empty key":            {head, data(nil), end(1)},
		"a chunk of no kind":      {head, seal([]byte{9}), end(0)},
		"nothing":                 {head, {}, end(0)},
		"a head of a new version": {seal([]byte{chunkHead, 2, 1, 1}), end(0)},
	} {
		if _, err := get(c); !errors.Is(err, kv.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := get(chunks{head, one}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("broken off: %v", err)
	}
	whole := chunks{head, one, two, end(3)}
	for i := range whole {
		for bit := range len(whole[i]) * 8 {
			bad := append(chunks{}, whole...)
			bad[i] = append([]byte{}, whole[i]...)
			bad[i][bit/8] ^= 1 << (bit % 8)
			if _, err := get(bad); err == nil {
				t.Fatalf("chunk %d with bit %d turned is taken", i, bit)
			}
		}
	}
}
