package rowenc

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Column is one column of a row.
type Column struct {
	// ID names the column in stored rows: at least 1, never reused within a table.
	ID   uint32
	Type sql.Type
	// Default is what a stored row without the column reads as: the default at the time when the column was
	// added.
	Default any
	// Zone is that of the rows, for TIMESTAMP columns; others do not look at it.
	Zone *Zone
}

// RowCodec encodes rows as the value of one cell. Columns are named by id, so that adding, dropping, renaming
// and reordering columns leaves stored rows alone.
//
//	┌────┬─ for each column, by ascending id ────────────────┐
//	│ 01 │ header: uvarint (id - previous id) << 3 | form    │ …
//	│    │ payload                                           │
//	└────┴───────────────────────────────────────────────────┘
//	form 0  NULL      nothing follows. A column that is absent is not NULL: it reads as its Default
//	form 1  number    uvarint: unsigned integers, BIT, SET, ENUM; zigzag varint: signed integers, YEAR, DATE (days since 1970),
//	                  DATETIME, TIMESTAMP and TIME (microseconds)
//	form 2  float     4 bytes, little endian IEEE 754
//	form 3  double    8 bytes, little endian IEEE 754
//	form 4  bytes     uvarint length, the bytes: strings (UTF-8), binary strings, JSON (text), vectors,
//	                  geometry (MySQL's own form: SRID in 4 bytes, then WKB, all little endian)
//	form 5  decimal   zigzag varint exponent, zigzag varint coefficient
//	form 6  decimal   uvarint length, then: zigzag varint exponent, sign (0 or 1), coefficient big endian
//	                  (form 5 when the coefficient fits 63 bits and is not a negative zero)
//	01 at the front is the format's version
type RowCodec struct {
	columns []Column
	kinds   []kind
	byID    []int // positions in columns by ascending id
	zoned   bool  // some column has a zone
	all     *RowDecoder
}

const rowVersion = 1

const (
	formNull       = 0
	formNumber     = 1
	formFloat      = 2
	formDouble     = 3
	formBytes      = 4
	formDecimal    = 5
	formBigDecimal = 6
)

// NewRowCodec returns the codec for rows of the given columns, in the order in which the engine sees them.
func NewRowCodec(columns []Column) (*RowCodec, error) {
	c := &RowCodec{columns: slices.Clone(columns), kinds: make([]kind, len(columns)),
		byID: make([]int, len(columns))}
	for i := range columns {
		k, ok := kindOf(columns[i].Type)
		if !ok {
			return nil, unsupported(columns[i].Type, "a column")
		}
		if columns[i].ID == 0 {
			return nil, fmt.Errorf("rowenc: column %d has no id", i)
		}
		c.kinds[i], c.byID[i] = k, i
		if columns[i].Type.Type() != sqltypes.Timestamp {
			c.columns[i].Zone = nil
		}
		c.zoned = c.zoned || c.columns[i].Zone != nil
	}
	slices.SortFunc(c.byID, func(a, b int) int { return cmp.Compare(columns[a].ID, columns[b].ID) })
	for i := 1; i < len(c.byID); i++ {
		if columns[c.byID[i-1]].ID == columns[c.byID[i]].ID {
			return nil, fmt.Errorf("rowenc: two columns have the id %d", columns[c.byID[i]].ID)
		}
	}
	c.all = c.Project(nil)
	return c, nil
}

// Encode appends the stored form of a row to dst. Values that do not have the engine's Go type for their
// column are converted; large values in wrappers are loaded.
func (c *RowCodec) Encode(ctx context.Context, dst []byte, row sql.Row) ([]byte, error) {
	if len(row) != len(c.columns) {
		return nil, fmt.Errorf("%w: a row of %d values for %d columns", ErrValue, len(row), len(c.columns))
	}
	dst = append(dst, rowVersion)
	var last uint32
	var err error
	for _, i := range c.byID {
		id, v := c.columns[i].ID, row[i]
		if c.zoned && c.columns[i].Zone != nil && v != nil {
			if v, err = c.columns[i].instant(ctx, v); err != nil {
				return nil, err
			}
		}
		if dst, err = appendField(ctx, dst, id-last, c.columns[i].Type, c.kinds[i], v); err != nil {
			return nil, err
		}
		last = id
	}
	return dst, nil
}

// instant is the value of a TIMESTAMP column as the codec of UTC takes it.
func (c *Column) instant(ctx context.Context, v any) (any, error) {
	t, ok := v.(time.Time)
	if !ok {
		cv, in, err := canonical(ctx, c.Type, v)
		if err != nil {
			return nil, err
		}
		if t, ok = cv.(time.Time); !ok || in != sql.InRange {
			return nil, badValue(c.Type, v)
		}
	}
	micros, _ := c.Zone.Instant(t)
	return time.UnixMicro(micros).UTC(), nil
}

// AppendValue appends one value in the form that a row has it in, with the version in front: what a catalog
// keeps as the value of a column that was added later.
func AppendValue(ctx context.Context, dst []byte, t sql.Type, v any) ([]byte, error) {
	k, ok := kindOf(t)
	if !ok {
		return nil, unsupported(t, "a column")
	}
	return appendField(ctx, append(dst, rowVersion), 1, t, k, v)
}

func appendField(ctx context.Context, dst []byte, delta uint32, t sql.Type, k kind, v any) ([]byte, error) {
	head := uint64(delta) << 3
	if v == nil {
		return binary.AppendUvarint(dst, head|formNull), nil
	}
	if out, ok := appendCanonicalField(dst, head, k, v); ok {
		return out, nil
	}
	if k == kindJSON {
		text, err := jsonText(ctx, v)
		if err != nil {
			return nil, err
		}
		return appendBytes(dst, head, text), nil
	}
	cv, in, err := canonical(ctx, t, v)
	if err != nil {
		return nil, err
	}
	if in != sql.InRange {
		return nil, badValue(t, v)
	}
	if cv == nil {
		return binary.AppendUvarint(dst, head|formNull), nil
	}
	if out, ok := appendCanonicalField(dst, head, k, cv); ok {
		return out, nil
	}
	return nil, badValue(t, v)
}

// appendCanonicalField handles the Go types that need no conversion; ok is false for all others.
func appendCanonicalField(dst []byte, head uint64, k kind, v any) ([]byte, bool) {
	switch x := v.(type) {
	case int8:
		return signedField(dst, head, int64(x)), k == kindInt8
	case int16:
		return signedField(dst, head, int64(x)), k == kindInt16 || k == kindYear
	case int32:
		return signedField(dst, head, int64(x)), k == kindInt32
	case int64:
		return signedField(dst, head, x), k == kindInt64
	case uint8:
		return unsignedField(dst, head, uint64(x)), k == kindUint8
	case uint16:
		return unsignedField(dst, head, uint64(x)), k == kindUint16 || k == kindEnum
	case uint32:
		return unsignedField(dst, head, uint64(x)), k == kindUint32
	case uint64:
		return unsignedField(dst, head, x), k == kindUint64 || k == kindBits
	case float32:
		if k == kindFloat32 {
			dst = binary.AppendUvarint(dst, head|formFloat)
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(x)), true
		}
	case float64:
		if k == kindFloat64 {
			dst = binary.AppendUvarint(dst, head|formDouble)
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(x)), true
		}
	case string:
		if k == kindText {
			return appendBytes(dst, head, x), true
		}
	case []byte:
		if k == kindBytes || k == kindVector {
			return appendBytes(dst, head, x), true
		}
	case types.GeometryValue:
		if k == kindGeometry {
			return appendBytes(dst, head, x.Serialize()), true
		}
	case *apd.Decimal:
		if k == kindDecimal && x.Form == apd.Finite {
			return decimalField(dst, head, x), true
		}
	case time.Time:
		switch k {
		case kindDate:
			days, _ := daysOf(x)
			return signedField(dst, head, days), true
		case kindDatetime:
			micros, _ := microsOf(x)
			return signedField(dst, head, micros), true
		}
	case types.Timespan:
		return signedField(dst, head, int64(x)), k == kindTime
	}
	return nil, false
}

func signedField(dst []byte, head uint64, v int64) []byte {
	return binary.AppendVarint(binary.AppendUvarint(dst, head|formNumber), v)
}

func unsignedField(dst []byte, head uint64, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, head|formNumber), v)
}

func appendBytes[T string | []byte](dst []byte, head uint64, b T) []byte {
	dst = binary.AppendUvarint(dst, head|formBytes)
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

func decimalField(dst []byte, head uint64, d *apd.Decimal) []byte {
	if d.Coeff.Sign() == 0 && (d.Negative || d.Exponent > 0) {
		d = &apd.Decimal{Exponent: min(d.Exponent, 0)} // SQL has neither -0 nor 0E+2
	}
	if d.Coeff.IsUint64() && d.Coeff.Uint64() <= math.MaxInt64 {
		v := int64(d.Coeff.Uint64())
		if d.Negative {
			v = -v
		}
		dst = binary.AppendUvarint(dst, head|formDecimal)
		dst = binary.AppendVarint(dst, int64(d.Exponent))
		return binary.AppendVarint(dst, v)
	}
	body := binary.AppendVarint(nil, int64(d.Exponent))
	sign := byte(0)
	if d.Negative {
		sign = 1
	}
	body = append(body, sign)
	body = append(body, d.Coeff.Bytes()...)
	dst = binary.AppendUvarint(dst, head|formBigDecimal)
	dst = binary.AppendUvarint(dst, uint64(len(body)))
	return append(dst, body...)
}
