package wire

import (
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/charset"
)

// A client that has said SET NAMES latin1, or another set that is not Unicode's, sends and gets texts in it. They are translated here, at
// the edge: a statement before anything looks for quotes in it (the second byte of a character of gbk or sjis may be one), the values of
// a prepared one, then rows, names of columns and messages.
//
// What a client says in its handshake alone is not taken at its word: see greeter.

// codec is the codec that a variable of the session names.
func (c *connection) codec(variable string) *charset.Codec {
	if c.session == nil {
		return nil
	}
	v, err := c.session.GetSessionVariable(nil, variable)
	if err != nil {
		return nil
	}
	name, _ := v.(string)
	codec, _ := charset.Of(name) // SET refuses what is unknown
	return codec
}

// decode returns a statement in UTF-8. What is left of a text of several statements comes again, decoded.
func (c *connection) decode(query string) string {
	codec := c.limit().client
	if codec == nil || query == c.decoded {
		return query
	}
	return codec.Decode(query)
}

// decodeValues decodes what a prepared statement is run with, of the types MYSQL_TYPE_STRING and VAR_STRING; those of BLOBs are
// bytes. The statement's text was decoded when it came.
func (c *connection) decodeValues(prepare *mysql.PrepareData) {
	codec := c.limit().client
	if codec == nil {
		return
	}
	for i, typ := range prepare.ParamsType {
		if v := prepare.BindVars[paramName(i)]; v != nil && (typ == int32(sqltypes.Char) || typ == int32(sqltypes.VarChar)) {
			v.Value = []byte(codec.Decode(string(v.Value)))
		}
	}
}

// encode gives the client a result in its character set: names of columns, and the texts of columns that are not binary.
func (c *connection) encode(codec *charset.Codec, r *sqltypes.Result, head bool) {
	for i, f := range r.Fields {
		if head {
			c.encodeField(codec, f)
		}
		if !isText(f) {
			continue
		}
		for _, row := range r.Rows {
			if i < len(row) && !row[i].IsNull() {
				row[i] = sqltypes.MakeTrusted(row[i].Type(), codec.Encode(row[i].Raw()))
			}
		}
	}
}

func (c *connection) encodeField(codec *charset.Codec, f *querypb.Field) {
	for _, name := range []*string{&f.Name, &f.OrgName, &f.Table, &f.OrgTable, &f.Database} {
		*name = string(codec.Encode([]byte(*name)))
	}
	if isText(f) {
		f.Charset = uint32(codec.Collation())
	}
}

// encodeError gives the client a message in its character set.
func (c *connection) encodeError(e *mysql.SQLError) *mysql.SQLError {
	results := c.limit().results
	if results == nil {
		return e
	}
	encoded := *e
	encoded.Message = string(results.Encode([]byte(e.Message)))
	return &encoded
}

// isText reports whether a column has texts, which have a character set.
func isText(f *querypb.Field) bool {
	return f.Charset != charsetBinary && (sqltypes.IsText(f.Type) || f.Type == sqltypes.Enum || f.Type == sqltypes.Set ||
		f.Type == sqltypes.TypeJSON)
}
