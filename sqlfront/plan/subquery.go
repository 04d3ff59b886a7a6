package plan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/eval"
)

// Subquery is one that depends on nothing outside of it. It is run before the query that it belongs to.
type Subquery struct {
	Query *Query
	Use   eval.Use
	Type  sql.Type // of its column; nil for EXISTS
}

// loweredSubquery is what has become of one; it may be asked for several times.
type loweredSubquery struct {
	at  int // in Query.Subqueries
	err error
}

// subquery makes the plan of one, and gives it a place.
func (l *lowering) subquery(s *plan.Subquery, use eval.Use) (int, sql.Type, error) {
	k, ok := l.subqueries[s]
	if !ok {
		k.at = len(l.q.Subqueries)
		var q *Query
		if q, k.err = l.inner(s, use); k.err == nil {
			s := &Subquery{Query: q, Use: use}
			if use != eval.AsTruth {
				s.Type = q.Columns[0].Type
			}
			l.q.Subqueries = append(l.q.Subqueries, s)
		}
		l.subqueries[s] = k
	}
	if k.err != nil {
		return 0, nil, k.err
	}
	of := l.q.Subqueries[k.at]
	if of.Use != use {
		return 0, nil, Unsupported("a subquery that is used twice")
	}
	return k.at, of.Type, nil
}

func (l *lowering) inner(s *plan.Subquery, use eval.Use) (*Query, error) {
	if !s.Correlated().Empty() || s.Volatile() {
		return nil, Unsupported("a subquery that depends on what is around it")
	}
	inner := newLowering(l.ctx, l.opts)
	inner.rowsOnly = use == eval.AsTruth
	if err := inner.block(s.Query); err != nil {
		return nil, err
	}
	q := inner.q
	if use != eval.AsTruth && (q.Result != 1 || !q.Columns[0].exact()) {
		return nil, Unsupported("a subquery of several columns, or of a text that is computed")
	}
	if use == eval.AsTruth && q.Limit == nil && q.Offset == nil {
		q.Limit = &eval.Operand{Param: -1, Const: eval.Literal{Kind: eval.LiteralInt, Text: "1"}}
	}
	return q, nil
}

// firstMatch is above the numbers of columns that the binder gives, which have 16 bits.
const firstMatch = 60_000

// semiJoins makes joins of the conditions column IN (subquery) that all rows have to pass: the subquery's
// rows, each once, are a relation like others. So it may come first, and the table be looked up by it.
func (l *lowering) semiJoins() error {
	for _, w := range l.where {
		in, ok := w.expr.(*plan.InSubquery)
		if !ok {
			continue
		}
		left, ok := in.Left().(*expression.GetField)
		if !ok {
			continue
		}
		of, ok := l.of[left.Id()]
		sub, isSub := in.Right().(*plan.Subquery)
		if !ok || of.relation.left || !isSub {
			continue
		}
		inner := newLowering(l.ctx, l.opts)
		if !sub.Correlated().Empty() || sub.Volatile() {
			return Unsupported("a subquery that depends on what is around it")
		}
		if err := inner.block(sub.Query); err != nil {
			return err
		}
		q := inner.q
		if q.Limit != nil || q.Offset != nil || q.Result != 1 || !q.Columns[0].exact() {
			continue // a predicate
		}
		q.Distinct, q.Order = true, nil
		t := q.Columns[0].Type
		if !eval.SameKind(left.Type(l.ctx), t) {
			return Unsupported("IN of another type")
		}
		id := firstMatch + len(l.relations)
		if _, taken := l.of[sql.ColumnId(id)]; taken {
			return Unsupported("so many columns")
		}
		r := &relation{name: "in", derived: q, rows: inner.results(), types: []sql.Type{t}}
		if err := l.add(r, sql.NewColSet(sql.ColumnId(id))); err != nil {
			return err
		}
		w.expr = expression.NewEquals(left, expression.NewGetField(id, t, "in", true))
		w.uses[r] = true
	}
	return nil
}
