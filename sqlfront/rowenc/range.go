package rowenc

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// Span is a key range [Start, End) that an index range stands for.
type Span struct {
	Start, End []byte
	// Equal is the number of leading parts that are fixed to one value which is not NULL. A unique index
	// whose columns are all fixed has at most one entry in the span.
	Equal int
	// Exact means that every key in the span is in the range. If it is false the span holds all keys of the
	// range and perhaps others, which have to be filtered: a prefix part, or a condition on a column behind
	// one that is not fixed.
	Exact bool
}

// String is for error messages and tests.
func (s Span) String() string {
	return fmt.Sprintf("[%x, %x) equal %d exact %v", s.Start, s.End, s.Equal, s.Exact)
}

// Spans returns the key spans of an index lookup, each behind the given prefix, in ascending order and
// disjoint (ranges that are disjoint as values can overlap as keys when a part is a prefix; a row must not be
// read twice). The engine reverses the list of ranges for a reverse lookup; walk the result backwards then.
// Values are copied: the engine may change the ranges afterwards.
func (c *KeyCodec) Spans(ctx context.Context, prefix []byte,
	ranges sql.MySQLRangeCollection) ([]Span, error) {
	spans := make([]Span, 0, len(ranges))
	for _, r := range ranges {
		s, err := c.Span(ctx, prefix, r)
		if err != nil {
			return nil, err
		}
		if bytes.Compare(s.Start, s.End) < 0 {
			spans = append(spans, s)
		}
	}
	if len(spans) < 2 {
		return spans, nil
	}
	slices.SortFunc(spans, func(a, b Span) int { return bytes.Compare(a.Start, b.Start) })
	merged := spans[:1]
	for _, s := range spans[1:] {
		last := &merged[len(merged)-1]
		if bytes.Compare(s.Start, last.End) >= 0 {
			merged = append(merged, s)
			continue
		}
		if bytes.Compare(s.End, last.End) > 0 {
			last.End = s.End
		}
		// what both cover may match one range's conditions and not the other's
		last.Exact = last.Exact && s.Exact
		last.Equal = min(last.Equal, s.Equal)
		if !bytes.Equal(last.Start, s.Start) || !bytes.Equal(last.End, s.End) {
			last.Equal = 0
		}
	}
	return merged, nil
}

// Span returns the key span of one range; it is empty (Start >= End) if no key can be in the range. The range
// may have fewer columns than the key.
func (c *KeyCodec) Span(ctx context.Context, prefix []byte, r sql.MySQLRange) (Span, error) {
	if len(r) > len(c.parts) {
		return Span{}, fmt.Errorf("%w: a range over %d columns for a key of %d", ErrValue, len(r),
			len(c.parts))
	}
	s := Span{Exact: true}
	fixed := slices.Clone(prefix)
	for i := range r {
		p := &c.parts[i]
		lo, err := p.cut(ctx, fixed, r[i].LowerBound, true)
		if err != nil {
			return Span{}, err
		}
		hi, err := p.cut(ctx, fixed, r[i].UpperBound, false)
		if err != nil {
			return Span{}, err
		}
		if lo.at && hi.at && bytes.Equal(lo.key, hi.key) {
			// one value: go on with the next column behind it
			if s.Equal == i && lo.key[len(fixed)] != tagNull && lo.exact && hi.exact {
				s.Equal++
			}
			s.Exact = s.Exact && lo.exact && hi.exact
			fixed = lo.key
			continue
		}
		s.Exact = s.Exact && lo.exact && hi.exact && unrestricted(r[i+1:])
		if s.Start, err = c.tighten(ctx, lo, r, i, true); err != nil {
			return Span{}, err
		}
		s.End, err = c.tighten(ctx, hi, r, i, false)
		return s, err
	}
	s.Start, s.End = fixed, append(slices.Clip(fixed), tagAfter)
	return s, nil
}

// Point is the span of the keys whose first n columns have one value each, none of them NULL, of which key is
// the encoding; false if there may be other values in it.
func (c *KeyCodec) Point(prefix, key []byte, n int) (Span, bool) {
	for i := range c.parts[:n] {
		if p := &c.parts[i]; p.prefix > 0 || p.loose || !p.zone.Fixed() {
			return Span{}, false
		}
	}
	both := make([]byte, len(prefix)+len(key)+1)
	copy(both[copy(both, prefix):], key)
	both[len(both)-1] = tagAfter
	return Span{Start: both[: len(both)-1 : len(both)-1], End: both, Equal: n, Exact: true}, true
}

// cutKey is where a range cut falls among the keys.
type cutKey struct {
	key []byte
	// at: the cut is a bound on a value whose keys begin with key: the keys themselves are inside the range.
	// Otherwise key is the position itself.
	at bool
	// exact: no key on the inner side of the cut can belong to a value that is outside.
	exact bool
}

// cut places one bound of one column behind fixed. For a lower bound the keys from the result on are in, for
// an upper bound the keys below it.
func (p *part) cut(ctx context.Context, fixed []byte, cut sql.MySQLRangeCut, lower bool) (cutKey, error) {
	here := slices.Clone(fixed)
	var value any
	var above bool
	switch b := cut.(type) {
	case sql.BelowNull:
		// as a lower bound of IS NULL it is "at" the value NULL; one that is not closed by AboveNull is not a
		// point, and a scan from the key of NULL on is the same as one from here
		if lower {
			return cutKey{key: append(here, tagNull), at: true, exact: true}, nil
		}
		return cutKey{key: here, exact: true}, nil
	case sql.AboveNull:
		if lower {
			return cutKey{key: append(here, tagValue), exact: true}, nil
		}
		return cutKey{key: append(here, tagNull), at: true, exact: true}, nil
	case sql.AboveAll:
		return cutKey{key: append(here, tagAfter), exact: true}, nil
	case sql.Below:
		value = b.Key
	case sql.Above:
		value, above = b.Key, true
	default:
		return cutKey{}, fmt.Errorf("rowenc: range cut %T is not known", cut)
	}
	if value == nil { // a comparison with NULL is never true
		if lower {
			return cutKey{key: append(here, tagAfter), exact: true}, nil
		}
		return cutKey{key: here, exact: true}, nil
	}
	if p.loose {
		return p.looseCut(ctx, here, value, lower)
	}
	if !p.zone.Fixed() {
		c, ok, err := p.zoneCut(ctx, here, value, lower, above)
		if ok || err != nil {
			return c, err
		}
	}
	key, pos, err := p.append(ctx, here, value)
	if err != nil {
		return cutKey{}, err
	}
	switch pos {
	case posBelowAll:
		return cutKey{key: append(here, tagValue), exact: true}, nil
	case posAboveAll:
		return cutKey{key: append(here, tagAfter), exact: true}, nil
	case posBetween:
		return cutKey{key: append(key, tagAfter), exact: true}, nil
	}
	// The keys of a part that is cut to a prefix stand for many values: the bound lies somewhere among them,
	// so they are in, and the rows have to be looked at. Where spaces pad, what follows a prefix may be less
	// than it, so that holds for every value.
	if pos == posPrefix || p.padSpace && p.prefix > 0 {
		return cutKey{key: key, at: true}, nil
	}
	inside := lower != above // >= and <= : the value itself is in
	if p.prefix > 0 && above && p.full(value) {
		// longer values share the key of a value that fills the prefix: they are above it
		return cutKey{key: key, at: true}, nil
	}
	if inside {
		return cutKey{key: key, at: true, exact: true}, nil
	}
	if lower {
		key = append(key, tagAfter)
	}
	return cutKey{key: key, exact: true}, nil
}

// zoneCut is cut for a time of day that is two instants, or none; ok is false for all others, and for
// what is outside of the type. Between the two instants there are times before and behind it, so that
// rows have to be looked at.
func (p *part) zoneCut(ctx context.Context, here []byte, value any, lower, above bool) (c cutKey, ok bool,
	err error) {
	t, ok := value.(time.Time)
	if !ok {
		v, in, err := canonical(ctx, p.typ, value)
		if err != nil || in != sql.InRange {
			return cutKey{}, false, err
		}
		if t, ok = v.(time.Time); !ok {
			return cutKey{}, false, nil
		}
	}
	clock := t.UnixMicro()
	if clock == zeroInstant {
		return cutKey{}, false, nil
	}
	first, last, exists := p.zone.instants(clock)
	switch {
	case !exists:
		return cutKey{key: appendInt(here, first), exact: true}, true, nil
	case first == last:
		return cutKey{}, false, nil
	case lower:
		return cutKey{key: appendInt(here, first), at: true}, true, nil
	}
	return cutKey{key: appendInt(here, last), at: true}, true, nil
}

// full reports whether a value fills the part's prefix to the last character.
func (p *part) full(value any) bool {
	switch v := value.(type) {
	case string:
		return p.kind != kindText || len(firstRunes(v, p.prefix-1)) < len(v)
	case []byte:
		return len(v) >= p.prefix
	}
	return true
}

// tighten turns the bound on column i into the end of a span. While a bound is "at" a value, the bound
// on the next column narrows the span further: (a, b) >= (1, 5) begins at the key (1, 5), because with a
// = 1 only b >= 5 is in.
func (c *KeyCodec) tighten(ctx context.Context, b cutKey, r sql.MySQLRange, i int,
	lower bool) ([]byte, error) {
	for i++; b.at && i < len(r); i++ {
		cut := r[i].UpperBound
		if lower {
			cut = r[i].LowerBound
		}
		next, err := c.parts[i].cut(ctx, b.key, cut, lower)
		if err != nil {
			return nil, err
		}
		b = next
	}
	if b.at && !lower {
		return append(b.key, tagAfter), nil
	}
	return b.key, nil
}

// unrestricted reports whether the columns may have any value, NULL included.
func unrestricted(r sql.MySQLRange) bool {
	for i := range r {
		_, low := r[i].LowerBound.(sql.BelowNull)
		_, high := r[i].UpperBound.(sql.AboveAll)
		if !low || !high {
			return false
		}
	}
	return true
}
