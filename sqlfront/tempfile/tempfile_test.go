package tempfile

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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

// TestManyFiles: files take one descriptor together, however many there are, keep what was written to them
// and nobody else's bytes, and give the room on the disk back when they are closed. Each had a descriptor of
// its own: the runs of some tens of sorts took all that a process may have.
func TestManyFiles(t *testing.T) {
	s, err := New(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	type kept struct {
		*File
		seed, size int
	}
	content := func(k kept, from, n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte((from+i)*(2*k.seed+1)>>7 + k.seed)
		}
		return b
	}
	var files []kept
	random := rand.New(rand.NewPCG(1, 2))
	check := func(k kept) {
		t.Helper()
		from := random.IntN(k.size + 1)
		got := make([]byte, random.IntN(k.size+1-from))
		if n, err := k.ReadAt(got, int64(from)); n != len(got) || err != nil {
			t.Fatalf("%d bytes of %d at %d: %v", n, len(got), from, err)
		}
		if !bytes.Equal(got, content(k, from, len(got))) {
			t.Fatalf("of a file of %d bytes %d at %d are others", k.size, len(got), from)
		}
		if n, err := k.ReadAt(make([]byte, 10), int64(k.size)-1); n > 1 || err != io.EOF {
			t.Fatalf("%d bytes behind the last: %v", n, err)
		}
	}
	for i := range 4000 {
		switch {
		case len(files) < 10 || random.IntN(8) == 0:
			f, err := s.Create()
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, kept{File: f, seed: i})
		case random.IntN(12) == 0:
			i := random.IntN(len(files))
			if err := files[i].Close(); err != nil {
				t.Fatal(err)
			}
			files = slices.Delete(files, i, i+1)
		default:
			k := &files[random.IntN(len(files))]
			n := random.IntN(100_000)
			if _, err := k.Write(content(*k, k.size, n)); err != nil {
				t.Fatal(err)
			}
			k.size += n
			check(*k)
		}
	}
	sum := 0
	for _, k := range files {
		sum += k.size
		if k.disk != s.disk {
			t.Fatal("another file of the system")
		}
		check(k)
	}
	if s.Used() != int64(sum) || s.open != len(files) || len(files) < 100 {
		t.Errorf("%d bytes of %d, %d files of %d", s.Used(), sum, s.open, len(files))
	}
	for len(files) > 1 {
		if err := files[0].Close(); err != nil {
			t.Fatal(err)
		}
		files = files[1:]
	}
	last, disk := files[0], s.disk
	check(last)
	info, err := disk.Stat()
	if err != nil {
		t.Fatal(err)
	}
	on := info.Sys().(*syscall.Stat_t).Blocks * 512
	if most := int64(len(last.blocks)+2) * blockBytes; runtime.GOOS == "linux" && on > most {
		t.Errorf("%d bytes are on the disk for a file of %d", on, last.size)
	}
	if err := last.Close(); err != nil || s.disk != nil || s.Used() != 0 {
		t.Errorf("all are closed: %v, %v, %d bytes", err, s.disk, s.Used())
	}
	if _, err := last.Write([]byte{1}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
	if _, err := last.ReadAt([]byte{1}, 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
}

// TestFullDisk: while the disk is full nothing is written, or the room goes that deletes go on in.
func TestFullDisk(t *testing.T) {
	var full error
	s, err := New(Options{Dir: t.TempDir(), Full: func() error { return full }})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	full = errors.New("so it is")
	if _, err := f.Write([]byte("d")); sqlerr.Code(err) != sqlerr.DiskFull || s.Used() != 3 {
		t.Errorf("%v, %d bytes", err, s.Used())
	}
	full = nil
	if _, err := f.Write([]byte("def")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 6)
	if _, err := f.ReadAt(got, 0); err != nil || string(got) != "abcdef" {
		t.Errorf("%q, %v", got, err)
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
