package engine

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Ingest removes all keys in [lower, upper) and puts those of the tables at paths in their place, in one
// atomic step that is durable when it returns. The tables lie in the store's file system, do not overlap, and
// are gone from there afterwards. Keys outside of the span may be in them, too. The bounds have no versions.
//
// The caller sees to it that nobody writes to the span meanwhile. Who reads there sees it before or behind
// the step.
func (e *Engine) Ingest(ctx context.Context, paths []string, lower, upper []byte) error {
	if err := e.Failed(); err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil { // as in apply
			if err, ok := r.(error); ok {
				e.die(err)
			}
			e.die(fmt.Errorf("%v", r))
		}
	}()
	g := e.unflushed.enterAll()
	defer e.unflushed.leave(g) // which writes the marker that says when all of this is in tables
	_, err := e.db.IngestAndExcise(ctx, paths, nil, nil, pebble.KeyRange{Start: lower, End: upper})
	return e.ioError("engine.Ingest", err)
}
