package engine

import (
	"cmp"
	"sort"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
)

// processList is the library's list of connections. It knows besides which database each has chosen, and where its client is: the library's says
// for ever with which one the connection began, and the host of the account.
type processList struct {
	sql.ProcessList

	mu    sync.RWMutex
	known map[uint32]whereabouts
}

// whereabouts are the database of a connection, and its client's address.
type whereabouts struct{ database, address string }

// BeginQuery implements sql.ProcessList.
func (l *processList) BeginQuery(ctx *sql.Context, query string) (*sql.Context, error) {
	id, now := ctx.Session.ID(), whereabouts{database: ctx.GetCurrentDatabase()}
	if s := sessionOf(ctx); s != nil {
		now.address = s.guest.address
	}
	l.mu.RLock()
	same := l.known[id] == now
	l.mu.RUnlock()
	if !same {
		l.mu.Lock()
		l.known[id] = now
		l.mu.Unlock()
	}
	return l.ProcessList.BeginQuery(ctx, query)
}

// ConnectionReady implements sql.ProcessList: a connection that has not said anything yet has an address as well.
func (l *processList) ConnectionReady(session sql.Session) {
	if s, ok := session.(*Session); ok {
		l.mu.Lock()
		l.known[session.ID()] = whereabouts{session.GetCurrentDatabase(), s.guest.address}
		l.mu.Unlock()
	}
	l.ProcessList.ConnectionReady(session)
}

// RemoveConnection implements sql.ProcessList.
func (l *processList) RemoveConnection(id uint32) {
	l.mu.Lock()
	delete(l.known, id)
	l.mu.Unlock()
	l.ProcessList.RemoveConnection(id)
}

// Processes implements sql.ProcessList.
func (l *processList) Processes() []sql.Process {
	all := l.ProcessList.Processes()
	l.mu.RLock()
	defer l.mu.RUnlock()
	for i := range all {
		if w, ok := l.known[all[i].Connection]; ok {
			all[i].Database, all[i].Host = w.database, cmp.Or(w.address, all[i].Host)
		}
	}
	return all
}

// Process is a connection of this server, and what it is doing.
type Process struct {
	sql.Process
	State string
}

// Processes lists the connections by their ids.
func (e *Engine) Processes() []Process {
	var out []Process
	for _, p := range e.sql.ProcessList.Processes() {
		out = append(out, Process{p, e.stateOf(&p)})
	}
	for _, j := range e.jobs.list() {
		if j.connection == 0 {
			out = append(out, Process{sql.Process{
				Connection: firstJobConnection + j.id, User: "system user", Command: sql.ProcessCommandQuery, StartedAt: j.began, Query: j.statement,
			}, j.state()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Connection < out[j].Connection })
	return out
}

// stateOf says in one line what a statement is at.
func (e *Engine) stateOf(p *sql.Process) string {
	if p.Command != sql.ProcessCommandQuery {
		return ""
	}
	for _, j := range e.jobs.list() {
		if j.connection == p.Connection {
			return j.state()
		}
	}
	var names []string
	for name := range p.Progress {
		names = append(names, name)
	}
	if len(names) == 0 {
		return "executing"
	}
	sort.Strings(names)
	return "reading " + strings.Join(names, ", ")
}

// showProcesses is SHOW [FULL] PROCESSLIST: without the PROCESS privilege one sees one's own.
// The table of information_schema, which has its rows from here, too, has numbers of other types.
func (e *Engine) showProcesses(ctx *sql.Context, numbers func(id uint32, seconds uint64) (any, any)) sql.RowIter {
	var rows []sql.Row
	for _, p := range e.Processes() {
		if !e.mayWatch(ctx, p.User, "") {
			continue
		}
		var db any
		if p.Database != "" {
			db = p.Database
		}
		id, seconds := numbers(p.Connection, p.Seconds())
		rows = append(rows, sql.NewRow(id, p.User, p.Host, db, string(p.Command), seconds, p.State, p.Query))
	}
	return sql.RowsToRowIter(rows...)
}
