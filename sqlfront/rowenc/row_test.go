package rowenc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"pgregory.net/rapid"
)

func mustRow(t testing.TB, columns ...Column) *RowCodec {
	t.Helper()
	c, err := NewRowCodec(columns)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Rows of all types, in any order of columns, with holes in the ids: all of it comes back, or the projected
// part.
func TestRowRoundTrip(t *testing.T) {
	all := testTypes()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "columns")
		columns, row := make([]Column, n), make(sql.Row, n)
		ids := rapid.Permutation([]uint32{1, 2, 3, 4, 5, 6, 7, 8, 200, 30000, 1 << 30,
			math.MaxUint32}).Draw(t, "ids")
		for i := range columns {
			tt := rapid.SampledFrom(all).Draw(t, "type")
			columns[i] = Column{ID: ids[i], Type: tt.typ}
			if rapid.IntRange(0, 4).Draw(t, "null") > 0 {
				row[i] = tt.value.Draw(t, tt.name)
			}
		}
		c, err := NewRowCodec(columns)
		if err != nil {
			t.Fatal(err)
		}
		data, err := c.Encode(ctx, []byte("keep"), row)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte("keep")) {
			t.Fatalf("Encode did not append: %x", data)
		}
		data = data[len("keep"):]
		got, err := c.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != n || cap(got) != n {
			t.Fatalf("row of length %d and capacity %d for %d columns", len(got), cap(got), n)
		}
		for i := range row {
			if !same(row[i], got[i]) {
				t.Fatalf("column %d, %s: %T %v came back as %T %v", i, columns[i].Type, row[i], row[i],
					got[i], got[i])
			}
		}
		projection := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, n).Draw(t, "projection")
		some, err := c.Project(projection).Decode(data)
		if err != nil || len(some) != len(projection) || cap(some) != len(projection) {
			t.Fatalf("projection %v: %v, %v", projection, some, err)
		}
		for i, o := range projection {
			if !same(row[o], some[i]) {
				t.Fatalf("projection %v: column %d is %v, not %v", projection, o, some[i], row[o])
			}
		}
	})
}

// ADD COLUMN, DROP COLUMN and reordering leave stored rows alone.
func TestRowSchemaChange(t *testing.T) {
	before := mustRow(t, Column{ID: 1, Type: types.Int32}, Column{ID: 2, Type: types.LongText},
		Column{ID: 3, Type: types.Int32})
	data, err := before.Encode(ctx, nil, sql.Row{int32(1), "two", nil})
	if err != nil {
		t.Fatal(err)
	}
	after := mustRow(t,
		Column{ID: 5, Type: types.LongText, Default: "five"}, // added FIRST with a default
		Column{ID: 3, Type: types.Int32, Default: int32(33)}, // stored as NULL: the default does not apply
		Column{ID: 1, Type: types.Int64},                     // widened and moved; 2 was dropped
		Column{ID: 4, Type: types.Int32})                     // added without a default
	got, err := after.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if want := (sql.Row{"five", nil, int64(1), nil}); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
		t.Errorf("got %#v, want %#v", got, want)
	}
	if none, err := after.Project([]int{}).Decode(data); err != nil || none == nil || len(none) != 0 {
		t.Errorf("empty projection: %#v, %v", none, err)
	}
}

// SQL has neither -0 nor 0E+2, which arithmetic leaves behind.
func TestRowZeroes(t *testing.T) {
	typ := types.MustCreateColumnDecimalType(10, 2)
	for _, zero := range []*apd.Decimal{{Negative: true, Exponent: -2}, {Exponent: 2}} {
		one, err := AppendValue(ctx, nil, typ, zero)
		if err != nil {
			t.Fatal(err)
		}
		v, err := DecodeValue(typ, one)
		if d, ok := v.(*apd.Decimal); err != nil || !ok || d.Negative || d.Exponent > 0 || d.Sign() != 0 {
			t.Errorf("%#v came back as %v, %v", zero, v, err)
		}
	}
}

func TestRowExactValues(t *testing.T) {
	for _, tt := range []struct {
		typ sql.Type
		v   any
	}{
		{types.Float64, math.Copysign(0, -1)},
		{types.Float64, math.NaN()},
		{types.Float32, float32(math.Inf(-1))},
		{types.Int64, int64(math.MinInt64)},
		{types.Uint64, uint64(math.MaxUint64)},
		{types.MustCreateBitType(64), uint64(math.MaxUint64)},
		{types.MustCreateColumnDecimalType(65, 30),
			dec("-99999999999999999999999999999999999.999999999999999999999999999999")},
		{types.MustCreateColumnDecimalType(10, 2), dec("1.5")}, // another scale than the column's: kept
		{types.MustCreateColumnDecimalType(20, 0), dec("9223372036854775808")},
		{types.MustCreateDatetimeType(sqltypes.Datetime, 6),
			time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)},
		{types.MustCreateDatetimeType(sqltypes.Datetime, 0), types.ZeroTime},
		{types.Date, types.ZeroTime},
		{types.Time, types.Timespan(-3020399000000)},
		{types.LongText, ""},
		{types.LongBlob, []byte{}},
		{types.LongText, "\x00\xff\xfe"},
	} {
		c := mustRow(t, Column{ID: 1, Type: tt.typ})
		data, err := c.Encode(ctx, nil, sql.Row{tt.v})
		if err != nil {
			t.Errorf("%s %v: %v", tt.typ, tt.v, err)
			continue
		}
		got, err := c.Decode(data)
		if err != nil || !same(tt.v, got[0]) {
			t.Errorf("%s: %T %v came back as %T %v, %v", tt.typ, tt.v, tt.v, got, got, err)
		}
		one, err := AppendValue(ctx, nil, tt.typ, tt.v)
		if err != nil {
			t.Errorf("AppendValue %s %v: %v", tt.typ, tt.v, err)
			continue
		}
		if v, err := DecodeValue(tt.typ, one); err != nil || !same(tt.v, v) {
			t.Errorf("AppendValue %s: %v came back as %v, %v", tt.typ, tt.v, v, err)
		}
	}
}

func TestRowJSON(t *testing.T) {
	c := mustRow(t, Column{ID: 1, Type: types.JSON})
	for _, tt := range []struct {
		in   any
		text string
	}{
		{`{"b": [1, 2.5, null], "a": "<&>"}`, `{"a": "<&>", "b": [1, 2.5, null]}`},
		{types.JSONDocument{Val: map[string]any{"n": int64(9007199254740993), "u": uint64(math.MaxUint64)}},
			`{"n": 9007199254740993, "u": 18446744073709551615}`},
		// the stored text is 12.50; the engine's document makes it a float64
		{types.JSONDocument{Val: dec("12.50")}, `12.5`},
		{types.NewLazyJSONDocument([]byte(`{"kept":"as it is"}`)), `{"kept": "as it is"}`},
		{types.JSONDocument{Val: nil}, `null`},
		{types.JSONDocument{Val: "1234567890123456789"}, `"1234567890123456789"`},
		{types.JSONDocument{Val: 1e300}, ""},
	} {
		data, err := c.Encode(ctx, nil, sql.Row{tt.in})
		if err != nil {
			t.Errorf("%v: %v", tt.in, err)
			continue
		}
		row, err := c.Decode(data)
		if err != nil {
			t.Errorf("%v: %v", tt.in, err)
			continue
		}
		doc := row[0].(sql.JSONWrapper)
		if got, err := types.JsonToMySqlString(ctx, doc); err != nil || tt.text != "" && got != tt.text {
			t.Errorf("%v came back as %s, %v", tt.in, got, err)
		}
		// again: what was read is what is written
		twice, err := c.Encode(ctx, nil, row)
		if err != nil || !bytes.Equal(data, twice) {
			t.Errorf("%v: %x, written again %x, %v", tt.in, data, twice, err)
		}
	}
	if _, err := c.Encode(ctx, nil, sql.Row{"{"}); err == nil {
		t.Error("broken JSON was stored")
	}
}

func TestRowConversion(t *testing.T) {
	c := mustRow(t,
		Column{ID: 1, Type: types.Int32}, Column{ID: 2, Type: types.LongText},
		Column{ID: 3, Type: types.LongBlob},
		Column{ID: 4, Type: types.Date},
		Column{ID: 5, Type: types.MustCreateEnumType([]string{"x", "y"}, sql.Collation_Default)})
	data, err := c.Encode(ctx, nil,
		sql.Row{int64(7), wrapped[string]{"ab"}, wrapped[[]byte]{[]byte("cd")}, "2024-02-29", "y"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	want := sql.Row{int32(7), "ab", []byte("cd"), time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), uint16(2)}
	for i := range want {
		if !same(want[i], got[i]) {
			t.Errorf("column %d: %T %v, want %v", i, got[i], got[i], want[i])
		}
	}
	for _, bad := range []sql.Row{{int64(1) << 40, "", nil, nil, nil}, {int32(1)},
		{int32(1), "", nil, "no date", nil}} {
		if _, err := c.Encode(ctx, nil, bad); err == nil {
			t.Errorf("row %v was stored", bad)
		}
	}
}

func TestRowRefusals(t *testing.T) {
	if _, err := NewRowCodec([]Column{{ID: 1, Type: types.CreateTuple(types.Int8)}}); !errors.Is(err,
		ErrUnsupported) {
		t.Errorf("tuple: %v", err)
	}
	if _, err := NewRowCodec([]Column{{Type: types.Int8}}); err == nil {
		t.Error("a column without id was accepted")
	}
	if _, err := NewRowCodec([]Column{{ID: 1, Type: types.Int8}, {ID: 1, Type: types.Int8}}); err == nil {
		t.Error("two columns with one id were accepted")
	}
	c := mustRow(t, Column{ID: 1, Type: types.Int8}, Column{ID: 2, Type: types.LongText})
	if _, err := c.Decode([]byte{2}); !errors.Is(err, ErrVersion) {
		t.Errorf("version 2: %v", err)
	}
	for _, junk := range [][]byte{
		{}, {1, 0x00}, {1, 0x0F}, {1, 0x09}, {1, 0x09, 0x80}, {1, 0x0C, 1, 'x'}, {1, 0x14, 0x05, 'x'},
		{1, 0x0A, 1, 2},
		{1, 0x09, 0xFF, 0xFF, 0x03}, // 32767 as TINYINT
		{1, 0x14, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01},
		{1, 0xF9, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0},
	} {
		if row, err := c.Decode(junk); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %v, %v", junk, row, err)
		}
	}
	// a row that is cut anywhere is either noticed or reads as if the last columns were not there yet
	full, err := c.Encode(ctx, nil, sql.Row{int8(1), "text"})
	if err != nil {
		t.Fatal(err)
	}
	for n := range full {
		row, err := c.Decode(full[:n])
		if err == nil && row[1] != nil {
			t.Errorf("cut to %d bytes: %v", n, row)
		}
	}
}

func FuzzRowDecode(f *testing.F) {
	all := testTypes()
	columns := make([]Column, len(all))
	for i, tt := range all {
		columns[i] = Column{ID: uint32(i + 1), Type: tt.typ}
	}
	c := mustRow(f, columns...)
	empty, err := c.Encode(ctx, nil, make(sql.Row, len(columns)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(empty)
	f.Add([]byte{1, 0x09, 0x02, 0x69, 0x03, 0x01, 0x0E, 0x03, 0x03, 0x01, 0xFF})
	f.Fuzz(func(t *testing.T, data []byte) {
		row, err := c.Decode(data)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrVersion) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		for i, v := range row {
			if doc, ok := v.(sql.JSONWrapper); ok {
				if _, err := doc.ToInterface(ctx); err != nil {
					row[i] = nil // the text is only looked at when somebody asks
				}
			}
		}
		again, err := c.Encode(ctx, nil, row)
		if err != nil {
			t.Fatalf("decoded %v, which does not encode: %v", row, err)
		}
		twice, err := c.Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		for i := range row {
			if !same(row[i], twice[i]) {
				t.Fatalf("column %d: %v became %v", i, row[i], twice[i])
			}
		}
	})
}
