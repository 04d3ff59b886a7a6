package cast

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
)

// Introduced is what _latin1 x'e4' stands for: a text of bytes in a character set, whose collation it is.
func Introduced(ctx *sql.Context, set, collation string, e sql.Expression) (sql.Expression, error) {
	id, err := sql.ParseCharacterSet(set)
	if err != nil {
		return nil, err
	}
	if !charset.Storable(id) {
		return nil, charset.Unknown(id)
	}
	of := id.DefaultCollation()
	if collation != "" {
		if of, err = sql.ParseCollation("", collation, false); err != nil {
			return nil, err
		}
		if of.CharacterSet() != id {
			return nil, sql.ErrCollationInvalidForCharSet.New(of.Name(), id.Name())
		}
	}
	v, err := e.Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	b, ok := v.([]byte)
	if !ok {
		return nil, sql.ErrCharSetIntroducer.New()
	}
	if id == sql.CharacterSet_binary {
		return expression.NewLiteral(b, types.LongBlob), nil
	}
	text, ok := charset.Text(id, b)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidCharacterString, "%s", charset.Malformed(id, b))
	}
	return expression.NewLiteral(text, types.CreateLongText(of)), nil
}
