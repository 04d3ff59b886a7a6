package catalog

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"moka/kv"
	"moka/txn"
)

// JobState is what a job has come to.
type JobState string

const (
	JobRunning JobState = "running"
	// somebody wants it to end; who runs it, or takes it over, cleans up
	JobCancelling JobState = "cancelling"
	JobDone       JobState = "done"
	JobFailed     JobState = "failed"
	JobCancelled  JobState = "cancelled"
)

// What jobs do.
const (
	JobIndex = "add index"
	JobCopy  = "alter table"
)

// Phases of a JobCopy.
const (
	PhaseCopy      = "copying"
	PhaseCatchUp   = "catching up"
	PhaseObservers = "moving notifications"
)

// Job is a schema change that goes on over many transactions. Its record is written by the transactions that
// do the work, so it says neither more nor less than what was done; it is no descriptor, and no schema
// version depends on it.
type Job struct {
	ID        uint32   `json:"id"`
	Kind      string   `json:"kind"`
	State     JobState `json:"state"`
	Database  string   `json:"database"`
	Table     string   `json:"table"`
	TableID   uint32   `json:"table_id"`
	Index     string   `json:"index,omitempty"`
	IndexID   uint32   `json:"index_id,omitempty"`
	Statement string   `json:"statement,omitempty"`

	// Next is the row where the work goes on, behind the table's prefix of keys; empty for the first.
	Next []byte `json:"next,omitempty"`
	Rows uint64 `json:"rows"`
	// Phase is how far a copy of a table has come; Next and Rows are of PhaseCopy.
	Phase string `json:"phase,omitempty"`
	// Auto is the greatest number that a copy has met or given in a column that becomes AUTO_INCREMENT.
	Auto      uint64 `json:"auto,omitempty"`
	Estimated uint64 `json:"estimated"`

	// Owner is the process that does the work. One that dies is known by Updated standing still.
	Owner    string    `json:"owner"`
	Resumed  int       `json:"resumed,omitempty"` // how often another process went on with it
	Started  time.Time `json:"started"`
	Updated  time.Time `json:"updated"`
	Finished time.Time `json:"finished,omitzero"`
	Error    string    `json:"error,omitempty"`
}

// Ended reports whether nothing is left to do.
func (j *Job) Ended() bool { return j.State != JobRunning && j.State != JobCancelling }

// keptJobs is how many jobs that have ended can still be looked at.
const keptJobs = 100

func jobCell(id uint32) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn,
		binary.BigEndian.AppendUint32([]byte{prefixCatalog, kindJob}, id))}
}

// NewJobID takes a number for a job.
func (c *Catalog) NewJobID(ctx context.Context) (uint32, error) { return c.newID(ctx) }

// Job reads a job; ok is false if there is none.
func (c *Catalog) Job(ctx context.Context, t *txn.Txn, id uint32) (j Job, ok bool, err error) {
	b, ok, err := t.Get(ctx, jobCell(id))
	if err != nil || !ok {
		return Job{}, false, err
	}
	return j, true, decodeDescriptor(jobCell(id).Row, b, &j)
}

// PutJob writes a job.
func (c *Catalog) PutJob(t *txn.Txn, j Job) error {
	b, err := encodeDescriptor(&j)
	if err == nil {
		t.Put(jobCell(j.ID), b, txn.WriteOptions{})
	}
	return err
}

// Jobs lists all jobs, the oldest first.
func (c *Catalog) Jobs(ctx context.Context, t *txn.Txn) ([]Job, error) {
	start := kv.MakeRowKey(kv.TableTxn, []byte{prefixCatalog, kindJob})
	s := t.Scan(ctx, txn.ScanOptions{
		Span: kv.Span{Start: start, End: kv.MakeRowKey(kv.TableTxn, []byte{prefixCatalog, kindJob + 1})}})
	defer s.Close()
	var jobs []Job
	for s.Next() {
		var j Job
		if err := decodeDescriptor(s.Column().Row, s.Value(), &j); err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, s.Err()
}

// EndJob writes a job that has ended, and forgets those that ended long ago.
func (c *Catalog) EndJob(ctx context.Context, t *txn.Txn, j Job) error {
	all, err := c.Jobs(ctx, t)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o Job) bool { return !o.Ended() || o.ID == j.ID })
	slices.SortFunc(all, func(a, b Job) int { return a.Finished.Compare(b.Finished) })
	for i := 0; i < len(all)-keptJobs+1; i++ {
		t.Delete(jobCell(all[i].ID), txn.WriteOptions{})
	}
	return c.PutJob(t, j)
}
