package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// A job is work of many transactions: the backfill of an index, the copy of a table. Its record (catalog.Job) is part of each of them, which says from
// where to go on. A process that does the work and dies leaves a record that stands still; every process looks for such records, and
// the first whose transaction makes itself the owner goes on (watchJobs). The one before, should it be alive after all, finds in
// its next batch that the job is not its own any more.

// errNotOurs ends the work on a job that another process goes on with.
var errNotOurs = errors.New("engine: another server goes on with the job")

// jobs are those that this process works on.
type jobs struct {
	owner string

	mu      sync.Mutex
	running map[uint32]*job
	// seen is how long the records of others have not changed. Clocks of other machines are not asked.
	seen map[uint32]sighting
	// unrecorded counts down from firstJobConnection: ids of work that is one transaction and has no record.
	unrecorded uint32
}

type sighting struct {
	updated time.Time
	since   time.Time
}

// job is a job of this process.
type job struct {
	id         uint32
	connection uint32 // of the statement that waits for it; 0 if it was taken over
	began      time.Time
	statement  string
	what       atomic.Pointer[string]
	next       []byte
	rows       atomic.Uint64
	estimated  uint64
}

// firstJobConnection is where the ids begin under which SHOW PROCESSLIST shows jobs that no connection waits for.
const firstJobConnection = 1 << 31

// JobConnection is the id under which a job is shown and killed.
func JobConnection(id uint32) uint32 { return firstJobConnection + id }

func (j *jobs) init() {
	j.owner = rand.Text()
	j.running, j.seen = map[uint32]*job{}, map[uint32]sighting{}
}

func (j *jobs) add(x *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running[x.id] = x
}

// watch shows the progress of a statement that is one transaction.
func (j *jobs) watch(connection uint32, what string, estimated uint64) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unrecorded++
	x := &job{id: firstJobConnection - j.unrecorded, connection: connection, began: time.Now(), estimated: estimated}
	x.what.Store(&what)
	j.running[x.id] = x
	return x
}

func (j *jobs) remove(x *job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, x.id)
}

// list returns the jobs of this process by their ids.
func (j *jobs) list() []*job {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]*job, 0, len(j.running))
	for _, x := range j.running {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b *job) int { return int(a.id) - int(b.id) })
	return all
}

// say tells what SHOW PROCESSLIST calls the job.
func (x *job) say(rec *catalog.Job) {
	what := describeJob(rec)
	x.what.Store(&what)
}

// state is what SHOW PROCESSLIST says of a job.
func (x *job) state() string {
	if x.estimated == 0 {
		return fmt.Sprintf("%s: %d rows", *x.what.Load(), x.rows.Load())
	}
	return fmt.Sprintf("%s: %d of about %d rows", *x.what.Load(), x.rows.Load(), max(x.estimated, x.rows.Load()))
}

// hold reads a job within a transaction that works on it, and moves its record on.
func (e *Engine) hold(ctx context.Context, st *txn.Txn, x *job) (catalog.Job, error) {
	rec, ok, err := e.catalog.Job(ctx, st, x.id)
	switch {
	case err != nil:
		return rec, err
	case !ok, rec.Owner != e.jobs.owner, rec.Ended():
		return rec, errNotOurs
	case rec.State == catalog.JobCancelling:
		return rec, errJobCancelled()
	}
	rec.Updated = time.Now().UTC()
	return rec, nil
}

func isCancelled(err error) bool { return sqlerr.Code(err) == sqlerr.QueryInterrupted }

func errJobCancelled() error {
	return sqlerr.New(sqlerr.QueryInterrupted, "Query execution was interrupted")
}

// endJob writes down what became of a job. It does so even if the statement was cancelled.
func (e *Engine) endJob(id uint32, cause error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := e.retry(ctx, func(st *txn.Txn) error {
		rec, ok, err := e.catalog.Job(ctx, st, id)
		if err != nil || !ok || rec.Owner != e.jobs.owner {
			return err
		}
		finish(&rec, cause)
		return e.catalog.EndJob(ctx, st, rec)
	})
	if err != nil {
		e.log.Warn("the end of a schema change could not be written down", "job", id, "err", err)
	}
}

func finish(rec *catalog.Job, cause error) {
	rec.Updated = time.Now().UTC()
	rec.Finished = rec.Updated
	switch {
	case cause == nil:
		rec.State = catalog.JobDone
	case rec.State == catalog.JobCancelling, sqlerr.Code(cause) == sqlerr.QueryInterrupted:
		rec.State = catalog.JobCancelled
	default:
		rec.State = catalog.JobFailed
	}
	if cause != nil {
		rec.Error = strings.ToValidUTF8(sqlerr.Final(cause, sqlerr.Statement{}).Message, "?")
	}
}

// Jobs lists the schema changes of all servers, the oldest first.
func (e *Engine) Jobs(ctx context.Context) ([]catalog.Job, error) {
	st := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer st.Rollback()
	all, err := e.catalog.Jobs(ctx, st)
	slices.SortFunc(all, func(a, b catalog.Job) int { return a.Started.Compare(b.Started) })
	return all, catalogError(sqlerr.From(err))
}

// mayCancel refuses to end a schema change to who may neither end others' connections nor change the table:
// for him there is none of the number.
func (e *Engine) mayCancel(ctx *sql.Context, id uint32) error {
	if !e.asks() || e.mayAdminister(ctx, sql.PrivilegeType_Super) {
		return nil
	}
	var rec catalog.Job
	err := e.retry(ctx, func(st *txn.Txn) (err error) {
		rec, _, err = e.catalog.Job(ctx, st, id)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range []sql.PrivilegeType{sql.PrivilegeType_Alter, sql.PrivilegeType_Index} {
		if rec.Database != "" && rights.OnTable(ctx, e.accounts(), rec.Database, rec.Table, p) {
			return nil
		}
	}
	return noJob(id)
}

func noJob(id uint32) error {
	return sqlerr.New(sqlerr.NoSuchThread, "Unknown thread id: %d", firstJobConnection+id)
}

// cancelJob is KILL of a job, whichever server works on it.
func (e *Engine) cancelJob(ctx context.Context, id uint32) error {
	err := e.retry(ctx, func(st *txn.Txn) error {
		rec, ok, err := e.catalog.Job(ctx, st, id)
		if err != nil {
			return err
		}
		if !ok || rec.Ended() {
			return noJob(id)
		}
		rec.State = catalog.JobCancelling
		return e.catalog.PutJob(st, rec)
	})
	if err == nil {
		e.janitor.wake()
	}
	return err
}

// watchJobs takes over jobs whose process has died.
func (e *Engine) watchJobs(ctx context.Context) {
	tick := time.NewTicker(max(e.opts.JobLease/3, time.Millisecond))
	defer tick.Stop()
	for {
		if err := e.takeOver(ctx); err != nil && ctx.Err() == nil {
			e.log.Warn("looking for unfinished schema changes failed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (e *Engine) takeOver(ctx context.Context) error {
	all, err := e.Jobs(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, rec := range all {
		if rec.Ended() || !e.jobs.still(&rec, now, e.opts.JobLease) {
			continue
		}
		x := &job{id: rec.ID, began: rec.Started, statement: rec.Statement, next: rec.Next, estimated: rec.Estimated}
		x.say(&rec)
		x.rows.Store(rec.Rows)
		err := e.retry(ctx, func(st *txn.Txn) error {
			now, ok, err := e.catalog.Job(ctx, st, rec.ID)
			if err != nil {
				return err
			}
			if !ok || now.Ended() || !now.Updated.Equal(rec.Updated) {
				return errNotOurs
			}
			now.Owner, now.Resumed, now.Updated = e.jobs.owner, now.Resumed+1, time.Now().UTC()
			x.next = now.Next
			return e.catalog.PutJob(st, now)
		})
		if errors.Is(err, errNotOurs) {
			continue
		}
		if err != nil {
			return err
		}
		e.log.Info("going on with a schema change whose server is gone", "job", rec.ID, "what", describeJob(&rec), "rows", rec.Rows)
		e.jobs.add(x)
		e.goTask(func(ctx context.Context) { e.resume(ctx, rec, x) })
	}
	return nil
}

// still reports whether a job's record has not changed for as long as the lease.
func (j *jobs) still(rec *catalog.Job, now time.Time, lease time.Duration) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, mine := j.running[rec.ID]; mine {
		return false
	}
	s, ok := j.seen[rec.ID]
	if !ok || !s.updated.Equal(rec.Updated) {
		j.seen[rec.ID] = sighting{rec.Updated, now}
		return false
	}
	if now.Sub(s.since) < lease {
		return false
	}
	delete(j.seen, rec.ID)
	return true
}

func describeJob(rec *catalog.Job) string {
	if rec.Kind == catalog.JobCopy {
		what := "copying table"
		if rec.Phase != catalog.PhaseCopy {
			what = rec.Phase + " of table"
		}
		return fmt.Sprintf("%s %s.%s", what, rec.Database, rec.Table)
	}
	return fmt.Sprintf("adding index %s to %s.%s", rec.Index, rec.Database, rec.Table)
}

// resume brings a job that was taken over to its end.
func (e *Engine) resume(ctx context.Context, rec catalog.Job, x *job) {
	defer e.jobs.remove(x)
	var err error
	switch rec.Kind {
	case catalog.JobIndex:
		err = e.resumeIndex(ctx, rec, x)
	case catalog.JobCopy:
		err = e.resumeCopy(ctx, rec, x)
	default:
		err = fmt.Errorf("this release does not know jobs of kind %q", rec.Kind)
	}
	switch {
	case errors.Is(err, errNotOurs), err != nil && ctx.Err() != nil:
		return // somebody else has it, or will have it when this process is gone
	case err != nil && (errors.As(err, new(*exchangedError)) || rec.Phase == catalog.PhaseObservers):
		e.log.Warn("what observers have still to see of a table was not carried over yet; it is tried again", "job", x.id, "what", describeJob(&rec), "err", err)
	case err != nil && rec.Kind == catalog.JobCopy:
		e.log.Warn("a schema change failed", "job", x.id, "what", describeJob(&rec), "err", err)
		e.giveUpCopy(rec.TableID, rec.ID)
		e.endJob(x.id, err)
	case err != nil:
		e.log.Warn("a schema change failed", "job", x.id, "what", describeJob(&rec), "err", err)
		e.takeBack(rec.TableID, rec.Index, func(i *catalog.Index) bool { return i.ID == rec.IndexID && i.State != catalog.StatePublic })
		e.endJob(x.id, err)
	}
}

// resumeIndex goes on with the backfill of an index. Another schema change of the table may come between; the backfill goes on
// where it was, with the table as it is then.
func (e *Engine) resumeIndex(parent context.Context, rec catalog.Job, x *job) error {
	const most = 100
	s := e.NewSession(sql.NewBaseSessionWithClientServer("moka", sql.Client{User: "root", Address: "localhost"}, 0))
	defer s.SessionEnd()
	ctx := sql.NewContext(parent, sql.WithSession(s))
	for n := 0; ; n++ {
		index, err := e.unfinished(ctx, &rec)
		if err != nil {
			return err
		}
		if err = index.backfill(ctx, x); err == nil {
			err = e.publishIndex(ctx, rec.TableID, rec.IndexID, x)
		}
		if !errors.Is(err, txn.ErrMustExist) && sqlerr.Code(err) != sqlerr.TableDefChanged || n == most {
			return err
		}
	}
}

// unfinished finds the index that a job builds.
func (e *Engine) unfinished(ctx *sql.Context, rec *catalog.Job) (*index, error) {
	t := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	ctx.SetTransaction(e.Adopt(t))
	defer ctx.SetTransaction(nil)
	snap, err := e.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	desc, ok := snap.TableByID(rec.TableID)
	if !ok {
		return nil, sqlerr.UnknownTable(rec.Database, rec.Table)
	}
	i := slices.IndexFunc(desc.Indexes, func(x catalog.Index) bool { return x.ID == rec.IndexID && x.State != catalog.StatePublic })
	if i < 0 {
		return nil, sqlerr.New(sqlerr.Unknown, "The index was dropped while it was being built")
	}
	table, err := e.TableOf(ctx, desc)
	if err != nil {
		return nil, err
	}
	return table.index(desc.Indexes[i].Name)
}
