package triggers

import (
	"sync/atomic"
	"time"
)

type metrics struct {
	runs, collapsed, conflicts, failures, parked, swept atomic.Uint64
	runNanos, lagNanos                                  atomic.Int64
}

func (m *metrics) committed(took, lag time.Duration) {
	m.runs.Add(1)
	m.runNanos.Add(int64(took))
	m.lagNanos.Store(int64(lag))
}

// Metrics is a snapshot of a worker's counters since its start.
type Metrics struct {
	Runs      uint64        // runs that committed
	Collapsed uint64        // deliveries that a former run had acknowledged already
	Conflicts uint64        // runs begun again because another transaction committed first
	Failures  uint64        // runs that ended in an error
	Parked    uint64        // notifications given up until an operator retries them
	Swept     uint64        // notifications that only the backstop scan found
	RunTime   time.Duration // sum over committed runs
	Lag       time.Duration // commit of the change to commit of the run, of the last run
}

// Metrics returns the counters.
func (w *Worker) Metrics() Metrics {
	return Metrics{
		Runs: w.mets.runs.Load(), Collapsed: w.mets.collapsed.Load(), Conflicts: w.mets.conflicts.Load(),
		Failures: w.mets.failures.Load(), Parked: w.mets.parked.Load(), Swept: w.mets.swept.Load(),
		RunTime: time.Duration(w.mets.runNanos.Load()), Lag: time.Duration(w.mets.lagNanos.Load()),
	}
}
