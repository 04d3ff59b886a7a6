// Package keyrange has conditions as ranges of keys.
//
// A condition that a program of package pushdown can say compares keys of columns, so the rows that it is
// true for lie in boxes: for each column that is mentioned, some intervals of its keys. The boxes of a
// condition may hold other rows too (what cannot be said is left out), never fewer. From the boxes come the
// spans of an index.
//
//	a = 3 AND b > 5 OR a > 7    {a: [3], b: (5, ∞)}, {a: (7, ∞)}    index (a, b): (3, 5) < … < (4), (7) < …
package keyrange

import (
	"bytes"
	"maps"
	"slices"

	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
)

// Interval is a range of the keys of one column: From is in it, To is not.
type Interval struct{ From, To []byte }

// Keys of a column begin with a tag: NullKey is all of the key of NULL, no key begins with lastTag.
var (
	NullKey = []byte{0x00}
	NotNull = Interval{[]byte{0x01}, lastTag}
	lastTag = []byte{0xFF}
)

// After is a place behind a value and what may follow it in a key, and before the next value.
func After(key []byte) []byte { return append(slices.Clip(key), lastTag...) }

// PointAt is the interval of one value.
func PointAt(key []byte) Interval { return Interval{key, After(key)} }

// Point reports whether the interval holds one value.
func (v Interval) Point() bool {
	n := len(v.From)
	return n > 0 && len(v.To) == n+1 && v.To[n] == lastTag[0] && bytes.Equal(v.To[:n], v.From)
}

func (v Interval) empty() bool { return bytes.Compare(v.From, v.To) >= 0 }

// Box is a set of intervals for each column that is restricted, by its place in the table:
// ascending and disjoint.
type Box map[int][]Interval

// Region is a union of boxes. Without a restriction, all is true.
type Region struct {
	Boxes []Box
	All   bool
	Exact bool // holds no other rows than those that the condition is true for
	Said  bool // … than those that what can be said of the condition is true for
}

// Limits of what is told apart.
const (
	maxBoxes = 64 // what is more becomes one coarse box
	// MaxIntervals bounds a column.
	MaxIntervals = 1 << 14 // of one column
)

// Everything is the region of no condition.
var Everything = Region{All: true, Exact: true}

// Of is where a condition of a program is true, or with not, where it is false. column says which column of
// the table one of the program is.
func Of(e *pushdown.Expr, not bool, column func(int) int) Region {
	of := func(vs ...Interval) Region {
		return Region{Boxes: []Box{{column(e.Column): vs}}, Exact: true}
	}
	none := Region{Exact: true}
	switch e.Op {
	case pushdown.OpTrue, pushdown.OpFalse:
		if (e.Op == pushdown.OpTrue) != not {
			return Everything
		}
		return none
	case pushdown.OpNull:
		return none
	case pushdown.OpAnd, pushdown.OpOr:
		if (e.Op == pushdown.OpAnd) != not {
			return Within(ofAll(e.Args, not, column))
		}
		return AnyOf(ofAll(e.Args, not, column))
	case pushdown.OpNot:
		return Of(e.Args[0], !not, column)
	case pushdown.OpIsNull:
		if not {
			return of(NotNull)
		}
		return of(PointAt(NullKey))
	case pushdown.OpCompare:
		return comparison(e, not, column)
	case pushdown.OpPrefix:
		in := Interval{e.Key, successor(e.Key)}
		if bytes.Equal(e.Key, NotNull.From) {
			in = NotNull
		}
		if not {
			return of(subtract([]Interval{NotNull}, []Interval{in})...)
		}
		return of(in)
	case pushdown.OpIn:
		if not && e.HasNull {
			return none
		}
		if len(e.Keys) > MaxIntervals {
			return Region{All: true}
		}
		points := make([]Interval, len(e.Keys))
		for i, k := range e.Keys {
			points[i] = PointAt(k)
		}
		if not {
			points = subtract([]Interval{NotNull}, points)
		}
		return of(points...)
	}
	return Region{All: true}
}

func ofAll(es []*pushdown.Expr, not bool, column func(int) int) []Region {
	rs := make([]Region, len(es))
	for i, e := range es {
		rs[i] = Of(e, not, column)
	}
	return rs
}

var negated = map[pushdown.Relation]pushdown.Relation{
	pushdown.Equal: pushdown.NotEqual, pushdown.NotEqual: pushdown.Equal,
	pushdown.Less: pushdown.GreaterEqual, pushdown.GreaterEqual: pushdown.Less,
	pushdown.Greater: pushdown.LessEqual, pushdown.LessEqual: pushdown.Greater,
}

func comparison(e *pushdown.Expr, not bool, column func(int) int) Region {
	rel := e.Relation
	if not {
		var ok bool
		if rel, ok = negated[rel]; !ok {
			return Region{All: true}
		}
	}
	var vs []Interval
	switch rel {
	case pushdown.Equal, pushdown.NullEqual:
		vs = []Interval{PointAt(e.Key)}
	case pushdown.NotEqual:
		vs = subtract([]Interval{NotNull}, []Interval{PointAt(e.Key)})
	case pushdown.Less:
		vs = []Interval{{NotNull.From, e.Key}}
	case pushdown.LessEqual:
		vs = []Interval{{NotNull.From, After(e.Key)}}
	case pushdown.Greater:
		vs = []Interval{{After(e.Key), lastTag}}
	case pushdown.GreaterEqual:
		vs = []Interval{{e.Key, lastTag}}
	default:
		return Region{All: true}
	}
	return Region{Boxes: []Box{{column(e.Column): vs}}, Exact: true}
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

func Intersect(a, b []Interval) (both []Interval) {
	for len(a) > 0 && len(b) > 0 {
		v := Interval{a[0].From, a[0].To}
		if bytes.Compare(b[0].From, v.From) > 0 {
			v.From = b[0].From
		}
		if bytes.Compare(b[0].To, v.To) < 0 {
			v.To = b[0].To
		}
		if !v.empty() {
			both = append(both, v)
		}
		if bytes.Compare(a[0].To, b[0].To) < 0 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// subtract is what of a is not in b.
func subtract(a, b []Interval) (left []Interval) {
	for _, v := range a {
		for _, w := range b {
			if bytes.Compare(w.To, v.From) <= 0 || v.empty() {
				continue
			}
			if bytes.Compare(w.From, v.To) >= 0 {
				break
			}
			if head := (Interval{v.From, w.From}); !head.empty() {
				left = append(left, head)
			}
			v.From = w.To
		}
		if !v.empty() {
			left = append(left, v)
		}
	}
	return left
}

// unite makes one ascending, disjoint list of intervals.
func unite(vs []Interval) []Interval {
	vs = slices.DeleteFunc(slices.Clone(vs), Interval.empty)
	slices.SortFunc(vs, func(a, b Interval) int { return bytes.Compare(a.From, b.From) })
	out := vs[:0]
	for _, v := range vs {
		n := len(out)
		overlap := 1
		if n > 0 {
			overlap = bytes.Compare(v.From, out[n-1].To)
		}
		if overlap < 0 || overlap == 0 && !(out[n-1].Point() || v.Point()) {
			if bytes.Compare(v.To, out[n-1].To) > 0 {
				out[n-1].To = v.To
			}
			continue
		}
		out = append(out, v)
	}
	return out
}

func (r Region) And(o Region) Region {
	exact := r.Exact && o.Exact
	switch {
	case r.All:
		o.Exact = exact
		return o
	case o.All:
		r.Exact = exact
		return r
	case len(r.Boxes)*len(o.Boxes) > maxBoxes:
		if len(r.Boxes) > len(o.Boxes) {
			r = o
		}
		r.Exact = false
		return r
	}
	out := Region{Exact: exact}
	for _, a := range r.Boxes {
		for _, b := range o.Boxes {
			if both := a.And(b); both != nil {
				out.Boxes = append(out.Boxes, both)
			}
		}
	}
	return out
}

// And is nil if nothing is in both.
func (b Box) And(o Box) Box {
	both := maps.Clone(b)
	for col, vs := range o {
		if mine, ok := both[col]; ok {
			vs = Intersect(mine, vs)
		}
		if len(vs) == 0 {
			return nil
		}
		both[col] = vs
	}
	return both
}

// Within is where all of the regions are: by halves, since each step goes through all intervals so far.
func Within(rs []Region) Region {
	switch n := len(rs); n {
	case 0:
		return Everything
	case 1:
		return rs[0]
	case 2:
		return rs[0].And(rs[1])
	default:
		return Within(rs[:n/2]).And(Within(rs[n/2:]))
	}
}

// AnyOf is where any of the regions is.
func AnyOf(rs []Region) Region {
	out := Region{Exact: true}
	for _, r := range rs {
		if r.All && r.Exact {
			return Everything
		}
		out.All, out.Exact = out.All || r.All, out.Exact && r.Exact
	}
	if out.All {
		return Region{All: true}
	}
	// Boxes that restrict one column, the same, are one.
	at := map[int]int{}
	var vs [][]Interval
	for _, r := range rs {
		for _, b := range r.Boxes {
			col, ok := b.only()
			if !ok {
				out.Boxes = append(out.Boxes, b)
				vs = append(vs, nil)
				continue
			}
			i, ok := at[col]
			if !ok {
				i = len(out.Boxes)
				at[col] = i
				out.Boxes = append(out.Boxes, b)
				vs = append(vs, nil)
			}
			vs[i] = append(vs[i], b[col]...)
		}
	}
	for col, i := range at {
		if all := unite(vs[i]); len(all) > 0 {
			out.Boxes[i] = Box{col: all}
		}
	}
	if len(out.Boxes) > maxBoxes {
		return out.coarse()
	}
	return out
}

// coarse is one box around all boxes: a = 1 AND b = 1 OR a = 2 AND b = 4 OR … is within a in [1],
// [2] … and b in [1], [4] …, which programs write
// by the thousand for want of (a, b) IN (…).
func (r Region) coarse() Region {
	around := maps.Clone(r.Boxes[0])
	for col := range around {
		var vs []Interval
		for _, b := range r.Boxes {
			if b[col] == nil { // not restricted there
				vs = nil
				break
			}
			vs = append(vs, b[col]...)
		}
		if vs = unite(vs); len(vs) == 0 || len(vs) > MaxIntervals {
			delete(around, col)
			continue
		}
		around[col] = vs
	}
	if len(around) == 0 {
		return Region{All: true}
	}
	return Region{Boxes: []Box{around}}
}

// only is the one column that the box restricts.
func (b Box) only() (col int, ok bool) {
	if len(b) != 1 {
		return 0, false
	}
	for col = range b {
	}
	return col, true
}

// Reduce takes from boxes what another box has anyway: a >= 3 AND (a > 3 OR b > 5) is a > 3 or a =
// 3 AND b > 5.
func (r Region) Reduce() Region {
	for i, b := range r.Boxes {
		col, ok := b.only()
		if !ok {
			continue
		}
		for j, o := range r.Boxes {
			if vs, ok := o[col]; ok && i != j && len(o) > 0 {
				o = maps.Clone(o)
				if o[col] = subtract(vs, b[col]); len(o[col]) == 0 {
					o = nil
				}
				r.Boxes = slices.Clone(r.Boxes)
				r.Boxes[j] = o
			}
		}
	}
	r.Boxes = slices.DeleteFunc(slices.Clone(r.Boxes), func(b Box) bool { return len(b) == 0 })
	return r
}

// Concat is a key behind another.
func Concat(a, b []byte) []byte { return append(slices.Clip(a), b...) }

// JoinSpans sorts spans and makes one of those that overlap.
func JoinSpans(spans []rowenc.Span) []rowenc.Span {
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

// Meet is what two ascending lists of disjoint spans have in common.
func Meet(a, b []rowenc.Span) (both []rowenc.Span) {
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
			if !SameSpan(&s, &a[0]) && !SameSpan(&s, &b[0]) {
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

// SameSpan reports whether two spans are one.
func SameSpan(a, b *rowenc.Span) bool {
	return bytes.Equal(a.Start, b.Start) && bytes.Equal(a.End, b.End)
}

// pointShare is what a value is taken to have of an index's entries.
const pointShare = 0.01

// Share is a guess of the part of an index's values that the intervals hold.
func Share(vs []Interval) float64 {
	sum := 0.0
	for _, v := range vs {
		low := bytes.Equal(v.From, NotNull.From) || bytes.Equal(v.From, NullKey)
		switch high := bytes.Equal(v.To, lastTag); {
		case v.Point():
			sum += pointShare
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
