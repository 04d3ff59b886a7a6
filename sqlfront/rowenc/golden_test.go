package rowenc

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with testdata/name. These bytes are on people's disks: a difference is a new format
// version, not a test to update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s differs in line %d:\n got %s\nwant %s", path, i+1, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

type sample struct {
	typ    sql.Type
	values []any
}

func samples() []sample {
	str := func(c sql.CollationID) sample {
		return sample{collated("varchar", 30, c),
			[]any{"", "a", "A", "ab", "Straße", "a\x00b", "日本", "🍣", " "}}
	}
	return []sample{
		{types.Int8, []any{nil, int8(math.MinInt8), int8(-1), int8(0), int8(1), int8(math.MaxInt8)}},
		{types.Int32, []any{int32(math.MinInt32), int32(-257), int32(-256), int32(128), int32(255),
			int32(256), int32(math.MaxInt32)}},
		{types.Int64, []any{int64(math.MinInt64), int64(math.MaxInt64)}},
		{types.Uint64, []any{uint64(0), uint64(math.MaxInt64) + 1, uint64(math.MaxUint64)}},
		{types.Float32, []any{float32(-1.5), float32(0), float32(1.5)}},
		{types.Float64, []any{math.NaN(), math.Inf(-1), -1.5, math.Copysign(0, -1), 0.0, 1.5,
			math.MaxFloat64}},
		{types.MustCreateColumnDecimalType(8, 2),
			[]any{dec("-123456.78"), dec("-0.01"), dec("0.00"), dec("0.01"), dec("1.50"), dec("999999.99")}},
		{types.MustCreateColumnDecimalType(65, 30), []any{
			dec("-99999999999999999999999999999999999.999999999999999999999999999999"),
			dec("1.000000000000000000000000000000"),
			dec("99999999999999999999999999999999999.999999999999999999999999999999")}},
		{types.MustCreateBitType(10), []any{uint64(0), uint64(1023)}},
		{types.Year, []any{int16(0), int16(1901), int16(2155)}},
		{types.Date, []any{types.ZeroTime, time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC),
			time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)}},
		{types.MustCreateDatetimeType(sqltypes.Datetime, 6),
			[]any{types.ZeroTime, time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC),
				time.Date(2024, 2, 29, 12, 34, 56, 789000000, time.UTC)}},
		{types.Time, []any{types.Timespan(-3020399000000), types.Timespan(0), types.Timespan(1)}},
		{types.MustCreateEnumType([]string{"x", "y"}, sql.Collation_Default), []any{uint16(1), uint16(2)}},
		{types.MustCreateSetType([]string{"x", "y"}, sql.Collation_Default), []any{uint64(0), uint64(3)}},
		{types.Blob, []any{[]byte{}, []byte{0}, []byte{0, 0xFF}, []byte("abc")}},
		str(sql.Collation_utf8mb4_bin),
		str(sql.Collation_utf8mb4_0900_ai_ci),
		str(sql.Collation_utf8mb4_general_ci),
		str(sql.Collation_latin1_swedish_ci),
	}
}

func label(typ sql.Type) string {
	if s, ok := typ.(sql.StringType); ok {
		return s.String() + " " + s.Collation().Name()
	}
	return typ.String()
}

func show(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return x.Format(sql.DatetimeLayoutNoTrim)
	case string, []byte:
		return fmt.Sprintf("%q", x)
	case sql.JSONWrapper:
		s, _ := types.JsonToMySqlString(ctx, x)
		return s
	}
	return fmt.Sprint(v)
}

func TestGoldenKeys(t *testing.T) {
	var b strings.Builder
	for _, s := range samples() {
		fmt.Fprintf(&b, "%s\n", label(s.typ))
		c := mustKey(t, KeyPart{Type: s.typ})
		for _, v := range s.values {
			k, err := c.Encode(ctx, nil, v)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %-40s %x\n", show(v), k)
		}
	}
	c := mustKey(t, KeyPart{Type: types.Int32},
		KeyPart{Type: collated("varchar", 9, sql.Collation_utf8mb4_0900_ai_ci), PrefixLength: 2},
		KeyPart{Type: types.Date})
	k, err := c.Encode(ctx, nil, int32(-7), "Moka", nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "int, varchar(9) utf8mb4_0900_ai_ci (2), date\n  %-40s %x\n", `-7, "Moka", NULL`, k)
	golden(t, "keys.golden", b.String())
}

func TestGoldenRows(t *testing.T) {
	var b strings.Builder
	for _, s := range samples() {
		fmt.Fprintf(&b, "%s\n", label(s.typ))
		c := mustRow(t, Column{ID: 1, Type: s.typ})
		for _, v := range s.values {
			k, err := c.Encode(ctx, nil, sql.Row{v})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %-40s %x\n", show(v), k)
		}
	}
	c := mustRow(t, Column{ID: 300, Type: types.JSON}, Column{ID: 2, Type: types.Int32},
		Column{ID: 1, Type: types.Int64}, Column{ID: 5, Type: types.LongText})
	k, err := c.Encode(ctx, nil, sql.Row{types.MustJSON(`{"a": 1}`), nil, int64(-1), "moka"})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "300 json, 2 int, 1 bigint, 5 longtext\n  %-40s %x\n", `{"a": 1}, NULL, -1, "moka"`, k)
	golden(t, "rows.golden", b.String())
}
