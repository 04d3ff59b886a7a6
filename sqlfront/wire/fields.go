package wire

import (
	"bytes"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

const (
	charsetBinary = 63
	// floatDecimals says "as many digits as there are". With 0 a client that formats by the metadata shows 0.5 as 0.
	floatDecimals = 31
)

// fixFields gives columns the metadata that MySQL gives them; drivers choose the host language's type by it.
func (s *Server) fixFields(fields []*querypb.Field) {
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
			if f.Type == sqltypes.Int8 && s.opts.TinyInt1 != nil && s.opts.TinyInt1(f.Database, f.OrgTable, f.OrgName) {
				f.ColumnLength = 1
			}
		case f.Type == sqltypes.Bit:
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_UNSIGNED_FLAG | querypb.MySqlFlag_BINARY_FLAG)
		case f.Type == sqltypes.Date || f.Type == sqltypes.Datetime || f.Type == sqltypes.Timestamp || f.Type == sqltypes.Time || f.Type == sqltypes.Null:
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG)
		}
	}
}

// fixRows corrects texts of values: the zero date, which the engine formats from a time of the year 0 as "-0001-11-30", and
// decimals, whose trailing zeros an aggregate loses on its way (SUM of DECIMAL(10,2) is 10.00, not 10).
func fixRows(r *sqltypes.Result) {
	for i, f := range r.Fields {
		switch f.Type {
		case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
			for _, row := range r.Rows {
				if i < len(row) && len(row[i].Raw()) > 0 && row[i].Raw()[0] == '-' {
					zero := "0000-00-00"
					if f.Type != sqltypes.Date {
						zero = "0000-00-00 00:00:00"
					}
					row[i] = sqltypes.MakeTrusted(f.Type, []byte(zero))
				}
			}
		case sqltypes.Time:
			// The engine's TIME has microseconds throughout; a declared TIME shows none.
			for _, row := range r.Rows {
				if i < len(row) && bytes.HasSuffix(row[i].Raw(), noFraction) {
					row[i] = sqltypes.MakeTrusted(f.Type, bytes.TrimSuffix(row[i].Raw(), noFraction))
				}
			}
		case sqltypes.Decimal:
			// 30 is the engine's scale for "unknown".
			if f.Decimals == 0 || f.Decimals >= 30 {
				continue
			}
			for _, row := range r.Rows {
				if i < len(row) && !row[i].IsNull() {
					if fixed, ok := padScale(row[i].Raw(), int(f.Decimals)); ok {
						row[i] = sqltypes.MakeTrusted(f.Type, fixed)
					}
				}
			}
		}
	}
}

var noFraction = []byte(".000000")

// padScale gives a decimal number its scale.
func padScale(text []byte, scale int) ([]byte, bool) {
	point := bytes.IndexByte(text, '.')
	have := 0
	if point >= 0 {
		have = len(text) - point - 1
	}
	if have >= scale || len(text) == 0 || bytes.ContainsAny(text, "eE") {
		return nil, false
	}
	out := make([]byte, 0, len(text)+1+scale)
	out = append(out, text...)
	if point < 0 {
		out = append(out, '.')
	}
	for ; have < scale; have++ {
		out = append(out, '0')
	}
	return out, true
}
