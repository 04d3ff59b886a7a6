package engine

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/sorters"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

var sqlInt64 = types.Int64

// sortIter is ORDER BY. It sorts in memory; once that takes more than a quarter of what the statement may have, what there is goes to
// disk as a sorted run, and at the end the runs are merged. Runs are files without a name: they are gone with the process, however it
// ends. Values that have no bytes here (documents, shapes) stay in memory, under the limit.
type sortIter struct {
	eng    *Engine
	by     sql.SortConditions
	child  sql.RowIter
	charge *charge

	rows  []sql.Row
	size  int64
	ready bool
	runs  []*run
	order *merge
	kept  bool // a row cannot be spilled
	disk  int64
}

const (
	// spillAfter is when a sort goes to disk if its statement has no limit, or a very large one.
	spillAfter = 64 << 20
	spillLeast = 1 << 20
	// spillMost bounds what one sort writes to disk.
	spillMost = 64 << 30
	// mergeWidth is how many runs are merged at a time.
	mergeWidth = 64
)

func (it *sortIter) threshold() int64 {
	t := int64(spillAfter)
	if it.charge != nil && it.charge.limit > 0 {
		t = min(t, it.charge.limit/4)
	}
	if it.charge != nil {
		t = min(t, it.eng.memory.total/8)
	}
	return max(t, spillLeast)
}

// Next implements sql.RowIter.
func (it *sortIter) Next(ctx *sql.Context) (sql.Row, error) {
	if !it.ready {
		if err := it.read(ctx); err != nil {
			return nil, err
		}
		it.ready = true
	}
	if it.order != nil {
		return it.order.next()
	}
	if len(it.rows) == 0 {
		return nil, io.EOF
	}
	row := it.rows[0]
	it.rows = it.rows[1:]
	return row, nil
}

func (it *sortIter) read(ctx *sql.Context) error {
	most := it.threshold()
	for {
		row, err := it.child.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		n := rowBytes(row)
		if err := it.charge.add(n); err != nil {
			return err
		}
		it.rows = append(it.rows, row)
		if it.size += n; it.size >= most && !it.kept {
			if err := it.spill(ctx); err != nil {
				return err
			}
		}
	}
	if err := it.sort(ctx); err != nil {
		return err
	}
	if len(it.runs) == 0 {
		return nil
	}
	var err error
	it.order, err = newMerge(ctx, it.by, it.runs, it.rows)
	return err
}

func (it *sortIter) sort(ctx *sql.Context) error {
	s := sorters.NewRowSorterWithRows(ctx, it.by, it.rows)
	sort.Stable(s)
	return s.GetError()
}

// spill writes what is in memory to disk as a sorted run.
func (it *sortIter) spill(ctx *sql.Context) error {
	for _, row := range it.rows {
		if !spillable(row) {
			it.kept = true
			return nil
		}
	}
	if err := it.sort(ctx); err != nil {
		return err
	}
	r, err := writeRun(it.eng.opts.TempDir, it.rows)
	if err != nil {
		return err
	}
	it.eng.reads.spilled.Add(uint64(r.size))
	it.runs = append(it.runs, r)
	if it.disk += r.size; it.disk > spillMost {
		return sqlerr.New(sqlerr.OutOfSortMemory, "Out of sort memory, consider increasing server sort buffer size")
	}
	clear(it.rows)
	it.rows, it.size = it.rows[:0], 0
	it.charge.release()
	if len(it.runs) < mergeWidth {
		return nil
	}
	// Many small runs become one, so that the number of files and of buffers is bounded.
	m, err := newMerge(ctx, it.by, it.runs, nil)
	if err != nil {
		return err
	}
	merged, err := writeRunOf(it.eng.opts.TempDir, m.next)
	it.closeRuns()
	if err != nil {
		return err
	}
	it.runs = []*run{merged}
	return nil
}

func (it *sortIter) closeRuns() {
	for _, r := range it.runs {
		_ = r.file.Close()
	}
	it.runs = nil
}

// Close implements sql.RowIter.
func (it *sortIter) Close(ctx *sql.Context) error {
	it.rows, it.order = nil, nil
	it.closeRuns()
	it.charge.release()
	return it.child.Close(ctx)
}

// run is a sorted sequence of rows in a file.
type run struct {
	file *os.File
	size int64
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

func writeRun(dir string, rows []sql.Row) (*run, error) {
	return writeRunOf(dir, func() (sql.Row, error) {
		if len(rows) == 0 {
			return nil, io.EOF
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	})
}

func writeRunOf(dir string, next func() (sql.Row, error)) (*run, error) {
	f, err := os.CreateTemp(dir, runName+"*")
	if err != nil {
		return nil, spillFailed(err)
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, spillFailed(err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	var buf []byte
	size := int64(0)
	for {
		row, err := next()
		if err == io.EOF {
			break
		}
		if err == nil {
			buf = appendSpilled(buf[:0], row)
			var head [binary.MaxVarintLen64]byte
			n := binary.PutUvarint(head[:], uint64(len(buf)))
			if _, err = w.Write(head[:n]); err == nil {
				_, err = w.Write(buf)
			}
			size += int64(n + len(buf))
			if err != nil {
				err = spillFailed(err)
			}
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		_ = f.Close()
		return nil, spillFailed(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		_ = f.Close()
		return nil, spillFailed(err)
	}
	return &run{f, size}, nil
}

func spillFailed(err error) error {
	return sqlerr.New(sqlerr.OutOfSortMemory, "Out of sort memory: writing rows to disk failed: %v", err)
}

// merge delivers the rows of runs in order, those of earlier runs first among equals, as a stable sort would.
type merge struct {
	cmp     *sorters.RowSorter
	sources []mergeSource
	err     error
}

type mergeSource struct {
	n    int
	row  sql.Row
	next func() (sql.Row, error)
}

func newMerge(ctx *sql.Context, by sql.SortConditions, runs []*run, rest []sql.Row) (*merge, error) {
	m := &merge{cmp: sorters.NewRowSorter(ctx, by)}
	add := func(next func() (sql.Row, error)) error {
		row, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		m.sources = append(m.sources, mergeSource{len(m.sources), row, next})
		return nil
	}
	for _, r := range runs {
		if err := add(r.reader()); err != nil {
			return nil, err
		}
	}
	if err := add(func() (sql.Row, error) {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		row := rest[0]
		rest = rest[1:]
		return row, nil
	}); err != nil {
		return nil, err
	}
	heap.Init(m)
	return m, m.cmp.GetError()
}

func (m *merge) next() (sql.Row, error) {
	if err := m.cmp.GetError(); err != nil {
		return nil, err
	}
	if len(m.sources) == 0 {
		return nil, io.EOF
	}
	s := &m.sources[0]
	out := s.row
	row, err := s.next()
	switch err {
	case nil:
		s.row = row
		heap.Fix(m, 0)
	case io.EOF:
		heap.Pop(m)
	default:
		return nil, err
	}
	return out, nil
}

func (m *merge) Len() int { return len(m.sources) }
func (m *merge) Less(i, j int) bool {
	c := m.cmp.CompareRows(m.sources[i].row, m.sources[j].row)
	return c < 0 || c == 0 && m.sources[i].n < m.sources[j].n
}
func (m *merge) Swap(i, j int) { m.sources[i], m.sources[j] = m.sources[j], m.sources[i] }
func (m *merge) Push(x any)    { m.sources = append(m.sources, x.(mergeSource)) }
func (m *merge) Pop() any {
	last := m.sources[len(m.sources)-1]
	m.sources = m.sources[:len(m.sources)-1]
	return last
}

func (r *run) reader() func() (sql.Row, error) {
	in := bufio.NewReaderSize(r.file, 1<<16)
	return func() (sql.Row, error) {
		n, err := binary.ReadUvarint(in)
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, spillFailed(err)
		}
		buf := make([]byte, n)
		if _, err := io.ReadFull(in, buf); err != nil {
			return nil, spillFailed(err)
		}
		return readSpilled(buf)
	}
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
)

func spillable(row sql.Row) bool {
	for _, v := range row {
		switch v := v.(type) {
		case nil, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, string, []byte, types.Timespan:
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

func appendSpilled(b []byte, row sql.Row) []byte {
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
		}
	}
	return b
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
		default:
			return nil, fmt.Errorf("%w: unknown value", errSpilled)
		}
	}
	if bad {
		return nil, errSpilled
	}
	return row, nil
}
