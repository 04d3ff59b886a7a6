package multitable

import (
	"context"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/operator"
	"moka/sqlfront/sqlerr"
)

// Target is a table that the statement writes to with its place in the rows of the join.
type Target struct {
	*Table

	first, width int
	outer        bool // its columns may be NULLs that stand for no row
	sets         []assignment

	met  map[string]struct{}
	rows []found
}

// assignment is one to a column of the target, by an expression over a row of the join.
type assignment struct {
	column int // of the target
	set    *expression.SetField
}

// found is a row that the join has met.
type found struct {
	key    []byte
	row    sql.Row
	values []any // of the assignments
}

// Statement is an UPDATE or a DELETE.
type Statement struct {
	Targets []*Target
	Deletes bool
	Ignore  bool
	// InTurn is of an UPDATE of one table: what is assigned is computed from left to right.
	InTurn bool
	// CountsFound is of a client that takes the rows that were found for those affected.
	CountsFound bool

	Rows   sql.RowIter // of the join
	Width  int         // of them, without what an outer query puts in front
	Charge *operator.Charge

	// Shape is an iterator without rows by which go-mysql-server knows that the statement answers with an OK.
	Shape sql.RowIter

	done             bool
	matched, changed int
}

var _ sql.MutableRowIter = (*Statement)(nil)

// foundBytes is about what the key of a row takes beside its bytes.
const foundBytes = 128

// GetChildIter implements sql.MutableRowIter.
func (s *Statement) GetChildIter() sql.RowIter { return s.Shape }

// WithChildIter implements sql.MutableRowIter: what is made of the shape is not run.
func (s *Statement) WithChildIter(shape sql.RowIter) sql.RowIter {
	s.Shape = shape
	return s
}

// Next implements sql.RowIter: it runs the statement.
func (s *Statement) Next(ctx *sql.Context) (sql.Row, error) {
	if s.done {
		return nil, io.EOF
	}
	s.done = true
	for _, t := range s.Targets {
		t.Editor.StatementBegin(ctx)
	}
	if err := s.run(ctx); err != nil {
		for _, t := range slices.Backward(s.Targets) {
			if undoing := t.Editor.DiscardChanges(ctx, err); undoing != nil {
				return nil, undoing
			}
		}
		return nil, err
	}
	for _, t := range s.Targets {
		if err := t.Editor.StatementComplete(ctx); err != nil {
			return nil, err
		}
	}
	ok := types.OkResult{RowsAffected: uint64(s.changed)}
	info := ctx.GetLastQueryInfo()
	if !s.Deletes {
		ok.Info = plan.UpdateInfo{Matched: s.matched, Updated: s.changed}
		info.FoundRows.Store(int64(s.matched))
		if s.CountsFound {
			ok.RowsAffected = uint64(s.matched)
		}
	}
	info.RowCount.Store(int64(ok.RowsAffected))
	return sql.NewRow(ok), nil
}

// Close implements sql.RowIter.
func (s *Statement) Close(ctx *sql.Context) error {
	err := s.Rows.Close(ctx)
	for _, t := range s.Targets {
		if closing := t.close(ctx); err == nil {
			err = closing
		}
	}
	s.Charge.Release()
	return err
}

func (s *Statement) run(ctx *sql.Context) error {
	for {
		row, err := s.Rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		for _, t := range s.Targets {
			if err := s.meet(ctx, t, row); err != nil {
				return err
			}
		}
	}
	for _, t := range s.Targets {
		t.met = nil
		for i := range t.rows {
			if err := s.write(ctx, t, &t.rows[i]); err != nil {
				return err
			}
			t.rows[i] = found{}
		}
	}
	return nil
}

// meet keeps a target's row of one of the join's, unless it is known.
func (s *Statement) meet(ctx *sql.Context, t *Target, joined sql.Row) error {
	outer := len(joined) - s.Width
	row := joined[outer+t.first : outer+t.first+t.width]
	if t.outer && !slices.ContainsFunc(row, func(v any) bool { return v != nil }) {
		return nil
	}
	key, err := t.Key(ctx, row)
	if err != nil {
		return err
	}
	if _, known := t.met[string(key)]; known {
		return nil
	}
	f := found{key: key, row: row.Copy()}
	if f.values, err = s.values(ctx, t, joined, outer); err != nil {
		return err
	}
	t.met[string(key)] = struct{}{}
	t.rows = append(t.rows, f)
	n := operator.RowBytes(f.row) + operator.RowBytes(f.values)
	return s.Charge.Add(foundBytes + 2*int64(len(key)) + n)
}

// values computes what is assigned to a target's row.
func (s *Statement) values(ctx *sql.Context, t *Target, joined sql.Row, outer int) ([]any, error) {
	values := make([]any, len(t.sets))
	for i, a := range t.sets {
		v, err := a.set.Eval(ctx, joined)
		if err != nil {
			return nil, err
		}
		out := v.(sql.Row) // a copy of the joined row with the value in its place
		values[i] = out[outer+t.first+a.column]
		if s.InTurn {
			joined = out
		}
	}
	return values, nil
}

// write changes or deletes the rows that were found for one of the join's.
func (s *Statement) write(ctx *sql.Context, t *Target, f *found) error {
	if ctx.Err() != nil {
		return sqlerr.From(context.Cause(ctx))
	}
	rows, err := t.Rows(ctx, f.key, f.row)
	if err != nil {
		return err
	}
	for _, old := range rows {
		if s.Ignore {
			t.Editor.StatementBegin(ctx)
		}
		err := s.writeRow(ctx, t, f, old)
		switch {
		case err == nil && s.Ignore:
			err = t.Editor.StatementComplete(ctx)
		case err != nil && s.Ignore && ignorable(err):
			word := sqlerr.Final(err, sqlerr.Statement{})
			ctx.Warn(word.Num, "%s", word.Message)
			err = t.Editor.DiscardChanges(ctx, sql.NewIgnorableError(old.Row))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) writeRow(ctx *sql.Context, t *Target, f *found, old Stored) error {
	if s.Deletes {
		err := t.remove(ctx, old)
		if err == nil {
			s.changed++
		}
		return err
	}
	s.matched++
	row := old.Row.Copy()
	for i, a := range t.sets {
		row[a.column] = f.values[i]
	}
	changed, err := t.update(ctx, t.sets, old, row)
	if changed && err == nil {
		s.changed++
	}
	return err
}

// ignorable says whether IGNORE makes a warning of an error, and leaves the row as it is.
func ignorable(err error) bool {
	for _, kind := range plan.IgnorableErrors {
		if kind.Is(err) {
			return true
		}
	}
	return false
}
