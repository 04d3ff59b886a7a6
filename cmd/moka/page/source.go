package page

import (
	"context"
	"time"
)

// Source is the process that the page is about. What it does not have, it answers with an error that says so.
type Source interface {
	Head() Head
	// Figures are counters from the start of the process on; the page takes them each second.
	Figures() Figures
	Shards(ctx context.Context) ([]Shard, error)
	Replicas(ctx context.Context) (Table, error)
	Tablets(ctx context.Context) ([]Tablet, error)
	// View is a table of the database moka.
	View(ctx context.Context, name string) (Table, error)
	Processes(ctx context.Context) (Table, error)
	// Explain says how a statement that clients have sent is run.
	Explain(ctx context.Context, digest string) (text string, plan Table, err error)
	Settings() []Setting
	// Mix is a workload that tells this process how it goes, nil for none.
	Mix() *Mix

	Kill(ctx context.Context, id uint32, connection bool) error
	// Operate runs one of the page's own statements.
	Operate(ctx context.Context, statement string) error
}

// Head is what stands above every page.
type Head struct {
	Version, SQL string
	Started      time.Time
	Warning      string
}

// Figures are counters, but for Connections.
type Figures struct {
	OnePhase, Async, TwoPhase, Conflicts  uint64
	Statements, Errors                    uint64
	Syncs                                 uint64
	SyncSeconds                           float64
	Runs, Collapsed, Failures, Parked     uint64
	Connections, Transactions, LocksWaits int64
	// Latency counts statements by how long they took; a bucket ends at LatencyUpTo, in seconds.
	Latency     []uint64
	LatencyUpTo func(bucket int) float64
	Storage     bool // this process has some
	SQL         bool
}

// Shard has the counters of one.
type Shard struct {
	ID                           uint64
	Tablets, Locks, Notes        int
	Reads, Writes, Batches, Sent uint64 // Sent: bytes of batches
}

// Tablet is a range of rows.
type Tablet struct {
	ID, Shard, Generation uint64
	Begins, Ends          string // as SQL names rows; empty for the ends of the key space
	Bytes                 uint64
	Rate                  float64 // commands a second
}

// Table has values as SQL returns them: numbers, texts, times, nil for NULL.
type Table struct {
	Columns []string
	Rows    [][]any
	Cut     bool // there are more rows
}

// Setting is one of the process's settings.
type Setting struct{ Name, Value, Env, From string }

// Mix is how a workload goes.
type Mix struct {
	Name    string
	Target  string
	At      time.Time // of this report
	Elapsed time.Duration
	Of      time.Duration // how long it is to run; zero if that is not by time
	Rate    float64       // of what the workload is measured by, over the last interval
	Unit    string        // what Rate counts
	Lines   []MixLine
}

// MixLine is one kind of transaction of a workload.
type MixLine struct {
	Name                  string
	Done, Retries, Errors int64
	Rate                  float64 // over the last interval
	P50, P95, P99         time.Duration
}
