package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/cockroachkvs"
	"github.com/cockroachdb/pebble/v2/sstable"

	"moka/kv"
	"moka/kv/keys"
)

var keySchemas = sstable.MakeKeySchemas(&cockroachkvs.KeySchema)

// Engine is an open store.
type Engine struct {
	o        Options
	db       *pebble.DB
	lock     *pebble.Lock
	health   io.Closer
	identity Identity
	record   *logRecord
	logs     *logFS
	room     *room
	pace     *pace

	failed   atomic.Pointer[error]
	grouped  atomic.Int64  // commits that asked for a sync since groupWait was last asked
	recycled atomic.Uint64 // segments of the log that were used again
	stalled  atomic.Int64  // since when Pebble holds writes up, in Unix nanoseconds; 0: it does not
	once     sync.Once
	damaged  damaged
	// complained is when background work that failed was logged last, unsaid how often it has failed since.
	complained, unsaid atomic.Int64
	unflushable        atomic.Int64 // flushes that have failed, one after the other
	keys, seeks        sync.Pool

	unflushed unflushed

	pebble   *pebble.Options
	incoming string        // where Tables lie
	written  atomic.Uint64 // of Tables, for their names
}

// Open opens the store in dir, or makes one if the directory is empty or missing.
func Open(dir string, o Options) (*Engine, error) {
	e := &Engine{o: o.withDefaults(), pace: newPace()}
	e.keys.New = func() any { b := make([]byte, 0, 256); return &b }
	e.seeks.New = func() any { return new(seeks) }
	fsys := e.o.FS
	exists, err := checkDirectory(fsys, dir)
	if err != nil {
		return nil, err
	}
	var opened bool
	defer func() {
		if !opened {
			e.release()
		}
	}()
	if exists {
		// Before the lock: who runs an older release should hear that, whatever else is wrong.
		if e.identity, err = readIdentity(fsys, dir); err != nil {
			return nil, err
		}
	}
	store := fsys.PathJoin(dir, pebbleDir)
	if err := fsys.MkdirAll(store, 0o700); err != nil {
		return nil, openError(dir, err)
	}
	if e.lock, err = pebble.LockDirectory(store, fsys); err != nil {
		return nil, lockError(dir, err)
	}
	if o.FS == nil { // the machine's
		if err := tighten(dir); err != nil { // a volume that belongs to somebody else, say
			e.o.Logger.Warn("other users of this machine may read the data, and this process cannot forbid it: chmod -R go-rwx the directory", "dir", dir, "err", err)
		}
	}
	// Before anything is written: what is written next has the ballast's room, if that is all there is.
	if e.room, err = openRoom(fsys, dir, e.o.Ballast, e.o.MemTableBytes, e.o.Logger); err != nil {
		return nil, openError(dir, err)
	}
	if !exists {
		e.identity = newIdentity()
		if err := announce(fsys, dir, e.identity); err != nil {
			return nil, openError(dir, err)
		}
		// The directory itself must survive a crash too, or the identity goes with it.
		if err := syncDir(fsys, fsys.PathDir(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, openError(dir, err)
		}
	}
	var logs []logState
	if exists {
		if logs, err = e.checkStore(dir); err != nil {
			return nil, openError(dir, err)
		}
	}
	// Before what needs room: it may be what has taken it.
	e.incoming = fsys.PathJoin(dir, incomingDir)
	if err := fsys.RemoveAll(e.incoming); err != nil {
		return nil, openError(dir, err)
	}
	if e.record, err = createRecord(fsys, fsys.PathJoin(dir, recordFile), logs, e.die); err != nil {
		return nil, openError(dir, err)
	}
	// A full disk must have room for all memtables, which may have to be written out.
	if e.room.size > 0 {
		e.o.MemTableBytes = min(e.o.MemTableBytes, max(e.room.size/memTables, leastMemTable))
	}
	p, health := e.pebbleOptions(e.o)
	e.health, p.Lock = health, e.lock
	p.EnsureDefaults()
	e.pebble = p
	if e.db, err = openPebble(store, p); err != nil {
		return nil, openError(dir, err)
	}
	e.room.unflushed = func() uint64 { return e.db.Metrics().MemTable.Size }
	if err := e.unflushed.open(e); err != nil {
		return nil, errors.Join(openError(dir, err), e.db.Close())
	}
	if !exists || e.identity.Format < Format {
		if err := e.establish(dir, exists); err != nil {
			return nil, errors.Join(openError(dir, err), e.db.Close())
		}
	}
	e.room.watch((&reclaimer{e: e, tried: map[uint64]time.Time{}}).run)
	e.logs.live.Store(true)
	opened = true
	return e, nil
}

// establish says that there is a store now, or one of the present format.
func (e *Engine) establish(dir string, exists bool) error {
	if exists {
		e.identity.Format, e.identity.Release = Format, Release
		if err := announce(e.o.FS, dir, e.identity); err != nil {
			return err
		}
	}
	return establish(e.o.FS, dir)
}

// checkStore sees that the store has lost nothing that was durable, and returns what is known of its logs.
func (e *Engine) checkStore(dir string) ([]logState, error) {
	fsys := e.o.FS
	store := fsys.PathJoin(dir, pebbleDir)
	there, first, err := checkManifest(fsys, store)
	if err != nil {
		return nil, err
	}
	if !there {
		err := fmt.Errorf("there is no store in %s", store)
		if !e.o.AcceptDataLoss {
			return nil, lossError(dir, err)
		}
		e.o.Logger.Error("going on without what is lost: the store begins empty", "error", err)
		return nil, setAside(fsys, dir, func(name string) bool { return name != "LOCK" })
	}
	var logs []logState
	if e.identity.Format >= 2 {
		if logs, err = readRecord(fsys, fsys.PathJoin(dir, recordFile)); err != nil {
			if !e.o.AcceptDataLoss {
				return nil, lossError(dir, err)
			}
			e.o.Logger.Error("going on without the record of the logs: whether one was cut is not known", "error", err)
		}
	}
	logs = slices.DeleteFunc(logs, func(l logState) bool { return l.number < first })
	loss, err := checkLogs(fsys, store, logs, first)
	if err != nil || loss == nil {
		return logs, err
	}
	if !e.o.AcceptDataLoss {
		return nil, lossError(dir, loss)
	}
	e.o.Logger.Error("going on without what is lost", "error", loss, "set_aside", fsys.PathJoin(dir, lostDir))
	from, _ := logNumber(loss.name)
	return slices.DeleteFunc(logs, func(l logState) bool { return l.number >= from }), acceptLoss(fsys, dir, loss)
}

// openPebble turns Pebble's panics into errors: it meets some failures of the disk with one, when a store is made.
func openPebble(dir string, p *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if err, ok = r.(error); !ok {
				err = fmt.Errorf("%v", r)
			}
			db = nil
		}
	}()
	return pebble.Open(dir, p)
}

func (e *Engine) release() {
	if e.lock != nil {
		e.lock.Close()
	}
	if e.health != nil {
		e.health.Close()
	}
	if e.record != nil {
		e.record.close()
	}
}

// lockError tells a directory that is in use from one that cannot be locked.
func lockError(dir string, err error) error {
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) || strings.Contains(err.Error(), "lock held by current process") {
		return &kv.Error{Code: kv.CodeInUse, Op: "engine.Open", Err: err,
			Msg: fmt.Sprintf("%s is in use by another Moka; stop that one, or name another directory with --data", dir)}
	}
	return openError(dir, err)
}

// openError gives an error of the file system or of Pebble its code and its next step.
func openError(dir string, err error) error {
	var known *kv.Error
	switch {
	case errors.As(err, &known):
		return err
	case isCorruption(err):
		return &kv.Error{Code: kv.CodeCorrupt, Op: "engine.Open", Err: err,
			Msg: fmt.Sprintf("a file of the store in %s is damaged; keep the directory as it is and restore a backup elsewhere", dir)}
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return &kv.Error{Code: kv.CodeDisk, Op: "engine.Open", Err: err,
			Msg: fmt.Sprintf("the disk that holds %s is full; make room and start again", dir)}
	case strings.Contains(err.Error(), "format major version"):
		return &kv.Error{Code: kv.CodeForeignData, Op: "engine.Open", Err: err,
			Msg: fmt.Sprintf("the store in %s was written by a newer Moka; start it with that release", dir)}
	}
	return &kv.Error{Code: kv.CodeDisk, Op: "engine.Open", Err: err,
		Msg: fmt.Sprintf("%s cannot be opened; see that it is a directory that this user may write to and that the disk is well", dir)}
}

// corruption is a damaged block that Pebble met while reading.
type corruption struct {
	path string
	err  error
}

func (c *corruption) Error() string { return c.path + ": " + c.err.Error() }
func (c *corruption) Unwrap() error { return c.err }

func isCorruption(err error) bool {
	var c *corruption
	return errors.As(err, &c) || pebble.IsCorruptionError(err)
}

// die ends the process, once. It does not return.
func (e *Engine) die(err error) {
	e.once.Do(func() {
		code := kv.CodeDisk
		msg := "the disk failed, and going on could lose acknowledged data; start again when it is repaired: everything acknowledged is there"
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			msg = "the disk is full; make room and start again: everything acknowledged is there"
			if e.room != nil && e.room.size > 0 {
				msg = "the disk is full, and the ballast was not enough; start again, and make room first if that fails: everything acknowledged is there"
			}
		} else if isCorruption(err) {
			code = kv.CodeCorrupt
			msg = "a file of the store is damaged; keep the directory as it is and restore a backup elsewhere"
		}
		var fatal error = &kv.Error{Code: code, Op: "engine", Msg: msg, Err: err}
		e.failed.Store(&fatal)
		e.o.Logger.Error("the store cannot go on", "error", fatal)
		e.o.Fatal(fatal)
	})
	select {} // see Options.Fatal
}

// flushTries is how many flushes may fail, one after the other, because the disk is full. The first has made room for the next.
const flushTries = 4

// backgroundError decides whether a failed flush or compaction is the end. Pebble would try again for ever and in the
// end stop all writes; a disk that is full or broken is better met by an operator than by a stall without a word. On a full disk compactions may
// wait until there is room; flushes may not, or nothing could be deleted either. A damaged table is not the
// end: Pebble leaves its span out of compactions for a while, and whoever reads there gets the error.
func (e *Engine) backgroundError(err error) {
	full := e.room.full.Load() != nil && errors.Is(err, syscall.ENOSPC)
	if errors.Is(err, errModest) || full && e.unflushable.Load() < flushTries {
		e.complain(err)
		return
	}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS} {
		if errors.Is(err, errno) {
			e.die(err)
		}
	}
	e.complain(err)
}

// complainEvery is how often failures of background work are logged. Pebble tries again at once, and for ever.
const complainEvery = 10 * time.Second

// complain logs a failure of background work, with how many there were since the last that was logged.
func (e *Engine) complain(err error) {
	now := time.Now().UnixNano()
	last := e.complained.Load()
	if now-last < int64(complainEvery) || !e.complained.CompareAndSwap(last, now) {
		e.unsaid.Add(1)
		return
	}
	e.o.Logger.Error("background work of the store failed; it is tried again", "error", err, "failures_not_logged", e.unsaid.Swap(0))
}

// Failed is the error with which the engine died, nil while it lives.
func (e *Engine) Failed() error {
	if err := e.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// stallPatience is how long writes wait for a disk that does not keep up before further ones are refused. A stall while a memtable is written out
// is over sooner.
const stallPatience = 200 * time.Millisecond

// StalledFor is how long Pebble has been holding writes up, 0 if it does not.
func (e *Engine) StalledFor() time.Duration {
	if since := e.stalled.Load(); since != 0 {
		return max(1, time.Since(time.Unix(0, since)))
	}
	return 0
}

// Admit refuses a write with kv.ErrBusy while the disk is behind: queueing more behind those that wait would only turn their waiting into time-outs
// whose outcome nobody knows. Nothing has happened then, and the caller comes back later.
func (e *Engine) Admit() error {
	if e.stalled.Load() == 0 {
		return nil
	}
	if d := e.StalledFor(); d > stallPatience {
		return kv.Errorf(kv.CodeBusy, "engine", "the disk has not kept up with writes for %v", d.Round(time.Millisecond))
	}
	return nil
}

// Identity says which store this is.
func (e *Engine) Identity() Identity { return e.identity }

// Close flushes nothing: the log has everything. It waits for background work. No iterator may be open.
func (e *Engine) Close() error {
	e.room.close()
	if e.Failed() != nil {
		return e.Failed() // Pebble waits for background work that never ends
	}
	err := e.db.Close()
	e.release()
	return e.ioError("engine.Close", err)
}

// ioError gives an error met while reading its code.
func (e *Engine) ioError(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case e.Failed() != nil:
		return e.Failed()
	case isCorruption(err):
		return &kv.Error{Code: kv.CodeCorrupt, Op: op, Msg: e.damaged.String(), Err: err}
	}
	return &kv.Error{Code: kv.CodeDisk, Op: op, Err: err}
}

// Batch is an atomic set of changes. It is not safe for concurrent use.
type Batch struct{ *pebble.Batch }

// Points calls f for what is set and deleted in the batch, key by key, in order.
func (b Batch) Points(f func(key, value []byte, deleted bool) error) error {
	for r := b.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		if err != nil || !ok {
			return err
		}
		if kind == pebble.InternalKeyKindSet || kind == pebble.InternalKeyKindDelete {
			if err := f(key, value, kind == pebble.InternalKeyKindDelete); err != nil {
				return err
			}
		}
	}
}

// NewBatch returns an empty batch; Close gives its memory back.
func (e *Engine) NewBatch() Batch { return Batch{e.db.NewBatch()} }

// ParseBatch returns a batch of what another's Repr was, to be read and to be added to others. It lies in
// repr, and leaves that alone.
func ParseBatch(repr []byte) (Batch, error) {
	b := Batch{new(pebble.Batch)} // of no store: closing it would give repr to the next batch of that
	if err := b.SetRepr(repr); err != nil {
		return b, &kv.Error{Code: kv.CodeCorrupt, Op: "engine.ParseBatch", Msg: "no batch", Err: err}
	}
	return b, nil
}

// Apply makes the batch visible; it is in the log's memory, but not durable before SyncWait returns. Without sync, nobody
// needs to wait and a crash may undo it, but never parts of it, nor it without what was applied later.
//
// Apply does not fail: where Pebble cannot write its log, the process dies.
func (e *Engine) Apply(b Batch, sync bool) {
	if e.room.full.Load() != nil {
		e.noteDeletes(b.Batch)
		e.room.spend(b.Len())
	}
	g := e.unflushed.enter(b.Batch)
	e.apply(b, sync)
	e.unflushed.leave(g)
}

func (e *Engine) apply(b Batch, sync bool) {
	// Pebble panics when its log refuses a record. The batch is then neither surely lost nor surely kept.
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); ok {
				e.die(err)
			}
			e.die(fmt.Errorf("%v", r))
		}
	}()
	var err error
	if sync {
		e.grouped.Add(1)
		err = e.db.ApplyNoSyncWait(b.Batch, pebble.Sync)
	} else {
		err = e.db.Apply(b.Batch, pebble.NoSync)
	}
	if err != nil {
		e.die(err)
	}
}

// SyncWait waits until a batch that was applied with sync is durable, together with everything applied before it.
// All waiting goroutines share one fsync.
func (e *Engine) SyncWait(b Batch) {
	if err := b.Batch.SyncWait(); err != nil {
		e.die(err)
	}
}

// Commit applies the batch and waits until it is durable.
func (e *Engine) Commit(b Batch) {
	e.Apply(b, true)
	e.SyncWait(b)
}

// groupWait is how long the log waits after a sync before the next. While a sync is under way the next group gathers by itself, but its first
// member comes at once and the rest, who have just been answered, a little later: without a pause each group is about half of the
// writers. The pause comes only where there are many; one writer alone would pay for it with each commit.
//
// Measured with 64 writers of one-row transactions, three runs each in turns: 28 -> 24 µs of processor time a commit, a quarter fewer syncs,
// and no fewer commits.
func (e *Engine) groupWait() time.Duration {
	if e.grouped.Swap(0) < groupSize {
		return 0
	}
	return groupPause
}

const (
	groupSize  = 12
	groupPause = 250 * time.Microsecond
)

// Set makes one key durable, by the shortest way there is: what more elaborate ways are measured against.
func (e *Engine) Set(key, value []byte) {
	g := e.unflushed.enterKey(key)
	if err := e.db.Set(key, value, pebble.Sync); err != nil {
		e.die(err)
	}
	e.unflushed.leave(g)
}

// Barrier returns when everything that was applied before is durable.
func (e *Engine) Barrier() {
	b := e.NewBatch()
	defer b.Close()
	b.LogData(nil, nil)
	e.Commit(b)
}

// Get returns a copy of the value under exactly that key.
func (e *Engine) Get(key []byte) (value []byte, ok bool, err error) {
	if !keys.InLog(key) && !e.unflushed.may(key[:keys.Prefix(key)]) {
		return e.getFlushed(key)
	}
	v, closer, err := e.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, e.ioError("engine.Get", err)
	}
	value = append(make([]byte, 0, len(v)), v...)
	return value, true, e.ioError("engine.Get", closer.Close())
}

func (e *Engine) getFlushed(key []byte) (value []byte, ok bool, err error) {
	it, err := e.db.NewIter(&flushedOptions)
	if err != nil {
		return nil, false, e.ioError("engine.Get", err)
	}
	if it.SeekPrefixGE(key) && bytes.Equal(it.Key(), key) {
		var v []byte
		if v, err = it.ValueAndErr(); err == nil {
			value, ok = append(make([]byte, 0, len(v)), v...), true
		}
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return value, ok && err == nil, e.ioError("engine.Get", err)
}

// Keys is an iterator over raw keys.
type Keys interface {
	First() bool
	Last() bool
	SeekGE(key []byte) bool
	Next() bool
	// Key and ValueAndErr are of where it stands; the memory is valid until the next move.
	Key() []byte
	ValueAndErr() ([]byte, error)
	Error() error
	Close() error
}

// NewIter returns an iterator over the keys in [lower, upper), of the state at this moment.
func (e *Engine) NewIter(lower, upper []byte) (Keys, error) {
	it, err := e.newIter(lower, upper)
	if err != nil {
		return nil, err
	}
	return it, nil
}

func (e *Engine) newIter(lower, upper []byte) (*pebble.Iterator, error) {
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper, KeyTypes: pebble.IterKeyTypePointsOnly})
	return it, e.ioError("engine.NewIter", err)
}

// Scan calls f for the keys in [lower, upper) in order.
func (e *Engine) Scan(lower, upper []byte, f func(key, value []byte) error) error {
	it, err := e.newIter(lower, upper)
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return e.ioError("engine.Scan", err)
		}
		if err := f(it.Key(), v); err != nil {
			return err
		}
	}
	return e.ioError("engine.Scan", it.Error())
}

// Size estimates the bytes on disk in [lower, upper). What is still in memtables does not count.
func (e *Engine) Size(lower, upper []byte) (uint64, error) {
	n, err := e.db.EstimateDiskUsage(lower, upper)
	return n, e.ioError("engine.Size", err)
}

// Flush writes the memtables out and waits for it.
func (e *Engine) Flush(ctx context.Context) error {
	done, err := e.db.AsyncFlush()
	if err != nil {
		return e.ioError("engine.Flush", err)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Compact rewrites [lower, upper) into the lowest level that it needs. It waits, and gives up with kv.ErrCorrupt or kv.ErrDisk when a compaction
// fails meanwhile, be it another one: those that the tree needs are done before this one.
func (e *Engine) Compact(ctx context.Context, lower, upper []byte) error {
	waiting, done := e.pace.wait(ctx)
	defer done()
	err := e.db.Compact(waiting, lower, upper, false)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil && waiting.Err() != nil:
		err = context.Cause(waiting)
	}
	return e.ioError("engine.Compact", err)
}

// Metrics are Pebble's.
func (e *Engine) Metrics() *pebble.Metrics { return e.db.Metrics() }
