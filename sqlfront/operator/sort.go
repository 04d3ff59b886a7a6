package operator

import (
	"container/heap"
	"io"
	"sort"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/sorters"

	"moka/sqlfront/sqlerr"
)

// sortIter is ORDER BY. It sorts in memory; once that takes more than a quarter of what the statement may
// have, what there is goes to disk as a sorted run (spill.go), and at the end the runs are merged. Values
// that have no bytes there (shapes) stay in memory, under the limit.
type sortIter struct {
	pool   *Pool
	by     sql.SortConditions
	child  sql.RowIter
	charge *Charge
	meter  Meter

	rows  []sql.Row
	size  int64
	ready bool
	runs  []*run
	order *merge
	kept  bool // a row cannot be spilled
	disk  int64
}

// mergeWidth is how many runs are merged at a time.
const mergeWidth = 64

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
	most := it.pool.spillsAt(it.charge)
	for {
		row, err := it.child.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		n := RowBytes(row)
		if err := it.charge.Add(n); err != nil {
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
	s := sorters.NewRowSorterWithRows(ctx, heedKeys(it.by), it.rows)
	sort.Stable(s)
	if err := ended(ctx); err != nil {
		return err
	}
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
	rows := it.rows
	r, err := it.write(ctx, func() (sql.Row, error) {
		if len(rows) == 0 {
			return nil, io.EOF
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	})
	if err != nil {
		return err
	}
	it.pool.spilled.Add(uint64(r.size))
	if it.meter != nil {
		it.meter.Disk(r.size)
	}
	it.runs = append(it.runs, r)
	if it.disk += r.size; it.disk > spillMost {
		return sqlerr.New(sqlerr.OutOfSortMemory,
			"Out of sort memory, consider increasing server sort buffer size")
	}
	clear(it.rows)
	it.rows, it.size = it.rows[:0], 0
	it.charge.Release()
	if len(it.runs) < mergeWidth {
		return nil
	}
	// Many small runs become one, so that the number of buffers is bounded.
	m, err := newMerge(ctx, it.by, it.runs, nil)
	if err != nil {
		return err
	}
	merged, err := it.write(ctx, m.next)
	it.closeRuns()
	if err != nil {
		return err
	}
	it.runs = []*run{merged}
	return nil
}

// write makes a run.
func (it *sortIter) write(ctx *sql.Context, next func() (sql.Row, error)) (*run, error) {
	r, err := it.pool.newRun("sort")
	if err != nil {
		return nil, err
	}
	for {
		row, err := next()
		if err == io.EOF {
			err = r.finish()
			if err == nil {
				return r, nil
			}
		}
		if err == nil {
			err = r.add(ctx, row)
		}
		if err != nil {
			r.close()
			return nil, err
		}
	}
}

func (it *sortIter) closeRuns() {
	for _, r := range it.runs {
		r.close()
	}
	it.runs = nil
}

// Close implements sql.RowIter.
func (it *sortIter) Close(ctx *sql.Context) error {
	it.rows, it.order = nil, nil
	it.closeRuns()
	it.charge.Release()
	return it.child.Close(ctx)
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
	m := &merge{cmp: sorters.NewRowSorter(ctx, heedKeys(by))}
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
