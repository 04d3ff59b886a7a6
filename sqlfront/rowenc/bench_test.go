package rowenc

import (
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// A row like those of the TPC-E trade table: ten columns of the usual types.
func tradeRow(b *testing.B) (*RowCodec, sql.Row) {
	str := collated("varchar", 64, sql.Collation_utf8mb4_0900_ai_ci)
	c := mustRow(b,
		Column{ID: 1, Type: types.Int64},
		Column{ID: 2, Type: types.MustCreateDatetimeType(sqltypes.Datetime, 6)},
		Column{ID: 3, Type: str}, Column{ID: 4, Type: str}, Column{ID: 5, Type: types.Int8},
		Column{ID: 6, Type: str},
		Column{ID: 7, Type: types.Int32}, Column{ID: 8, Type: types.MustCreateColumnDecimalType(8, 2)},
		Column{ID: 9, Type: types.Int64}, Column{ID: 10, Type: types.MustCreateColumnDecimalType(10, 2)})
	return c, sql.Row{int64(200000000123456), time.Date(2024, 2, 29, 12, 34, 56, 789000000, time.UTC), "CMPT",
		"TMB", int8(1), "ABCDEFG",
		int32(400), dec("23.45"), int64(43000000001), dec("1234.56")}
}

func BenchmarkRowEncode10(b *testing.B) {
	c, row := tradeRow(b)
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = c.Encode(ctx, buf[:0], row); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)), "B/row")
}

func BenchmarkRowDecode10(b *testing.B) {
	c, row := tradeRow(b)
	data, err := c.Encode(ctx, nil, row)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRowDecode2of10(b *testing.B) {
	c, row := tradeRow(b)
	data, err := c.Encode(ctx, nil, row)
	if err != nil {
		b.Fatal(err)
	}
	d := c.Project([]int{8, 5})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkKey(b *testing.B, v any, parts ...KeyPart) {
	c := mustKey(b, parts...)
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = c.Encode(ctx, buf[:0], v); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)), "B/key")
}

func BenchmarkKeyBigint(b *testing.B) {
	benchmarkKey(b, int64(200000000123456), KeyPart{Type: types.Int64})
}
func BenchmarkKeyDecimal(b *testing.B) {
	benchmarkKey(b, dec("1234.56"), KeyPart{Type: types.MustCreateColumnDecimalType(10, 2)})
}
func BenchmarkKeyVarcharCI(b *testing.B) {
	benchmarkKey(b, "the quick brown fox",
		KeyPart{Type: collated("varchar", 64, sql.Collation_utf8mb4_0900_ai_ci)})
}
func BenchmarkKeyVarcharBin(b *testing.B) {
	benchmarkKey(b, "the quick brown fox", KeyPart{Type: collated("varchar", 64, sql.Collation_utf8mb4_bin)})
}

func BenchmarkSpanPoint(b *testing.B) {
	c := mustKey(b, KeyPart{Type: types.Int64})
	ranges := sql.MySQLRangeCollection{
		{sql.ClosedRangeColumnExpr(int64(200000000123456), int64(200000000123456), types.Int64)}}
	prefix := []byte{0x10, 0, 0, 0, 1, 0, 0, 0, 1}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Spans(ctx, prefix, ranges); err != nil {
			b.Fatal(err)
		}
	}
}
