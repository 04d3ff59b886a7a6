package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/catalog"
	"moka/sqlfront/gms"
	"moka/sqlfront/rowenc"
)

// insertID is what one statement says of AUTO_INCREMENT numbers, as MySQL has it:
//
//	the insert id of its answer     the first number that was drawn for a row that was stored; or else what LAST_INSERT_ID(expr) was
//	                                given; or else the column's value in the last row that was stored, or changed by ON DUPLICATE KEY UPDATE
//	LAST_INSERT_ID() from then on   the first or the second of these; as it was, if there is neither
//
// Numbers drawn for rows that IGNORE leaves out, or that turn out to be there already, do not count. The library takes the first row's value, or
// (REPLACE, ON DUPLICATE KEY UPDATE) what LAST_INSERT_ID() was before; and changes that with the first row.
type insertID struct {
	table   uint32 // that the statement inserts into; 0 for none
	pending int64  // drawn for the row that comes next
	first   int64  // that was drawn and stored; 0 for none
	last    int64  // of the last row that was stored
	given   int64
	isGiven bool

	numbers catalog.Numbers
}

// stored notes a row that is there now.
func (d *insertID) stored(t *Table, row sql.Row) {
	if d == nil || t.auto < 0 || t.desc.ID != d.table {
		return
	}
	n := numberOf(row[t.auto])
	if d.last = n; d.first == 0 && d.pending == n {
		d.first = n
	}
	d.pending = 0
}

// changed notes a row that ON DUPLICATE KEY UPDATE has changed.
func (d *insertID) changed(t *Table, row sql.Row) {
	if d == nil || t.auto < 0 || t.desc.ID != d.table {
		return
	}
	d.last, d.pending = numberOf(row[t.auto]), 0
}

// numberOf is the value of an AUTO_INCREMENT column, in the 64 bits that it has on the wire.
func numberOf(v any) int64 {
	if u, ok := v.(uint64); ok {
		return int64(u)
	}
	n, _ := rowenc.Int64(v)
	return n
}

// end returns the insert id of the answer.
func (d *insertID) end(s sql.Session) uint64 {
	switch {
	case d.first != 0:
		s.GetLastQueryInfo().LastInsertId.Store(d.first)
		return uint64(d.first)
	case d.isGiven:
		return uint64(d.given)
	}
	return uint64(d.last)
}

// identify builds the plan of a statement that may change LAST_INSERT_ID(), with an account of it; nil for others. A statement of a trigger or
// a function has its own, see aside.
func (b *execBuilder) identify(ctx *sql.Context, s *Session, n sql.Node, row sql.Row) (sql.RowIter, error) {
	d := &insertID{}
	switch into := identified(n).(type) {
	case *plan.InsertInto:
		if loads(into.Source) {
			return nil, nil
		}
		if dest, err := plan.GetInsertable(into.Destination); err == nil {
			if t, ok := sql.GetUnderlyingTable(dest).(*Table); ok {
				d.table, d.numbers.Rows = t.desc.ID, givenRows(into.Source)
			}
		}
	case *plan.Update: // UPDATE … SET id = LAST_INSERT_ID(id + 1)
	default:
		return nil, nil
	}
	outer := s.inserting
	s.inserting = d
	it, err := b.base.Build(ctx, n, row)
	s.inserting = outer
	if err != nil {
		return nil, err
	}
	return &identifiedIter{RowIter: it, d: d, session: s}, nil
}

// givenRows is how many rows the source of an INSERT gives, 0 if that is not known.
func givenRows(source sql.Node) (n uint64) {
	transform.Inspect(source, func(node sql.Node) bool {
		if v, ok := node.(*plan.Values); ok {
			n = uint64(len(v.ExpressionTuples))
		}
		return n == 0
	})
	return n
}

// identified is the statement below its RETURNING and the triggers that fire after it.
func identified(n sql.Node) sql.Node {
	if p, ok := n.(*plan.Project); ok {
		if rows, ok := p.Child.(*gms.Inserted); ok {
			n = rows.Child
		}
	}
	for {
		t, ok := n.(*plan.TriggerExecutor)
		if !ok {
			return n
		}
		n = t.Left()
	}
}

// identifiedIter runs a statement with its insertID.
type identifiedIter struct {
	sql.RowIter
	d       *insertID
	session *Session
}

var _ sql.MutableRowIter = (*identifiedIter)(nil)

// Next implements sql.RowIter.
func (it *identifiedIter) Next(ctx *sql.Context) (sql.Row, error) {
	outer := it.session.inserting
	it.session.inserting = it.d
	row, err := it.RowIter.Next(ctx)
	it.session.inserting = outer
	if err == io.EOF { // of RETURNING; there is no answer to put it into
		it.d.end(it.session)
		*it.d = insertID{}
	}
	if err != nil || len(row) != 1 {
		return row, err
	}
	ok, is := row[0].(types.OkResult)
	if !is {
		return row, nil
	}
	ok.InsertID = it.d.end(it.session)
	return sql.NewRow(ok), nil
}

// GetChildIter implements sql.MutableRowIter.
func (it *identifiedIter) GetChildIter() sql.RowIter { return it.RowIter }

// WithChildIter implements sql.MutableRowIter.
func (it *identifiedIter) WithChildIter(child sql.RowIter) sql.RowIter {
	return &identifiedIter{child, it.d, it.session}
}

// lastInsertID is LAST_INSERT_ID: with a value, the statement's answer says it, too.
type lastInsertID struct{ *function.LastInsertId }

func newLastInsertID(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	e, err := function.NewLastInsertId(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &lastInsertID{e.(*function.LastInsertId)}, nil
}

// Eval implements sql.Expression.
func (l *lastInsertID) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := l.LastInsertId.Eval(ctx, row)
	if s := sessionOf(ctx); err == nil && len(l.Children()) > 0 && s != nil && s.inserting != nil {
		s.inserting.given, s.inserting.isGiven = ctx.GetLastQueryInfo().LastInsertId.Load(), true
	}
	return v, err
}

// WithChildren implements sql.Expression.
func (l *lastInsertID) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return newLastInsertID(ctx, children...)
}
