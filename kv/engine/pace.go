package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// pace decides when Pebble's compactions begin: as many at a time as Pebble allows itself, and after one that failed none for a while.
//
// Pebble begins a failed compaction again at once and for ever. It leaves the tables of a failed one out for some time, except those of L0, so
// that a damaged table there, or a disk that is full, costs a core and, since compactions that the shape of the tree asks for come before those
// that somebody waits for, starves Compact. The pause doubles with each failure and is halved by each success; flushes and compactions that only
// delete whole tables do not ask.
type pace struct {
	db pebble.DBForCompaction // set by Register

	mu         sync.Mutex // Pebble's may be held when it is taken, never the other way round
	running    int
	pause      time.Duration
	until      time.Time // none begins before
	waiting    map[*waiter]struct{}
	closed     bool
	poke       chan struct{}
	stop       chan struct{}
	background sync.WaitGroup
}

// waiter is somebody in Compact.
type waiter struct{ fail context.CancelCauseFunc }

const (
	shortestCompactionPause = 100 * time.Millisecond
	longestCompactionPause  = 5 * time.Second
	longestDamagedPause     = time.Minute // a damaged table does not get well
	grantEvery              = 100 * time.Millisecond
)

func newPace() *pace {
	return &pace{waiting: map[*waiter]struct{}{}, poke: make(chan struct{}, 1), stop: make(chan struct{})}
}

// Register implements pebble.CompactionScheduler.
func (p *pace) Register(_ int, db pebble.DBForCompaction) {
	p.db = db
	p.background.Go(p.granter)
}

// Unregister implements pebble.CompactionScheduler.
func (p *pace) Unregister() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	close(p.stop)
	p.background.Wait()
}

// TrySchedule implements pebble.CompactionScheduler.
func (p *pace) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	if !p.take() {
		return false, nil
	}
	return true, p
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler.
func (p *pace) UpdateGetAllowedWithoutPermission() { p.wake() }

// Started implements pebble.CompactionGrantHandle.
func (p *pace) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (p *pace) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (p *pace) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done implements pebble.CompactionGrantHandle.
func (p *pace) Done() {
	p.release()
	p.wake()
}

// take counts one more compaction, if one may begin.
func (p *pace) take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || time.Now().Before(p.until) || p.running >= p.db.GetAllowedWithoutPermission() {
		return false
	}
	p.running++
	return true
}

func (p *pace) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
}

func (p *pace) wake() {
	select {
	case p.poke <- struct{}{}:
	default:
	}
}

// granter begins compactions that had to wait, until Unregister. What is allowed changes without a word when a memtable is written out.
func (p *pace) granter() {
	t := time.NewTicker(grantEvery)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-p.poke:
		case <-t.C:
		}
		for p.take() {
			waiting, _ := p.db.GetWaitingCompaction()
			if !waiting || !p.db.Schedule(p) {
				p.release()
				break
			}
		}
	}
}

// ended hears how a compaction ended. Whoever waits in Compact waits no longer once one has failed.
func (p *pace) ended(err error) {
	if errors.Is(err, pebble.ErrCancelledCompaction) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.pause /= 2
		return
	}
	longest := longestCompactionPause
	if isCorruption(err) {
		longest = longestDamagedPause
	}
	p.pause = min(max(2*p.pause, shortestCompactionPause), longest)
	p.until = time.Now().Add(p.pause)
	for w := range p.waiting {
		w.fail(err)
	}
}

// wait returns a context that ends with the next compaction that fails; done is to be called.
func (p *pace) wait(parent context.Context) (ctx context.Context, done func()) {
	ctx, fail := context.WithCancelCause(parent)
	w := &waiter{fail: fail}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[w] = struct{}{}
	return ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.waiting, w)
		fail(nil)
	}
}
