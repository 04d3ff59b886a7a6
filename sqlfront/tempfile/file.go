package tempfile

import (
	"io"
	"os"
	"slices"
)

// blockBytes is the size of the parts that a file has of the disk file. What is not written of one takes no
// room there.
const blockBytes = 256 << 10

// File is written from its beginning to its end, by one goroutine, and read anywhere.
type File struct {
	space  *Space
	disk   *os.File
	blocks []uint32
	size   int64
	closed bool
}

// Create makes an empty file.
func (s *Space) Create() (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.disk == nil {
		disk, err := s.make()
		if err != nil {
			return nil, err
		}
		s.disk = disk
	}
	s.open++
	return &File{space: s, disk: s.disk}, nil
}

// make makes the disk file, and takes its name away.
func (s *Space) make() (*os.File, error) {
	if s.Make != nil {
		return s.Make()
	}
	f, err := os.CreateTemp(s.Dir, Name+"*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// block gives a file another part of the disk file.
func (s *Space) block() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		b := s.free[n-1]
		s.free = s.free[:n-1]
		return b
	}
	s.blocks++
	return s.blocks - 1
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (n int, err error) {
	if f.closed {
		return 0, os.ErrClosed
	}
	if err := f.space.take(int64(len(p))); err != nil {
		return 0, err
	}
	defer func() { f.space.giveBack(int64(len(p) - n)) }()
	for n < len(p) && err == nil {
		within := f.size % blockBytes
		if f.size/blockBytes == int64(len(f.blocks)) {
			f.blocks = append(f.blocks, f.space.block())
		}
		part := p[n:min(len(p), n+int(blockBytes-within))]
		var wrote int
		wrote, err = f.disk.WriteAt(part, f.at(f.size))
		n += wrote
		f.size += int64(wrote)
	}
	return n, err
}

// at is where a byte of the file is in the disk file.
func (f *File) at(offset int64) int64 {
	return int64(f.blocks[offset/blockBytes])*blockBytes + offset%blockBytes
}

// ReadAt implements io.ReaderAt. What was not written to this file cannot be read, whoever had its blocks
// before.
func (f *File) ReadAt(p []byte, offset int64) (n int, err error) {
	if f.closed {
		return 0, os.ErrClosed
	}
	for n < len(p) && err == nil {
		from := offset + int64(n)
		if from < 0 || from >= f.size {
			return n, io.EOF
		}
		most := min(int64(len(p)-n), blockBytes-from%blockBytes, f.size-from)
		var read int
		read, err = f.disk.ReadAt(p[n:n+int(most)], f.at(from))
		n += read
	}
	return n, err
}

// Close gives the space back. It may be called again.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	s := f.space
	s.giveBack(f.size)
	if done, err := s.leave(f, nil); done {
		return err
	}
	err := f.punch() // before the blocks are somebody else's
	if _, lerr := s.leave(f, f.blocks); lerr != nil {
		err = lerr
	}
	return err
}

// leave takes a file out of the disk file, which goes with the last one; without that and without blocks to
// be given to others it does nothing.
func (s *Space) leave(f *File, blocks []uint32) (done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open > 1 && len(f.blocks) != len(blocks) {
		return false, nil
	}
	s.free = append(s.free, blocks...)
	if s.open--; s.open > 0 {
		return true, nil
	}
	err = s.disk.Close()
	s.disk, s.blocks, s.free = nil, 0, nil
	return true, err
}

// punch makes holes of the file's blocks, neighbours at once. Where the system cannot, their room comes back
// with the disk file, or is used again.
func (f *File) punch() error {
	slices.Sort(f.blocks)
	for i, end := 0, 0; i < len(f.blocks); i = end {
		for end = i + 1; end < len(f.blocks) && f.blocks[end] == f.blocks[end-1]+1; end++ {
		}
		if err := punchHole(f.disk, int64(f.blocks[i])*blockBytes, int64(end-i)*blockBytes); err != nil {
			return err
		}
	}
	return nil
}

func (s *Space) giveBack(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
}
