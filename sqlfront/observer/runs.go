package observer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
	"moka/triggers"
)

// Runs are in SHOW PROCESSLIST, as connections of their observers' definers, and KILL ends them. A slot for
// runs has one number for as long as the process lives, as a worker thread of MySQL's replication has.

// slot is a place for a run.
type slot struct {
	id uint32 // zero before its first run
}

// run is one that is under way. Registry.mu guards the registry's.
type running struct {
	observer uint32
	definer  string // user, without the host
	column   kv.Column
	attempt  int
	since    time.Time
	cancel   context.CancelCauseFunc
}

// errKilled is how a run ends that was killed. It counts as a failure, or it would begin again at once.
var errKilled error = sqlerr.New(sqlerr.QueryInterrupted, "Query execution was interrupted")

// begin waits for a slot, and lists the run in it.
func (r *Registry) begin(ctx context.Context, id uint32, e triggers.Event,
	cancel context.CancelCauseFunc) (end func(), err error) {
	var s *slot
	select {
	case s = <-r.slots:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.id == 0 {
		s.id = r.o.ConnectionID()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x := &running{observer: id, column: e.Column, attempt: e.Attempt + 1, since: time.Now(), cancel: cancel}
	if o := r.mu.registered[id]; o != nil {
		x.definer, _ = definerOf(o)
	}
	r.mu.ids[s.id], r.mu.runs[s.id] = true, x
	return func() {
		r.mu.Lock()
		delete(r.mu.runs, s.id)
		r.mu.Unlock()
		r.slots <- s
	}, nil
}

// Owns reports whether a connection's id is that of a slot for runs.
func (r *Registry) Owns(id uint32) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.ids[id]
}

// Kill implements engine.Background.
func (r *Registry) Kill(id uint32, may func(user string) error) (found bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.mu.runs[id]
	if x == nil {
		return false, nil
	}
	if err := may(x.definer); err != nil {
		return true, err
	}
	x.cancel(errKilled)
	return true, nil
}

// Processes implements engine.Background. The row is shown to who may read its table.
func (r *Registry) Processes(ctx *sql.Context) (ps []engine.Process, err error) {
	r.mu.Lock()
	runs := make(map[uint32]running, len(r.mu.runs))
	for id, x := range r.mu.runs {
		runs[id] = *x
	}
	r.mu.Unlock()
	if len(runs) == 0 {
		return nil, nil
	}
	snap := r.o.Catalog.Newest() // those that run are in it; the transaction that asks has no part in it
	for id, x := range runs {
		o, ok := snap.ObserverByID(x.observer)
		if !ok {
			continue // it is about to be cancelled
		}
		user, host := definerOf(o)
		p := engine.Process{Process: sql.Process{
			Connection: id, User: user, Host: host, Database: databaseName(snap, o.DatabaseID),
			Command: sql.ProcessCommandQuery, StartedAt: x.since,
			Query: r.describeRun(ctx, snap, o, x.column.Row),
		}, State: "running observer " + o.Name}
		if x.attempt > 1 {
			p.State += fmt.Sprintf(", attempt %d", x.attempt)
		}
		ps = append(ps, p)
	}
	slices.SortFunc(ps, func(a, b engine.Process) int { return int(a.Connection) - int(b.Connection) })
	return ps, nil
}

func (r *Registry) describeRun(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer,
	row kv.RowKey) string {
	text := fmt.Sprintf("OBSERVER %s ON %s", quote(o.Name), quote(tableName(snap, o.TableID)))
	if !r.onTable(ctx, snap, o, sql.PrivilegeType_Select) {
		return text
	}
	key, err := r.keyText(ctx, snap, o, row)
	if err != nil {
		return text // its table has another form by now
	}
	return text + " FOR ROW " + key
}

// wasKilled reports whether a run's error is that it was killed.
func wasKilled(err error) bool { return errors.Is(err, errKilled) }

// definerOf is the account that an observer runs as: users may have an @, hosts have none.
func definerOf(o *catalog.Observer) (user, host string) {
	if at := strings.LastIndexByte(o.Definer, '@'); at >= 0 {
		return o.Definer[:at], o.Definer[at+1:]
	}
	return o.Definer, ""
}
