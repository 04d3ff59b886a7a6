package engine

import (
	"cmp"
	"context"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// processList is the library's list of connections. It knows besides which database each has chosen, and
// where its client is: the library's says for ever with which one the connection began, and the host of
// the account. And it has the statements that run by their plans, which the library's list takes 2 % of
// sysbench read_write for: it has one lock, under which it makes each statement a context of its own.
type processList struct {
	sql.ProcessList

	mu    sync.RWMutex
	known map[uint32]*process
}

// process is a connection.
type process struct {
	mu sync.Mutex
	whereabouts
	session *Session           // of its last statement
	running *Session           // in which a statement runs by its plan; nil while none does
	planned string             // the statement
	cancel  context.CancelFunc // ends it; nil if the session can
	since   time.Time          // when it began, or the last has ended
}

// whereabouts are the database of a connection, and its client's address.
type whereabouts struct{ database, address string }

// of returns what is known of a connection.
func (l *processList) of(id uint32) *process {
	l.mu.RLock()
	p := l.known[id]
	l.mu.RUnlock()
	if p != nil {
		return p
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if p = l.known[id]; p == nil {
		p = &process{}
		l.known[id] = p
	}
	return p
}

// begin says that a statement begins which runs by its plan, and finish that it has ended. Behind finish
// nothing is ended any more: it would be the next statement. cancel is nil for a session that can end what
// it runs.
func (l *processList) begin(s *Session, text string, cancel context.CancelFunc) *process {
	p := s.process
	if p == nil {
		p = l.of(s.ID())
		s.process = p
	}
	now := time.Now()
	p.mu.Lock()
	p.whereabouts = whereabouts{s.GetCurrentDatabase(), s.guest.Address}
	p.session, p.running, p.planned, p.cancel, p.since = s, s, text, cancel, now
	p.mu.Unlock()
	return p
}

func (p *process) finish(ctx *sql.Context) {
	now := time.Now()
	p.mu.Lock()
	took := now.Sub(p.since)
	p.running, p.planned, p.cancel, p.since = nil, "", nil, now
	p.mu.Unlock()
	if long := systemVariables.longQuery(); long > 0 && took > long {
		sql.IncrementStatusVariable(ctx, "Slow_queries", 1)
	}
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.cancel != nil:
		p.cancel()
	case p.running != nil:
		p.running.interrupt(context.Canceled)
	case p.sending():
		p.session.interrupt(context.Canceled) // a result that was there at once
	}
}

// sending reports whether something is being written to the client. The lock is held.
func (p *process) sending() bool { return p.session != nil && p.session.sending() }

// running counts the statements that run by their plans.
func (l *processList) running() (n uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, p := range l.known {
		p.mu.Lock()
		if p.running != nil {
			n++
		}
		p.mu.Unlock()
	}
	return n
}

// BeginQuery implements sql.ProcessList.
func (l *processList) BeginQuery(ctx *sql.Context, query string) (*sql.Context, error) {
	now := whereabouts{database: ctx.GetCurrentDatabase()}
	if s := sessionOf(ctx); s != nil {
		now.address = s.guest.Address
	}
	p := l.of(ctx.Session.ID())
	p.mu.Lock()
	p.whereabouts = now
	p.mu.Unlock()
	return l.ProcessList.BeginQuery(ctx, query)
}

// ConnectionReady implements sql.ProcessList: a connection that has not said anything yet has an address as well.
func (l *processList) ConnectionReady(session sql.Session) {
	if s, ok := session.(*Session); ok {
		p := l.of(session.ID())
		p.mu.Lock()
		p.session, p.whereabouts = s, whereabouts{session.GetCurrentDatabase(), s.guest.Address}
		p.mu.Unlock()
		s.process = p
	}
	l.ProcessList.ConnectionReady(session)
}

// RemoveConnection implements sql.ProcessList.
func (l *processList) RemoveConnection(id uint32) {
	l.mu.Lock()
	p := l.known[id]
	delete(l.known, id)
	l.mu.Unlock()
	if p != nil {
		p.kill()
	}
	l.ProcessList.RemoveConnection(id)
}

// Kill implements sql.ProcessList.
func (l *processList) Kill(id uint32) {
	l.mu.RLock()
	p := l.known[id]
	l.mu.RUnlock()
	if p != nil {
		p.kill()
	}
	l.ProcessList.Kill(id)
}

// Processes implements sql.ProcessList.
func (l *processList) Processes() []sql.Process {
	all := l.ProcessList.Processes()
	l.mu.RLock()
	defer l.mu.RUnlock()
	for i := range all {
		if p := l.known[all[i].Connection]; p != nil {
			p.show(&all[i])
		}
	}
	return all
}

func (p *process) show(in *sql.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in.Database, in.Host = p.database, cmp.Or(p.address, in.Host)
	switch {
	case p.running != nil:
		in.Command, in.Query, in.StartedAt = sql.ProcessCommandQuery, p.planned, p.since
	case p.sending():
		in.Command = sql.ProcessCommandQuery
	case p.since.After(in.StartedAt):
		in.StartedAt = p.since // it has slept since then
	}
}

// sends reports whether a connection waits for its client to take something.
func (l *processList) sends(id uint32) bool {
	l.mu.RLock()
	p := l.known[id]
	l.mu.RUnlock()
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sending()
}

// Process is a connection of this server, and what it is doing.
type Process struct {
	sql.Process
	State string
}

// Background is work that SHOW PROCESSLIST shows, and that KILL ends, though it has no connection.
type Background interface {
	// Processes lists it as ctx's user may see it.
	Processes(ctx *sql.Context) ([]Process, error)
	// Kill ends what has an id, if it may be ended by who wants to: may is asked, with the user whose it is.
	Kill(id uint32, may func(user string) error) (found bool, err error)
}

// Processes lists the connections by their ids.
func (e *Engine) Processes(ctx *sql.Context) ([]Process, error) {
	var out []Process
	if b := e.opts.Background; b != nil {
		var err error
		if out, err = b.Processes(ctx); err != nil {
			return nil, err
		}
	}
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
	return out, nil
}

// Connected reports whether there is a connection of that id.
func (e *Engine) Connected(id uint32) bool {
	e.processes.mu.RLock()
	defer e.processes.mu.RUnlock()
	return e.processes.known[id] != nil
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
	if e.processes.sends(p.Connection) {
		return "Sending to client"
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

// How much of a statement's text is shown, in characters: who looks for what is wrong should not get all that
// all clients have sent. EXECUTE tells nothing of FULL.
const (
	shownText = 100
	fullText  = 64<<10 - 1
)

// textShown is how much of the texts SHOW [FULL] PROCESSLIST shows.
func textShown(ctx *sql.Context) int {
	q := strings.ToLower(ctx.Query())
	if len(q) < 1<<10 && !strings.Contains(q, "full") && !strings.Contains(q, "execute") {
		return shownText
	}
	return fullText
}

// showProcesses is SHOW [FULL] PROCESSLIST: without the PROCESS privilege one sees one's own.
// The table of information_schema, which has its rows from here, too, has numbers of other types.
func (e *Engine) showProcesses(ctx *sql.Context, most int,
	numbers func(id uint32, seconds uint64) (any, any)) (sql.RowIter, error) {
	all, err := e.Processes(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, p := range all {
		if !e.mayWatch(ctx, p.User, "") {
			continue
		}
		var db any
		if p.Database != "" {
			db = p.Database
		}
		id, seconds := numbers(p.Connection, p.Seconds())
		rows = append(rows, sql.NewRow(id, p.User, p.Host, db, string(p.Command), seconds, p.State,
			cut(p.Query, most)))
	}
	return sql.RowsToRowIter(rows...), nil
}

// cut is the beginning of a text, at most so many characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}
