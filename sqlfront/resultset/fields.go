package resultset

import (
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/moment"
	"moka/sqlfront/parse"
)

const (
	charsetBinary = 63
	// floatDecimals says "as many digits as there are". With 0 a client that formats by the metadata shows
	// 0.5 as 0.
	floatDecimals = 31
)

// complete gives columns the metadata that MySQL gives them; drivers choose the host language's type by it.
func (o *Options) complete(fields []*querypb.Field) {
	for _, f := range fields {
		_, typeFlags := sqltypes.TypeToMySQL(f.Type)
		// The protocol library takes either the flags of the type or those of the column.
		f.Flags |= uint32(typeFlags)
		switch {
		case f.Type == sqltypes.Float32 || f.Type == sqltypes.Float64:
			f.Decimals = floatDecimals
			if n, ok := o.digits(f); ok {
				f.Decimals = uint32(n)
			}
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG | querypb.MySqlFlag_NUM_FLAG)
		case sqltypes.IsIntegral(f.Type), f.Type == sqltypes.Decimal:
			if f.Database == "" && (f.Type == sqltypes.Int8 || f.Type == sqltypes.Uint8) {
				// Of an expression: MySQL has no small numbers there, and Connector/J takes a TINYINT for
				// a boolean.
				f.Type, f.ColumnLength = sqltypes.Int64, 4
				f.Flags &^= uint32(querypb.MySqlFlag_UNSIGNED_FLAG)
			}
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG | querypb.MySqlFlag_NUM_FLAG)
			if f.Type == sqltypes.Int8 && o.TinyInt1 != nil && o.TinyInt1(f.Database, f.OrgTable, f.OrgName) {
				f.ColumnLength = 1
			}
		case f.Type == sqltypes.Bit:
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_UNSIGNED_FLAG | querypb.MySqlFlag_BINARY_FLAG)
		case f.Type == sqltypes.Date || f.Type == sqltypes.Datetime || f.Type == sqltypes.Timestamp ||
			f.Type == sqltypes.Time || f.Type == sqltypes.Null:
			f.Charset = charsetBinary
			f.Flags |= uint32(querypb.MySqlFlag_BINARY_FLAG)
			if (f.Type == sqltypes.Timestamp || f.Type == sqltypes.Time) && f.Decimals == 0 {
				n, ok := o.digits(f)
				if f.Type == sqltypes.Time && f.ColumnLength >= moment.TimeLength {
					n, ok = int(f.ColumnLength-moment.TimeLength), true
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

func (o *Options) digits(f *querypb.Field) (n int, ok bool) {
	if o.Digits == nil || f.OrgTable == "" {
		return 0, false
	}
	return o.Digits(f.Database, f.OrgTable, f.OrgName)
}

// origins gives columns the table that they come from: the engine knows it by the name that the query
// gives it.
func origins(fields []*querypb.Field, query string) {
	known := map[string]string{}
	for _, f := range fields {
		if f.OrgTable == "" {
			continue
		}
		table, ok := known[f.OrgTable]
		if !ok && (len(known)+1)*len(query) <= mostLooked {
			table, _ = parse.Aliased(query, f.OrgTable)
			known[f.OrgTable] = table
		}
		if table != "" {
			f.OrgTable = table
		}
	}
}

// restoreCase gives tables their names as the statement spells them: the engine folds aliases to lower
// case, and a driver that names columns by table and column, or an application that asks for it, does not
// find them.
func restoreCase(fields []*querypb.Field, query string) {
	known := map[string]string{}
	for _, f := range fields {
		if f.Table == "" {
			continue
		}
		name, ok := known[f.Table]
		if !ok {
			name = f.Table
			if (len(known)+1)*len(query) <= mostLooked {
				if spelled, ok := parse.Spelling(query, f.Table); ok {
					name = spelled
				}
			}
			known[f.Table] = name
		}
		f.Table = name
	}
}

// mostLooked bounds how many bytes of the text are gone through for the names of tables, each of which goes
// through all of it: a tenth of a second.
const mostLooked = 16 << 20
