package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"moka/kv"
	"moka/triggers"
	"moka/txn/record"
)

// cell is one stored version of a row, for people: a line of the paper's figure 4.
type cell struct {
	Column   string       // "row", or "ack of OBSERVER"
	Record   string       // write, data, lock, rollback, notify
	At       kv.Timestamp // the version's timestamp
	Refers   kv.Timestamp // the other timestamp that it carries, or zero
	What     string       // put, delete, …
	Value    string       // what it holds, as SQL writes it
	Primary  string       // of a lock: where its primary is; empty if it is that itself
	rowBytes []byte       // the row's stored bytes, if it holds some
	primary  *kv.Column
}

// maxCells bounds one answer.
const maxCells = 1000

// cellsOf reads what the store has of a row: its versions and locks, and what observers have been told and
// have acknowledged of it. It reads one record after the other, not one snapshot.
func (s *stack) cellsOf(ctx context.Context, row kv.RowKey) ([]cell, error) {
	h, err := s.shardOf(row)
	if err != nil {
		return nil, err
	}
	observers, err := s.sql.ObserverNames(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]triggers.ObserverID, 0, len(observers))
	for id := range observers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var cells []cell
	for _, g := range record.Groups {
		for _, run := range runsOf(g, ids) {
			if cells, err = appendCells(cells, h.Reader(), kv.IterOptions{Group: g, Run: run,
				Span: kv.Span{Start: row, End: append(slices.Clone(row), 0)}}, observers); err != nil {
				return nil, err
			}
		}
	}
	return cells, s.wordCells(ctx, row, cells)
}

// runsOf are the runs of a group in which records of a row may lie.
func runsOf(g kv.GroupID, observers []triggers.ObserverID) []uint32 {
	switch g {
	case kv.GroupTxnLock:
		return []uint32{record.RunExclusive, record.RunShared}
	case kv.GroupNotify:
		return observers
	}
	return []uint32{0}
}

func (s *stack) shardOf(row kv.RowKey) (kv.ShardHandle, error) {
	for _, t := range s.node.Tablets() {
		if t.Span.Contains(row) {
			if h, ok := s.node.Shard(t.Shard); ok {
				return h, nil
			}
		}
	}
	return nil, fmt.Errorf("no tablet of this node holds that row")
}

func appendCells(cells []cell, r kv.Reader, o kv.IterOptions, observers map[triggers.ObserverID]string) (
	[]cell, error) {
	it, err := r.Iter(o)
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for it.NextColumn() {
		column := columnText(it.Column(), observers)
		for ok := true; ok; ok = it.NextVersion() {
			if len(cells) >= maxCells {
				return cells, nil
			}
			e, err := record.Describe(o.Group, o.Run, it.Version())
			if err != nil {
				return nil, err
			}
			c := cell{Column: column, Record: e.Group, At: e.Timestamp, Refers: e.Refers, What: e.Kind}
			switch {
			case e.Group == "notify":
				c.What = "observer " + observers[e.Observer]
			case e.Marker:
				c.What, c.At = "newest lock-only commit", e.Refers
			case e.Group == "lock" && e.Async:
				c.What += ", asynchronous commit"
			}
			if c.primary = e.Primary; c.primary != nil {
				p := *c.primary
				p.Row = slices.Clone(p.Row)
				c.primary = &p
			}
			if e.HasValue && it.Column().Family != triggers.AckFamily {
				c.rowBytes = append([]byte{}, e.Value...)
			} else if e.HasValue {
				c.Value = ackText(e.Value)
			}
			cells = append(cells, c)
		}
	}
	return cells, it.Err()
}

// columnText names a column of a row: a row of SQL is one, its acknowledgements are the others.
func columnText(c kv.Column, observers map[triggers.ObserverID]string) string {
	if c.Family != triggers.AckFamily || len(c.Qualifier) < 4 {
		return "row"
	}
	id := binary.BigEndian.Uint32(c.Qualifier)
	if name := observers[id]; name != "" {
		return "ack of " + name
	}
	return fmt.Sprintf("ack of observer %d", id)
}

// ackText says up to where an observer has acknowledged.
func ackText(b []byte) string {
	if ts, err := triggers.DecodeAck(b); err == nil {
		return "up to " + ts.String()
	}
	return fmt.Sprintf("0x%x", b)
}

// wordCells puts values and primaries into SQL's words.
func (s *stack) wordCells(ctx context.Context, row kv.RowKey, cells []cell) error {
	var stored [][]byte
	var primaries []kv.RowKey
	for _, c := range cells {
		if c.rowBytes != nil {
			stored = append(stored, c.rowBytes)
		}
		if c.primary != nil {
			primaries = append(primaries, c.primary.Row)
		}
	}
	values, err := s.sql.RowValues(ctx, row, stored)
	if err != nil {
		return err
	}
	names, err := s.sql.RowNames(ctx, primaries)
	if err != nil {
		return err
	}
	for i := range cells {
		if cells[i].rowBytes != nil {
			cells[i].Value, values = values[0], values[1:]
		}
		if cells[i].primary != nil {
			cells[i].Primary, names = names[0], names[1:]
		}
	}
	return nil
}

// showCells is "moka ctl cells".
func showCells(ctx context.Context, s *stack, args []string) (any, error) {
	row, err := s.rowOf(ctx, args[0], args[1])
	if err != nil {
		return nil, err
	}
	cells, err := s.cellsOf(ctx, row)
	if err != nil {
		return nil, err
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("the store has nothing of the row %s of %s", args[1], args[0])
	}
	sec := section{Title: args[0] + "(" + args[1] + ")",
		Columns: []string{"column", "record", "timestamp", "start_ts", "what", "value"}}
	for _, c := range cells {
		start, what := "", c.What
		if c.Refers != 0 && c.At != c.Refers {
			start = c.Refers.String()
		}
		if c.Record == "lock" {
			if what += ", primary"; c.Primary != "" {
				what = c.What + ", primary is " + c.Primary
			}
		}
		sec.Rows = append(sec.Rows, []string{c.Column, c.Record, c.At.String(), start, what, c.Value})
	}
	return sec, nil
}
