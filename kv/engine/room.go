package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
)

// DIR/BALLAST holds room that nobody else gets. When the disk is nearly full, or is full, it is removed, and the state is *disk full*: writes that
// make the store larger are refused with kv.ErrDiskFull, and in the room that the ballast has left whatever makes it smaller goes on: deletes and
// drops, the ends of transactions, flushes and compactions, and the start of a process that was killed. When there is room for the ballast and
// some more, it is made again and the state is over.
//
//	free:  0 ......... low ......................... high = size + 2 low
//	                    | below: the state begins     | above: it ends
//
// Before that the disk is *short* of room: below low and half as much again, until size is free beside the
// ballast. Nothing is refused then; a node of a cluster gives up what it leads while it still can write.
//
// What makes it smaller needs room first: a delete is one more version until the old ones may go. So in the
// state there are two more marks, above what the memtables hold, which must fit when it is flushed: deletes
// are refused, too, below half the ballast more, and collections below a quarter. The rest is for the ends of
// transactions, the next log and the flushes.
//
// A replica takes what its leader, with more room, sends until an eighth of the ballast is left beside all
// that it has taken and not applied: an entry waits for its turn, then in the log to be committed, and takes
// room twice, for the log and for what it does.
//
// Nobody who writes asks the system how much room there is: a goroutine does, the more often the closer the mark is, and so does whoever meets
// ENOSPC, before it tries once more. In the state it gives out what may be written until it is asked again.
const ballastFile = "BALLAST"

// AutoBallast as Options.Ballast is room for four memtables and their logs, at least 64 MiB, at most a
// twentieth of the disk; of a disk of less than 320 MiB 16 MiB, or an eighth.
const AutoBallast = -1

const (
	leastAutoBallast = 64 * mebibyte
	smallDiskBallast = 16 * mebibyte
	// fastestFill is how fast, in bytes a second, the disk is believed to fill up between two looks at it.
	fastestFill  = 1 << 30
	rarestLook   = time.Second // when that would take longer
	closestLook  = 10 * time.Millisecond
	promiseKept  = 10 * time.Second // at least, and twice that at most
	mebibyte     = 1 << 20
	ballastChunk = mebibyte
)

// enospcHold is how long the state lasts at least once the disk has refused a write: what the system says of its free room need not be what this
// user may write.
const enospcHold = 10 * time.Second

// room knows whether there is room on the disk. Without a ballast (size zero) there always is.
type room struct {
	fs        vfs.FS // below the one that Pebble has: see vfs.OnDiskFull
	dir, path string
	logger    *slog.Logger
	size, low uint64

	full  atomic.Pointer[kv.Error]
	short atomic.Bool // also while it is full

	mu    sync.Mutex // guards what follows
	there bool       // the ballast
	until time.Time  // the state lasts, at least
	asked time.Time  // when the system was, last

	turned time.Time // when promised was

	// mayDelete and mayCollect are the bytes that may be written in the state before the system is asked
	// again; promised is what deletes were let in with, and the commits of others, of this while and of the
	// one before: what is prewritten is committed a little later.
	mayDelete, mayCollect, mayFollow atomic.Int64
	promised                         [2]atomic.Int64
	looked                           atomic.Bool   // and nothing was let in or has left since
	unflushed                        func() uint64 // bytes in memtables; nil before there are any
	held                             atomic.Uint64 // what it said last

	// See underway.go. What has left when held was asked for may not be in it.
	entered, left, leftThen atomic.Int64
	mayAdd                  atomic.Int64
	free                    uint64 // at the last look; this and spare are behind mu
	spare                   int64

	deletes atomic.Int64 // that were applied since the reclaimer asked last; only while the state lasts
	// reclaim hears at each look of the state how much is free; see reclaim.go.
	reclaim chan uint64

	stop       chan struct{}
	once       sync.Once // closes it
	background sync.WaitGroup
}

// openRoom looks at the disk before anything is written to it, and gives the ballast up if that must be.
func openRoom(fsys vfs.FS, dir string, ballast int64, memTable uint64, logger *slog.Logger) (*room, error) {
	r := &room{fs: fsys, dir: dir, path: fsys.PathJoin(dir, ballastFile), logger: logger, reclaim: make(chan uint64, 1), stop: make(chan struct{})}
	u, err := fsys.GetDiskUsage(dir)
	switch {
	case err != nil && !errors.Is(err, vfs.ErrUnsupported):
		return nil, err
	case err != nil: // in memory: the disk is never full
	case ballast == AutoBallast:
		part := max(u.TotalBytes/20, min(smallDiskBallast, u.TotalBytes/8))
		r.size = min(max(leastAutoBallast, memTables*memTable), part)
	default:
		r.size = uint64(ballast)
	}
	r.low = r.size / 2
	info, err := fsys.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case r.size == 0 || u.AvailBytes < r.low || uint64(info.Size()) != r.size:
		if err := fsys.Remove(r.path); err != nil {
			return nil, err
		}
		if u, err = fsys.GetDiskUsage(dir); err != nil && r.size > 0 {
			return nil, err
		}
	default:
		r.there = true
	}
	if !r.there && u.AvailBytes < r.high() { // it was full, or there was never any room
		r.begin(u.AvailBytes)
		r.allow()
	}
	return r, nil
}

// watch looks at the disk from now on, until close, and lets reclaim run as long.
func (r *room) watch(reclaim func(ctx context.Context, wake <-chan uint64)) {
	if r.size == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.background.Go(func() { reclaim(ctx, r.reclaim) })
	r.background.Go(func() { <-r.stop; cancel() })
	next := r.look(time.Now())
	r.background.Go(func() {
		t := time.NewTimer(next)
		defer t.Stop()
		for {
			select {
			case <-r.stop:
				return
			case now := <-t.C:
				t.Reset(r.look(now))
			}
		}
	})
}

func (r *room) close() {
	r.once.Do(func() { close(r.stop) })
	r.background.Wait()
}

// look compares the room there is with the marks, and says when to look again.
func (r *room) look(now time.Time) time.Duration {
	r.measure()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lookLocked(now)
}

// measure asks how much is in memtables. The mutex must not be held: Pebble takes its own for the answer, and
// may hold that when it meets a full disk (exhausted).
func (r *room) measure() {
	if r.unflushed != nil {
		left := r.left.Load()
		r.held.Store(r.unflushed())
		r.leftThen.Store(left)
	}
}

func (r *room) lookLocked(now time.Time) time.Duration {
	r.asked = now
	u, err := r.fs.GetDiskUsage(r.dir)
	if err != nil {
		r.logger.Warn("how much room the disk has is not known", "dir", r.dir, "err", err)
		return rarestLook
	}
	free := u.AvailBytes
	if now.Sub(r.turned) > promiseKept {
		r.promised[1].Store(r.promised[0].Swap(0))
		r.turned = now
	}
	r.account(free)
	if r.full.Load() == nil {
		if free < r.low {
			r.begin(free)
			r.giveUp()
			r.allow()
			return rarestLook
		}
		if free < r.low+r.low/2 {
			r.short.Store(true)
		} else if free >= r.size {
			r.short.Store(false)
		}
		if !r.there && free >= r.high() {
			r.make()
		}
		return max(closestLook, time.Duration(min(free-r.low, fastestFill))*time.Second/fastestFill)
	}
	r.giveUp() // what could not be removed before
	if free < r.high() || now.Before(r.until) || !r.make() {
		r.full.Store(r.refusal(free))
		r.allow()
		select {
		case r.reclaim <- free:
		default: // it has not done with the last
		}
		return rarestLook
	}
	r.full.Store(nil)
	r.short.Store(false)
	r.logger.Info("the disk has room again: writes that add are taken", "dir", r.dir, "free", mebibytes(free))
	return closestLook
}

// exhausted is what happens when the disk refuses a write. All writes wait for it; the refused one is tried once more then.
func (r *room) exhausted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Now().Add(enospcHold)
	var free uint64
	if u, err := r.fs.GetDiskUsage(r.dir); err == nil {
		free = u.AvailBytes
	}
	r.begin(free)
	r.giveUp()
	r.allow()
}

func (r *room) high() uint64 { return r.size + 2*r.low }

func (r *room) begin(free uint64) {
	r.short.Store(true)
	if r.full.Swap(r.refusal(free)) == nil {
		r.logger.Error("the disk is full: writes that add are refused, deletes and reads go on; make room there, or delete, truncate and drop",
			"dir", r.dir, "free", mebibytes(free), "goes on by itself with free", mebibytes(r.high()))
	}
}

// allow gives out what may be written until the next look. A collection is there twice, in the log and in a
// memtable that will be flushed.
func (r *room) allow() {
	u, err := r.fs.GetDiskUsage(r.dir) // anew: the ballast may just have gone
	if err != nil {
		return
	}
	r.looked.Store(true)
	room := int64(u.AvailBytes) - r.claimed()
	r.mayDelete.Store(max(0, room-int64(r.size/2)-r.promises()))
	r.mayCollect.Store(max(0, room-int64(r.size/4)) / 4)
	r.mayFollow.Store(room - int64(r.size/8)) // less than nothing when those who wait have no room
}

// spend counts what is written in the state.
func (r *room) spend(n int) {
	r.looked.Store(false)
	r.mayCollect.Add(-int64(n))
}

// grants reports whether there is room for so many bytes of that kind, and sets it aside for deletes.
func (r *room) grants(g kv.Growth, bytes int) bool {
	n := int64(bytes)
	if g == kv.Collects {
		return r.mayCollect.Load() > 0
	}
	if r.mayDelete.Add(-n) < 0 {
		r.mayDelete.Add(n)
		return false
	}
	r.promised[0].Add(n)
	r.looked.Store(false)
	return true
}

// refuses is the error of writes of that kind, nil if there is room for them.
func (r *room) refuses(g kv.Growth, bytes int) *kv.Error {
	full := r.full.Load()
	switch {
	case g == kv.Ends:
		r.keep(int64(bytes))
		return nil
	case full == nil:
		return nil // see enter
	case g == kv.Adds:
		return full
	case r.grants(g, bytes):
		return nil
	}
	r.measure()
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); !r.looked.Load() || now.Sub(r.asked) >= closestLook {
		r.lookLocked(now)
	}
	if r.full.Load() == nil || r.grants(g, bytes) {
		return nil
	}
	return r.undeletable()
}

func (r *room) undeletable() *kv.Error {
	return kv.Errorf(kv.CodeDiskFull, "engine", "the disk of %s is so full that this much cannot be deleted "+
		"before what was deleted earlier has been removed, which waits for the retention of old versions "+
		"(--gc-retention); make room there, delete rows later and fewer at a time, or truncate and "+
		"drop tables", r.dir)
}

// Short reports whether the disk is full, or is about to be.
func (e *Engine) Short() bool { return e.room.short.Load() }

func (r *room) refusal(free uint64) *kv.Error {
	return kv.Errorf(kv.CodeDiskFull, "engine", "the disk of %s is full (%s free): nothing is added before %s are free; make room there, or delete rows, "+
		"truncate and drop tables, which is possible, and gives room back when the retention of old versions (--gc-retention) has passed", r.dir, mebibytes(free), mebibytes(r.high()))
}

func mebibytes(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/mebibyte) }

// giveUp removes the ballast.
func (r *room) giveUp() {
	if !r.there {
		return
	}
	if err := r.fs.Remove(r.path); err != nil {
		r.logger.Error("the ballast cannot be removed", "file", r.path, "err", err)
		return
	}
	r.there = false
}

// make makes the ballast. If there is no room for it after all, what there is of it goes.
func (r *room) make() bool {
	if r.there {
		return true
	}
	err := r.allocate()
	if err == nil {
		r.there = true
		return true
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		r.logger.Warn("the ballast cannot be made", "file", r.path, "err", err)
	}
	if err := r.fs.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.logger.Error("the ballast cannot be removed", "file", r.path, "err", err)
		r.there = true // some of it
	}
	return false
}

// allocate takes the room: with one call of the system, or, where there is none, with bytes that no file system can make smaller.
func (r *room) allocate() error {
	f, err := r.fs.Create(r.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Preallocate(0, int64(r.size))
	if err == nil {
		_, err = f.WriteAt([]byte{0}, int64(r.size)-1) // as long as it is large
	} else if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		err = r.fill(f)
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

func (r *room) fill(f vfs.File) error {
	chunk := make([]byte, ballastChunk)
	random := rand.NewChaCha8([32]byte{})
	for left := r.size; left > 0; left -= min(left, ballastChunk) {
		random.Read(chunk)
		if _, err := f.Write(chunk[:min(left, ballastChunk)]); err != nil {
			return err
		}
	}
	return nil
}

// Room is kv.ErrDiskFull while the disk is too full for writes of that kind, and so many bytes of deletes;
// nil otherwise. With kv.Ends so many bytes have come that were to follow.
func (e *Engine) Room(g kv.Growth, bytes int) error {
	if err := e.room.refuses(g, bytes); err != nil {
		return err
	}
	return nil
}

// The categories that Pebble gives to what compactions write.
const (
	compactionTables vfs.DiskWriteCategory = "pebble-compaction"
	compactionValues vfs.DiskWriteCategory = "pebble-blob-file-rewrite"
)

// leaveRoom makes a compaction's file fail before it takes the room that the log and flushes need: a compaction can be done later, and gives back
// what it has taken when it fails. The next one comes later: see pace.
func (r *room) leaveRoom(f vfs.File, c vfs.DiskWriteCategory) vfs.File {
	if f == nil || c != compactionTables && c != compactionValues || r.size == 0 {
		return f
	}
	return &modestFile{File: f, room: r}
}

// errModest is the error of a compaction that has stopped by itself. There may be room again when the engine hears of it.
var errModest = fmt.Errorf("a compaction leaves the room to the log: %w", syscall.ENOSPC)

// largestCompaction bounds what a compaction out of L0 writes: all of the level below, which must fit beside it. smallestTable does so for the
// others: they write a table, and some ten of the next level. Neither matters with the ballast that is chosen by itself.
func (r *room) largestCompaction(most int64) int64 {
	if r.size == 0 {
		return most
	}
	return min(most, int64(r.size))
}

func (r *room) smallestTable(most int64) int64 {
	if r.size == 0 {
		return most
	}
	return min(most, max(int64(r.size)/32, 64<<10))
}

// compactionBudget is what a compaction may write when so much is free: all but what the log and flushes need, and a little of that if need be,
// since one that writes little gives back much.
func (r *room) compactionBudget(free uint64) uint64 {
	kept := r.low / 2
	switch {
	case free > kept+ballastChunk:
		return free - kept
	case free > kept/2+ballastChunk:
		return ballastChunk
	}
	return 0
}

// modestFile looks at the room there is once for each chunk that it writes. Memtables and what is under way
// have theirs first; as long as the disk is not full, in the ballast.
type modestFile struct {
	vfs.File
	room    *room
	written uint64
	unasked int
}

func (f *modestFile) Write(p []byte) (int, error) {
	if f.unasked -= len(p); f.unasked < 0 {
		f.unasked = ballastChunk
		kept := f.room.low / 2
		if f.written == 0 {
			kept /= 2 // see compactionBudget
		}
		needed := f.room.needed()
		if f.room.full.Load() == nil {
			needed -= min(needed, f.room.size)
		}
		kept += needed
		if u, err := f.room.fs.GetDiskUsage(f.room.dir); err == nil && u.AvailBytes < kept {
			return 0, &fs.PathError{Op: "write", Path: f.room.dir, Err: errModest}
		}
	}
	f.written += uint64(len(p))
	return f.File.Write(p)
}
