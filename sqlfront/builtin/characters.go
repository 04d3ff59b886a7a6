package builtin

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
)

// characters is an argument of SUBSTRING, LEFT or RIGHT that counts characters, as an integer that no text is
// as long as: the library adds it to the place where it begins, and what is beyond an int64 by then ended the
// statement. A text that is no number counts as what it begins with, with a warning, as everywhere.
type characters struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*characters)(nil)
	_ sql.CollationCoercible = (*characters)(nil)
)

// counted makes the arguments of a function that count characters so, all but the first.
func counted(args []sql.Expression) []sql.Expression {
	args = slices.Clone(args)
	for i := 1; i < len(args); i++ {
		args[i] = &characters{expression.UnaryExpressionStub{Child: args[i]}}
	}
	return args
}

func (c *characters) String() string             { return c.Child.String() }
func (c *characters) Type(*sql.Context) sql.Type { return types.Int64 }

// CollationCoercibility implements sql.CollationCoercible.
func (*characters) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *characters) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 1)
	}
	return &characters{expression.UnaryExpressionStub{Child: ch[0]}}, nil
}

// Eval implements sql.Expression.
func (c *characters) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	return cast.Characters(ctx, v)
}
