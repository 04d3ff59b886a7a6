package observer

import (
	"container/list"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/triggers"
)

// runLog remembers the last runs of this process, for moka.observer_runs. It is bounded twice: by runs for
// each observer, so that a busy one does not push out those of the others, and by bytes for all of them.
type runLog struct {
	mu    sync.Mutex
	all   list.List // of loggedRun, the oldest first
	of    map[uint32][]*list.Element
	bytes int
}

const (
	runsKept     = 100     // of an observer
	runBytesKept = 4 << 20 // of all
)

type loggedRun struct {
	triggers.Ran
	result, err string
}

func (x *loggedRun) bytes() int {
	return 200 + len(x.Owner) + len(x.Column.Row) + len(x.Column.Qualifier) + len(x.err)
}

func (l *runLog) add(r triggers.Ran) {
	x := &loggedRun{Ran: r, result: "done"}
	switch {
	case r.Parked:
		x.result = "parked"
	case r.PutOff:
		x.result = "put off"
	case r.Err != nil:
		x.result = "failed"
	}
	if r.Err != nil {
		x.err = triggers.Clip(r.Err.Error())
		x.Err = nil // it may hold on to much
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[uint32][]*list.Element{}
	}
	l.of[r.Observer] = append(l.of[r.Observer], l.all.PushBack(x))
	l.bytes += x.bytes()
	for len(l.of[r.Observer]) > runsKept {
		l.forgetLocked(l.of[r.Observer][0])
	}
	for l.bytes > runBytesKept {
		l.forgetLocked(l.all.Front())
	}
}

// forgetLocked removes a run, which is the oldest of its observer.
func (l *runLog) forgetLocked(e *list.Element) {
	x := l.all.Remove(e).(*loggedRun)
	l.bytes -= x.bytes()
	if l.of[x.Observer] = l.of[x.Observer][1:]; len(l.of[x.Observer]) == 0 {
		delete(l.of, x.Observer)
	}
}

// list returns the runs, the oldest first.
func (l *runLog) list() (runs []*loggedRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.all.Front(); e != nil; e = e.Next() {
		runs = append(runs, e.Value.(*loggedRun))
	}
	return runs
}

// ran lists the last runs that have ended in this process.
func (r *Registry) ran(ctx *sql.Context) ([]sql.Row, error) {
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	runs := r.log.list()
	seen := map[uint32]*catalog.Observer{} // those that may be seen, nil for the others
	var rows []sql.Row
	for _, x := range runs {
		o, asked := seen[x.Observer]
		if !asked {
			if found, ok := snap.ObserverByID(x.Observer); ok && r.maySee(ctx, snap, found) {
				o = found
			}
			seen[x.Observer] = o
		}
		if o == nil {
			continue
		}
		key, err := r.shownKey(ctx, snap, o, x.Column.Row)
		if err != nil {
			return nil, err
		}
		var text any
		if x.err != "" {
			text = r.errorText(ctx, o, x.Owner, x.err)
		}
		rows = append(rows, sql.NewRow(databaseName(snap, o.DatabaseID), o.Name, tableName(snap, o.TableID),
			key,
			x.CommitTS.Time().UTC(), x.Started.UTC(), uint64(x.Took.Microseconds()), uint64(x.Attempt),
			uint64(x.Conflicts), x.result, text))
	}
	return rows, nil
}
