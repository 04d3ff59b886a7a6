package local_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv/coord/local"
)

// pebbleStore is a local.Store on a Pebble with the node's comparer and key schema.
type pebbleStore struct{ db *pebble.DB }

func openPebble(t *testing.T, fs vfs.FS) pebbleStore {
	t.Helper()
	db, err := pebble.Open("db", &pebble.Options{
		FS:                 fs,
		Comparer:           &cockroachkvs.Comparer,
		KeySchema:          cockroachkvs.KeySchema.Name,
		KeySchemas:         map[string]*pebble.KeySchema{cockroachkvs.KeySchema.Name: &cockroachkvs.KeySchema},
		FormatMajorVersion: pebble.FormatTableFormatV6,
		Logger:             quiet{t},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pebbleStore{db}
}

// quiet keeps Pebble's chatter out of the tests' output; what is fatal to Pebble fails the test.
type quiet struct{ t *testing.T }

func (quiet) Infof(string, ...any)                {}
func (quiet) Errorf(string, ...any)               {}
func (q quiet) Fatalf(format string, args ...any) { q.t.Errorf("pebble: "+format, args...) }

func (p pebbleStore) Get(key []byte) ([]byte, bool, error) {
	v, closer, err := p.db.Get(key)
	if err == pebble.ErrNotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer closer.Close()
	return slices.Clone(v), true, nil
}

func (p pebbleStore) Scan(prefix []byte, fn func(k, v []byte) error) error {
	// Bounds carry the sentinel as every key does. The successor of the prefix is safe to form: the tests' prefixes and tags are not 0xff.
	upper := slices.Clone(prefix)
	upper[len(upper)-1]++
	it, err := p.db.NewIter(&pebble.IterOptions{LowerBound: append(slices.Clone(prefix), 0), UpperBound: append(upper, 0)})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(it.Key(), prefix) {
			continue
		}
		if err := fn(it.Key(), v); err != nil {
			return err
		}
	}
	return it.Error()
}

func (p pebbleStore) Apply(sets []local.KV, deletes [][]byte) error {
	b := p.db.NewBatch()
	defer b.Close()
	for _, kv := range sets {
		if err := b.Set(kv.Key, kv.Value, nil); err != nil {
			return err
		}
	}
	for _, key := range deletes {
		if err := b.Delete(key, nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}
