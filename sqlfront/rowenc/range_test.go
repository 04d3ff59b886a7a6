package rowenc

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"pgregory.net/rapid"
)

// rangeCase is an index over small domains, so that bounds and values meet often.
type rangeCase struct {
	name   string
	parts  []KeyPart
	domain []func(t *rapid.T, label string) any
}

func rangeCases() []rangeCase {
	ints := func(t *rapid.T, l string) any { return rapid.Int32Range(-3, 130).Draw(t, l) }
	strs := func(t *rapid.T, l string) any {
		return rapid.StringOfN(rapid.SampledFrom([]rune("aAb\x00é ")), 0, 4, -1).Draw(t, l)
	}
	blobs := func(t *rapid.T, l string) any {
		return rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xFF}), 0, 4).Draw(t, l)
	}
	decs := func(t *rapid.T, l string) any {
		d := dec("0")
		d.Coeff.SetInt64(int64(rapid.IntRange(0, 30).Draw(t, l)))
		d.Exponent, d.Negative = -1, rapid.Bool().Draw(t, l+" negative")
		return d
	}
	ci := collated("varchar", 20, sql.Collation_utf8mb4_0900_ai_ci)
	bin := collated("varchar", 20, sql.Collation_utf8mb4_0900_bin)
	spaces := func(t *rapid.T, l string) any {
		return rapid.StringOfN(rapid.SampledFrom([]rune("aA! \t\u00a0")), 0, 4, -1).Draw(t, l)
	}
	general := collated("varchar", 20, sql.Collation_utf8mb4_general_ci)
	points := collated("varchar", 20, sql.Collation_utf8mb4_bin)
	return []rangeCase{
		{"int", []KeyPart{{Type: types.Int32}}, []func(*rapid.T, string) any{ints}},
		{"int,int,int", []KeyPart{{Type: types.Int32}, {Type: types.Int32}, {Type: types.Int32}},
			[]func(*rapid.T, string) any{ints, ints, ints}},
		{"varchar ci,int", []KeyPart{{Type: ci}, {Type: types.Int32}},
			[]func(*rapid.T, string) any{strs, ints}},
		{"varchar bin(2),int", []KeyPart{{Type: bin, PrefixLength: 2}, {Type: types.Int32}},
			[]func(*rapid.T, string) any{strs, ints}},
		{"varchar ci(1),int", []KeyPart{{Type: ci, PrefixLength: 1}, {Type: types.Int32}},
			[]func(*rapid.T, string) any{strs, ints}},
		{"int,varchar ci(2),blob(2)", []KeyPart{{Type: types.Int32}, {Type: ci, PrefixLength: 2},
			{Type: types.Blob, PrefixLength: 2}}, []func(*rapid.T, string) any{ints, strs, blobs}},
		{"padded general,int", []KeyPart{{Type: general, PadSpace: true}, {Type: types.Int32}},
			[]func(*rapid.T, string) any{spaces, ints}},
		{"padded bin,padded bin", []KeyPart{{Type: points, PadSpace: true}, {Type: points, PadSpace: true}},
			[]func(*rapid.T, string) any{spaces, spaces}},
		{"padded general(2),int", []KeyPart{{Type: general, PadSpace: true, PrefixLength: 2},
			{Type: types.Int32}}, []func(*rapid.T, string) any{spaces, ints}},
		{"padded unicode,int", []KeyPart{{Type: collated("varchar", 20, sql.Collation_utf8mb4_unicode_ci),
			PadSpace: true}, {Type: types.Int32}}, []func(*rapid.T, string) any{spaces, ints}},
		// as indexes were before there was padding
		{"loose general,int", []KeyPart{{Type: general}, {Type: types.Int32}},
			[]func(*rapid.T, string) any{spaces, ints}},
		{"int,loose bin", []KeyPart{{Type: types.Int32}, {Type: points}},
			[]func(*rapid.T, string) any{ints, spaces}},
		{"loose general(2),int", []KeyPart{{Type: general, PrefixLength: 2}, {Type: types.Int32}},
			[]func(*rapid.T, string) any{spaces, ints}},
		{"loose unicode,int", []KeyPart{{Type: collated("varchar", 20, sql.Collation_utf8mb4_unicode_ci)},
			{Type: types.Int32}}, []func(*rapid.T, string) any{spaces, ints}},
		{"decimal,blob", []KeyPart{{Type: types.MustCreateColumnDecimalType(6, 1)}, {Type: types.Blob}},
			[]func(*rapid.T, string) any{decs, blobs}},
	}
}

func (rc rangeCase) row(t *rapid.T, label string) sql.Row {
	row := make(sql.Row, len(rc.parts))
	for i := range row {
		if rapid.IntRange(0, 5).Draw(t, label+" null") > 0 {
			row[i] = rc.domain[i](t, fmt.Sprint(label, i))
		}
	}
	return row
}

func (rc rangeCase) cut(t *rapid.T, i int, label string, lower bool) sql.MySQLRangeCut {
	switch rapid.IntRange(0, 7).Draw(t, label) {
	case 0:
		return sql.BelowNull{}
	case 1:
		return sql.AboveNull{}
	case 2:
		if lower {
			return sql.BelowNull{}
		}
		return sql.AboveAll{}
	case 3, 4:
		return sql.Above{Key: rc.domain[i](t, label+" key"), Typ: rc.parts[i].Type}
	default:
		return sql.Below{Key: rc.domain[i](t, label+" key"), Typ: rc.parts[i].Type}
	}
}

func (rc rangeCase) mysqlRange(t *rapid.T) sql.MySQLRange {
	r := make(sql.MySQLRange, rapid.IntRange(1, len(rc.parts)).Draw(t, "columns"))
	for i := range r {
		typ := rc.parts[i].Type
		switch rapid.IntRange(0, 4).Draw(t, "shape") {
		case 0:
			v := rc.domain[i](t, "point")
			r[i] = sql.ClosedRangeColumnExpr(v, v, typ)
		case 1:
			r[i] = sql.NullRangeColumnExpr(typ)
		case 2:
			r[i] = sql.AllRangeColumnExpr(typ)
		default:
			r[i] = sql.MySQLRangeColumnExpr{LowerBound: rc.cut(t, i, "lower", true),
				UpperBound: rc.cut(t, i, "upper", false), Typ: typ}
		}
	}
	return r
}

// inRange is the definition: each column lies between its cuts.
func inRange(t *rapid.T, row sql.Row, r sql.MySQLRange) bool {
	for i := range r {
		if side(t, row[i], r[i].LowerBound, r[i].Typ) < 0 || side(t, row[i], r[i].UpperBound, r[i].Typ) > 0 {
			return false
		}
	}
	return true
}

// side is -1 if the value lies before the cut, else 1.
func side(t *rapid.T, v any, cut sql.MySQLRangeCut, typ sql.Type) int {
	before := func(b bool) int {
		if b {
			return -1
		}
		return 1
	}
	switch c := cut.(type) {
	case sql.BelowNull:
		return 1
	case sql.AboveNull:
		return before(v == nil)
	case sql.AboveAll:
		return -1
	case sql.Below:
		return before(compareValues(t, typ, v, c.Key) < 0)
	case sql.Above:
		return before(compareValues(t, typ, v, c.Key) <= 0)
	}
	t.Fatalf("cut %T", cut)
	return 0
}

// compareValues is the order of a column: with padding, if its collation has it.
func compareValues(t *rapid.T, typ sql.Type, a, b any) int {
	if s, ok := typ.(sql.StringType); ok && a != nil && b != nil && types.IsTextOnly(typ) &&
		Pads(s.Collation()) {
		return padded(s.Collation(), a.(string), b.(string))
	}
	return compareNullsFirst(t, typ, a, b)
}

// Every row of a range has its key in exactly one span; if the span is exact, it holds nothing else.
func TestSpans(t *testing.T) {
	for _, rc := range rangeCases() {
		t.Run(rc.name, func(t *testing.T) {
			c := mustKey(t, rc.parts...)
			ordinals := make([]int, len(rc.parts))
			for i := range ordinals {
				ordinals[i] = i
			}
			prefix := []byte{0x10, 0, 0, 0, 1, 0, 0, 0, 2}
			rapid.Check(t, func(t *rapid.T) {
				var ranges sql.MySQLRangeCollection
				for range rapid.IntRange(1, 3).Draw(t, "ranges") {
					ranges = append(ranges, rc.mysqlRange(t))
				}
				spans, err := c.Spans(ctx, prefix, ranges)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range spans {
					if bytes.Compare(s.Start, s.End) >= 0 ||
						i > 0 && bytes.Compare(spans[i-1].End, s.Start) > 0 {
						t.Fatalf("spans are empty, overlap or are out of order: %v", spans)
					}
					if !bytes.HasPrefix(s.Start, prefix) || !bytes.HasPrefix(s.End, prefix) {
						t.Fatalf("span [%x, %x) leaves its index", s.Start, s.End)
					}
				}
				for range 20 {
					row := rc.row(t, "row")
					key, err := c.EncodeRow(ctx, bytes.Clone(prefix), row, ordinals)
					if err != nil {
						t.Fatal(err)
					}
					// the primary key follows; like every part it does not begin with FF
					if rapid.Bool().Draw(t, "secondary") {
						key = append(key, rapid.ByteRange(0, tagAfter-1).Draw(t, "pk"),
							rapid.Byte().Draw(t, "pk"))
					}
					want := false
					for _, r := range ranges {
						want = want || inRange(t, row, r)
					}
					found, exact := 0, true
					for _, s := range spans {
						if bytes.Compare(key, s.Start) >= 0 && bytes.Compare(key, s.End) < 0 {
							found, exact = found+1, s.Exact
						}
					}
					switch {
					case want && found != 1:
						t.Fatalf("row %v, key %x, is in %d of the spans %v of %v", row, key, found,
							spans, ranges)
					case !want && found > 0 && exact:
						t.Fatalf("row %v, key %x, is not in %v but in an exact span of %v", row, key,
							ranges, spans)
					}
				}
			})
		})
	}
}

func TestSpanShapes(t *testing.T) {
	i32 := types.Int32
	str := collated("varchar", 20, sql.Collation_utf8mb4_0900_bin)
	pad := collated("varchar", 20, sql.Collation_utf8mb4_bin)
	two := mustKey(t, KeyPart{Type: i32}, KeyPart{Type: i32})
	closed := func(v any) sql.MySQLRangeColumnExpr { return sql.ClosedRangeColumnExpr(v, v, i32) }
	for _, tt := range []struct {
		name       string
		c          *KeyCodec
		r          sql.MySQLRange
		start, end string
		equal      int
		exact      bool
	}{
		{"a = 1 and b = 2", two, sql.MySQLRange{closed(int32(1)), closed(int32(2))}, "4142",
			"4142ff", 2, true},
		{"a = 1", two, sql.MySQLRange{closed(int32(1))}, "41", "41ff", 1, true},
		{"a is null and b = 2", two, sql.MySQLRange{sql.NullRangeColumnExpr(i32), closed(int32(2))}, "0042",
			"0042ff", 0, true},
		{"a is not null", two, sql.MySQLRange{sql.NotNullRangeColumnExpr(i32)}, "01", "ff", 0, true},
		{"a > 1", two, sql.MySQLRange{sql.GreaterThanRangeColumnExpr(int32(1), i32)}, "41ff", "ff", 0, true},
		{"a < 1", two, sql.MySQLRange{sql.LessThanRangeColumnExpr(int32(1), i32)}, "01", "41", 0, true},
		{"a = 1 and b <= 2", two, sql.MySQLRange{closed(int32(1)),
			sql.LessOrEqualRangeColumnExpr(int32(2), i32)}, "4101", "4142ff", 1, true},
		{"a >= 1 and b >= 2", two, sql.MySQLRange{sql.GreaterOrEqualRangeColumnExpr(int32(1), i32),
			sql.GreaterOrEqualRangeColumnExpr(int32(2), i32)}, "4142", "ff", 0, false},
		{"all", two, sql.MySQLRange{sql.AllRangeColumnExpr(i32), sql.AllRangeColumnExpr(i32)}, "0000",
			"ff", 0, true},
		{"tinyint = 300", mustKey(t, KeyPart{Type: types.Int8}),
			sql.MySQLRange{sql.ClosedRangeColumnExpr(300, 300, types.Int8)}, "c1012c", "c1012cff", 1, true},
		{"decimal(4,1) > 1.05", mustKey(t, KeyPart{Type: types.MustCreateColumnDecimalType(4, 1)}),
			sql.MySQLRange{sql.GreaterThanRangeColumnExpr(dec("1.05"),
				types.MustCreateColumnDecimalType(4, 1))}, "4aff", "ff", 0, true},
		{"c(2) = 'abc'", mustKey(t, KeyPart{Type: str, PrefixLength: 2}),
			sql.MySQLRange{sql.ClosedRangeColumnExpr("abc", "abc", str)}, "0161620001", "0161620001ff",
			0, false},
		{"c(2) = 'a'", mustKey(t, KeyPart{Type: str, PrefixLength: 2}),
			sql.MySQLRange{sql.ClosedRangeColumnExpr("a", "a", str)}, "01610001", "01610001ff", 1, true},
		{"c pads, = 'a '", mustKey(t, KeyPart{Type: pad, PadSpace: true}),
			sql.MySQLRange{sql.ClosedRangeColumnExpr("a ", "a ", pad)}, "01612002", "01612002ff", 1, true},
		{"c pads, keys do not, = 'a '", mustKey(t, KeyPart{Type: pad}),
			sql.MySQLRange{sql.ClosedRangeColumnExpr("a ", "a ", pad)}, "0161", "0161ff", 0, false},
	} {
		s, err := tt.c.Span(ctx, nil, tt.r)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := fmt.Sprintf("%x %x %d %v", s.Start, s.End, s.Equal,
			s.Exact); got != fmt.Sprintf("%s %s %d %v", tt.start, tt.end, tt.equal, tt.exact) {
			t.Errorf("%s: got %s, want %s %s %d %v", tt.name, got, tt.start, tt.end, tt.equal, tt.exact)
		}
	}
	if spans, err := two.Spans(ctx, nil,
		sql.MySQLRangeCollection{{sql.EmptyRangeColumnExpr(i32)}}); err != nil || len(spans) != 0 {
		t.Errorf("empty range: %v, %v", spans, err)
	}
	if _, err := two.Span(ctx, nil, make(sql.MySQLRange, 3)); err == nil {
		t.Error("a range with more columns than the key was accepted")
	}
}

// The engine changes the ranges of a lookup join in place; spans must not share memory with anything.
func TestSpansAreCopies(t *testing.T) {
	c := mustKey(t, KeyPart{Type: types.Blob})
	prefix, value := []byte{1, 2}, []byte("abc")
	spans, err := c.Spans(ctx, prefix,
		sql.MySQLRangeCollection{{sql.ClosedRangeColumnExpr(value, value, types.Blob)}})
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(spans)
	prefix[0], value[0] = 9, 9
	spans[0].End = append(spans[0].End[:len(spans[0].End)-1], 0x77)
	if bytes.HasPrefix(spans[0].Start, []byte{9}) || spans[0].Start[3] == 9 {
		t.Errorf("spans changed with their input: %s became %v", before, spans)
	}
	if bytes.Contains(spans[0].Start, []byte{0x77}) {
		t.Errorf("End and Start share memory: %v", spans)
	}
}
