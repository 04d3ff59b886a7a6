package collate

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/rowenc"
)

// Two texts of 16 bytes with one xxHash: the state behind the first eight bytes is known, so the second eight
// can be computed that lead both to the same end.
const (
	planted = "6d6f6b612d6162633031323334353637"
	twin    = "6d6f6b612d78797a9bf8bd61f8fa9ca5"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRowKeysTellApart(t *testing.T) {
	ctx := sql.NewEmptyContext()
	key := func(k *RowKeys, row ...any) string {
		t.Helper()
		b, err := k.Of(ctx, row)
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes.Clone(b))
	}
	one, other := unhex(t, planted), unhex(t, twin)
	a, err := hash.HashOf(ctx, nil, sql.Row{one})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := hash.HashOf(ctx, nil, sql.Row{other}); err != nil || a != b {
		t.Fatalf("the planted texts have other hashes now: %x, %x, %v", a, b, err)
	}
	blob := NewRowKeys([]sql.Type{types.LongBlob, types.LongBlob})
	ci := NewRowKeys([]sql.Type{types.CreateLongText(sql.Collation_utf8mb4_general_ci),
		types.CreateLongText(sql.Collation_utf8mb4_general_ci)})
	stamp := NewRowKeys([]sql.Type{types.TimestampMaxPrecision})
	clock := NewRowKeys([]sql.Type{types.DatetimeMaxPrecision})
	when := time.Date(2024, 10, 27, 2, 30, 0, 0, time.UTC)
	decimal := func(s string) *apd.Decimal {
		d, _, err := apd.NewFromString(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	long := strings.Repeat("x", 200)
	for _, c := range []struct {
		k    *RowKeys
		a, b sql.Row
		same bool
	}{
		{blob, sql.Row{one, "q"}, sql.Row{other, "q"}, false},
		{blob, sql.Row{"a\x00", "b"}, sql.Row{"a", "\x00b"}, false},
		{blob, sql.Row{nil, "z"}, sql.Row{"<nil>", "z"}, false},
		{blob, sql.Row{"ab", "c"}, sql.Row{"a", "bc"}, false},
		{blob, sql.Row{"a", nil}, sql.Row{nil, "a"}, false},
		{blob, sql.Row{"", nil}, sql.Row{nil, ""}, false},
		{blob, sql.Row{"a", "b"}, sql.Row{[]byte("a"), []byte("b")}, true},
		{blob, sql.Row{long + "a", ""}, sql.Row{long + "b", ""}, false},
		{blob, sql.Row{long, "a"}, sql.Row{long + "a", ""}, false},
		{blob, sql.Row{long, "a"}, sql.Row{[]byte(long), "a"}, true},
		{blob, sql.Row{int64(1), "1"}, sql.Row{"1", int64(1)}, false},
		{blob, sql.Row{int8(1), uint64(2)}, sql.Row{decimal("1.00"), float64(2)}, true},
		{blob, sql.Row{decimal("100"), decimal("-0.0")}, sql.Row{int64(100), int64(0)}, true},
		{blob, sql.Row{decimal("100"), 0}, sql.Row{decimal("1"), 0}, false},
		{blob, sql.Row{int64(1), int64(23)}, sql.Row{int64(12), int64(3)}, false},
		{blob, sql.Row{uint64(1<<63 + 1), 0}, sql.Row{uint64(1 << 63), 0}, false},
		{blob, sql.Row{[]any{"a b", "c"}, 0}, sql.Row{[]any{"a", "b c"}, 0}, false},
		{blob, sql.Row{types.MustJSON(`{"a": 1, "b": [true]}`), 0},
			sql.Row{types.MustJSON(`{"b": [true], "a": 1.0}`), 0}, true},
		{blob, sql.Row{types.MustJSON(`{"a": 1}`), 0}, sql.Row{types.MustJSON(`{"a": "1"}`), 0}, false},
		{blob, sql.Row{types.MustJSON(`[1]`), 0}, sql.Row{types.MustJSON(`[true]`), 0}, false},
		{blob, sql.Row{types.MustJSON(`[[1], 2]`), 0}, sql.Row{types.MustJSON(`[[1, 2]]`), 0}, false},
		{ci, sql.Row{"Ab", "c "}, sql.Row{"aB", "C"}, true},
		{ci, sql.Row{"ab", "c"}, sql.Row{"a", "bc"}, false},
		{ci, sql.Row{nil, ""}, sql.Row{"", nil}, false},
		{stamp, sql.Row{when}, sql.Row{rowenc.Marking(when)}, false},
		{clock, sql.Row{when}, sql.Row{rowenc.Marking(when)}, true},
		{clock, sql.Row{when}, sql.Row{when.Add(time.Microsecond)}, false},
	} {
		if same := key(c.k, c.a...) == key(c.k, c.b...); same != c.same {
			t.Errorf("%v and %v: the same key is %v, want %v", c.a, c.b, same, c.same)
		}
	}
}

// What makes no garbage costs little: a key is one allocation of who keeps it.
func TestRowKeysAllocateNothing(t *testing.T) {
	ctx := sql.NewEmptyContext()
	k := NewRowKeys([]sql.Type{types.Int64, types.LongBlob, types.DatetimeMaxPrecision})
	row := sql.Row{int64(12345), []byte("some bytes"), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := k.Of(ctx, row); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRowKeys(b *testing.B) {
	ctx := sql.NewEmptyContext()
	ts := []sql.Type{types.Int64, types.CreateLongText(sql.Collation_utf8mb4_0900_ai_ci)}
	row := sql.Row{int64(12345), "a text of a row"}
	b.Run("key", func(b *testing.B) {
		b.ReportAllocs()
		k := NewRowKeys(ts)
		for b.Loop() {
			if _, err := k.Of(ctx, row); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hash", func(b *testing.B) {
		b.ReportAllocs()
		schema := sql.Schema{{Type: ts[0]}, {Type: ts[1]}}
		for b.Loop() {
			if _, err := hash.HashOf(ctx, schema, row); err != nil {
				b.Fatal(err)
			}
		}
	})
}
