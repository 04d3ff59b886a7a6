package resultset

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/charset"
	"moka/sqlfront/mysqlproto"
)

// Options say of columns what the engine's types do not know.
type Options struct {
	// TinyInt1 says whether a column is declared TINYINT(1), which drivers take for a boolean by its
	// length. Default: no column is.
	TinyInt1 func(db, table, column string) bool
	// Digits is how many digits behind the point a TIMESTAMP, TIME, FLOAT or DOUBLE column was declared
	// with; ok is false for a column that has no such declaration, or is none. Default: no column has.
	Digits func(db, table, column string) (n int, ok bool)
}

// Head is what the columns of a result are.
type Head struct {
	// Fields are the columns with MySQL's metadata.
	Fields  []*querypb.Field
	columns []column
	codec   *charset.Codec
	packed  []byte // their packets, the one with their number first; see mysqlproto.Writer.Packets
}

// Result is the result of a statement whose rows are all there; without a Head it has none.
type Result struct {
	Head *Head
	Rows []sql.Row

	Affected, InsertID uint64
	Info               string
}

// Describe makes the head of a result from what the engine says of it. query, if it is not empty, is the
// statement, in which names of tables are looked for as they are spelled there. codec encodes texts and
// names; nil for UTF-8.
func (o *Options) Describe(ctx *sql.Context, schema sql.Schema, query string, codec *charset.Codec) *Head {
	fields := describe(ctx, schema)
	if query != "" {
		origins(fields, query)
	}
	o.complete(fields)
	if query != "" {
		restoreCase(fields, query)
	}
	of := make([]sql.Type, len(schema))
	for i, c := range schema {
		of[i] = c.Type
	}
	return newHead(ctx, fields, of, codec)
}

// NewHead makes the head of a result of columns that are described.
func NewHead(ctx *sql.Context, fields []*querypb.Field, of []sql.Type) *Head {
	return newHead(ctx, fields, of, nil)
}

func newHead(ctx *sql.Context, fields []*querypb.Field, of []sql.Type, codec *charset.Codec) *Head {
	h := &Head{Fields: fields, columns: make([]column, len(fields)), codec: codec}
	h.packed = mysqlproto.Pack(nil, mysqlproto.AppendInt(nil, uint64(len(fields))))
	for i, f := range fields {
		shortenNames(f)
		if codec != nil {
			encodeNames(codec, f)
		}
		h.columns[i] = newColumn(ctx, f, of[i], codec)
		c := protocolColumn(f)
		h.packed = mysqlproto.Pack(h.packed, c.Append(nil, false))
	}
	return h
}

// Packed are the packets that begin the result, for mysqlproto.Writer.Packets: the number of columns, and
// each one's definition.
func (h *Head) Packed() []byte { return h.packed }

// Column is a column's definition.
func (h *Head) Column(i int) mysqlproto.Column { return protocolColumn(h.Fields[i]) }

func protocolColumn(f *querypb.Field) mysqlproto.Column {
	typ, _ := sqltypes.TypeToMySQL(f.Type)
	return mysqlproto.Column{
		Schema: f.Database, Table: f.Table, OrgTable: f.OrgTable, Name: f.Name, OrgName: f.OrgName,
		Charset: uint16(f.Charset), Length: f.ColumnLength, Type: mysqlproto.Type(typ),
		Flags: uint16(f.Flags), Decimals: byte(f.Decimals),
	}
}

// longestName is how many characters of a name clients get, as of MySQL: the name of an expression is its
// text.
const longestName = 256

// shortenNames cuts names, which are copied: a part of a statement's text keeps all of it.
func shortenNames(f *querypb.Field) {
	for _, name := range []*string{&f.Name, &f.OrgName, &f.Table, &f.OrgTable, &f.Database} {
		n, end := 0, len(*name)
		for at := range *name {
			if n == longestName {
				end = at
				break
			}
			n++
		}
		*name = strings.Clone((*name)[:end])
	}
}

func encodeNames(codec *charset.Codec, f *querypb.Field) {
	for _, name := range []*string{&f.Name, &f.OrgName, &f.Table, &f.OrgTable, &f.Database} {
		*name = string(codec.Encode([]byte(*name)))
	}
	if isText(f) {
		f.Charset = uint32(codec.Collation())
	}
}

// isText reports whether a column has texts, which have a character set.
func isText(f *querypb.Field) bool {
	return f.Charset != charsetBinary && (sqltypes.IsText(f.Type) || f.Type == sqltypes.Enum ||
		f.Type == sqltypes.Set ||
		f.Type == sqltypes.TypeJSON)
}

// describe is what the engine's schema says of columns.
func describe(ctx *sql.Context, schema sql.Schema) []*querypb.Field {
	results := ctx.GetCharacterSetResults()
	fields := make([]*querypb.Field, len(schema))
	for i, c := range schema {
		set := uint32(sql.Collation_Default.CharacterSet())
		if t, ok := c.Type.(sql.TypeWithCollation); ok {
			set = uint32(t.Collation().CharacterSet())
		}
		if types.IsBinaryType(c.Type) {
			set = uint32(sql.Collation_binary)
		} else if results != sql.CharacterSet_Unspecified {
			set = uint32(results)
		}
		var flags querypb.MySqlFlag
		for _, f := range []struct {
			on   bool
			flag querypb.MySqlFlag
		}{
			{!c.Nullable, querypb.MySqlFlag_NOT_NULL_FLAG}, {c.AutoIncrement,
				querypb.MySqlFlag_AUTO_INCREMENT_FLAG},
			{c.PrimaryKey, querypb.MySqlFlag_PRI_KEY_FLAG}, {types.IsUnsigned(c.Type),
				querypb.MySqlFlag_UNSIGNED_FLAG},
		} {
			if f.on {
				flags |= f.flag
			}
		}
		f := &querypb.Field{
			Name: c.Name, OrgName: c.Name, Table: c.Source, OrgTable: c.Source, Database: c.DatabaseSource,
			Type:    c.Type.Type(),
			Charset: set, ColumnLength: c.Type.MaxTextResponseByteLength(ctx), Flags: uint32(flags),
		}
		if d, ok := c.Type.(sql.DecimalType); ok && types.IsDecimal(c.Type) {
			f.Decimals = uint32(d.Scale())
		} else if d, ok := c.Type.(sql.DatetimeType); ok && (types.IsDatetimeType(c.Type) ||
			types.IsTimestampType(c.Type) && d.Precision() < 6) { // with six it may be one of the library's
			f.Decimals = uint32(d.Precision())
		}
		fields[i] = f
	}
	return fields
}
