package catalog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"moka/kv"
	"moka/txn"
)

// Walk is a walk over a table's rows that has an observer run for them. Like a Hold it is no part of the
// catalog's versions: whoever takes a step writes it anew with the step's commit, so that each step is made
// once, whichever processes try.
//
//	row = | prefix | kindWalk | observer u32 BE |    value = | 1 | JSON |
type Walk struct {
	Observer uint32 `json:"observer"`
	// Replay has it run for all rows; else for those alone that it has not acknowledged, as if they were new.
	Replay bool `json:"replay,omitempty"`
	// Since, if set, has it run for the rows that are not what they were then, deleted ones, too: it was
	// disabled then, and is given back what it has missed. Unseen says that it still has rows to run for as
	// if new.
	Since  kv.Timestamp `json:"since,omitzero"`
	Unseen bool         `json:"unseen,omitempty"`
	// Through says that such a walk has come to its end, and Drain, if set, up to when changes wait for whose
	// runs what was at Since is kept. Failed: it was not kept, and the walk is at its end with rows left out.
	Through bool         `json:"through,omitempty"`
	Drain   kv.Timestamp `json:"drain,omitzero"`
	Failed  bool         `json:"failed,omitempty"`
	// Rows is the index under which the table's rows were stored when it began. If they are stored elsewhere
	// it has come to its end.
	Rows   uint32 `json:"rows"`
	Next   []byte `json:"next,omitempty"` // the row to go on with
	Walked uint64 `json:"walked,omitempty"`
	Of     uint64 `json:"of,omitempty"` // about so many rows, when it began
	// Holder is the process that walks, until Until, ms: others leave it alone.
	Holder uint64 `json:"holder,omitempty"`
	Until  int64  `json:"until,omitempty"`
}

// New reports whether rows that its observer has not acknowledged are new to it.
func (w *Walk) New() bool { return w.Unseen || !w.Replay && w.Since == 0 }

const walkVersion = 1

func walkCell(observer uint32) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn,
		binary.BigEndian.AppendUint32([]byte{prefixCatalog, kindWalk}, observer))}
}

// PutWalk writes down how far a walk has come.
func (c *Catalog) PutWalk(t *txn.Txn, w Walk) error {
	b, err := encodeWalk(w)
	if err == nil {
		t.Put(walkCell(w.Observer), b, txn.WriteOptions{})
	}
	return err
}

// DropWalk ends an observer's walk.
func (c *Catalog) DropWalk(t *txn.Txn, observer uint32) {
	t.Delete(walkCell(observer), txn.WriteOptions{})
}

// Walk returns an observer's walk.
func (c *Catalog) Walk(ctx context.Context, t *txn.Txn, observer uint32) (w Walk, ok bool, err error) {
	b, ok, err := t.Get(ctx, walkCell(observer))
	if err != nil || !ok {
		return w, false, err
	}
	w, err = decodeWalk(b)
	return w, err == nil, err
}

// Walks lists the walks under way.
func (c *Catalog) Walks(ctx context.Context, t *txn.Txn) ([]Walk, error) { return walks(ctx, t) }

// OldestMissed is the timestamp from which on versions are needed by walks that give observers back what they
// have missed; zero if there are none. Garbage collection asks, also where there is no SQL.
func OldestMissed(ctx context.Context, t *txn.Txn) (oldest kv.Timestamp, err error) {
	all, err := walks(ctx, t)
	for _, w := range all {
		if w.Since != 0 && !w.Failed && (oldest == 0 || w.Since < oldest) {
			oldest = w.Since
		}
	}
	return oldest, err
}

func walks(ctx context.Context, t *txn.Txn) (all []Walk, err error) {
	s := t.Scan(ctx, txn.ScanOptions{Span: kv.Span{
		Start: column(prefixCatalog, kindWalk).Row, End: column(prefixCatalog, kindWalk+1).Row}})
	for s.Next() && err == nil {
		var w Walk
		if w, err = decodeWalk(s.Value()); err == nil {
			all = append(all, w)
		}
	}
	return all, errors.Join(err, s.Err(), s.Close())
}

// Restored is a cell of a backup as it is to be in another store. Timestamps of the one that it came from
// mean nothing there, and acknowledgements, which are some, are not there: rows without one are not new to an
// observer, as it has seen all that is not delivered to it, and nobody knows what one that is disabled has
// missed. So a walk that knows of rows that its observer has not seen is at its end there, with rows left
// out.
func Restored(c kv.Column, value []byte) ([]byte, error) {
	row := c.Row.Row()
	if len(row) < 2 || row[0] != prefixCatalog {
		return value, nil
	}
	switch row[1] {
	case kindWalk:
		w, err := decodeWalk(value)
		if err != nil || !w.unseen() {
			return value, err
		}
		return encodeWalk(Walk{Observer: w.Observer, Replay: true, Failed: true, Rows: w.Rows,
			Walked: w.Walked, Of: w.Of})
	case kindObserver:
	default:
		return value, nil
	}
	var o Observer
	if err := decodeDescriptor(c.Row, value, &o); err != nil {
		return nil, err
	}
	if o.Fresh == 0 && o.Behind == 0 && o.DisabledTS == 0 {
		return value, nil
	}
	o.Fresh, o.Behind, o.BehindRows, o.DisabledTS, o.DisabledRows = 0, 0, 0, 0, 0
	return encodeDescriptor(&o)
}

// unseen reports whether the walk knows of rows that its observer has not seen, and nothing else does.
func (w *Walk) unseen() bool { return w.New() || w.Since != 0 && !w.Failed }

// MayBackUp refuses to take a backup in which that is missing. The walk of an observer that is paused or
// disabled waits for somebody who may never come, and no backup waits with it: anybody who may declare an
// observer could keep all from being taken. A restored one says that rows were left out, see Restored.
func MayBackUp(ctx context.Context, t *txn.Txn, s *Snapshot) error {
	all, err := walks(ctx, t)
	for _, w := range all {
		o, ok := s.ObserverByID(w.Observer)
		if !ok || !w.unseen() || o.View == 0 && (o.Paused || !o.Enabled) {
			continue
		}
		return fmt.Errorf("rows are being walked for observer %s (WITH BACKFILL or WITH REPLAY): try again "+
			"after WAIT FOR OBSERVERS %s, or ALTER OBSERVER %s PAUSE, and the rows are left out", o.Name,
			o.Name, o.Name)
	}
	return err
}

// MayMove refuses to store a table's rows anew while some are new to an observer because its walk has not
// come to them.
func (c *Catalog) MayMove(ctx context.Context, t *txn.Txn, s *Snapshot, table uint32) error {
	for _, o := range s.Observers(table) {
		if w, ok, err := c.Walk(ctx, t, o.ID); err != nil {
			return err
		} else if ok && w.unseen() {
			with := "BACKFILL"
			if !w.New() {
				with = "REPLAY"
			}
			return limit(LimitMove, "ALTER TABLE of all rows is not supported. Reason: observer '%s' is "+
				"being run for them (WITH %s). Try WAIT FOR OBSERVERS %s, or drop it.", o.Name, with, o.Name)
		}
	}
	return nil
}

func encodeWalk(w Walk) ([]byte, error) {
	b, err := json.Marshal(w)
	return append([]byte{walkVersion}, b...), err
}

func decodeWalk(b []byte) (w Walk, err error) {
	if len(b) == 0 || b[0] != walkVersion {
		return w, fmt.Errorf("catalog: a walk of another release")
	}
	return w, json.Unmarshal(b[1:], &w)
}
