//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestRecordIsMapped: what is stored in memory is in the file for whoever reads that next, also behind a
// process that was killed, and nobody unmaps it at the end of one.
func TestRecordIsMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), recordFile)
	r := newRecord(t, vfs.Default, path)
	if r.mapped == nil {
		t.Fatal("a file of this system is not mapped")
	}
	for _, size := range []uint64{1, 2, 4096, flushEvery + 5000, 3 * flushEvery} {
		r.synced(7, size)
		if got := syncedOf(t, vfs.Default, path); got != size {
			t.Errorf("the file says %d bytes, want %d", got, size)
		}
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	if got := syncedOf(t, vfs.Default, path); got != 3*flushEvery || r.mapped != nil {
		t.Errorf("closed, the file says %d bytes", got)
	}
	r.synced(7, 4*flushEvery) // is not written any more, nor a fault
}

// TestRecordWithoutMap: a file system that has no files of the machine's gets its pages written.
func TestRecordWithoutMap(t *testing.T) {
	fs := vfs.NewMem()
	r := newRecord(t, fs, recordFile)
	if r.mapped != nil {
		t.Fatal("a file in memory is mapped")
	}
	r.synced(7, 100)
	if got := syncedOf(t, fs, recordFile); got != 100 {
		t.Errorf("the file says %d bytes", got)
	}
}

// TestRecordCutUnderItsMap: a file that somebody has emptied is no end of the process; pages are written then.
func TestRecordCutUnderItsMap(t *testing.T) {
	path := filepath.Join(t.TempDir(), recordFile)
	r := newRecord(t, vfs.Default, path)
	r.synced(7, 100)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	r.synced(7, 200)
	if r.mapped != nil {
		t.Error("it is still taken for mapped")
	}
	r.created(8) // and with it the list of logs is there again
	logs, err := readRecord(vfs.Default, path)
	if err != nil || len(logs) != 2 || logs[0] != (logState{7, 200}) || logs[1].number != 8 {
		t.Errorf("the file says %v, %v", logs, err)
	}
}

func newRecord(t *testing.T, fs vfs.FS, path string) *logRecord {
	t.Helper()
	r, err := createRecord(fs, path, nil, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.close() })
	r.created(7)
	return r
}

func syncedOf(t *testing.T, fs vfs.FS, path string) uint64 {
	t.Helper()
	logs, err := readRecord(fs, path)
	if err != nil || len(logs) != 1 || logs[0].number != 7 {
		t.Fatalf("the file says %v, %v", logs, err)
	}
	return logs[0].synced
}
