package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/sqlfront/catalog"
	"moka/triggers"
	"moka/txn"
	"moka/txn/gc"
)

// openGC begins to say what this process still reads and, where the data is, to remove what nobody does. The
// first report comes before the first transaction. It returns who has to hear of another session.
func (s *stack) openGC(ctx context.Context, session coord.Session) (told []sessionUser, err error) {
	name := cmp.Or(s.sqlAddr, s.nodeAddr, s.httpAddr, "a process without addresses")
	r := gc.NewReporter(s.coord, session, s.txn, name, s.o.Retention, s.o.Logger)
	if err := r.Report(ctx); err != nil {
		return nil, fmt.Errorf("reporting what this process reads: %w", err)
	}
	s.background(r.Run)
	told = append(told, r)
	if s.node == nil || s.o.Retention == 0 {
		return told, nil
	}
	c, err := gc.NewCollector(s.coord, session, s.txn, s.clock, gc.Options{
		Retention: s.o.Retention, MaxHold: s.o.MaxHold, Raise: s.raise,
		Waiting: s.oldestWaiting, Logger: s.o.Logger,
	})
	if err != nil {
		return nil, err
	}
	s.gc = c
	s.background(c.Run)
	return append(told, c), nil
}

// oldestWaiting is the oldest change that an observer has not seen, or is about to be told of.
func (s *stack) oldestWaiting(ctx context.Context) (oldest kv.Timestamp, err error) {
	list, err := triggers.Backlogs(ctx, s.store)
	for _, b := range list {
		if b.Oldest != 0 && (oldest == 0 || b.Oldest < oldest) {
			oldest = b.Oldest
		}
	}
	if err != nil {
		return 0, err
	}
	t := s.txn.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	missed, err := catalog.OldestMissed(ctx, t)
	if missed != 0 && (oldest == 0 || missed < oldest) {
		oldest = missed + 1 // what was at that time is kept, too
	}
	return oldest, err
}

// showGC is "moka ctl gc".
func showGC(ctx context.Context, s *stack, _ []string) (any, error) {
	return s.gcSections(ctx)
}

func (s *stack) gcSections(ctx context.Context) (*status, error) {
	st := &status{Version: version, Uptime: time.Since(s.started).Round(time.Second).String(), SQL: s.sqlAddr}
	if s.gc != nil {
		st.Sections = append(st.Sections, counters("garbage collection", s.gc.Metrics()))
	}
	list, err := gc.Reports(ctx, s.coord)
	if err != nil {
		return nil, err
	}
	sec := section{Title: "oldest snapshots", Columns: []string{"process", "session", "age", "open", "of"}}
	for _, r := range list {
		sec.Rows = append(sec.Rows, []string{
			r.Name, fmt.Sprint(r.Session), time.Since(r.Oldest.Time()).Round(time.Millisecond).String(),
			fmt.Sprint(r.Open), r.Note,
		})
	}
	st.Sections = append(st.Sections, sec)
	return st, nil
}
