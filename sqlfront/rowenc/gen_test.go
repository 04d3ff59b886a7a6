package rowenc

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"pgregory.net/rapid"
)

var ctx = context.Background()

// column types of the tests, each with a generator of values as the engine makes them.
type testType struct {
	name  string
	typ   sql.Type
	value *rapid.Generator[any]
	key   bool
}

func collated(base string, n int64, c sql.CollationID) sql.Type {
	switch base {
	case "char":
		return types.MustCreateString(sqltypes.Char, n, c)
	case "text":
		return types.MustCreateString(sqltypes.Text, n, c)
	}
	return types.MustCreateString(sqltypes.VarChar, n, c)
}

func anyOf[T any](g *rapid.Generator[T]) *rapid.Generator[any] {
	return rapid.Map(g, func(v T) any { return v })
}

// characters that collations treat in interesting ways
var letters = []rune("aAbBäÄàßsSzZ0 9 \t\x00\x01\x7f_-.,éÉøœ中文日本🍣🙂가힣\u0300\ufffd\uffff")

func text() *rapid.Generator[any] {
	return anyOf(rapid.OneOf(
		rapid.StringOfN(rapid.SampledFrom(letters), 0, 6, -1),
		rapid.StringN(0, 12, 48),
	))
}

func decimal(precision, scale int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		digits := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789")), 1, precision, -1).Draw(t, "digits")
		d, _, err := apd.NewFromString(digits)
		if err != nil {
			t.Fatal(err)
		}
		d.Exponent = -int32(scale)
		d.Negative = rapid.Bool().Draw(t, "negative") && d.Coeff.Sign() != 0
		return d
	})
}

func times(unit time.Duration) *rapid.Generator[any] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) any {
			// the years 0 to 9999
			s := rapid.Int64Range(-62167219200, 253402300799).Draw(t, "seconds")
			us := rapid.Int64Range(0, 999_999).Draw(t, "micros")
			return time.Unix(s, us*1000).UTC().Truncate(unit)
		}),
		rapid.Just[any](types.ZeroTime),
	)
}

func points() *rapid.Generator[types.Point] {
	return rapid.Custom(func(t *rapid.T) types.Point {
		srid := rapid.SampledFrom([]uint32{types.CartesianSRID, types.GeoSpatialSRID}).Draw(t, "srid")
		return types.Point{SRID: srid, X: rapid.Float64Range(-90, 90).Draw(t, "x"),
			Y: rapid.Float64Range(-90, 90).Draw(t, "y")}
	})
}

func geometries() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		p := points().Draw(t, "point")
		line := types.LineString{SRID: p.SRID,
			Points: []types.Point{p, {SRID: p.SRID, X: 1, Y: 2}, {SRID: p.SRID, Y: 3}, p}}
		area := types.Polygon{SRID: p.SRID, Lines: []types.LineString{line}}
		all := []types.GeometryValue{p, line, area, types.MultiPoint{SRID: p.SRID, Points: line.Points},
			types.MultiLineString{SRID: p.SRID, Lines: []types.LineString{line, line}},
			types.MultiPolygon{SRID: p.SRID, Polygons: []types.Polygon{area}},
			types.GeomColl{SRID: p.SRID, Geoms: []types.GeometryValue{p, line, area}}}
		return all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
	})
}

func testTypes() []testType {
	tt := []testType{
		{"tinyint", types.Int8, anyOf(rapid.Int8()), true},
		{"boolean", types.Boolean, anyOf(rapid.Int8Range(0, 1)), true},
		{"smallint", types.Int16, anyOf(rapid.Int16()), true},
		{"mediumint", types.Int24, anyOf(rapid.Int32Range(-1<<23, 1<<23-1)), true},
		{"int", types.Int32, anyOf(rapid.Int32()), true},
		{"bigint", types.Int64, anyOf(rapid.Int64()), true},
		{"tinyint unsigned", types.Uint8, anyOf(rapid.Uint8()), true},
		{"smallint unsigned", types.Uint16, anyOf(rapid.Uint16()), true},
		{"mediumint unsigned", types.Uint24, anyOf(rapid.Uint32Range(0, 1<<24-1)), true},
		{"int unsigned", types.Uint32, anyOf(rapid.Uint32()), true},
		{"bigint unsigned", types.Uint64, anyOf(rapid.Uint64()), true},
		{"float", types.Float32, anyOf(rapid.Float32()), true},
		{"double", types.Float64, anyOf(rapid.Float64()), true},
		{"decimal(12,2)", types.MustCreateColumnDecimalType(12, 2), decimal(12, 2), true},
		{"decimal(65,30)", types.MustCreateColumnDecimalType(65, 30), decimal(65, 30), true},
		{"decimal(10,0)", types.MustCreateColumnDecimalType(10, 0), decimal(10, 0), true},
		{"bit(64)", types.MustCreateBitType(64), anyOf(rapid.Uint64()), true},
		{"year", types.Year, anyOf(rapid.Int16Range(1901, 2155)), true},
		{"date", types.Date, times(24 * time.Hour), true},
		{"datetime(6)", types.MustCreateDatetimeType(sqltypes.Datetime, 6), times(time.Microsecond), true},
		{"timestamp", types.MustCreateDatetimeType(sqltypes.Timestamp, 0), times(time.Second), true},
		{"time", types.Time, rapid.Map(rapid.Int64Range(-3020399999999, 3020399999999), func(v int64) any {
			return types.Timespan(v)
		}), true},
		{"enum", types.MustCreateEnumType([]string{"small", "medium", "large"}, sql.Collation_Default),
			anyOf(rapid.Uint16Range(0, 3)), true},
		{"set", types.MustCreateSetType([]string{"a", "b", "c", "d"}, sql.Collation_Default),
			anyOf(rapid.Uint64Range(0, 15)), true},
		{"varbinary(64)", types.MustCreateBinary(sqltypes.VarBinary, 64),
			anyOf(rapid.SliceOfN(rapid.Byte(), 0, 12)), true},
		{"blob", types.Blob, anyOf(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0xFE, 0xFF}), 0, 6)),
			true},
		{"json", types.JSON, rapid.Map(rapid.Int32(), func(v int32) any {
			return types.JSONDocument{Val: map[string]any{"a": float64(v), "b": []any{nil, true, "x"}}}
		}), false},
		{"geometry", types.GeometryType{}, geometries(), false},
		{"point", types.PointType{}, anyOf(points()), false},
	}
	for _, c := range []sql.CollationID{
		sql.Collation_utf8mb4_0900_ai_ci, sql.Collation_utf8mb4_bin, sql.Collation_utf8mb4_0900_bin,
		sql.Collation_utf8mb4_general_ci,
		sql.Collation_utf8mb4_unicode_ci, sql.Collation_utf8mb4_0900_as_cs, sql.Collation_latin1_swedish_ci,
		sql.Collation_ascii_bin,
	} {
		tt = append(tt, testType{"varchar(64) " + c.Name(), collated("varchar", 64, c), text(), true})
	}
	return append(tt,
		testType{"char(20)", collated("char", 20, sql.Collation_utf8mb4_0900_ai_ci), text(), true},
		testType{"text", collated("text", 65535, sql.Collation_utf8mb4_0900_ai_ci), text(), true})
}

func keyTypes() []testType {
	var tt []testType
	for _, t := range testTypes() {
		if t.key {
			tt = append(tt, t)
		}
	}
	return tt
}

func mustKey(t testing.TB, parts ...KeyPart) *KeyCodec {
	t.Helper()
	c, err := NewKeyCodec(parts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dec(s string) *apd.Decimal {
	d, _, err := apd.NewFromString(s)
	if err != nil {
		panic(err)
	}
	return d
}

// same compares two values of a type; Compare of the engine orders, but takes 'a' for 'A' and 1.0 for 1.00.
func same(a, b any) bool {
	switch x := a.(type) {
	case *apd.Decimal:
		y, ok := b.(*apd.Decimal)
		return ok && x.CmpTotal(y) == 0
	case time.Time:
		y, ok := b.(time.Time)
		return ok && x.Equal(y) && y.Location() == time.UTC
	case float64:
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	case float32:
		y, ok := b.(float32)
		return ok && math.Float32bits(x) == math.Float32bits(y)
	case []byte:
		y, ok := b.([]byte)
		return ok && string(x) == string(y)
	case types.GeometryValue:
		return reflect.DeepEqual(a, b)
	case sql.JSONWrapper:
		y, ok := b.(sql.JSONWrapper)
		if !ok {
			return false
		}
		p, err1 := types.JsonToMySqlString(ctx, x)
		q, err2 := types.JsonToMySqlString(ctx, y)
		return err1 == nil && err2 == nil && p == q
	}
	return fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) && a == b
}
