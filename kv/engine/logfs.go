package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS is the file system that Pebble gets: it tells the record what becomes of the logs.
type logFS struct {
	vfs.FS
	record *logRecord
	room   *room
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
	if n, ok := logNumber(fs.PathBase(name)); ok && err == nil {
		return &logFile{File: f, record: fs.record, number: n}, nil
	}
	return f, err
}

// logFile is a log that is being written. Pebble writes it from its beginning to its end and syncs it from one goroutine.
type logFile struct {
	vfs.File
	record  *logRecord
	number  uint64
	written uint64
}

func (f *logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written += uint64(n)
	return n, err
}

func (f *logFile) SyncData() error { return f.synced(f.File.SyncData()) }

func (f *logFile) Sync() error { return f.synced(f.File.Sync()) }

func (f *logFile) synced(err error) error {
	if err == nil {
		f.record.synced(f.number, f.written)
	}
	return err
}
