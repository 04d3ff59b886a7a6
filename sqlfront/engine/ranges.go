package engine

import (
	"bytes"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
	"moka/sqlfront/keyrange"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
)

// Conditions as ranges of keys (package keyrange), and as spans of indexes.

// region finds the boxes of a condition.
func (c *pushCompiler) region(filter sql.Expression) keyrange.Region {
	if filter == nil {
		r := keyrange.Everything
		r.Said = true
		return r
	}
	whole := true
	var parts []keyrange.Region
	for _, e := range expression.SplitConjunction(c.ctx, filter) {
		x := c.expr(e, 0)
		if x == nil {
			whole = false
			if x = c.likeBegins(e); x == nil {
				continue
			}
		}
		parts = append(parts, keyrange.Of(x, false, c.ordinalOf))
	}
	r := keyrange.Within(parts).Reduce()
	r.Said, r.Exact = r.Exact, r.Exact && whole
	return r
}

// likeBegins is what a LIKE with a wildcard in the middle says about the beginning.
func (c *pushCompiler) likeBegins(e sql.Expression) *pushdown.Expr {
	if own, ok := e.(*expr.Like); ok {
		e = own.Like
	}
	like, ok := e.(*expression.Like)
	if !ok || like.Escape != nil {
		return nil
	}
	l, ok := like.Right().(*expression.Literal)
	if !ok {
		return nil
	}
	pattern, ok := l.Value().(string)
	if !ok {
		return nil
	}
	wild := strings.IndexAny(pattern, `%_\`)
	if wild <= 0 || pattern[wild] == '\\' {
		return nil
	}
	x, err := like.WithChildren(c.ctx, like.Left(), expression.NewLiteral(pattern[:wild]+"%", l.Type(c.ctx)))
	if err != nil {
		return nil
	}
	begins, ok := x.(*expression.Like)
	if !ok {
		return nil
	}
	return c.like(begins)
}

func (c *pushCompiler) ordinalOf(column int) int {
	for o, at := range c.at {
		if at == column {
			return o
		}
	}
	return -1
}

// keyColumns are the columns whose keys make an entry's key, in its order: those of the index, then those of the primary key.
func (x *index) keyColumns() []int {
	if x.unique || x.table.primary == nil || x.table.primary.unordered {
		return x.cols
	}
	return append(slices.Clip(x.cols), x.table.primary.cols...)
}

// boxSpans are the spans of the entries in a box. equal is how many leading columns have single values, ranged that the next
// one has intervals; both 0 and false: the box does not restrict the index's first column, and the span is all of the index.
func (x *index) boxSpans(b keyrange.Box) (spans []rowenc.Span, equal int, ranged bool) {
	starts := [][]byte{x.prefix}
	fixed := 0 // as rowenc.Span.Equal counts
	for _, col := range x.keyColumns() {
		vs := b[col]
		if len(vs) == 0 || equal > 0 && len(starts)*len(vs) > lookupBatch || len(vs) > keyrange.MaxIntervals {
			break
		}
		points, null := true, false
		for _, v := range vs {
			points = points && v.Point()
			null = null || bytes.Equal(v.From, keyrange.NullKey)
		}
		if !points {
			for _, s := range starts {
				for _, v := range vs {
					spans = append(spans, rowenc.Span{Start: keyrange.Concat(s, v.From), End: keyrange.Concat(s, v.To), Equal: fixed, Exact: true})
				}
			}
			return spans, equal, true
		}
		next := make([][]byte, 0, len(starts)*len(vs))
		for _, s := range starts {
			for _, v := range vs {
				next = append(next, keyrange.Concat(s, v.From))
			}
		}
		starts = next
		if fixed == equal && !null && equal < len(x.cols) {
			fixed++
		}
		equal++
	}
	for _, s := range starts {
		spans = append(spans, rowenc.Span{Start: s, End: keyrange.After(s), Equal: fixed, Exact: true})
	}
	return spans, equal, false
}

// spans are those of all boxes, ascending and disjoint; ok is false if they are not less than all of the index.
func (x *index) spans(boxes []keyrange.Box) (spans []rowenc.Span, ok bool) {
	for _, b := range boxes {
		some, equal, ranged := x.boxSpans(b)
		if equal == 0 && !ranged {
			return nil, false
		}
		spans = append(spans, some...)
	}
	return keyrange.JoinSpans(spans), true
}

// found guesses how many entries of the index are in a box; ok is false if the box does not restrict the first column.
func (e *Engine) found(x *index, b keyrange.Box, total float64) (rows float64, ok bool) {
	rows, lookups := total, 1.0
	equal := 0
	cols := x.keyColumns()
	for equal < len(cols) && len(b[cols[equal]]) > 0 && !slices.ContainsFunc(b[cols[equal]], func(v keyrange.Interval) bool { return !v.Point() }) {
		lookups *= float64(len(b[cols[equal]]))
		equal++
	}
	switch n := min(equal, len(x.cols)); {
	case x.unique && equal >= len(x.cols):
		return lookups, true
	case n > 0:
		if d, all, known := e.stats.Distinct(x.table.desc.ID, x, n); known && d > 0 {
			rows = lookups * max(1, float64(all)/float64(d))
		} else {
			rows = lookups * max(1, min(gms.MaxFanOut, total*gms.LookupFanOut))
		}
	}
	if equal < len(cols) && len(b[cols[equal]]) > 0 {
		return max(1, rows*keyrange.Share(b[cols[equal]])), true
	}
	return rows, equal > 0
}
