package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
)

func longValue(i, version int) []byte {
	return bytes.Repeat(binary.BigEndian.AppendUint32(nil, uint32(i*7919+version)), 300)
}

// long is a store's contents as a test knows them: the newest version of each column, -1 where it was deleted.
type long map[int]int

func longAt(i int) kv.Address {
	return kv.Address{Group: 9, Column: kv.Column{Row: kv.MakeRowKey(1, fmt.Appendf(nil, "%05d", i))}}
}

// write applies a batch of changes and returns when it is durable.
func (l long) write(t *testing.T, e *engine.Engine, rng *rand.Rand, version int) {
	t.Helper()
	b := e.NewBatch()
	defer b.Close()
	for range 20 {
		i := rng.IntN(200)
		key := keys.AppendVersion(keys.AppendColumn(nil, 1, longAt(i)), 1)
		var err error
		if rng.IntN(5) == 0 {
			l[i], err = -1, b.Delete(key, nil)
		} else {
			l[i], err = version, b.Set(key, longValue(i, version), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	e.Commit(b)
}

func (l long) check(t *testing.T, e *engine.Engine, when string) {
	t.Helper()
	for i, version := range l {
		v, ok, err := e.Latest(1, longAt(i), kv.MaxTimestamp)
		switch {
		case err != nil:
			t.Fatalf("%s: column %d: %v", when, i, err)
		case ok != (version >= 0):
			t.Fatalf("%s: column %d is there: %v, its version should be %d", when, i, ok, version)
		case ok && !bytes.Equal(v.Value, longValue(i, version)):
			t.Fatalf("%s: column %d has another value than that of version %d", when, i, version)
		}
	}
	n := 0
	lower, upper := keys.GroupSpan(1, 9)
	if err := e.Scan(lower, upper, func(_, v []byte) error { n++; return nil }); err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	for _, version := range l {
		if version >= 0 {
			n--
		}
	}
	if n != 0 {
		t.Fatalf("%s: a scan has %d columns too many", when, n)
	}
}

// A store takes value separation up and gives it up again; whoever opens it, with whichever setting, finds everything.
func TestSeparateValues(t *testing.T) {
	fs := vfs.NewMem()
	rng := rand.New(rand.NewPCG(3, 1))
	have := long{}
	version := 0
	for life, separate := range []int{0, 1000, 0, 1000, 1000, 0} {
		e := mustOpen(t, "data", engine.Options{FS: fs, SeparateValues: separate, MemTableBytes: 128 << 10})
		have.check(t, e, fmt.Sprintf("life %d, opened", life))
		for range 30 {
			version++
			have.write(t, e, rng, version)
		}
		if err := e.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		have.check(t, e, fmt.Sprintf("life %d, flushed", life))
		s := e.Stats()
		if separate > 0 && s.ValueBytes == 0 {
			t.Errorf("life %d: no values in files of their own", life)
		}
		if life == 0 && s.ValueBytes > 0 {
			t.Errorf("%d bytes of values in files of their own, unasked", s.ValueBytes)
		}
		lower, upper := keys.DataSpan(1)
		if err := e.Compact(t.Context(), lower, upper); err != nil {
			t.Fatal(err)
		}
		have.check(t, e, fmt.Sprintf("life %d, compacted", life))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The machine stops at any moment, in the middle of flushes and compactions: what was acknowledged is there, from the file that it lies in.
func TestSeparateValuesCrash(t *testing.T) {
	const lives = 12
	rng := rand.New(rand.NewPCG(8, 1))
	mem := vfs.NewCrashableMem()
	have := long{}
	version := 0
	for life := range lives {
		e := mustOpen(t, "data", engine.Options{FS: mem, SeparateValues: 1000, MemTableBytes: 64 << 10})
		have.check(t, e, fmt.Sprintf("life %d", life))
		for range 20 + rng.IntN(40) {
			version++
			have.write(t, e, rng, version)
		}
		after := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		mem = after
	}
}

// Segments of the log are used again in their place: a file that grows has its size to be synced as well.
func TestLogIsRecycled(t *testing.T) {
	e := mustOpen(t, "data", engine.Options{FS: vfs.NewMem(), MemTableBytes: 64 << 10})
	for i := range 2000 {
		put(t, e, i, string(bytes.Repeat([]byte{'v'}, 500)))
	}
	if s := e.Stats(); s.LogRecycled == 0 || s.LogFiles > 10 {
		t.Errorf("of a log of %d files %d were used again", s.LogFiles, s.LogRecycled)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
