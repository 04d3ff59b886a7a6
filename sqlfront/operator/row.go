package operator

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/rowenc"
)

// Values on disk: a byte for the Go type, then the value; they live as long as the statement.
const (
	spilledNil = iota
	spilledFalse
	spilledTrue
	spilledInt8
	spilledInt16
	spilledInt32
	spilledInt64
	spilledUint8
	spilledUint16
	spilledUint32
	spilledUint64
	spilledFloat32
	spilledFloat64
	spilledString
	spilledBytes
	spilledDecimal
	spilledTime
	spilledTimespan
	spilledMarked // a time of rowenc.Marked
	spilledJSON
)

func spillable(row sql.Row) bool {
	for _, v := range row {
		switch v := v.(type) {
		case nil, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, string,
			[]byte, types.Timespan, sql.JSONWrapper:
		case *apd.Decimal:
			if v == nil || v.Form != apd.Finite {
				return false
			}
		case time.Time:
			if v.Location() != time.UTC && !rowenc.Marked(v) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func appendSpilled(ctx *sql.Context, b []byte, row sql.Row) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(len(row)))
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			b = append(b, spilledNil)
		case bool:
			if v {
				b = append(b, spilledTrue)
			} else {
				b = append(b, spilledFalse)
			}
		case int8:
			b = binary.AppendVarint(append(b, spilledInt8), int64(v))
		case int16:
			b = binary.AppendVarint(append(b, spilledInt16), int64(v))
		case int32:
			b = binary.AppendVarint(append(b, spilledInt32), int64(v))
		case int64:
			b = binary.AppendVarint(append(b, spilledInt64), v)
		case uint8:
			b = binary.AppendUvarint(append(b, spilledUint8), uint64(v))
		case uint16:
			b = binary.AppendUvarint(append(b, spilledUint16), uint64(v))
		case uint32:
			b = binary.AppendUvarint(append(b, spilledUint32), uint64(v))
		case uint64:
			b = binary.AppendUvarint(append(b, spilledUint64), v)
		case float32:
			b = binary.LittleEndian.AppendUint32(append(b, spilledFloat32), math.Float32bits(v))
		case float64:
			b = binary.LittleEndian.AppendUint64(append(b, spilledFloat64), math.Float64bits(v))
		case string:
			b = binary.AppendUvarint(append(b, spilledString), uint64(len(v)))
			b = append(b, v...)
		case []byte:
			b = binary.AppendUvarint(append(b, spilledBytes), uint64(len(v)))
			b = append(b, v...)
		case *apd.Decimal:
			c := v.Coeff.Bytes()
			b = binary.AppendVarint(append(b, spilledDecimal), int64(v.Exponent))
			if v.Negative {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
			b = binary.AppendUvarint(b, uint64(len(c)))
			b = append(b, c...)
		case time.Time:
			tag := byte(spilledTime)
			if rowenc.Marked(v) {
				tag = spilledMarked
			}
			b = binary.AppendVarint(append(b, tag), v.Unix())
			b = binary.AppendUvarint(b, uint64(v.Nanosecond()))
		case types.Timespan:
			b = binary.AppendVarint(append(b, spilledTimespan), int64(v))
		case sql.JSONWrapper:
			doc, err := rowenc.AppendValue(ctx, nil, types.JSON, v)
			if err != nil {
				return nil, err
			}
			b = binary.AppendUvarint(append(b, spilledJSON), uint64(len(doc)))
			b = append(b, doc...)
		default:
			return nil, errSpilled
		}
	}
	return b, nil
}

var errSpilled = errors.New("operator: a row that was put on disk does not come back")

func readSpilled(b []byte) (sql.Row, error) {
	bad := false
	varint := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}
	uvarint := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}
	take := func(n uint64) []byte {
		if n > uint64(len(b)) {
			bad, b = true, nil
			return make([]byte, min(n, 8))
		}
		v := b[:n:n]
		b = b[n:]
		return v
	}
	width := uvarint()
	if bad || width > uint64(len(b)) {
		return nil, errSpilled
	}
	row := make(sql.Row, width)
	for i := range row {
		switch take(1)[0] {
		case spilledNil:
		case spilledFalse:
			row[i] = false
		case spilledTrue:
			row[i] = true
		case spilledInt8:
			row[i] = int8(varint())
		case spilledInt16:
			row[i] = int16(varint())
		case spilledInt32:
			row[i] = int32(varint())
		case spilledInt64:
			row[i] = varint()
		case spilledUint8:
			row[i] = uint8(uvarint())
		case spilledUint16:
			row[i] = uint16(uvarint())
		case spilledUint32:
			row[i] = uint32(uvarint())
		case spilledUint64:
			row[i] = uvarint()
		case spilledFloat32:
			row[i] = math.Float32frombits(binary.LittleEndian.Uint32(take(4)))
		case spilledFloat64:
			row[i] = math.Float64frombits(binary.LittleEndian.Uint64(take(8)))
		case spilledString:
			row[i] = string(take(uvarint()))
		case spilledBytes:
			row[i] = append([]byte{}, take(uvarint())...)
		case spilledDecimal:
			d := &apd.Decimal{Exponent: int32(varint())}
			d.Negative = take(1)[0] == 1
			d.Coeff.SetBytes(take(uvarint()))
			row[i] = d
		case spilledTime:
			s := varint()
			row[i] = time.Unix(s, int64(uvarint())).UTC()
		case spilledMarked:
			s := varint()
			row[i] = rowenc.Marking(time.Unix(s, int64(uvarint())))
		case spilledTimespan:
			row[i] = types.Timespan(varint())
		case spilledJSON:
			doc, err := rowenc.DecodeValue(types.JSON, take(uvarint()))
			if err != nil {
				return nil, err
			}
			row[i] = doc
		default:
			return nil, fmt.Errorf("%w: unknown value", errSpilled)
		}
	}
	if bad {
		return nil, errSpilled
	}
	return row, nil
}
