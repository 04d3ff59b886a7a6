package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
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
			if n, ok := s.digits(f); ok {
				f.Decimals = uint32(n)
			}
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG | querypb.MySqlFlag_NUM_FLAG)
		case sqltypes.IsIntegral(f.Type), f.Type == sqltypes.Decimal:
			if f.Database == "" && (f.Type == sqltypes.Int8 || f.Type == sqltypes.Uint8) {
				// Of an expression: MySQL has no small numbers there, and Connector/J takes a TINYINT for a boolean.
				f.Type, f.ColumnLength = sqltypes.Int64, 4
				f.Flags &^= uint32(querypb.MySqlFlag_UNSIGNED_FLAG)
			}
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
			if (f.Type == sqltypes.Timestamp || f.Type == sqltypes.Time) && f.Decimals == 0 {
				n, ok := s.digits(f)
				if f.Type == sqltypes.Time && f.ColumnLength >= expr.TimeLength {
					n, ok = int(f.ColumnLength-expr.TimeLength), true
				}
				if f.Decimals = uint32(n); ok && f.Type == sqltypes.Time {
					if f.ColumnLength = 10; n > 0 {
						f.ColumnLength += 1 + uint32(n)
					}
				}
			}
		}
	}
}

func (s *Server) digits(f *querypb.Field) (n int, ok bool) {
	if s.opts.Digits == nil || f.OrgTable == "" {
		return 0, false
	}
	return s.opts.Digits(f.Database, f.OrgTable, f.OrgName)
}

// origins gives columns the table that they come from: the engine knows it by the name that the query gives it.
func origins(fields []*querypb.Field, query string) {
	known := map[string]string{}
	for _, f := range fields {
		if f.OrgTable == "" {
			continue
		}
		table, ok := known[f.OrgTable]
		if !ok {
			table, _ = parse.Aliased(query, f.OrgTable)
			known[f.OrgTable] = table
		}
		if table != "" {
			f.OrgTable = table
		}
	}
}

// fixRows corrects texts of values: the zero date, which the engine formats from a time of the year 0 as "-0001-11-30", and
// decimals, whose trailing zeros an aggregate loses on its way (SUM of DECIMAL(10,2) is 10.00, not 10).
//
// In the binary protocol the library encodes dates and times by their texts, the zero date as 30 November of the year -1 and times
// without their fractions; there the values are encoded here and passed through as strings, which look the same on the wire:
// a length and that many bytes.
func fixRows(r *sqltypes.Result, prepared bool) {
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
				if i < len(row) {
					if short := 4 - bytes.IndexByte(row[i].Raw(), '-'); short > 0 && short < 4 { // of a year before 1000
						row[i] = sqltypes.MakeTrusted(row[i].Type(), append([]byte("000"[:short]), row[i].Raw()...))
					}
				}
				if prepared && i < len(row) && bytes.HasPrefix(row[i].Raw(), []byte("0000-00-00")) && isZero(row[i].Raw()) {
					row[i] = sqltypes.MakeTrusted(sqltypes.VarBinary, []byte{})
				}
			}
		case sqltypes.Int64:
			for _, row := range r.Rows {
				if prepared && i < len(row) && !row[i].IsNull() && row[i].Type() != f.Type { // see fixFields; the library encodes by the value's type
					row[i] = sqltypes.MakeTrusted(f.Type, row[i].Raw())
				}
			}
		case sqltypes.Time:
			// The engine's TIME has microseconds throughout; a declared TIME shows none.
			for _, row := range r.Rows {
				if prepared && i < len(row) && !row[i].IsNull() {
					if b, ok := binaryTime(row[i].Raw()); ok {
						row[i] = sqltypes.MakeTrusted(sqltypes.VarBinary, b)
					}
					continue
				}
				if i < len(row) && !row[i].IsNull() && f.Decimals > 0 {
					row[i] = sqltypes.MakeTrusted(f.Type, timeText(row[i].Raw(), int(f.Decimals)))
					continue
				}
				if i < len(row) && bytes.HasSuffix(row[i].Raw(), noFraction) {
					row[i] = sqltypes.MakeTrusted(f.Type, bytes.TrimSuffix(row[i].Raw(), noFraction))
				}
			}
		case sqltypes.Float32, sqltypes.Float64:
			for _, row := range r.Rows {
				if f.Decimals < floatDecimals && i < len(row) && !row[i].IsNull() {
					if !prepared { // the binary protocol has numbers
						row[i] = sqltypes.MakeTrusted(f.Type, floatText(row[i].Raw(), int(f.Decimals)))
					}
					continue
				}
				if f.Type == sqltypes.Float32 {
					break
				}
				if i < len(row) && bytes.IndexByte(row[i].Raw(), 'e') > 0 {
					row[i] = sqltypes.MakeTrusted(f.Type, doubleText(row[i].Raw()))
				}
			}
		case sqltypes.Decimal:
			// 30 is the engine's scale for "unknown".
			if f.Decimals == 0 || f.Decimals >= 30 {
				continue
			}
			for _, row := range r.Rows {
				if i < len(row) && bytes.IndexByte(row[i].Raw(), 'e') > 0 {
					row[i] = sqltypes.MakeTrusted(f.Type, doubleText(row[i].Raw()))
				}
				if i < len(row) && !row[i].IsNull() {
					if fixed, ok := padScale(row[i].Raw(), int(f.Decimals)); ok {
						row[i] = sqltypes.MakeTrusted(f.Type, fixed)
					}
				}
			}
		}
	}
}

// isZero reports whether there is nothing but zeros in a date.
func isZero(text []byte) bool { return len(bytes.Trim(text, "0-: .")) == 0 }

// binaryTime is a time of the binary protocol without its length:
//
//	 1            4      1       1         1         4
//	+------------+------+-------+---------+---------+---------------+
//	| 1 negative | days | hours | minutes | seconds | microseconds  |  the last only if there are any
//	+------------+------+-------+---------+---------+---------------+
func binaryTime(text []byte) ([]byte, bool) {
	if isZero(text) {
		return []byte{}, true
	}
	out := make([]byte, 8, 12)
	if text[0] == '-' {
		out[0], text = 1, text[1:]
	}
	var h, m, s, us uint32
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	if n, err := fmt.Sscanf(string(whole), "%d:%d:%d", &h, &m, &s); err != nil || n != 3 || m > 59 || s > 59 {
		return nil, false
	}
	for i := range 6 {
		us *= 10
		if i < len(fraction) {
			us += uint32(fraction[i] - '0')
		}
	}
	binary.LittleEndian.PutUint32(out[1:], h/24)
	out[5], out[6], out[7] = byte(h%24), byte(m), byte(s)
	if us > 0 {
		out = binary.LittleEndian.AppendUint32(out, us)
	}
	return out, true
}

// restoreCase gives tables their names as the statement spells them: the engine folds aliases to lower case, and a driver that
// names columns by table and column, or an application that asks for it, does not find them.
func restoreCase(fields []*querypb.Field, query string) {
	for i, f := range fields {
		if f.Table == "" || i > 0 && fields[i-1].Table == f.Table {
			continue
		}
		if spelled, ok := parse.Spelling(query, f.Table); ok && spelled != f.Table {
			folded := f.Table
			for _, g := range fields[i:] {
				if g.Table == folded {
					g.Table = spelled
				}
			}
		}
	}
}

// doubleText writes a double as MySQL does: without an exponent between 1e-15 and 1e15, else with one that has neither plus nor
// leading zeros.
func doubleText(text []byte) []byte {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return text
	}
	if a := math.Abs(f); a >= 1e-15 && a < 1e15 || a == 0 {
		return strconv.AppendFloat(nil, f, 'f', -1, 64)
	}
	out := strconv.AppendFloat(nil, f, 'e', -1, 64)
	mantissa, exponent, _ := bytes.Cut(out, []byte("e"))
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return append(append(mantissa[:len(mantissa):len(mantissa)], "e"+sign...), bytes.TrimLeft(exponent, "+-0")...)
}

// timeText gives a time as many digits of a fraction as its column has.
func timeText(text []byte, digits int) []byte {
	point := bytes.IndexByte(text, '.')
	if point < 0 {
		text = append(append(make([]byte, 0, len(text)+7), text...), '.')
		point = len(text) - 1
	}
	if want := point + 1 + digits; len(text) > want {
		text = text[:want]
	} else {
		text = append(text[:len(text):len(text)], bytes.Repeat([]byte{'0'}, want-len(text))...)
	}
	return text
}

// floatText writes a number with so many digits behind the point.
func floatText(text []byte, digits int) []byte {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return text
	}
	return strconv.AppendFloat(nil, f, 'f', digits, 64)
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
