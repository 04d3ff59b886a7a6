package page

import (
	"context"
	"slices"
	"strings"
	"time"
)

// wait is a transaction that waits for a row lock of others.
type wait struct {
	Waiter, Holder party
	Row            string
	For            time.Duration
	Statement      string
}

// party is a transaction: its connection is known if it is of this process.
type party struct {
	ID, User   string
	Connection int64
	Running    string // its statement, if one runs
}

func (p party) Label() string {
	if p.User == "" {
		return "transaction " + p.ID
	}
	return p.User
}

func waits(ctx context.Context, v view) (any, error) {
	locks, err := v.o.Source.View(ctx, "locks")
	if err != nil {
		return nil, err
	}
	known, err := v.parties(ctx)
	if err != nil {
		return nil, err
	}
	var list []wait
	r := byName(locks)
	for i := range locks.Rows {
		if r.text(i, "lock_status") != "WAITING" {
			continue
		}
		waiter := known[r.text(i, "trx_id")]
		waiter.ID = r.text(i, "trx_id")
		for holder := range strings.SplitSeq(r.text(i, "waits_for"), ",") {
			h := known[holder]
			h.ID = holder
			list = append(list, wait{waiter, h, rowOf(r, i),
				time.Duration(r.number(i, "age_ms")) * time.Millisecond, r.text(i, "statement")})
		}
	}
	slices.SortStableFunc(list, func(a, b wait) int { return int(b.For - a.For) })
	return list, nil
}

// rowOf is the row of a lock as people write it.
func rowOf(r rows, i int) string {
	table := r.text(i, "table_name")
	if table == "" {
		return r.text(i, "row_key")
	}
	text := r.text(i, "table_schema") + "." + table
	if x := r.text(i, "index_name"); x != "" && x != "PRIMARY" {
		text += " " + x
	}
	return text + "(" + strings.TrimSuffix(strings.TrimPrefix(r.text(i, "row_key"), "("), ")") + ")"
}

// parties are the transactions of this process by their ids.
func (v view) parties(ctx context.Context) (map[string]party, error) {
	open, err := v.o.Source.View(ctx, "transactions")
	if err != nil {
		return nil, err
	}
	running, err := v.o.Source.Processes(ctx)
	if err != nil {
		return nil, err
	}
	texts := map[int64]string{}
	p := byName(running)
	for i := range running.Rows {
		texts[int64(p.number(i, "Id"))] = p.text(i, "Info")
	}
	known := map[string]party{}
	r := byName(open)
	for i := range open.Rows {
		id, conn := r.text(i, "trx_id"), int64(r.number(i, "connection_id"))
		known[id] = party{id, r.text(i, "user"), conn, texts[conn]}
	}
	return known, nil
}

// openTransaction is one with what it does.
type openTransaction struct {
	party
	Began           time.Time
	Isolation, Mode string
	Cells           int64
	Bytes           uint64
}

func openTransactions(ctx context.Context, v view) (any, error) {
	known, err := v.parties(ctx)
	if err != nil {
		return nil, err
	}
	t, err := v.o.Source.View(ctx, "transactions")
	if err != nil {
		return nil, err
	}
	var list []openTransaction
	r := byName(t)
	for i := range t.Rows {
		list = append(list, openTransaction{known[r.text(i, "trx_id")], r.time(i, "began"),
			r.text(i, "isolation_level"), r.text(i, "mode"), int64(r.number(i, "cells_written")),
			uint64(r.number(i, "bytes_written"))})
	}
	return list, nil
}

func rowLocks(ctx context.Context, v view) (any, error) {
	t, err := v.o.Source.View(ctx, "locks")
	return plain(t, "No row is locked."), err
}

func deadlocks(ctx context.Context, v view) (any, error) {
	t, err := v.o.Source.View(ctx, "deadlocks")
	return plain(t, "There was none since the start."), err
}

// running is a connection.
type running struct {
	ID                                         int64
	User, Host, Database, Command, State, Info string
	Time                                       time.Duration
}

func processes(ctx context.Context, v view) (any, error) {
	t, err := v.o.Source.Processes(ctx)
	if err != nil {
		return nil, err
	}
	var list []running
	r := byName(t)
	for i := range t.Rows {
		list = append(list, running{int64(r.number(i, "Id")), r.text(i, "User"), r.text(i, "Host"),
			r.text(i, "db"), r.text(i, "Command"), r.text(i, "State"), r.text(i, "Info"),
			time.Duration(r.number(i, "Time")) * time.Second})
	}
	return list, nil
}
