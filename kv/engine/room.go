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
// Nobody who writes asks the system how much room there is: a goroutine does, the more often the closer the mark is, and so does whoever meets
// ENOSPC, before it tries once more.
const ballastFile = "BALLAST"

// AutoBallast as Options.Ballast is room for four memtables and their logs, at least 64 MiB, at most a twentieth of the disk.
const AutoBallast = -1

const (
	leastAutoBallast = 64 * mebibyte
	// fastestFill is how fast, in bytes a second, the disk is believed to fill up between two looks at it.
	fastestFill  = 1 << 30
	rarestLook   = time.Second // when that would take longer
	closestLook  = 10 * time.Millisecond
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

	full atomic.Pointer[kv.Error]

	mu    sync.Mutex // guards what follows
	there bool       // the ballast
	until time.Time  // the state lasts, at least

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
		r.size = min(max(leastAutoBallast, 4*memTable), u.TotalBytes/20)
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
	r.mu.Lock()
	defer r.mu.Unlock()
	u, err := r.fs.GetDiskUsage(r.dir)
	if err != nil {
		r.logger.Warn("how much room the disk has is not known", "dir", r.dir, "err", err)
		return rarestLook
	}
	free := u.AvailBytes
	if r.full.Load() == nil {
		if free < r.low {
			r.begin(free)
			r.giveUp()
			return rarestLook
		}
		if !r.there && free >= r.high() {
			r.make()
		}
		return max(closestLook, time.Duration(min(free-r.low, fastestFill))*time.Second/fastestFill)
	}
	r.giveUp() // what could not be removed before
	if free < r.high() || now.Before(r.until) || !r.make() {
		r.full.Store(r.refusal(free))
		select {
		case r.reclaim <- free:
		default: // it has not done with the last
		}
		return rarestLook
	}
	r.full.Store(nil)
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
}

func (r *room) high() uint64 { return r.size + 2*r.low }

func (r *room) begin(free uint64) {
	if r.full.Swap(r.refusal(free)) == nil {
		r.logger.Error("the disk is full: writes that add are refused, deletes and reads go on; make room there, or delete, truncate and drop",
			"dir", r.dir, "free", mebibytes(free), "goes on by itself with free", mebibytes(r.high()))
	}
}

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

// Room is kv.ErrDiskFull while nothing may be added, nil otherwise.
func (e *Engine) Room() error {
	if err := e.room.full.Load(); err != nil {
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

// modestFile looks at the room there is once for each chunk that it writes while the disk is full.
type modestFile struct {
	vfs.File
	room    *room
	written uint64
	unasked int
}

func (f *modestFile) Write(p []byte) (int, error) {
	if f.room.full.Load() != nil {
		if f.unasked -= len(p); f.unasked < 0 {
			f.unasked = ballastChunk
			kept := f.room.low / 2
			if f.written == 0 {
				kept /= 2 // see compactionBudget
			}
			if u, err := f.room.fs.GetDiskUsage(f.room.dir); err == nil && u.AvailBytes < kept {
				return 0, &fs.PathError{Op: "write", Path: f.room.dir, Err: errModest}
			}
		}
	}
	f.written += uint64(len(p))
	return f.File.Write(p)
}
