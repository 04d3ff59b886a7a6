package engine

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"moka/sqlfront/expr"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
)

// Conditions as ranges of keys. A condition that a program can say (push_filter.go) compares keys of columns, so the rows that it
// is true for lie in boxes: for each column that is mentioned, some intervals of its keys. The boxes of a condition may hold
// other rows too (what cannot be said is left out), never fewer; the Filter stays. From the boxes come the spans of an index.
//
//	a = 3 AND b > 5 OR a > 7      {a: [3], b: (5, ∞)}, {a: (7, ∞)}      index (a, b): (3, 5) < … < (4), (7) < …

// interval is a range of the keys of one column: from is in it, to is not.
type interval struct{ from, to []byte }

// Keys of a column begin with a tag: nullKey is all of the key of NULL, no key begins with lastTag.
var (
	nullKey = []byte{0x00}
	notNull = interval{[]byte{0x01}, lastTag}
	lastTag = []byte{0xFF}
)

// after is a place behind a value and what may follow it in a key, and before the next value.
func after(key []byte) []byte { return append(slices.Clip(key), lastTag...) }

func pointAt(key []byte) interval { return interval{key, after(key)} }

// point reports whether the interval holds one value.
func (v interval) point() bool {
	n := len(v.from)
	return n > 0 && len(v.to) == n+1 && v.to[n] == lastTag[0] && bytes.Equal(v.to[:n], v.from)
}

func (v interval) empty() bool { return bytes.Compare(v.from, v.to) >= 0 }

// box is a set of intervals for each column that is restricted, by its place in the table: ascending and disjoint.
type box map[int][]interval

// region is a union of boxes. Without a restriction, all is true.
type region struct {
	boxes []box
	all   bool
	exact bool // holds no other rows than those that the condition is true for
	said  bool // … than those that what can be said of the condition is true for
}

const (
	maxBoxes     = 64      // what is more becomes one coarse box
	maxIntervals = 1 << 14 // of one column
)

var everything = region{all: true, exact: true}

// region finds the boxes of a condition.
func (c *pushCompiler) region(filter sql.Expression) region {
	if filter == nil {
		r := everything
		r.said = true
		return r
	}
	whole := true
	var parts []region
	for _, e := range expression.SplitConjunction(c.ctx, filter) {
		x := c.expr(e, 0)
		if x == nil {
			whole = false
			if x = c.likeBegins(e); x == nil {
				continue
			}
		}
		parts = append(parts, c.regionOf(x, false))
	}
	r := within(parts).reduce()
	r.said, r.exact = r.exact, r.exact && whole
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

// regionOf is where e is true, or with not, where it is false.
func (c *pushCompiler) regionOf(e *pushdown.Expr, not bool) region {
	of := func(vs ...interval) region {
		return region{boxes: []box{{c.ordinalOf(e.Column): vs}}, exact: true}
	}
	none := region{exact: true}
	switch e.Op {
	case pushdown.OpTrue, pushdown.OpFalse:
		if (e.Op == pushdown.OpTrue) != not {
			return everything
		}
		return none
	case pushdown.OpNull:
		return none
	case pushdown.OpAnd, pushdown.OpOr:
		if (e.Op == pushdown.OpAnd) != not {
			return within(c.regionsOf(e.Args, not))
		}
		return anyOf(c.regionsOf(e.Args, not))
	case pushdown.OpNot:
		return c.regionOf(e.Args[0], !not)
	case pushdown.OpIsNull:
		if not {
			return of(notNull)
		}
		return of(pointAt(nullKey))
	case pushdown.OpCompare:
		return c.comparison(e, not)
	case pushdown.OpPrefix:
		in := interval{e.Key, successor(e.Key)}
		if bytes.Equal(e.Key, notNull.from) {
			in = notNull
		}
		if not {
			return of(subtract([]interval{notNull}, []interval{in})...)
		}
		return of(in)
	case pushdown.OpIn:
		if not && e.HasNull {
			return none
		}
		if len(e.Keys) > maxIntervals {
			return region{all: true}
		}
		points := make([]interval, len(e.Keys))
		for i, k := range e.Keys {
			points[i] = pointAt(k)
		}
		if not {
			points = subtract([]interval{notNull}, points)
		}
		return of(points...)
	}
	return region{all: true}
}

func (c *pushCompiler) regionsOf(es []*pushdown.Expr, not bool) []region {
	rs := make([]region, len(es))
	for i, e := range es {
		rs[i] = c.regionOf(e, not)
	}
	return rs
}

var negated = map[pushdown.Relation]pushdown.Relation{
	pushdown.Equal: pushdown.NotEqual, pushdown.NotEqual: pushdown.Equal,
	pushdown.Less: pushdown.GreaterEqual, pushdown.GreaterEqual: pushdown.Less,
	pushdown.Greater: pushdown.LessEqual, pushdown.LessEqual: pushdown.Greater,
}

func (c *pushCompiler) comparison(e *pushdown.Expr, not bool) region {
	rel := e.Relation
	if not {
		var ok bool
		if rel, ok = negated[rel]; !ok {
			return region{all: true}
		}
	}
	var vs []interval
	switch rel {
	case pushdown.Equal, pushdown.NullEqual:
		vs = []interval{pointAt(e.Key)}
	case pushdown.NotEqual:
		vs = subtract([]interval{notNull}, []interval{pointAt(e.Key)})
	case pushdown.Less:
		vs = []interval{{notNull.from, e.Key}}
	case pushdown.LessEqual:
		vs = []interval{{notNull.from, after(e.Key)}}
	case pushdown.Greater:
		vs = []interval{{after(e.Key), lastTag}}
	case pushdown.GreaterEqual:
		vs = []interval{{e.Key, lastTag}}
	default:
		return region{all: true}
	}
	return region{boxes: []box{{c.ordinalOf(e.Column): vs}}, exact: true}
}

// successor is the first key behind those that begin with the bytes.
func successor(b []byte) []byte {
	b = slices.Clone(b)
	for len(b) > 0 {
		if b[len(b)-1]++; b[len(b)-1] != 0 {
			return b
		}
		b = b[:len(b)-1]
	}
	return lastTag
}

func intersect(a, b []interval) (both []interval) {
	for len(a) > 0 && len(b) > 0 {
		v := interval{a[0].from, a[0].to}
		if bytes.Compare(b[0].from, v.from) > 0 {
			v.from = b[0].from
		}
		if bytes.Compare(b[0].to, v.to) < 0 {
			v.to = b[0].to
		}
		if !v.empty() {
			both = append(both, v)
		}
		if bytes.Compare(a[0].to, b[0].to) < 0 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// subtract is what of a is not in b.
func subtract(a, b []interval) (left []interval) {
	for _, v := range a {
		for _, w := range b {
			if bytes.Compare(w.to, v.from) <= 0 || v.empty() {
				continue
			}
			if bytes.Compare(w.from, v.to) >= 0 {
				break
			}
			if head := (interval{v.from, w.from}); !head.empty() {
				left = append(left, head)
			}
			v.from = w.to
		}
		if !v.empty() {
			left = append(left, v)
		}
	}
	return left
}

// unite makes one ascending, disjoint list of intervals.
func unite(vs []interval) []interval {
	vs = slices.DeleteFunc(slices.Clone(vs), interval.empty)
	slices.SortFunc(vs, func(a, b interval) int { return bytes.Compare(a.from, b.from) })
	out := vs[:0]
	for _, v := range vs {
		if n := len(out); n > 0 && bytes.Compare(v.from, out[n-1].to) <= 0 && !(out[n-1].point() || v.point()) || n > 0 && bytes.Compare(v.from, out[n-1].to) < 0 {
			if bytes.Compare(v.to, out[n-1].to) > 0 {
				out[n-1].to = v.to
			}
			continue
		}
		out = append(out, v)
	}
	return out
}

func (r region) and(o region) region {
	exact := r.exact && o.exact
	switch {
	case r.all:
		o.exact = exact
		return o
	case o.all:
		r.exact = exact
		return r
	case len(r.boxes)*len(o.boxes) > maxBoxes:
		if len(r.boxes) > len(o.boxes) {
			r = o
		}
		r.exact = false
		return r
	}
	out := region{exact: exact}
	for _, a := range r.boxes {
		for _, b := range o.boxes {
			if both := a.and(b); both != nil {
				out.boxes = append(out.boxes, both)
			}
		}
	}
	return out
}

// and is nil if nothing is in both.
func (b box) and(o box) box {
	both := maps.Clone(b)
	for col, vs := range o {
		if mine, ok := both[col]; ok {
			vs = intersect(mine, vs)
		}
		if len(vs) == 0 {
			return nil
		}
		both[col] = vs
	}
	return both
}

// within is where all of the regions are: by halves, since each step goes through all intervals so far.
func within(rs []region) region {
	switch n := len(rs); n {
	case 0:
		return everything
	case 1:
		return rs[0]
	case 2:
		return rs[0].and(rs[1])
	default:
		return within(rs[:n/2]).and(within(rs[n/2:]))
	}
}

// anyOf is where any of the regions is.
func anyOf(rs []region) region {
	out := region{exact: true}
	for _, r := range rs {
		if r.all && r.exact {
			return everything
		}
		out.all, out.exact = out.all || r.all, out.exact && r.exact
	}
	if out.all {
		return region{all: true}
	}
	// Boxes that restrict one column, the same, are one.
	at := map[int]int{}
	var vs [][]interval
	for _, r := range rs {
		for _, b := range r.boxes {
			col, ok := b.only()
			if !ok {
				out.boxes = append(out.boxes, b)
				vs = append(vs, nil)
				continue
			}
			i, ok := at[col]
			if !ok {
				i = len(out.boxes)
				at[col] = i
				out.boxes = append(out.boxes, b)
				vs = append(vs, nil)
			}
			vs[i] = append(vs[i], b[col]...)
		}
	}
	for col, i := range at {
		if all := unite(vs[i]); len(all) > 0 {
			out.boxes[i] = box{col: all}
		}
	}
	if len(out.boxes) > maxBoxes {
		return out.coarse()
	}
	return out
}

// coarse is one box around all boxes: a = 1 AND b = 1 OR a = 2 AND b = 4 OR … is within a in [1], [2] … and b in [1], [4] …, which programs write
// by the thousand for want of (a, b) IN (…).
func (r region) coarse() region {
	around := maps.Clone(r.boxes[0])
	for col := range around {
		var vs []interval
		for _, b := range r.boxes {
			if b[col] == nil { // not restricted there
				vs = nil
				break
			}
			vs = append(vs, b[col]...)
		}
		if vs = unite(vs); len(vs) == 0 || len(vs) > maxIntervals {
			delete(around, col)
			continue
		}
		around[col] = vs
	}
	if len(around) == 0 {
		return region{all: true}
	}
	return region{boxes: []box{around}}
}

// only is the one column that the box restricts.
func (b box) only() (col int, ok bool) {
	if len(b) != 1 {
		return 0, false
	}
	for col = range b {
	}
	return col, true
}

// reduce takes from boxes what another box has anyway: a >= 3 AND (a > 3 OR b > 5) is a > 3 or a = 3 AND b > 5.
func (r region) reduce() region {
	for i, b := range r.boxes {
		col, ok := b.only()
		if !ok {
			continue
		}
		for j, o := range r.boxes {
			if vs, ok := o[col]; ok && i != j && len(o) > 0 {
				o = maps.Clone(o)
				if o[col] = subtract(vs, b[col]); len(o[col]) == 0 {
					o = nil
				}
				r.boxes = slices.Clone(r.boxes)
				r.boxes[j] = o
			}
		}
	}
	r.boxes = slices.DeleteFunc(slices.Clone(r.boxes), func(b box) bool { return len(b) == 0 })
	return r
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
func (x *index) boxSpans(b box) (spans []rowenc.Span, equal int, ranged bool) {
	starts := [][]byte{x.prefix}
	fixed := 0 // as rowenc.Span.Equal counts
	for _, col := range x.keyColumns() {
		vs := b[col]
		if len(vs) == 0 || equal > 0 && len(starts)*len(vs) > lookupBatch || len(vs) > maxIntervals {
			break
		}
		points, null := true, false
		for _, v := range vs {
			points = points && v.point()
			null = null || bytes.Equal(v.from, nullKey)
		}
		if !points {
			for _, s := range starts {
				for _, v := range vs {
					spans = append(spans, rowenc.Span{Start: concat(s, v.from), End: concat(s, v.to), Equal: fixed, Exact: true})
				}
			}
			return spans, equal, true
		}
		next := make([][]byte, 0, len(starts)*len(vs))
		for _, s := range starts {
			for _, v := range vs {
				next = append(next, concat(s, v.from))
			}
		}
		starts = next
		if fixed == equal && !null && equal < len(x.cols) {
			fixed++
		}
		equal++
	}
	for _, s := range starts {
		spans = append(spans, rowenc.Span{Start: s, End: after(s), Equal: fixed, Exact: true})
	}
	return spans, equal, false
}

func concat(a, b []byte) []byte { return append(slices.Clip(a), b...) }

// spans are those of all boxes, ascending and disjoint; ok is false if they are not less than all of the index.
func (x *index) spans(boxes []box) (spans []rowenc.Span, ok bool) {
	for _, b := range boxes {
		some, equal, ranged := x.boxSpans(b)
		if equal == 0 && !ranged {
			return nil, false
		}
		spans = append(spans, some...)
	}
	return joinSpans(spans), true
}

// joinSpans sorts spans and makes one of those that overlap.
func joinSpans(spans []rowenc.Span) []rowenc.Span {
	slices.SortFunc(spans, func(a, b rowenc.Span) int { return bytes.Compare(a.Start, b.Start) })
	out := spans[:0]
	for _, s := range spans {
		if bytes.Compare(s.Start, s.End) >= 0 {
			continue
		}
		if n := len(out); n > 0 && bytes.Compare(s.Start, out[n-1].End) < 0 {
			last := &out[n-1]
			if !bytes.Equal(s.Start, last.Start) || !bytes.Equal(s.End, last.End) {
				last.Equal = 0
			}
			if bytes.Compare(s.End, last.End) > 0 {
				last.End = s.End
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// meet is what two ascending lists of disjoint spans have in common.
func meet(a, b []rowenc.Span) (both []rowenc.Span) {
	for len(a) > 0 && len(b) > 0 {
		s := a[0]
		s.Exact = a[0].Exact && b[0].Exact
		s.Equal = max(a[0].Equal, b[0].Equal)
		if bytes.Compare(b[0].Start, s.Start) > 0 {
			s.Start = b[0].Start
		}
		if bytes.Compare(b[0].End, s.End) < 0 {
			s.End = b[0].End
		}
		if bytes.Compare(s.Start, s.End) < 0 {
			if !sameSpan(&s, &a[0]) && !sameSpan(&s, &b[0]) {
				s.Equal = 0
			}
			both = append(both, s)
		}
		if bytes.Compare(a[0].End, b[0].End) < 0 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

func sameSpan(a, b *rowenc.Span) bool {
	return bytes.Equal(a.Start, b.Start) && bytes.Equal(a.End, b.End)
}

// share is a guess of the part of an index's values that the intervals hold.
func share(vs []interval) float64 {
	sum := 0.0
	for _, v := range vs {
		switch low, high := bytes.Equal(v.from, notNull.from) || bytes.Equal(v.from, nullKey), bytes.Equal(v.to, lastTag); {
		case v.point():
			sum += lookupFanOut
		case low && high:
			sum++
		case low || high:
			sum += 0.25
		default:
			sum += 1.0 / 9
		}
	}
	return min(1, sum)
}

// found guesses how many entries of the index are in a box; ok is false if the box does not restrict the first column.
func (e *Engine) found(x *index, b box, total float64) (rows float64, ok bool) {
	rows, lookups := total, 1.0
	equal := 0
	cols := x.keyColumns()
	for equal < len(cols) && len(b[cols[equal]]) > 0 && !slices.ContainsFunc(b[cols[equal]], func(v interval) bool { return !v.point() }) {
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
			rows = lookups * max(1, min(maxFanOut, total*lookupFanOut))
		}
	}
	if equal < len(cols) && len(b[cols[equal]]) > 0 {
		return max(1, rows*share(b[cols[equal]])), true
	}
	return rows, equal > 0
}
