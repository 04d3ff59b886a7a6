package engine

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

// Rows on disk, for what does not fit into a statement's memory: sorted runs (sort.go), partitions of a hash join (hashjoin.go), of
// groups and of DISTINCT. They are in files without a name, which are gone with the process however it ends.

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
func (e *Engine) spillsAt(c *charge) int64 {
	if e.spillAt > 0 {
		return e.spillAt
	}
	t := int64(spillAfter)
	if c != nil && c.limit > 0 {
		t = min(t, c.limit/4)
	}
	if c != nil {
		t = min(t, e.memory.total/8)
	}
	return max(t, spillLeast)
}

const runName = "moka-sort-"

// cleanRuns makes the directory, or removes files of a process that died between making one and taking its name away.
func cleanRuns(dir string) error {
	if dir == "" {
		return nil // the system's, where others have files too
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("engine: no directory for large sorts: %w", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, runName+"*"))
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	for _, name := range left {
		_ = os.Remove(name)
	}
	return nil
}

// run is a sequence of rows in a file: written from the first to the last, then read, as often as one likes.
type run struct {
	file *os.File
	out  *bufio.Writer // nil once it is being read
	size int64
	rows int
	buf  []byte
	what string // for errors
}

// newRun makes a file without a name.
func (e *Engine) newRun(what string) (*run, error) {
	f, err := e.tempFile()
	if err != nil {
		return nil, spillFailed(what, err)
	}
	return &run{file: f, out: bufio.NewWriterSize(f, spillBuffer), what: what}, nil
}

func (e *Engine) tempFile() (*os.File, error) {
	if e.makeTemp != nil {
		return e.makeTemp()
	}
	f, err := os.CreateTemp(e.opts.TempDir, runName+"*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
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
			if _, err := r.file.Seek(0, io.SeekStart); err != nil {
				return nil, spillFailed(r.what, err)
			}
			in = bufio.NewReaderSize(r.file, spillBuffer)
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
	if what == "sort" {
		return sqlerr.New(sqlerr.OutOfSortMemory, "Out of sort memory: writing rows to disk failed: %v", err)
	}
	return sqlerr.New(sqlerr.CapacityExceeded, "Memory for '%s' exceeded, and putting rows on disk failed: %v. See %s.", what, err, VarQueryMemory)
}

// spiller puts rows into partitions on disk, for a node that goes by a hash of them: what belongs together is in one partition, and the
// partitions come up one after the other, to be cut again if need be.
type spiller struct {
	eng   *Engine
	what  string
	own   *measure
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

func (s *spiller) add(ctx *sql.Context, hash uint64, row sql.Row) error {
	if s.parts == nil {
		for range spillParts {
			r, err := s.eng.newRun(s.what)
			if err != nil {
				return err
			}
			s.parts = append(s.parts, r)
		}
	}
	to := s.parts[partOf(hash, s.level)]
	before := to.size
	if err := to.add(ctx, row); err != nil {
		return err
	}
	s.eng.reads.spilled.Add(uint64(to.size - before))
	if s.own != nil {
		s.own.disk.Add(to.size - before)
	}
	if to.size > spillMost/spillParts {
		return sqlerr.New(sqlerr.CapacityExceeded, "Memory for '%s' exceeded, and its rows are too many for the disk. See %s.", s.what, VarQueryMemory)
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

// Values on disk: a byte for the Go type, then the value; they live as long as the statement.
const (
	spilledNil = iota
	spilledFalse
	spilledTrue
	spilledInt8
	spilledInt16
	spilledInt32
	spilledInt64
	spilledUint8
	spilledUint16
	spilledUint32
	spilledUint64
	spilledFloat32
	spilledFloat64
	spilledString
	spilledBytes
	spilledDecimal
	spilledTime
	spilledTimespan
	spilledJSON
)

func spillable(row sql.Row) bool {
	for _, v := range row {
		switch v := v.(type) {
		case nil, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, string, []byte, types.Timespan, sql.JSONWrapper:
		case *apd.Decimal:
			if v == nil || v.Form != apd.Finite {
				return false
			}
		case time.Time:
			if v.Location() != time.UTC {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func appendSpilled(ctx *sql.Context, b []byte, row sql.Row) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(len(row)))
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b = append(b, spilledNil)
		case bool:
			if v {
				b = append(b, spilledTrue)
			} else {
				b = append(b, spilledFalse)
			}
		case int8:
			b = binary.AppendVarint(append(b, spilledInt8), int64(v))
		case int16:
			b = binary.AppendVarint(append(b, spilledInt16), int64(v))
		case int32:
			b = binary.AppendVarint(append(b, spilledInt32), int64(v))
		case int64:
			b = binary.AppendVarint(append(b, spilledInt64), v)
		case uint8:
			b = binary.AppendUvarint(append(b, spilledUint8), uint64(v))
		case uint16:
			b = binary.AppendUvarint(append(b, spilledUint16), uint64(v))
		case uint32:
			b = binary.AppendUvarint(append(b, spilledUint32), uint64(v))
		case uint64:
			b = binary.AppendUvarint(append(b, spilledUint64), v)
		case float32:
			b = binary.LittleEndian.AppendUint32(append(b, spilledFloat32), math.Float32bits(v))
		case float64:
			b = binary.LittleEndian.AppendUint64(append(b, spilledFloat64), math.Float64bits(v))
		case string:
			b = binary.AppendUvarint(append(b, spilledString), uint64(len(v)))
			b = append(b, v...)
		case []byte:
			b = binary.AppendUvarint(append(b, spilledBytes), uint64(len(v)))
			b = append(b, v...)
		case *apd.Decimal:
			c := v.Coeff.Bytes()
			b = binary.AppendVarint(append(b, spilledDecimal), int64(v.Exponent))
			if v.Negative {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
			b = binary.AppendUvarint(b, uint64(len(c)))
			b = append(b, c...)
		case time.Time:
			b = binary.AppendVarint(append(b, spilledTime), v.Unix())
			b = binary.AppendUvarint(b, uint64(v.Nanosecond()))
		case types.Timespan:
			b = binary.AppendVarint(append(b, spilledTimespan), int64(v))
		case sql.JSONWrapper:
			doc, err := rowenc.AppendValue(ctx, nil, types.JSON, v)
			if err != nil {
				return nil, err
			}
			b = binary.AppendUvarint(append(b, spilledJSON), uint64(len(doc)))
			b = append(b, doc...)
		default:
			return nil, errSpilled
		}
	}
	return b, nil
}

var errSpilled = errors.New("engine: a row that was put on disk does not come back")

func readSpilled(b []byte) (sql.Row, error) {
	bad := false
	varint := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}
	uvarint := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}
	take := func(n uint64) []byte {
		if n > uint64(len(b)) {
			bad, b = true, nil
			return make([]byte, min(n, 8))
		}
		v := b[:n:n]
		b = b[n:]
		return v
	}
	width := uvarint()
	if bad || width > uint64(len(b)) {
		return nil, errSpilled
	}
	row := make(sql.Row, width)
	for i := range row {
		switch take(1)[0] {
		case spilledNil:
		case spilledFalse:
			row[i] = false
		case spilledTrue:
			row[i] = true
		case spilledInt8:
			row[i] = int8(varint())
		case spilledInt16:
			row[i] = int16(varint())
		case spilledInt32:
			row[i] = int32(varint())
		case spilledInt64:
			row[i] = varint()
		case spilledUint8:
			row[i] = uint8(uvarint())
		case spilledUint16:
			row[i] = uint16(uvarint())
		case spilledUint32:
			row[i] = uint32(uvarint())
		case spilledUint64:
			row[i] = uvarint()
		case spilledFloat32:
			row[i] = math.Float32frombits(binary.LittleEndian.Uint32(take(4)))
		case spilledFloat64:
			row[i] = math.Float64frombits(binary.LittleEndian.Uint64(take(8)))
		case spilledString:
			row[i] = string(take(uvarint()))
		case spilledBytes:
			row[i] = append([]byte{}, take(uvarint())...)
		case spilledDecimal:
			d := &apd.Decimal{Exponent: int32(varint())}
			d.Negative = take(1)[0] == 1
			d.Coeff.SetBytes(take(uvarint()))
			row[i] = d
		case spilledTime:
			s := varint()
			row[i] = time.Unix(s, int64(uvarint())).UTC()
		case spilledTimespan:
			row[i] = types.Timespan(varint())
		case spilledJSON:
			doc, err := rowenc.DecodeValue(types.JSON, take(uvarint()))
			if err != nil {
				return nil, err
			}
			row[i] = doc
		default:
			return nil, fmt.Errorf("%w: unknown value", errSpilled)
		}
	}
	if bad {
		return nil, errSpilled
	}
	return row, nil
}
