package tempfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"moka/sqlfront/sqlerr"
)

// TestSpace: files together have a bound, which is given back when one is closed; they have no names.
func TestSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tmp")
	s, err := New(Options{Dir: dir, Most: 1000})
	if err != nil {
		t.Fatal(err)
	}
	one, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files have names: %v", left)
	}
	if _, err := one.Write(make([]byte, 600)); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Write(make([]byte, 401)); sqlerr.Code(err) != sqlerr.RecordFileFull {
		t.Errorf("one byte too many: %v", err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	_ = one.Close() // once more gives nothing back
	if _, err := two.Write(make([]byte, 1000)); err != nil || s.Used() != 1000 {
		t.Errorf("all of it: %v, %d bytes", err, s.Used())
	}
	if left := filepath.Join(dir, Name+"1"); os.WriteFile(left, nil, 0o600) != nil {
		t.Fatal("no file")
	} else if _, err := New(Options{Dir: dir}); err != nil {
		t.Fatal(err)
	} else if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what a dead process left is there: %v", err)
	}
}

// TestHalfOfTheDisk: without a bound of their own the files may have half of what is free.
func TestHalfOfTheDisk(t *testing.T) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(t.TempDir(), &disk); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	free := int64(disk.Bavail) * int64(disk.Bsize)
	if err := s.take(free/2 - free/8); err != nil {
		t.Errorf("less than half: %v", err)
	}
	if err := s.take(free); sqlerr.Code(err) != sqlerr.RecordFileFull {
		t.Errorf("more than there is: %v", err)
	}
	// What is taken counts as used, though the disk knows nothing of it.
	if err := s.take(free / 2); err == nil && s.Used() > free {
		t.Errorf("%d bytes of %d", s.Used(), free)
	}
}
