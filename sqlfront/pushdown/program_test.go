package pushdown

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"pgregory.net/rapid"

	"moka/kv"
	"moka/sqlfront/rowenc"
)

var ctx = context.Background()

func column(id uint32, t sql.Type) Column {
	f, ok := rowenc.FieldTypeOf(t)
	return Column{ID: id, Type: f, Keys: ok}
}

func key(t sql.Type, v any) []byte {
	k, ok := rowenc.KeyOf(ctx, t, v)
	if !ok {
		panic(fmt.Sprint("no key of ", v))
	}
	return k
}

func programs() map[string]*Program {
	missing, err := rowenc.AppendValue(ctx, nil, types.Int32, int32(7))
	if err != nil {
		panic(err)
	}
	cols := []Column{column(1, types.Int32), column(300, types.LongText), column(9, types.JSON),
		column(5, types.MustCreateColumnDecimalType(10, 2))}
	cols[0].Missing = missing
	filter := &Expr{Op: OpAnd, Args: []*Expr{
		{Op: OpOr, Args: []*Expr{{Op: OpTrue}, {Op: OpFalse}, {Op: OpNull}}},
		{Op: OpNot, Args: []*Expr{{Op: OpIsNull, Column: 2}}},
		{Op: OpCompare, Relation: LessEqual, Column: 0, Key: key(types.Int32, int32(-5))},
		{Op: OpColumns, Relation: NullEqual, Column: 3, Other: 3},
		{Op: OpIn, Column: 1, HasNull: true,
			Keys: [][]byte{key(types.LongText, "a"), key(types.LongText, "b")}},
		{Op: OpPrefix, Column: 1, Key: []byte{1, 2}},
	}}
	return map[string]*Program{
		"rows":    {Columns: cols, Filter: filter, Narrow: true, Keep: []int{0, 2, 1}},
		"all":     {},
		"nothing": {Narrow: true},
		"top": {Mode: ModeTop, Columns: cols, Filter: filter, Top: 10,
			Order: []Order{{0, true}, {1, false}}},
		"sample": {Mode: ModeSample, Columns: cols, Filter: filter, Narrow: true, Keep: []int{0},
			Share: 1 << 31},
		"aggregate": {Mode: ModeAggregate, Columns: cols, Groups: []int{1, 0},
			Aggregates: []Aggregate{{CountRows, 0}, {Count, 2}, {Sum, 0}, {SumDecimal, 3}, {Min, 1}, {Max, 1},
				{First, 2}}},
	}
}

// The bytes of programs are pinned: two releases talk to each other while a cluster is upgraded.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"all", "nothing", "rows", "top", "aggregate", "sample"} {
		fmt.Fprintf(&b, "%s %s\n", name, hex.EncodeToString(programs()[name].Append(nil)))
	}
	path := filepath.Join("testdata", "program.golden")
	if os.Getenv("MOKA_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Fatalf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestRoundTrip(t *testing.T) {
	for name, p := range programs() {
		b := p.Append(nil)
		again, err := Parse(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got, want := fmt.Sprintf("%+v", again.Append(nil)), fmt.Sprintf("%+v", b); got != want {
			t.Errorf("%s: %s became %s", name, want, got)
		} else if len(p.Columns) > 0 && !reflect.DeepEqual(p, again) {
			t.Errorf("%s: %+v became %+v", name, p, again)
		}
		for n := range b {
			if _, err := Parse(b[:n]); !errors.Is(err, ErrProgram) {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(b), err)
			}
		}
		if _, err := Parse(append(b, 0)); err == nil {
			t.Errorf("%s: a byte too many", name)
		}
		b[0]++
		if _, err := Parse(b); !errors.Is(err, ErrProgram) {
			t.Errorf("%s: another version: %v", name, err)
		}
	}
}

func FuzzProgram(f *testing.F) {
	for _, p := range programs() {
		f.Add(p.Append(nil), []byte{1, 0x09, 2})
	}
	f.Fuzz(func(t *testing.T, program, row []byte) {
		p, err := Load(program)
		if err != nil {
			if !errors.Is(err, ErrProgram) {
				t.Fatal(err)
			}
			return
		}
		for range 2 {
			if _, _, err := p.Cell(kv.Column{Row: kv.RowKey("r")}, row); err != nil {
				break
			}
		}
		part, err := p.Finish(func(kv.Column, []byte) {})
		if err != nil {
			t.Fatal(err)
		}
		if parsed, err := Parse(program); err == nil && parsed.Mode == ModeAggregate {
			m := NewMerger(parsed)
			if err := m.Add(part); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzPart(f *testing.F) {
	f.Add([]byte{1, 1, 0, 1, 1, 1, 2, 3, 1, 2, 0, 1, 5, 0, 0, 0})
	f.Fuzz(func(t *testing.T, part []byte) {
		m := NewMerger(programs()["aggregate"])
		if m.Add(part) != nil {
			return
		}
		again := NewMerger(programs()["aggregate"])
		if err := again.Add(m.Part()); err != nil {
			t.Fatal(err)
		}
	})
}

func row(t *testing.T, values ...any) []byte {
	t.Helper()
	cols := []rowenc.Column{{ID: 1, Type: types.Int64}, {ID: 2, Type: types.LongText}}
	c, err := rowenc.NewRowCodec(cols[:len(values)])
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Encode(ctx, nil, sql.Row(values))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// However many groups there are, what a shard holds is bounded, and the sums come out right.
func TestGroupsAreBounded(t *testing.T) {
	p := &Program{
		Mode: ModeAggregate, Columns: []Column{column(1, types.Int64), column(2, types.LongText)},
		Groups:     []int{0},
		Aggregates: []Aggregate{{CountRows, 0}, {Max, 1}},
	}
	const groups, rows = 3 * MaxGroups, 6*MaxGroups + 5
	m := NewMerger(p)
	r, err := newRunner(p)
	if err != nil {
		t.Fatal(err)
	}
	requests := 1
	for i := range rows {
		if r.Full() {
			part, err := r.Finish(nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Add(part); err != nil {
				t.Fatal(err)
			}
			if r, err = newRunner(p); err != nil {
				t.Fatal(err)
			}
			requests++
		}
		if _, keep, err := r.Cell(kv.Column{Row: kv.RowKey("r")},
			row(t, int64(i%groups), fmt.Sprint(i))); keep || err != nil {
			t.Fatal(keep, err)
		}
		if len(r.groups) > MaxGroups {
			t.Fatalf("%d groups", len(r.groups))
		}
	}
	part, _ := r.Finish(nil)
	if err := m.Add(part); err != nil {
		t.Fatal(err)
	}
	if m.Len() != groups || requests < 3 {
		t.Fatalf("%d groups in %d requests", m.Len(), requests)
	}
	total := int64(0)
	for g := range m.Len() {
		total += m.Count(g, 0)
		if v, err := m.Value(g, 1, types.LongText); err != nil || v == nil {
			t.Fatal(v, err)
		}
	}
	if total != rows {
		t.Fatalf("%d rows counted", total)
	}
}

// Sums are exact whatever the signs, and no rounding depends on the order.
func TestSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		signed := rapid.SliceOf(rapid.Int64()).Draw(t, "signed")
		unsigned := rapid.SliceOf(rapid.Uint64()).Draw(t, "unsigned")
		var sum int128
		want := new(big.Int)
		for _, v := range signed {
			sum = sum.add(uint64(v), v < 0)
			want.Add(want, big.NewInt(v))
		}
		for _, v := range unsigned {
			sum = sum.add(v, false)
			want.Add(want, new(big.Int).SetUint64(v))
		}
		if got := sum.decimal().Text('f'); got != want.String() {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// Cells that are no rows are not looked at.
func TestOtherFamilies(t *testing.T) {
	r, err := newRunner(&Program{Mode: ModeAggregate, Aggregates: []Aggregate{{CountRows, 0}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []kv.Column{{Row: kv.RowKey("r")}, {Row: kv.RowKey("r"), Family: 0xFF},
		{Row: kv.RowKey("r"), Qualifier: []byte("q")}} {
		if _, keep, err := r.Cell(c, []byte("no row")); keep || err != nil {
			t.Fatal(keep, err)
		}
	}
	m := NewMerger(r.p)
	part, _ := r.Finish(nil)
	if err := m.Add(part); err != nil || m.Count(0, 0) != 1 {
		t.Fatal(err, m.Count(0, 0))
	}
}

// A sample has about the share that was asked for, of all rows alike.
func TestSample(t *testing.T) {
	r, err := newRunner(&Program{Mode: ModeSample, Share: math.MaxUint32 / 10})
	if err != nil {
		t.Fatal(err)
	}
	taken := [4]int{}
	const n = 40000
	for i := range n {
		_, keep, err := r.Cell(kv.Column{Row: kv.RowKey(fmt.Sprintf("%08d", i))}, []byte("v"))
		if err != nil {
			t.Fatal(err)
		}
		if keep {
			taken[4*i/n]++
		}
	}
	for _, k := range taken {
		if k < 900 || k > 1100 {
			t.Fatalf("taken of each quarter: %v of %d", taken, n/4)
		}
	}
	part, _ := r.Finish(nil)
	if rows, bytes, err := Sampled(part); rows != n || bytes != 9*n || err != nil {
		t.Fatal(rows, bytes, err)
	}
}
