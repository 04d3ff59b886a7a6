package wire

import (
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

const (
	charsetBinary = 63
	// floatDecimals says "as many digits as there are". With 0 a client that formats by the metadata shows 0.5 as 0.
	floatDecimals = 31
)

// fixFields gives columns the metadata that MySQL gives them; drivers choose the host language's type by it.
func fixFields(fields []*querypb.Field) {
	for _, f := range fields {
		_, typeFlags := sqltypes.TypeToMySQL(f.Type)
		// The protocol library takes either the flags of the type or those of the column.
		f.Flags |= uint32(typeFlags)
		switch {
		case f.Type == sqltypes.Float32 || f.Type == sqltypes.Float64:
			f.Decimals = floatDecimals
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG | querypb.MySqlFlag_NUM_FLAG)
		case sqltypes.IsIntegral(f.Type), f.Type == sqltypes.Decimal:
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG | querypb.MySqlFlag_NUM_FLAG)
		case f.Type == sqltypes.Bit:
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_UNSIGNED_FLAG | querypb.MySqlFlag_BINARY_FLAG)
		case f.Type == sqltypes.Date || f.Type == sqltypes.Datetime || f.Type == sqltypes.Timestamp || f.Type == sqltypes.Time || f.Type == sqltypes.Null:
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG)
		}
	}
}

// fixRows writes the zero date as MySQL does. The engine formats it from a time of the year 0, which comes out as
// "-0001-11-30".
func fixRows(r *sqltypes.Result) {
	for i, f := range r.Fields {
		if f.Type != sqltypes.Date && f.Type != sqltypes.Datetime && f.Type != sqltypes.Timestamp {
			continue
		}
		for _, row := range r.Rows {
			if i < len(row) && len(row[i].Raw()) > 0 && row[i].Raw()[0] == '-' {
				zero := "0000-00-00"
				if f.Type != sqltypes.Date {
					zero = "0000-00-00 00:00:00"
				}
				row[i] = sqltypes.MakeTrusted(f.Type, []byte(zero))
			}
		}
	}
}
