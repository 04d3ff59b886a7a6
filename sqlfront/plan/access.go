package plan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/eval"
)

// leastRows is how many rows a table is taken to have at least: a plan outlives the time when its tables were
// empty.
const leastRows = 1000

// access chooses how a relation is read when the ones that are placed are there. conditions are those that
// its rows have to pass.
func (l *lowering) access(r *relation, conditions []*conjunct) candidate {
	best := l.whole(r, conditions)
	if r.table == nil {
		return best
	}
	found := false
	for _, k := range r.table.Keys() {
		if c, ok := l.byKey(r, k, conditions); ok && (!found || c.read < best.read) {
			best, found = c, true
		}
	}
	return best
}

// others reports whether all relations of a condition but r are placed.
func (l *lowering) others(c *conjunct, r *relation) bool {
	for x := range c.uses {
		if x != r && !x.placed {
			return false
		}
	}
	return true
}

// whole reads all rows of a relation, once, and finds those that belong to a row by their values.
func (l *lowering) whole(r *relation, conditions []*conjunct) candidate {
	c := candidate{read: r.rows, once: true}
	if r.table != nil {
		c.read = max(r.table.Rows(l.ctx), 1)
	}
	c.out = c.read
	for _, w := range conditions {
		if w.done || !w.uses[r] || !l.others(w, r) {
			continue
		}
		c.out *= selectivity(w.expr)
		if e, ok := w.expr.(*expression.Equals); ok {
			col, other, ok := l.equality(r, e)
			if ok && other.Slot >= 0 && eval.SameKind(r.types[col], other.Type) {
				m := Match{Column: col, Slot: other.Slot, Type: r.types[col]}
				c.access.Hash = append(c.access.Hash, m)
				c.answers = append(c.answers, w)
			}
		}
	}
	return c
}

// selectivity is what a condition is taken to leave of the rows, without statistics.
func selectivity(e sql.Expression) float64 {
	switch e := e.(type) {
	case *expression.Equals:
		return 0.1
	case *expression.InTuple:
		if list, ok := e.Children()[1].(expression.Tuple); ok {
			return min(0.1*float64(len(list)), 0.5)
		}
	}
	return 0.4
}

// byKey reads a relation by an index; false if no condition is on its first column.
func (l *lowering) byKey(r *relation, k *Key, conditions []*conjunct) (candidate, bool) {
	c := candidate{access: Access{Key: k}}
	used := map[*conjunct]bool{}
	for _, col := range k.Columns {
		v, by, ok := l.valueOf(r, col, conditions, used)
		if !ok {
			break
		}
		used[by] = true
		c.answers = append(c.answers, by)
		c.access.Equal = append(c.access.Equal, v)
	}
	n := len(c.access.Equal)
	if n < len(k.Columns) {
		l.rangeOf(r, k.Columns[n], conditions, used, &c)
	}
	a := &c.access
	if n == 0 && a.In == nil && a.Lower == nil && a.Upper == nil {
		return c, false
	}
	if a.In != nil && n > 0 && a.Depends() {
		return c, false
	}
	rows := max(r.table.Rows(l.ctx), leastRows)
	switch {
	case a.Point():
		c.read = 1
	default:
		c.read = rows
		if n > 0 {
			if d := r.table.Distinct(k, n); d > 0 {
				c.read = max(rows/d, 1)
			} else if k.Unique {
				c.read = 8 // of one parent's children
			} else {
				c.read = 16
			}
		}
		switch {
		case a.In != nil && n+1 == len(k.Columns) && k.Unique:
			c.read = float64(len(a.In))
		case a.In != nil:
			c.read = min(c.read, rows/10*float64(len(a.In)))
		case a.Lower != nil && a.Upper != nil:
			c.read /= 10
		case a.Lower != nil || a.Upper != nil:
			c.read /= 3
		}
	}
	c.once = !a.Depends()
	c.out = c.read
	for _, w := range conditions {
		if !w.done && !used[w] && w.uses[r] && l.others(w, r) {
			c.out *= selectivity(w.expr)
		}
	}
	return c, true
}

// valueOf finds a condition column = value, of an operand or of a row that is there.
func (l *lowering) valueOf(
	r *relation, col int, conditions []*conjunct, used map[*conjunct]bool,
) (Value, *conjunct, bool) {
	for _, w := range conditions {
		e, ok := w.expr.(*expression.Equals)
		if !ok || w.done || used[w] || !w.uses[r] || !l.others(w, r) {
			continue
		}
		at, v, ok := l.equality(r, e)
		if !ok || at != col {
			continue
		}
		if v.Slot >= 0 && !eval.SameKind(r.types[col], v.Type) {
			continue
		}
		v.Type = r.types[col]
		return v, w, true
	}
	return Value{}, nil, false
}

// equality reads column = value; the value's type is that of the other column, if it is one.
func (l *lowering) equality(r *relation, e *expression.Equals) (col int, v Value, ok bool) {
	for i, side := range e.Children() {
		c, isColumn := side.(*expression.GetField)
		if !isColumn {
			continue
		}
		of, known := l.of[c.Id()]
		if !known || of.relation != r {
			continue
		}
		other := e.Children()[1-i]
		if o, isOperand := l.scope().Operand(l.ctx, other); isOperand {
			return of.ordinal, Value{Slot: -1, Operand: o}, eval.Keyed(r.types[of.ordinal])
		}
		if sub, ok := other.(*plan.Subquery); ok {
			n, t, err := l.subquery(sub, eval.AsValue)
			if err != nil || !eval.SameKind(r.types[of.ordinal], t) {
				continue
			}
			return of.ordinal, Value{Slot: -1, Subquery: true, Result: n}, eval.Keyed(r.types[of.ordinal])
		}
		if x, isColumn := other.(*expression.GetField); isColumn {
			if slot, there := l.slots[x.Id()]; there {
				return of.ordinal, Value{Slot: slot, Type: x.Type(l.ctx)}, true
			}
		}
	}
	return 0, Value{}, false
}

// rangeOf finds a list or the ends of a range for a column.
func (l *lowering) rangeOf(
	r *relation, col int, conditions []*conjunct, used map[*conjunct]bool, c *candidate,
) {
	t := r.types[col]
	if !eval.Keyed(t) {
		return
	}
	for _, w := range conditions {
		if w.done || used[w] || len(w.uses) != 1 || !w.uses[r] {
			continue
		}
		free := c.access.In == nil && c.access.Lower == nil && c.access.Upper == nil
		if in, ok := w.expr.(*expression.InTuple); ok && free {
			if list, ok := l.list(r, col, in); ok {
				c.access.In = list
				c.answers, used[w] = append(c.answers, w), true
				return
			}
		}
		op, ok := eval.ComparisonOf(w.expr)
		if !ok || op == eval.Equal {
			continue
		}
		side, o, ok := l.bound(r, col, w.expr)
		if !ok {
			continue
		}
		if side == 1 {
			op = op.Flip()
		}
		b := &Bound{Operand: o, Inclusive: op == eval.LessOrEqual || op == eval.GreaterOrEqual, Type: t}
		switch {
		case (op == eval.Greater || op == eval.GreaterOrEqual) && c.access.Lower == nil:
			c.access.Lower = b
		case (op == eval.Less || op == eval.LessOrEqual) && c.access.Upper == nil:
			c.access.Upper = b
		default:
			continue
		}
		c.answers, used[w] = append(c.answers, w), true
	}
}

func (l *lowering) list(r *relation, col int, in *expression.InTuple) (list []eval.Operand, ok bool) {
	c, isColumn := in.Children()[0].(*expression.GetField)
	tuple, isTuple := in.Children()[1].(expression.Tuple)
	if !isColumn || !isTuple || l.of[c.Id()] != (columnOf{r, col}) {
		return nil, false
	}
	for _, e := range tuple {
		o, ok := l.scope().Operand(l.ctx, e)
		if !ok {
			return nil, false
		}
		list = append(list, o)
	}
	return list, true
}

// bound reads column op operand; side says on which side the column is.
func (l *lowering) bound(r *relation, col int, e sql.Expression) (side int, o eval.Operand, ok bool) {
	for i, x := range e.Children() {
		c, isColumn := x.(*expression.GetField)
		if !isColumn || l.of[c.Id()] != (columnOf{r, col}) {
			continue
		}
		o, ok := l.scope().Operand(l.ctx, e.Children()[1-i])
		return i, o, ok
	}
	return 0, o, false
}
