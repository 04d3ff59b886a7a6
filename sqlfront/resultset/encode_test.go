package resultset

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/charset"
)

// columnTypes are those of which values have a way of their own into the packet, and some that have not.
func columnTypes() []sql.Type {
	decimal := types.MustCreateDecimalType(20, 4)
	var all []sql.Type
	for _, t := range []sql.Type{
		types.Int8, types.Int16, types.Int24, types.Int32, types.Int64, types.Uint8, types.Uint16,
		types.Uint24, types.Uint32, types.Uint64,
		types.Float32, types.Float64, types.Year, types.Date, types.Datetime, types.DatetimeMaxPrecision,
		types.Timestamp, types.TimestampMaxPrecision,
		types.Time, types.Text, types.LongText, types.Blob, decimal, types.JSON, types.Boolean,
		types.MustCreateBitType(9),
		types.MustCreateString(sqltypes.VarChar, 200, sql.Collation_Default),
		types.MustCreateString(sqltypes.Char, 20, sql.Collation_utf8mb3_general_ci),
		types.MustCreateBinary(sqltypes.VarBinary, 300), types.MustCreateBinary(sqltypes.Binary, 8),
		types.MustCreateString(sqltypes.VarChar, 50, sql.Collation_latin1_swedish_ci),
		types.MustCreateDatetimeType(sqltypes.Datetime, 3),
	} {
		all = append(all, t)
	}
	return all
}

// someValues are what the engine may have in a column of a type, and what it should not.
func someValues(r *rand.Rand) []any {
	moment := time.Unix(r.Int64N(1<<32), r.Int64N(1e9)).UTC()
	return []any{
		int8(r.Int64()), int16(r.Int64()), int32(r.Int64()), r.Int64(), uint8(r.Int64()), uint16(r.Int64()),
		uint32(r.Int64()), r.Uint64(), int64(0), int64(-1),
		int64(math.MinInt64), uint64(math.MaxUint64), r.IntN(1000), r.NormFloat64() * math.Pow(10,
			float64(r.IntN(40)-20)), float32(r.NormFloat64()), 0.0, 1e15, 1e-15,
		123456789.25, math.MaxFloat64, "text", "", "1.5", "17", "2023-01-05 10:11:12.5", "äöü €",
		"\U0001F600", []byte("bytes"), []byte{0xff, 0xfe},
		moment, moment.Truncate(24 * time.Hour), moment.Truncate(time.Second), types.ZeroTime, time.Date(812,
			3, 4, 5, 6, 7, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC), time.Date(1970, 1, 1, 0, 0, 0, 0,
			time.UTC), time.Date(2023, 6, 1, 1, 2, 3, 400, time.FixedZone("", 7200)),
		types.Timespan(0), types.Timespan(r.Int64N(3_020_399_000_000)), types.Timespan(-3_600_000_000),
		types.Timespan(1_500_000), apd.New(r.Int64N(1e9), -4), apd.New(5, 0), true, false,
		types.MustJSON(`{"a": [1, "x"]}`), nil,
	}
}

// TestFastIsAsSlow: a value that has a way of its own into the packet arrives as by the engine's
// conversion, in both protocols.
func TestFastIsAsSlow(t *testing.T) {
	ctx := sql.NewEmptyContext()
	r := rand.New(rand.NewPCG(1, 2))
	fast := map[form]int{}
	for round := range 40 {
		for _, typ := range columnTypes() {
			fields := describe(ctx, sql.Schema{{Name: "c", Type: typ, Source: "t",
				DatabaseSource: []string{"", "db"}[round%2]}})
			(&Options{}).complete(fields)
			head := NewHead(ctx, fields, []sql.Type{typ})
			slow := NewHead(ctx, fields, []sql.Type{typ})
			slow.columns[0].form = formOther
			a, b := Encoder{Head: head}, Encoder{Head: slow}
			for _, v := range someValues(r) {
				if s, ok := typ.(sql.StringType); ok && tooLong(s, v) {
					continue // the engine stores none
				}
				fast[head.columns[0].form]++
				for name, encode := range map[string]func(*Encoder) ([]byte, error){
					"text":   func(e *Encoder) ([]byte, error) { return e.Text(ctx, nil, sql.Row{v}) },
					"binary": func(e *Encoder) ([]byte, error) { return e.Binary(ctx, nil, sql.Row{v}) },
				} {
					got, gotErr := safely(encode, &a)
					want, wantErr := safely(encode, &b)
					if wantErr == nil && (gotErr != nil || !bytes.Equal(got, want)) {
						t.Fatalf("%s: %T %v as %s: %q, %v, want %q", name, v, v, typ, got, gotErr, want)
					}
				}
			}
		}
	}
	for f := formInteger; f <= formTimespan; f++ {
		if fast[f] == 0 {
			t.Errorf("form %d: no column has it", f)
		}
	}
}

func tooLong(s sql.StringType, v any) bool {
	switch x := v.(type) {
	case []byte:
		return int64(len(x)) > s.MaxByteLength()
	case string:
		return int64(len(x)) > s.MaxByteLength()
	}
	return false
}

// safely runs a conversion that may not be meant for such a value at all.
func safely(encode func(*Encoder) ([]byte, error), e *Encoder) (b []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return encode(e)
}

// TestValuesAsMySQLWritesThem: what the engine words otherwise.
func TestValuesAsMySQLWritesThem(t *testing.T) {
	ctx := sql.NewEmptyContext()
	decimal := types.MustCreateDecimalType(10, 2)
	for _, c := range []struct {
		typ    sql.Type
		v      any
		text   string
		binary string
	}{
		{types.Float64, 1e15, "1e15", ""}, {types.Float64, 1234567.5, "1234567.5", ""}, {types.Float64,
			1.5e-16, "1.5e-16", ""}, {types.Float64, 0.00001, "0.00001", ""},
		{decimal, apd.New(10, 0), "10.00", "\x0510.00"}, {types.Date, types.ZeroTime, "0000-00-00", "\x00"},
		{types.Datetime, types.ZeroTime, "0000-00-00 00:00:00", "\x00"},
		{types.Datetime, time.Date(812, 3, 4, 5, 6, 7, 0, time.UTC), "0812-03-04 05:06:07",
			"\x07\x2c\x03\x03\x04\x05\x06\x07"},
		{types.Time, types.Timespan(0), "00:00:00", "\x00"}, {types.Time, types.Timespan(-90_000_000),
			"-00:01:30", "\x08\x01\x00\x00\x00\x00\x00\x01\x1e"},
		{types.Time, types.Timespan(1_500_000), "00:00:01.500000",
			"\x0c\x00\x00\x00\x00\x00\x00\x00\x01\x20\xa1\x07\x00"},
		{types.Int64, Worded("42"), "42", "\x2a\x00\x00\x00\x00\x00\x00\x00"}, {types.Int8, int8(-1), "-1",
			"\xff"}, {types.Uint64, uint64(1 << 63), "9223372036854775808",
			"\x00\x00\x00\x00\x00\x00\x00\x80"},
	} {
		fields := describe(ctx, sql.Schema{{Name: "c", Type: c.typ, Source: "t", DatabaseSource: "db"}})
		(&Options{}).complete(fields)
		e := Encoder{Head: NewHead(ctx, fields, []sql.Type{c.typ})}
		text, err := e.Text(ctx, nil, sql.Row{c.v})
		if err != nil || string(text[1:]) != c.text {
			t.Errorf("%v as %s: %q, %v, want %q", c.v, c.typ, text, err, c.text)
		}
		row, err := e.Binary(ctx, nil, sql.Row{c.v})
		if err != nil || c.binary != "" && string(row[2:]) != c.binary {
			t.Errorf("%v as %s in binary: %q, %v, want %q", c.v, c.typ, row, err, c.binary)
		}
	}
}

// TestCharacterSetOfResults: texts and names go out in the client's character set, numbers and bytes as
// they are.
func TestCharacterSetOfResults(t *testing.T) {
	ctx := sql.NewEmptyContext()
	latin1, ok := charset.Of("latin1")
	if !ok || latin1 == nil {
		t.Fatal("no latin1")
	}
	schema := sql.Schema{{Name: "ä", Type: types.Text}, {Name: "b", Type: types.Blob}, {Name: "i",
		Type: types.Int64}}
	e := Encoder{Head: (&Options{}).Describe(ctx, schema, "", latin1)}
	for name, encode := range map[string]func(*sql.Context, []byte, sql.Row) ([]byte, error){"text": e.Text,
		"binary": e.Binary} {
		row, err := encode(ctx, nil, sql.Row{"ü", []byte("ü"), int64(1)})
		if err != nil || !bytes.Contains(row, []byte("\x01\xfc")) || !bytes.Contains(row, []byte("\x02ü")) {
			t.Errorf("%s: %q, %v", name, row, err)
		}
	}
	if c := e.Head.Column(0); c.Name != "\xe4" || c.Charset != uint16(latin1.Collation()) {
		t.Errorf("%+v", c)
	}
	if c := e.Head.Column(1); c.Charset != charsetBinary {
		t.Errorf("%+v", c)
	}
}

// BenchmarkPointRow encodes a row of sysbench.
func BenchmarkPointRow(b *testing.B) {
	ctx := sql.NewEmptyContext()
	text := types.MustCreateString(sqltypes.Char, 120, sql.Collation_Default)
	e := Encoder{Head: NewHead(ctx, []*querypb.Field{{Name: "c", Type: sqltypes.Char, Charset: 255}},
		[]sql.Type{text})}
	row := sql.Row{string(bytes.Repeat([]byte("0123456789-"), 11))}
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = e.Text(ctx, buf[:0], row); err != nil {
			b.Fatal(err)
		}
	}
}
