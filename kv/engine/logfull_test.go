package engine_test

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/engine"
)

// tornDisk is full for logs when it is told so: a write comes half, and no log can be made.
type tornDisk struct {
	vfs.FS
	full atomic.Bool
}

func (d *tornDisk) refuse(name string) error {
	if strings.HasSuffix(name, ".log") && d.full.Load() {
		return &os.PathError{Op: "write", Path: name, Err: syscall.ENOSPC}
	}
	return nil
}

func (d *tornDisk) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.refuse(name); err != nil {
		return nil, err
	}
	f, err := d.FS.Create(name, c)
	return &tornFile{f, d, name}, err
}

func (d *tornDisk) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := d.refuse(name); err != nil {
		return nil, err
	}
	f, err := d.FS.ReuseForWrite(old, name, c)
	return &tornFile{f, d, name}, err
}

type tornFile struct {
	vfs.File
	disk *tornDisk
	name string
}

func (f *tornFile) Write(p []byte) (int, error) {
	if err := f.disk.refuse(f.name); err != nil {
		n, werr := f.File.Write(p[:len(p)/2])
		return n, errors.Join(err, werr)
	}
	return f.File.Write(p)
}

// A log that was full ends in half a record that nobody was promised. Its sync, which comes when the log is
// closed, was taken for a promise: the next start refused the directory, "acknowledged changes are missing".
func TestTornByFullDisk(t *testing.T) {
	mem := vfs.NewCrashableMem()
	d := &tornDisk{FS: mem}
	died := make(chan error, 1)
	e := mustOpen(t, "data", engine.Options{FS: d, Fatal: func(err error) { died <- err }})
	for i := range 10 {
		put(t, e, i, strings.Repeat("x", 10_000))
	}
	d.full.Store(true)
	b := e.NewBatch()
	if err := b.Set(key(10), make([]byte, 200_000), nil); err != nil {
		t.Fatal(err)
	}
	go e.Commit(b) // it does not return
	wantError(t, <-died, kv.ErrDisk, "full")
	// Pebble syncs the log once more when it closes it.
	if f, err := mem.OpenReadWrite(newestLog(t, mem), vfs.WriteCategoryUnspecified); err != nil {
		t.Fatal(err)
	} else if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	again := mustOpen(t, "data", engine.Options{FS: whatIsKilled(mem)})
	if n := rowsFrom(t, again, 11); n != 10 {
		t.Errorf("%d rows of 10", n)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A log that cannot be made ends the process with the next step. Pebble panics there, and with a lock that it
// does not hold, so that the process ended with "sync: unlock of unlocked mutex".
func TestNoRoomForALog(t *testing.T) {
	d := &tornDisk{FS: vfs.NewCrashableMem()}
	died := make(chan error, 1)
	e := mustOpen(t, "data", engine.Options{
		FS: d, MemTableBytes: 64 << 10, Fatal: func(err error) { died <- err },
	})
	put(t, e, 1, "x")
	d.full.Store(true)
	go func() { _ = e.Flush(t.Context()) }() // begins a memtable, and a log for it
	wantError(t, <-died, kv.ErrDisk, "full", "everything acknowledged is there")
}
