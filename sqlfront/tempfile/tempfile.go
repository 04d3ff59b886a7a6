// Package tempfile is the disk space of what does not fit into memory: sorts, hash joins, groups, cursors.
//
// All files of a process are parts of one, which has no name, so that it is gone with the process however it
// ends, and which takes one file descriptor however many sorts there are: with one for each sorted run, 28
// connections that did not read their answers took all that a process may have by default. They have a bound
// together: their directory is mostly on the disk of the data, and who fills that stops everybody who writes.
//
//	disk file   | block of A | of A | of B | free, a hole | of A | …     256 KiB each
package tempfile

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"moka/sqlfront/sqlerr"
)

// Options of a Space; the zero value is what a server runs with.
type Options struct {
	// Dir is where the files are; "" is the system's directory for temporary files. It is created.
	Dir string
	// Most is how many bytes all files may have together. Default: half of what would be free without them.
	Most int64
	// Full is an error while the disk has no more room for such files. Default: never.
	Full func() error
	// Make makes a file, for tests.
	Make func() (*os.File, error)
}

// Space is what the files of a process share.
type Space struct {
	Options

	mu   sync.Mutex
	used int64
	most int64 // what used may be before the disk is looked at again

	disk   *os.File // what all are parts of, nil while there are none
	open   int      // files
	blocks uint32   // of disk
	free   []uint32 // those that are nobody's
}

// Name is how the names of files begin while they have one.
const Name = "moka-temp-"

// New makes the directory, and removes files of a process that died between making one and taking its name
// away.
func New(o Options) (*Space, error) {
	s := &Space{Options: o, most: o.Most}
	if o.Dir == "" {
		return s, nil // the system's, where others have files too
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("tempfile: no directory for what does not fit into memory: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(o.Dir, Name+"*"))
	if err != nil {
		return nil, fmt.Errorf("tempfile: %w", err)
	}
	for _, name := range left {
		_ = os.Remove(name)
	}
	return s, nil
}

// Used is how many bytes all files have.
func (s *Space) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// step is after how many bytes the disk is looked at again.
const step = 64 << 20

// take counts n bytes more, or refuses them.
func (s *Space) take(n int64) error {
	if s.Full != nil {
		if err := s.Full(); err != nil {
			return sqlerr.New(sqlerr.DiskFull, "There is no room for temporary files: %v", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+n > s.most && s.Options.Most <= 0 {
		half, err := s.half()
		if err != nil {
			return err
		}
		s.most = min(half, s.used+max(n, step))
	}
	if s.used+n > s.most {
		return sqlerr.New(sqlerr.RecordFileFull,
			"The table '%s' is full: temporary files of all statements have %d MiB; see --temp-disk-mib",
			filepath.Join(s.dir(), Name), s.used>>20)
	}
	s.used += n
	return nil
}

// half is half of what would be free without the files.
func (s *Space) half() (int64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.dir(), &disk); err != nil {
		return 0, fmt.Errorf("tempfile: %w", err)
	}
	return (s.used + int64(disk.Bavail)*int64(disk.Bsize)) / 2, nil
}

func (s *Space) dir() string {
	if s.Dir == "" {
		return os.TempDir()
	}
	return s.Dir
}
