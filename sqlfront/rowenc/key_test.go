package rowenc

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"pgregory.net/rapid"
)

// The order of keys is the order that the engine's own comparison gives.
func TestKeyOrder(t *testing.T) {
	for _, tt := range keyTypes() {
		t.Run(tt.name, func(t *testing.T) {
			c := mustKey(t, KeyPart{Type: tt.typ})
			rapid.Check(t, func(t *rapid.T) {
				a, b := tt.value.Draw(t, "a"), tt.value.Draw(t, "b")
				ka, err := c.Encode(ctx, nil, a)
				if err != nil {
					t.Fatal(err)
				}
				kb, err := c.Encode(ctx, nil, b)
				if err != nil {
					t.Fatal(err)
				}
				want, err := tt.typ.Compare(ctx, a, b)
				if err != nil {
					t.Skip("the engine does not compare these: ", err)
				}
				if got := bytes.Compare(ka, kb); got != want {
					t.Fatalf("%v (%x) and %v (%x): keys compare as %d, values as %d", a, ka, b, kb, got, want)
				}
				null, _ := c.Encode(ctx, nil, nil)
				if bytes.Compare(null, ka) >= 0 {
					t.Fatalf("NULL (%x) is not before %v (%x)", null, a, ka)
				}
				if ka[0] == tagAfter {
					t.Fatalf("%v begins with FF: %x", a, ka)
				}
			})
		})
	}
}

// What can be decoded comes back as it was, whatever follows the key.
func TestKeyRoundTrip(t *testing.T) {
	for _, tt := range keyTypes() {
		t.Run(tt.name, func(t *testing.T) {
			c := mustKey(t, KeyPart{Type: tt.typ}, KeyPart{Type: types.Int64})
			rapid.Check(t, func(t *rapid.T) {
				v := tt.value.Draw(t, "v")
				if f, ok := v.(float64); ok && (f != f || f == 0) {
					t.Skip("-0 and NaN have one key each")
				}
				if f, ok := v.(float32); ok && (f != f || f == 0) {
					t.Skip("-0 and NaN have one key each")
				}
				tail := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "tail")
				key, err := c.Encode(ctx, []byte("prefix"), v, int64(7))
				if err != nil {
					t.Fatal(err)
				}
				key = append(key, tail...)[len("prefix"):]
				got := []any{"untouched", nil}
				rest, err := c.Decode(key, got)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(rest, tail) || got[1] != int64(7) {
					t.Fatalf("%x: rest %x, second part %v", key, rest, got[1])
				}
				if !c.Decodable(0) {
					if got[0] != "untouched" {
						t.Fatalf("a collated string was decoded to %v", got[0])
					}
				} else if !same(v, got[0]) {
					t.Fatalf("%T %v came back as %T %v (key %x)", v, v, got[0], got[0], key)
				}
				head, tail2, err := c.Split(key, 1)
				if err != nil {
					t.Fatal(err)
				}
				if want, _ := c.Encode(ctx, nil, v); !bytes.Equal(head, want) ||
					len(head)+len(tail2) != len(key) {
					t.Fatalf("Split gives %x | %x of %x", head, tail2, key)
				}
			})
		})
	}
}

// Keys of several columns order like tuples, also when one is a prefix of the other.
func TestKeyTupleOrder(t *testing.T) {
	a, b := collated("varchar", 20, sql.Collation_utf8mb4_0900_ai_ci), types.Blob
	c := mustKey(t, KeyPart{Type: a}, KeyPart{Type: b}, KeyPart{Type: types.Int32})
	row := rapid.Custom(func(t *rapid.T) sql.Row {
		null := func(v any) any {
			if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
				return nil
			}
			return v
		}
		return sql.Row{
			null(rapid.StringOfN(rapid.SampledFrom([]rune("aAb\x00")), 0, 3, -1).Draw(t, "a")),
			null(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xFF}), 0, 3).Draw(t, "b")),
			null(rapid.Int32Range(-300, 300).Draw(t, "c")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		x, y := row.Draw(t, "x"), row.Draw(t, "y")
		kx, err := c.EncodeRow(ctx, nil, x, []int{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		ky, err := c.EncodeRow(ctx, nil, y, []int{0, 1, 2})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for i, p := range c.parts {
			if want = compareNullsFirst(t, p.typ, x[i], y[i]); want != 0 {
				break
			}
		}
		if got := bytes.Compare(kx, ky); got != want {
			t.Fatalf("%v (%x) and %v (%x): keys %d, rows %d", x, kx, y, ky, got, want)
		}
		hasNull, err := c.HasNull(kx, 3)
		if err != nil || hasNull != (x[0] == nil || x[1] == nil || x[2] == nil) {
			t.Fatalf("HasNull(%v) = %v, %v", x, hasNull, err)
		}
	})
}

func compareNullsFirst(t *rapid.T, typ sql.Type, a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	cmp, err := typ.Compare(ctx, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return cmp
}

// byCodePoint claims that a collation orders as the bytes of UTF-8 do. Walk all characters.
func TestByCodePoint(t *testing.T) {
	for _, c := range []sql.CollationID{sql.Collation_utf8mb4_0900_bin, sql.Collation_utf8mb4_bin} {
		if !byCodePoint(c) {
			t.Errorf("%s is not taken as bytes", c.Name())
		}
		sorter, last := c.Sorter(), int32(-1)
		for r := rune(0); r <= utf8.MaxRune; r++ {
			if !utf8.ValidRune(r) {
				continue
			}
			w := sorter(r)
			if w <= last {
				t.Fatalf("%s: weight of %U is %d, after %d", c.Name(), r, w, last)
			}
			last = w
		}
	}
}

func TestWeightOrder(t *testing.T) {
	// the borders of all classes, and what lies beside them
	var ws []int32
	for _, b := range []int32{math.MinInt32, -1, 0, weight1Max, weight2Max, weight3Max, math.MaxInt32} {
		for d := int32(-2); d <= 2; d++ {
			if v := int64(b) + int64(d); v >= math.MinInt32 && v <= math.MaxInt32 {
				ws = append(ws, b+d)
			}
		}
	}
	for _, a := range ws {
		ka := append(appendWeight(nil, a), weightEnd)
		if n := skipWeights(append(bytes.Clone(ka), 0xAA)); n != len(ka) {
			t.Errorf("weight %d: %x has length %d, skipped %d", a, ka, len(ka), n)
		}
		if ka[0] == weightEnd {
			t.Errorf("weight %d begins with the end mark", a)
		}
		for _, b := range ws {
			kb := append(appendWeight(nil, b), weightEnd)
			want := 0
			if a < b {
				want = -1
			} else if a > b {
				want = 1
			}
			if got := bytes.Compare(ka, kb); got != want {
				t.Errorf("weights %d (%x) and %d (%x) compare as %d", a, ka, b, kb, got)
			}
		}
	}
}

func TestKeyWidening(t *testing.T) {
	narrow, wide := mustKey(t, KeyPart{Type: types.Int8}), mustKey(t, KeyPart{Type: types.Int64})
	for v := math.MinInt8; v <= math.MaxInt8; v++ {
		a, err1 := narrow.Encode(ctx, nil, int8(v))
		b, err2 := wide.Encode(ctx, nil, int64(v))
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Fatalf("%d: TINYINT %x, BIGINT %x (%v, %v)", v, a, b, err1, err2)
		}
	}
}

func TestKeyFloats(t *testing.T) {
	c := mustKey(t, KeyPart{Type: types.Float64})
	ordered := []float64{math.NaN(), math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0,
		math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1)}
	var last []byte
	for _, f := range ordered {
		k, err := c.Encode(ctx, nil, f)
		if err != nil || bytes.Compare(last, k) >= 0 {
			t.Fatalf("%v: %x after %x (%v)", f, k, last, err)
		}
		last = k
	}
	minus, _ := c.Encode(ctx, nil, math.Copysign(0, -1))
	plus, _ := c.Encode(ctx, nil, 0.0)
	if !bytes.Equal(minus, plus) {
		t.Errorf("-0 is %x, 0 is %x", minus, plus)
	}
	nan, _ := c.Encode(ctx, nil, math.Float64frombits(0xFFFFFFFFFFFFFFFF))
	if other, _ := c.Encode(ctx, nil, math.NaN()); !bytes.Equal(nan, other) {
		t.Errorf("two NaNs: %x and %x", nan, other)
	}
}

func TestKeyDecimalScales(t *testing.T) {
	c := mustKey(t, KeyPart{Type: types.MustCreateColumnDecimalType(10, 2)})
	a, _ := c.Encode(ctx, nil, dec("1.5"))
	b, _ := c.Encode(ctx, nil, dec("1.50"))
	d, _ := c.Encode(ctx, nil, dec("15E-1"))
	if !bytes.Equal(a, b) || !bytes.Equal(a, d) {
		t.Errorf("1.5 is %x, 1.50 is %x, 15E-1 is %x", a, b, d)
	}
	zero, _ := c.Encode(ctx, nil, dec("0"))
	minus, _ := c.Encode(ctx, nil, &apd.Decimal{Negative: true, Exponent: -2})
	if !bytes.Equal(zero, minus) {
		t.Errorf("0 is %x, -0 is %x", zero, minus)
	}
	got := make([]any, 1)
	if _, err := c.Decode(a, got); err != nil || got[0].(*apd.Decimal).Text('f') != "1.50" {
		t.Errorf("1.5 decodes to %v, %v", got[0], err)
	}
	for _, bad := range []*apd.Decimal{dec("1.005"), {Exponent: 2000000, Coeff: *apd.NewBigInt(1)},
		{Form: apd.NaN}, {Form: apd.Infinite}} {
		if k, err := c.Encode(ctx, nil, bad); err == nil {
			t.Errorf("%v was encoded as %x", bad, k)
		}
	}
}

// Values of other Go types are what the engine would convert them to.
func TestKeyConversion(t *testing.T) {
	for _, tt := range []struct {
		typ       sql.Type
		in, canon any
	}{
		{types.Int32, int64(7), int32(7)},
		{types.Int32, "7", int32(7)},
		{types.Int32, true, int32(1)},
		{types.Int64, uint8(7), int64(7)},
		{types.Uint64, 7, uint64(7)},
		{types.Year, int64(70), int16(1970)},
		{types.Date, "2024-02-29", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{types.Date, time.Date(2024, 2, 29, 13, 0, 0, 0, time.UTC),
			time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{types.Float64, float32(1.5), 1.5},
		{types.MustCreateColumnDecimalType(10, 2), "1.5", dec("1.50")},
		{types.MustCreateEnumType([]string{"x", "y"}, sql.Collation_Default), "y", uint16(2)},
		{types.MustCreateSetType([]string{"x", "y"}, sql.Collation_Default), "x,y", uint64(3)},
		{collated("varchar", 5, sql.Collation_utf8mb4_0900_ai_ci), []byte("ab"), "ab"},
		{collated("text", 5, sql.Collation_utf8mb4_0900_ai_ci), wrapped[string]{"ab"}, "ab"},
		{types.Blob, wrapped[[]byte]{[]byte("ab")}, []byte("ab")},
		{types.MustCreateBinary(sqltypes.Binary, 4), "ab", []byte("ab\x00\x00")},
	} {
		c := mustKey(t, KeyPart{Type: tt.typ})
		a, err := c.Encode(ctx, nil, tt.in)
		if err != nil {
			t.Errorf("%s: %T %v: %v", tt.typ, tt.in, tt.in, err)
			continue
		}
		if b, err := c.Encode(ctx, nil, tt.canon); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %T %v is %x, %T %v is %x (%v)", tt.typ, tt.in, tt.in, a, tt.canon, tt.canon, b, err)
		}
	}
}

func TestKeyPrefix(t *testing.T) {
	c := mustKey(t,
		KeyPart{Type: collated("varchar", 20, sql.Collation_utf8mb4_0900_ai_ci), PrefixLength: 2},
		KeyPart{Type: types.Blob, PrefixLength: 2})
	a, _ := c.Encode(ctx, nil, "äöü", []byte("abc"))
	b, _ := c.Encode(ctx, nil, "ÄÖx", []byte("abd"))
	if !bytes.Equal(a, b) {
		t.Errorf("prefixes differ: %x and %x", a, b)
	}
	if c.Decodable(0) || c.Decodable(1) {
		t.Error("a part that is cut to a prefix claims to be decodable")
	}
}

func TestKeyPadSpace(t *testing.T) {
	typ := collated("varchar", 20, sql.Collation_utf8mb4_general_ci)
	pad, nopad := mustKey(t, KeyPart{Type: typ, PadSpace: true}), mustKey(t, KeyPart{Type: typ})
	a, _ := pad.Encode(ctx, nil, "a")
	b, _ := pad.Encode(ctx, nil, "A  ")
	if !bytes.Equal(a, b) {
		t.Errorf("with padding 'a' is %x, 'A  ' is %x", a, b)
	}
	a, _ = nopad.Encode(ctx, nil, "a")
	b, _ = nopad.Encode(ctx, nil, "a ")
	if bytes.Equal(a, b) {
		t.Errorf("without padding 'a' and 'a ' are both %x", a)
	}
}

func TestKeyRefusals(t *testing.T) {
	for _, typ := range []sql.Type{types.JSON, types.PointType{}, types.VectorType{Dimensions: 2}} {
		if _, err := NewKeyCodec([]KeyPart{{Type: typ}}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s as a key: %v", typ, err)
		}
	}
	c := mustKey(t, KeyPart{Type: types.Int8})
	if _, err := c.Encode(ctx, nil, 1, 2); !errors.Is(err, ErrValue) {
		t.Errorf("two values for one part: %v", err)
	}
	for _, junk := range [][]byte{{}, {0x01}, {0xFF}, {0xC7, 1}, {0xDB}, {0x3F}} {
		if _, err := c.Decode(junk, make([]any, 1)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %v", junk, err)
		}
	}
	if _, err := c.Decode([]byte{0xC1, 0x01, 0x00}, make([]any, 1)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("256 as TINYINT: %v", err)
	}
}

func FuzzKeyDecode(f *testing.F) {
	all := keyTypes()
	codecs := make([]*KeyCodec, len(all))
	for i, tt := range all {
		codecs[i] = mustKey(f, KeyPart{Type: tt.typ}, KeyPart{Type: types.Int32})
	}
	f.Add(uint8(0), []byte{0x40, 0x00})
	f.Add(uint8(13), []byte{0xDB, 1, 2, 3})
	f.Add(uint8(24), []byte{0x01, 0x00, 0xFF, 0x00, 0x01, 0x00})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		c := codecs[int(which)%len(codecs)]
		values := make([]any, 2)
		rest, err := c.Decode(data, values)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if !c.Decodable(0) {
			return
		}
		// what was understood encodes to a key that decodes to the same
		again, err := c.Encode(ctx, nil, values...)
		if err != nil {
			t.Fatalf("decoded %v from %x, which does not encode: %v", values, data[:len(data)-len(rest)], err)
		}
		twice := make([]any, 2)
		if _, err := c.Decode(again, twice); err != nil {
			t.Fatal(err)
		}
		for i := range values {
			if f, ok := values[i].(float64); ok && f != f {
				continue
			}
			if f, ok := values[i].(float32); ok && f != f {
				continue
			}
			if d, ok := values[i].(*apd.Decimal); ok && d.Cmp(twice[i].(*apd.Decimal)) == 0 {
				continue
			}
			if f, ok := values[i].(float64); ok && f == twice[i].(float64) {
				continue // -0
			}
			if f, ok := values[i].(float32); ok && f == twice[i].(float32) {
				continue
			}
			if values[i] != nil && !same(values[i], twice[i]) {
				t.Fatalf("%v became %v", values[i], twice[i])
			}
		}
	})
}

// wrapped is a large value that the engine did not load yet.
type wrapped[T any] struct{ v T }
