package rowenc

import (
	"bytes"
	"errors"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"pgregory.net/rapid"
)

// Fields of stored rows have the keys of their values, and a row put together from fields decodes to them.
func TestFields(t *testing.T) {
	all := keyTypes()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "columns")
		columns, row := make([]Column, n), make(sql.Row, n)
		ids := rapid.Permutation([]uint32{1, 2, 3, 4, 5, 6, 7, 300, 1 << 30}).Draw(t, "ids")
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
		data, err := c.Encode(ctx, nil, row)
		if err != nil {
			t.Fatal(err)
		}
		wanted := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID).Draw(t, "wanted")
		var want []uint32
		for _, w := range wanted {
			want = append(want, ids[w])
		}
		r, err := NewFieldReader(want, make([][]byte, len(want)))
		if err != nil {
			t.Fatal(err)
		}
		fields := make([]Field, len(want))
		if err := r.Read(data, fields); err != nil {
			t.Fatal(err)
		}
		for i, w := range wanted {
			f, ok := FieldTypeOf(columns[w].Type)
			if !ok {
				t.Fatalf("%s has no keys", columns[w].Type)
			}
			f, rest, err := ReadFieldType(f.AppendTo(nil))
			if err != nil || len(rest) > 0 {
				t.Fatal(err)
			}
			k, err := f.Keyer()
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.Append([]byte("x"), fields[i])
			if err != nil {
				t.Fatal(err)
			}
			codec, err := NewKeyCodec([]KeyPart{{Type: columns[w].Type, PadSpace: true}})
			if err != nil {
				t.Fatal(err)
			}
			key, err := codec.Encode(ctx, []byte("x"), row[w])
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, key) {
				t.Fatalf("%s %v: key %x, of the field %x", columns[w].Type, row[w], key, got)
			}
			v, err := fields[i].Value(columns[w].Type)
			if err != nil || !same(row[w], v) {
				t.Fatalf("%s %v came back as %v, %v", columns[w].Type, row[w], v, err)
			}
			if row[w] != nil {
				if again, ok := KeyOf(ctx, columns[w].Type, row[w]); !ok || !bytes.Equal(again, got[1:]) {
					t.Fatalf("KeyOf %v: %x %v", row[w], again, ok)
				}
			}
		}
	})
}

// A stored row without a column reads as its default.
func TestFieldMissing(t *testing.T) {
	c := mustRow(t, Column{ID: 3, Type: types.Int32})
	data, err := c.Encode(ctx, nil, sql.Row{int32(7)})
	if err != nil {
		t.Fatal(err)
	}
	five, err := AppendValue(ctx, nil, types.LongText, "five")
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewFieldReader([]uint32{9, 3, 1}, [][]byte{nil, nil, five})
	if err != nil {
		t.Fatal(err)
	}
	fields := make([]Field, 3)
	if err := r.Read(data, fields); err != nil {
		t.Fatal(err)
	}
	if v, err := fields[2].Value(types.LongText); err != nil || v != "five" || !fields[0].Null() {
		t.Fatal(v, err)
	}
	row := NewRow(nil)
	row = fields[2].AppendTo(row, 1)
	row = fields[1].AppendTo(row, 2)
	got, err := mustRow(t, Column{ID: 1, Type: types.LongText}, Column{ID: 3, Type: types.Int32}).Decode(row)
	if err != nil || got[0] != "five" || got[1] != int32(7) {
		t.Fatal(got, err)
	}
}

func FuzzFields(f *testing.F) {
	f.Add([]byte{1, 0x09, 0x02, 0x14, 1, 'x'}, []byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, data, typ []byte) {
		ft, _, err := ReadFieldType(typ)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		k, err := ft.Keyer()
		if err != nil {
			return
		}
		r, err := NewFieldReader([]uint32{1, 2}, [][]byte{nil, nil})
		if err != nil {
			t.Fatal(err)
		}
		fields := make([]Field, 2)
		if r.Read(data, fields) != nil {
			return
		}
		for _, f := range fields {
			_, _ = k.Append(nil, f)
		}
	})
}
