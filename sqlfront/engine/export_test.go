package engine

import "runtime"

// Settle waits for counts and analyses that have begun in the background.
func (e *Engine) Settle() {
	running := func() bool {
		e.stats.mu.Lock()
		defer e.stats.mu.Unlock()
		for _, t := range e.stats.rows {
			if t.running.Load() {
				return true
			}
		}
		return false
	}
	for running() {
		e.stats.busy <- struct{}{} // what is under way has it
		<-e.stats.busy
		runtime.Gosched()
	}
}

// HeldMemory is what all statements have been charged for.
func (e *Engine) HeldMemory() int64 { return e.memory.used.Load() }
