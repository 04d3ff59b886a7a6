package collate

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
	"moka/sqlfront/rowenc"
)

// RowKeys makes keys of rows: equal rows have equal ones, different rows different ones. It is what GROUP
// BY, DISTINCT, COUNT(DISTINCT) and the set operations tell rows apart by. The library takes a hash of 64
// bits for that, which anybody can find two texts of, and which is the same for ('a\0', 'b') and ('a',
// '\0b'), and for NULL and '<nil>'.
//
//	value   NULL 0x00 │ number 0x01 digits 0x00 │ text or bytes 0x02 length bytes │ moment 0x03 seconds nanoseconds second │ …
//	row     the values, one after another; of more than 64 bytes 0xFF and their SHA-256
//
// Texts are there as their weights under the collation of the column. Numbers are the same number whatever
// their type: 1, 1.0 and 1e0.
type RowKeys struct {
	texts  []sql.CollationID // of each column, Unspecified if it is no text
	stamps []bool            // columns of instants
	buf    []byte
}

// longestKey is how long a key may be before it is a digest.
const longestKey = 64

const (
	keyNull = iota
	keyNumber
	keyBytes
	keyMoment
	keySpan
	keyTuple
	keyObject
	keyTrue
	keyFalse
	keyOther
	keyDigest = 0xFF
)

// NewRowKeys is for rows of these types.
func NewRowKeys(ts []sql.Type) *RowKeys {
	k := &RowKeys{texts: make([]sql.CollationID, len(ts)), stamps: make([]bool, len(ts))}
	for i, t := range ts {
		if s, ok := t.(sql.StringType); ok && types.IsTextOnly(t) {
			k.texts[i] = s.Collation()
		}
		k.stamps[i] = types.IsTimestampType(t)
	}
	return k
}

// RowKeysOf is for rows of a schema.
func RowKeysOf(schema sql.Schema) *RowKeys {
	ts := make([]sql.Type, len(schema))
	for i, c := range schema {
		ts[i] = c.Type
	}
	return NewRowKeys(ts)
}

// Of is the key of a row. It is good until the next one is made.
func (k *RowKeys) Of(ctx *sql.Context, row sql.Row) ([]byte, error) {
	b, err := k.buf[:0], error(nil)
	for i, v := range row {
		text, stamp := sql.Collation_Unspecified, false
		if i < len(k.texts) {
			text, stamp = k.texts[i], k.stamps[i]
		}
		if b, err = appendKey(ctx, b, text, stamp, v); err != nil {
			return nil, err
		}
	}
	k.buf = b
	if len(b) > longestKey {
		sum := sha256.Sum256(b)
		k.buf = append(append(b[:0], keyDigest), sum[:]...)
	}
	return k.buf, nil
}

func appendKey(ctx *sql.Context, b []byte, text sql.CollationID, stamp bool, v any) ([]byte, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return append(b, keyNull), nil
	}
	if text != sql.Collation_Unspecified {
		w, err := expr.WeightOf(ctx, text, v)
		if err != nil {
			return nil, err
		}
		return appendBytes(b, w), nil
	}
	switch v := v.(type) {
	case int:
		return appendInt(b, int64(v)), nil
	case int8:
		return appendInt(b, int64(v)), nil
	case int16:
		return appendInt(b, int64(v)), nil
	case int32:
		return appendInt(b, int64(v)), nil
	case int64:
		return appendInt(b, v), nil
	case uint:
		return appendUint(b, uint64(v)), nil
	case uint8:
		return appendUint(b, uint64(v)), nil
	case uint16:
		return appendUint(b, uint64(v)), nil
	case uint32:
		return appendUint(b, uint64(v)), nil
	case uint64:
		return appendUint(b, v), nil
	case bool:
		if v {
			return appendInt(b, 1), nil
		}
		return appendInt(b, 0), nil
	case float32:
		return appendFloat(b, float64(v), 32), nil
	case float64:
		return appendFloat(b, v, 64), nil
	case *apd.Decimal:
		return appendDecimal(b, v), nil
	case string:
		b = binary.AppendUvarint(append(b, keyBytes), uint64(len(v)))
		return append(b, v...), nil
	case []byte:
		return appendBytes(b, v), nil
	case time.Time:
		b = binary.AppendVarint(append(b, keyMoment), v.Unix())
		b = binary.AppendUvarint(b, uint64(v.Nanosecond()))
		if stamp && rowenc.Marked(v) {
			// the second of the two instants that a clock shows when it is turned back
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case types.Timespan:
		return binary.AppendVarint(append(b, keySpan), int64(v)), nil
	case []any:
		return appendTuple(ctx, b, v)
	case sql.JSONWrapper:
		doc, err := v.ToInterface(ctx)
		if err != nil {
			return nil, err
		}
		return appendJSON(ctx, b, doc)
	}
	s := fmt.Sprintf("%T %v", v, v)
	b = binary.AppendUvarint(append(b, keyOther), uint64(len(s)))
	return append(b, s...), nil
}

func appendInt(b []byte, v int64) []byte {
	return append(strconv.AppendInt(append(b, keyNumber), v, 10), 0)
}

func appendUint(b []byte, v uint64) []byte {
	return append(strconv.AppendUint(append(b, keyNumber), v, 10), 0)
}

func appendFloat(b []byte, v float64, bits int) []byte {
	if v == 0 {
		v = 0 // -0
	}
	return append(strconv.AppendFloat(append(b, keyNumber), v, 'f', -1, bits), 0)
}

// appendDecimal leaves out zeros behind the point.
func appendDecimal(b []byte, d *apd.Decimal) []byte {
	if d.IsZero() {
		return appendInt(b, 0)
	}
	b = d.Append(append(b, keyNumber), 'f')
	if d.Exponent < 0 {
		b = bytes.TrimRight(bytes.TrimRight(b, "0"), ".")
	}
	return append(b, 0)
}

func appendBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(append(b, keyBytes), uint64(len(v))), v...)
}

func appendTuple(ctx *sql.Context, b []byte, vs []any) (_ []byte, err error) {
	b = binary.AppendUvarint(append(b, keyTuple), uint64(len(vs)))
	for _, v := range vs {
		if b, err = appendKey(ctx, b, sql.Collation_Unspecified, false, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendJSON is for a value of a document: of objects the order of their members does not count, true is not
// 1.
func appendJSON(ctx *sql.Context, b []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case bool:
		if v {
			return append(b, keyTrue), nil
		}
		return append(b, keyFalse), nil
	case []any:
		b = binary.AppendUvarint(append(b, keyTuple), uint64(len(v)))
		for _, e := range v {
			if b, err = appendJSON(ctx, b, e); err != nil {
				return nil, err
			}
		}
		return b, nil
	case map[string]any:
		b = binary.AppendUvarint(append(b, keyObject), uint64(len(v)))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
			if b, err = appendJSON(ctx, b, v[name]); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return appendKey(ctx, b, sql.Collation_Unspecified, false, v)
}
