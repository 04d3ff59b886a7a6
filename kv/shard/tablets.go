package shard

import (
	"bytes"
	"context"
	"slices"
	"sort"

	"moka/kv"
	"moka/kv/wire"
)

// tablets is a shard's tablet table. It is immutable: a change makes a new one, so that "nothing changed since" is one comparison
// of pointers.
type tablets struct {
	list   []kv.Tablet // by start
	byID   map[kv.TabletID]int
	frozen map[kv.TabletID]chan struct{} // closed when the tablet's fate is decided
}

func newTablets(list []kv.Tablet, frozen map[kv.TabletID]chan struct{}) *tablets {
	t := &tablets{list: slices.Clone(list), byID: make(map[kv.TabletID]int, len(list)), frozen: frozen}
	slices.SortFunc(t.list, func(a, b kv.Tablet) int { return bytes.Compare(a.Span.Start, b.Span.Start) })
	for i, x := range t.list {
		t.byID[x.ID] = i
	}
	return t
}

// find returns the tablet that holds the row.
func (t *tablets) find(row kv.RowKey) (kv.Tablet, bool) {
	i := sort.Search(len(t.list), func(i int) bool { return bytes.Compare(t.list[i].Span.Start, row) > 0 }) - 1
	if i < 0 || !t.list[i].Span.Contains(row) {
		return kv.Tablet{}, false
	}
	return t.list[i], true
}

func (t *tablets) get(id kv.TabletID) (kv.Tablet, bool) {
	i, ok := t.byID[id]
	if !ok {
		return kv.Tablet{}, false
	}
	return t.list[i], true
}

// with returns a table in which old (may be nil) gave way to new.
func (t *tablets) with(drop []kv.TabletID, add ...kv.Tablet) *tablets {
	list := slices.DeleteFunc(slices.Clone(t.list), func(x kv.Tablet) bool { return slices.Contains(drop, x.ID) })
	return newTablets(append(list, add...), t.frozen)
}

// admission is the answer to "may this command run here now".
type admission int

const (
	admitted admission = iota
	moved
	wait
)

// admit checks the tablets that a command was routed by, and the rows that it will write.
func (t *tablets) admit(refs []kv.TabletRef, rows []kv.RowKey) (admission, chan struct{}) {
	for _, r := range refs {
		x, ok := t.get(r.ID)
		if !ok || x.Generation != r.Generation {
			return moved, nil
		}
		if len(t.frozen) > 0 && t.frozen[r.ID] != nil {
			return wait, t.frozen[r.ID]
		}
	}
	var last kv.Tablet
	for _, row := range rows {
		if last.ID != 0 && last.Span.Contains(row) {
			continue
		}
		x, ok := t.find(row)
		if !ok || len(refs) > 0 && !slices.ContainsFunc(refs, func(r kv.TabletRef) bool { return r.ID == x.ID }) {
			return moved, nil
		}
		if len(t.frozen) > 0 && t.frozen[x.ID] != nil {
			return wait, t.frozen[x.ID]
		}
		last = x
	}
	return admitted, nil
}

// movedError says where the tablets and rows of a refused command are, as far as this node knows.
func (s *Leadership) movedError(refs []kv.TabletRef, rows []kv.RowKey) error {
	e := kv.Errorf(kv.CodeMoved, "shard", "a tablet is not on shard %d in the form the request was routed by; locate it again", s.id)
	if s.describe != nil {
		e.Tablets = s.describe(refs, rows)
	}
	return e
}

// await waits for a frozen tablet.
func await(ctx context.Context, fate chan struct{}) error {
	select {
	case <-fate:
		return nil
	case <-ctx.Done():
		return cancelled(ctx)
	}
}

func cancelled(ctx context.Context) error {
	return &kv.Error{Code: kv.CodeUnavailable, Op: "shard", Msg: "the caller gave up before anything happened", Err: ctx.Err()}
}

// The value of a tablet in the shard's state: version 1 | tablet as kv/wire draws it.
const tabletVersion = 1

// Where it is served is not part of it: that changes with each change of lead, of which the state knows
// nothing. (Earlier releases wrote the node.)
func encodeTablet(t kv.Tablet) []byte {
	t.Node = 0
	return wire.AppendTablet([]byte{tabletVersion}, t)
}

func decodeTablet(b []byte) (kv.Tablet, error) {
	d := wire.NewDecoder(b, tabletVersion)
	t := d.Tablet()
	return t, wire.Wrap("tablet", d.Finish())
}
