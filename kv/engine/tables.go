package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
)

// incomingDir is where tables are written that are to be ingested. What is there at a start was left
// by a process that died meanwhile; nothing of the store is in it.
const incomingDir = "incoming"

// tableBytes is after how many bytes a table is ended.
const tableBytes = 32 << 20

// Tables are tables that are written beside the store, to become a part of it in one step or not at
// all.
type Tables struct {
	e     *Engine
	paths []string
	w     *sstable.Writer
	bytes int
	asked int // after how many bytes of the table for room
}

// NewTables begins to write tables. Discard them in the end, ingested or not.
func (e *Engine) NewTables() *Tables { return &Tables{e: e} }

// Set adds a key, above all that were added before.
func (t *Tables) Set(key, value []byte) error {
	if t.w == nil || t.bytes > tableBytes {
		if err := t.next(); err != nil {
			return err
		}
	}
	if t.bytes += len(key) + len(value); t.bytes-t.asked > ballastChunk {
		// Not only before each table: a small disk has no room for one.
		if err := t.e.Enter(kv.Adds, t.bytes-t.asked, 0); err != nil {
			return err
		}
		t.e.Leave(t.bytes - t.asked)
		t.asked = t.bytes
	}
	return t.e.ioError("engine.Tables", t.w.Set(key, value))
}

// Replace ends the tables with one that removes all keys in [lower, upper), where none was added, and
// has these in their place.
func (t *Tables) Replace(lower, upper []byte, pairs func(set func(key, value []byte) error) error) error {
	if err := t.next(); err != nil {
		return err
	}
	if err := t.w.DeleteRange(lower, upper); err != nil {
		return t.e.ioError("engine.Tables", err)
	}
	if err := pairs(t.w.Set); err != nil {
		return t.e.ioError("engine.Tables", err)
	}
	return t.Finish()
}

// next begins another table, if there is room for one.
func (t *Tables) next() error {
	if err := errors.Join(t.Finish(), t.e.Room(kv.Adds, 0)); err != nil {
		return err
	}
	fs := t.e.o.FS
	if err := fs.MkdirAll(t.e.incoming, 0o700); err != nil {
		return t.e.ioError("engine.Tables", err)
	}
	path := fs.PathJoin(t.e.incoming, fmt.Sprintf("%06d.sst", t.e.written.Add(1)))
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return t.e.ioError("engine.Tables", err)
	}
	t.paths = append(t.paths, path)
	o := t.e.pebble.MakeWriterOptions(0, t.e.db.TableFormat())
	t.w, t.bytes, t.asked = sstable.NewWriter(objstorageprovider.NewFileWritable(f), o), 0, 0
	return nil
}

// Finish ends the table that is being written, durably.
func (t *Tables) Finish() error {
	w := t.w
	if t.w = nil; w == nil {
		return nil
	}
	return t.e.ioError("engine.Tables", w.Close())
}

// Ingest is Engine.Ingest for these tables.
func (t *Tables) Ingest(ctx context.Context, lower, upper []byte) error {
	if t.w != nil {
		return kv.Errorf(kv.CodeInternal, "engine.Tables", "a table is still being written")
	}
	return t.e.Ingest(ctx, t.paths, lower, upper)
}

// Discard removes what is left of the tables.
func (t *Tables) Discard() {
	_ = t.Finish() // it goes at once
	for _, p := range t.paths {
		_ = t.e.o.FS.Remove(p) // ingested ones are not there any more, and others go at the next start
	}
	t.paths = nil
}

// Compare orders keys as the store does.
func Compare(a, b []byte) int { return cockroachkvs.Comparer.Compare(a, b) }
