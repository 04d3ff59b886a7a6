package builtin

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
)

// convertUsing is CONVERT(… USING …). go-mysql-server's makes bytes of the other character set, which
// everything else takes for UTF-8, and an empty text of a number.
type convertUsing struct{ *expression.ConvertUsing }

var (
	_ sql.Expression         = convertUsing{}
	_ sql.CollationCoercible = convertUsing{}
)

// Type implements sql.Expression.
func (c convertUsing) Type(ctx *sql.Context) sql.Type {
	if t := c.Child.Type(ctx); types.IsTextOnly(t) { // asked once: it may have as long a way
		if text, ok := t.(sql.TypeWithCollation); ok {
			t, _ = text.WithNewCollation(c.TargetCharSet.DefaultCollation())
		}
		return t
	}
	if c.TargetCharSet == sql.CharacterSet_binary {
		return types.LongBlob
	}
	return types.CreateLongText(c.TargetCharSet.DefaultCollation())
}

// Eval implements sql.Expression.
func (c convertUsing) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if g, ok := v.(types.GeometryValue); ok { // to MySQL a geometry is bytes
		v = g.Serialize()
	}
	text, ok := v.(string)
	switch b := v.(type) {
	case string:
	case []byte: // bytes of the other character set
		if c.TargetCharSet == sql.CharacterSet_binary {
			return b, nil
		}
		out, ok := charset.Text(c.TargetCharSet, b)
		if !ok {
			ctx.Warn(sqlerr.InvalidCharacterString, "%s", charset.Malformed(c.TargetCharSet, b))
			return nil, nil
		}
		return out, nil
	default:
		if v, _, err = types.LongText.Convert(ctx, v); err != nil {
			return nil, err
		}
		if text, ok = v.(string); !ok {
			return nil, nil
		}
	}
	switch c.TargetCharSet {
	case sql.CharacterSet_binary, sql.CharacterSet_utf8mb4, sql.CharacterSet_utf16,
		sql.CharacterSet_utf32:
		return text, nil
	}
	return spelledIn(ctx, c.TargetCharSet, text)
}

// WithChildren implements sql.Expression.
func (c convertUsing) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.ConvertUsing.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return convertUsing{e.(*expression.ConvertUsing)}, nil
}

// NewConvertUsing is CONVERT(… USING …) for go-mysql-server's.
func NewConvertUsing(e *expression.ConvertUsing) sql.Expression { return convertUsing{e} }

// charUsing is CHAR(… USING …).
type charUsing struct {
	convertUsing
	typ sql.Type
}

// NewCharUsing is CHAR(… USING …). It takes the name of the character set and the numbers.
func NewCharUsing(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) < 2 {
		return nil, sql.ErrInvalidArgumentNumber.New("CHAR", "1 or more", 0)
	}
	name, ok := args[0].(*expression.Literal)
	if !ok {
		return nil, sql.ErrInvalidArgumentDetails.New("CHAR", args[0].String())
	}
	set, err := sql.ParseCharacterSet(fmt.Sprint(name.Value()))
	if err != nil {
		return nil, err
	}
	if !charset.Storable(set) {
		return nil, charset.Unknown(set)
	}
	typ, err := types.CreateString(sqltypes.VarChar, 4*int64(len(args)-1), set.DefaultCollation())
	if err != nil {
		return nil, err
	}
	char, err := function.NewChar(ctx, args[1:]...)
	if err != nil {
		return nil, err
	}
	return charUsing{convertUsing{expression.NewConvertUsing(char, set)}, typ}, nil
}

// Type implements sql.Expression.
func (c charUsing) Type(*sql.Context) sql.Type { return c.typ }

// String implements sql.Expression.
func (c charUsing) String() string {
	return strings.TrimSuffix(c.Child.String(), ")") + " USING " + c.TargetCharSet.Name() + ")"
}

// WithChildren implements sql.Expression.
func (c charUsing) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.convertUsing.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return charUsing{e.(convertUsing), c.typ}, nil
}
