package observer

import (
	"moka/triggers"
)

// SpareBytes is what compiled bodies weigh that no run uses.
func (r *Registry) SpareBytes() int64 { return r.bodies.Weighs() }

// Running counts the runs under way.
func (r *Registry) Running() int { return r.o.Runners - len(r.slots) }

// RunLog is a log of runs by itself.
type RunLog = runLog

// Add remembers a run; Size is how many there are, and their bytes.
func (l *runLog) Add(r triggers.Ran) { l.add(r) }
func (l *runLog) Size() (runs, bytes int) {
	return len(l.list()), l.bytes
}
