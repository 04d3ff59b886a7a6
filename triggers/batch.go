package triggers

import (
	"time"
)

// Runs of one observer that are short go several to a transaction when they come several at a time: they
// share a snapshot, a sync and the messages of a commit, and runs that write the same row, as those do that
// keep a sum, follow each other instead of losing to each other. To what they do it is as if one had run
// after the other. What goes wrong with one of them is told apart by halves (work): in the end the run that
// fails is alone, and the others have committed.
//
// Only what is short: a transaction is repeated whole, its snapshot is as old as its first run, and what it
// has been delivered is leased for so long.

const (
	// batchMost bounds the runs of a transaction: enough that its commit costs each little.
	batchMost = 64
	// batchTime bounds how long a transaction is likely to take.
	batchTime = 100 * time.Millisecond
	// batchWays is how many runners the deliveries of one answer are spread over, at least: those of a shard
	// that has few at a time are not made to wait for each other.
	batchWays = 4
)

// learnPace notes how long a run has taken.
func (w *Worker) learnPace(o ObserverID, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.mu.observers[o]; !ok {
		return
	}
	if before, ok := w.mu.paces[o]; ok {
		took = (3*before + took) / 4
	}
	w.mu.paces[o] = max(took, 1)
}

// forgetPace has an observer's runs be alone until one has committed: something is wrong with it.
func (w *Worker) forgetPace(o ObserverID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.mu.paces, o)
}

// inBatch is how many runs of an observer go to a transaction at the most. One that has not run yet is alone.
func (w *Worker) inBatch(o ObserverID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	pace, ok := w.mu.paces[o]
	if !ok {
		return 1
	}
	return int(max(1, min(batchMost, batchTime/pace)))
}

// credits is how much to fetch for observers with so many runners free.
func (w *Worker) credits(ids []ObserverID, free int) int {
	most := 1
	for _, id := range ids {
		most = max(most, w.inBatch(id))
	}
	return free * most
}

// batches groups deliveries: those of one observer and one depth, in their order; what has failed before is
// alone. Of an observer whose runs are long no more is kept than there are runners for, so that other workers
// can have the rest; surplus is to be given back.
func (w *Worker) batches(ds []delivery, free int) (batches [][]delivery, surplus []delivery) {
	type group struct {
		observer ObserverID
		depth    uint32
		failed   bool
	}
	byGroup := map[group][]delivery{}
	var order []group
	for _, d := range ds {
		g := group{d.Observer, d.Depth, d.Attempts > 0}
		if byGroup[g] == nil {
			order = append(order, g)
		}
		byGroup[g] = append(byGroup[g], d)
	}
	for _, g := range order {
		of := byGroup[g]
		most := w.inBatch(g.observer)
		if g.failed {
			most = 1
		}
		if kept := most * free; len(of) > kept {
			surplus = append(surplus, unacknowledged(of[kept:])...)
			of = of[:kept]
		}
		size := min(most, (len(of)+batchWays-1)/batchWays)
		for len(of) > 0 {
			n := min(size, len(of))
			batches = append(batches, of[:n:n])
			of = of[n:]
		}
	}
	return batches, surplus
}
