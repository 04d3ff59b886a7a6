package operator

import (
	"bufio"
	"encoding/binary"
	"hash/maphash"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/tempfile"
)

// Rows on disk, for what does not fit into a statement's memory: sorted runs (sort.go), partitions of a hash
// join (hashjoin.go), of groups and of DISTINCT. They are in files of package tempfile, which are gone
// with the process however it ends.

const (
	// spillAfter is when a node goes to disk if its statement has no limit, or a very large one.
	spillAfter = 64 << 20
	spillLeast = 1 << 20
	// spillMost bounds what one node writes to disk.
	spillMost = 64 << 30
	// spillBuffer is for each file that is written or read.
	spillBuffer = 1 << 15
)

// spillsAt is how much a node keeps in memory: a quarter of what its statement may have.
func (p *Pool) spillsAt(c *Charge) int64 {
	if p.SpillAt > 0 {
		return p.SpillAt
	}
	t := int64(spillAfter)
	if c != nil && c.limit > 0 {
		t = min(t, c.limit/4)
	}
	if c != nil {
		t = min(t, p.total/8)
	}
	return max(t, spillLeast)
}

// run is a sequence of rows in a file: written from the first to the last, then read, as often as one likes.
type run struct {
	file *tempfile.File
	out  *bufio.Writer // nil once it is being read
	size int64
	rows int
	buf  []byte
	what string // for errors
}

// newRun makes a file without a name.
func (p *Pool) newRun(what string) (*run, error) {
	f, err := p.Temp.Create()
	if err != nil {
		return nil, spillFailed(what, err)
	}
	return &run{file: f, out: bufio.NewWriterSize(f, spillBuffer), what: what}, nil
}

func (r *run) add(ctx *sql.Context, row sql.Row) error {
	var err error
	if r.buf, err = appendSpilled(ctx, r.buf[:0], row); err != nil {
		return err
	}
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(r.buf)))
	if _, err = r.out.Write(head[:n]); err == nil {
		_, err = r.out.Write(r.buf)
	}
	if err != nil {
		return spillFailed(r.what, err)
	}
	r.size += int64(n + len(r.buf))
	r.rows++
	return nil
}

// finish ends the writing.
func (r *run) finish() error {
	if err := r.out.Flush(); err != nil {
		return spillFailed(r.what, err)
	}
	r.out, r.buf = nil, nil
	return nil
}

// reader reads from the first row on. One reader at a time.
func (r *run) reader() func() (sql.Row, error) {
	var in *bufio.Reader
	return func() (sql.Row, error) {
		if in == nil {
			in = bufio.NewReaderSize(io.NewSectionReader(r.file, 0, r.size), spillBuffer)
		}
		n, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, spillFailed(r.what, err)
		}
		buf := make([]byte, n)
		if _, err := io.ReadFull(in, buf); err != nil {
			return nil, spillFailed(r.what, err)
		}
		return readSpilled(buf)
	}
}

func (r *run) close() {
	if r != nil {
		_ = r.file.Close()
	}
}

func spillFailed(what string, err error) error {
	if code := sqlerr.Code(err); code == sqlerr.RecordFileFull || code == sqlerr.DiskFull {
		return err
	}
	if what == "sort" {
		return sqlerr.New(sqlerr.OutOfSortMemory, "Out of sort memory: writing rows to disk failed: %v", err)
	}
	return sqlerr.New(sqlerr.CapacityExceeded,
		"Memory for '%s' exceeded, and putting rows on disk failed: %v. See %s.", what, err, VarQueryMemory)
}

// partOf is the partition of a key; each level cuts by other bits.
func partOf(key uint64, level int) int {
	h := (key ^ uint64(level+1)*0x9E3779B97F4A7C15) * 0xFF51AFD7ED558CCD
	h ^= h >> 33
	h *= 0xC4CEB9FE1A85EC53
	return int(h >> 60)
}

func closeRuns(parts []*run) {
	for _, p := range parts {
		p.close()
	}
}

func finishRuns(parts []*run) error {
	for _, p := range parts {
		if err := p.finish(); err != nil {
			return err
		}
	}
	return nil
}

// keySeed is of hashes that choose a partition; they say nothing about what is equal.
var keySeed = maphash.MakeSeed()

// spiller puts rows into partitions on disk, for a node that goes by a key of them: what belongs together is
// in one partition, and the partitions come up one after the other, to be cut again if need be.
type spiller struct {
	pool  *Pool
	what  string
	own   Meter
	level int
	parts []*run
	queue []spilledPart
	being *run // read
}

type spilledPart struct {
	run   *run
	level int
}

const spillParts = 16

// can reports whether a row can be put on disk, in a partition of the one that is being read.
func (s *spiller) can(row sql.Row) bool { return s.level < joinLevels && spillable(row) }

func (s *spiller) add(ctx *sql.Context, key []byte, row sql.Row) error {
	if s.parts == nil {
		for range spillParts {
			r, err := s.pool.newRun(s.what)
			if err != nil {
				return err
			}
			s.parts = append(s.parts, r)
		}
	}
	to := s.parts[partOf(maphash.Bytes(keySeed, key), s.level)]
	before := to.size
	if err := to.add(ctx, row); err != nil {
		return err
	}
	s.pool.spilled.Add(uint64(to.size - before))
	if s.own != nil {
		s.own.Disk(to.size - before)
	}
	if to.size > spillMost/spillParts {
		return sqlerr.New(sqlerr.CapacityExceeded,
			"Memory for '%s' exceeded, and its rows are too many for the disk. See %s.", s.what,
			VarQueryMemory)
	}
	return nil
}

// finish ends the partitions of what has been read.
func (s *spiller) finish() error {
	parts := s.parts
	s.parts = nil
	for _, r := range parts {
		s.queue = append(s.queue, spilledPart{r, s.level + 1})
	}
	return finishRuns(parts)
}

// next returns the rows of the next partition, io.EOF if there is none.
func (s *spiller) next() (func() (sql.Row, error), error) {
	s.being.close()
	if s.being = nil; len(s.queue) == 0 {
		return nil, io.EOF
	}
	p := s.queue[len(s.queue)-1]
	s.queue = s.queue[:len(s.queue)-1]
	s.being, s.level = p.run, p.level
	return p.run.reader(), nil
}

func (s *spiller) close() {
	closeRuns(s.parts)
	for _, p := range s.queue {
		p.run.close()
	}
	s.being.close()
	s.parts, s.queue, s.being = nil, nil, nil
}
