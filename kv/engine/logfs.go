package engine

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS is the file system that Pebble gets: it tells the record what becomes of the logs.
type logFS struct {
	vfs.FS
	record *logRecord
	room   *room
	// live: the store is open. From then on a log that cannot be made or written is the end: Pebble would
	// find out when it begins the next, and panic without a lock that it then unlocks, from which nobody can
	// recover.
	live atomic.Bool
}

// failed is what happens to a log.
func (fs *logFS) failed(err error) {
	if err != nil && fs.live.Load() {
		fs.record.fail(err)
	}
}

// logNumber is the number of a log by the name of its file.
func logNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, ".log")
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, ok && err == nil
}

func logName(number uint64) string { return fmt.Sprintf("%06d.log", number) }

func (fs *logFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	if err == nil {
		f = fs.room.leaveRoom(f, c)
	}
	return fs.watch(name, f, err)
}

func (fs *logFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	fs.leaves(oldname)
	f, err := fs.FS.ReuseForWrite(oldname, newname, c)
	return fs.watch(newname, f, err)
}

func (fs *logFS) Remove(name string) error {
	fs.leaves(name)
	return fs.FS.Remove(name)
}

func (fs *logFS) Unwrap() vfs.FS { return fs.FS }

func (fs *logFS) leaves(name string) {
	if n, ok := logNumber(fs.PathBase(name)); ok {
		fs.record.gone(n)
	}
}

func (fs *logFS) watch(name string, f vfs.File, err error) (vfs.File, error) {
	n, ok := logNumber(fs.PathBase(name))
	if !ok {
		return f, err
	}
	if fs.failed(err); err == nil {
		return &logFile{File: f, fs: fs, number: n}, nil
	}
	return f, err
}

// logFile is a log that is being written. Pebble writes it from its beginning to its end and syncs it from one goroutine.
type logFile struct {
	vfs.File
	fs      *logFS
	number  uint64
	written uint64
	torn    bool // a write has failed: nobody was promised what came of it
}

func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if f.torn = f.torn || err != nil; !f.torn {
		f.written += uint64(n)
	}
	f.fs.failed(err)
	return n, err
}

func (f *logFile) SyncData() error { return f.synced(f.File.SyncData()) }

func (f *logFile) Sync() error { return f.synced(f.File.Sync()) }

func (f *logFile) synced(err error) error {
	if err == nil {
		f.fs.record.synced(f.number, f.written)
	}
	f.fs.failed(err)
	return err
}
