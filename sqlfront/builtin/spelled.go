package builtin

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
)

// ofBytes are the functions that ask for a text's bytes in its character set. The library's panics, or is an
// error, at a character that the set does not have: a literal has any, whatever the set of the connection,
// and so one account's trigger ended the connections of those who wrote to its table.
var ofBytes = map[string]func(*sql.Context, sql.Expression) sql.Expression{
	"length": function.NewLength, "octet_length": function.NewLength, "to_base64": function.NewToBase64,
}

// spelled is a text with '?' for what its character set does not have, as MySQL makes it.
type spelled struct {
	expression.UnaryExpressionStub
	set sql.CharacterSetID
}

// spell returns the text with its set's characters alone; what is no text, or has all characters, as it is.
func spell(ctx *sql.Context, e sql.Expression) sql.Expression {
	if set, ok := setOfText(ctx, e); ok {
		return &spelled{expression.UnaryExpressionStub{Child: e}, set}
	}
	return e
}

// Eval implements sql.Expression.
func (s *spelled) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := s.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if text, ok := v.(string); ok && err == nil {
		return spelledIn(ctx, s.set, text)
	}
	return v, err
}

func spelledIn(ctx *sql.Context, set sql.CharacterSetID, text string) (any, error) {
	text, _, err := charset.Spelled(ctx, set, text)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	return text, nil
}

// Type implements sql.Expression.
func (s *spelled) Type(ctx *sql.Context) sql.Type { return s.Child.Type(ctx) }

func (s *spelled) String() string { return s.Child.String() }

// CollationCoercibility implements sql.CollationCoercible.
func (s *spelled) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, s.Child)
}

// WithChildren implements sql.Expression.
func (s *spelled) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(children), 1)
	}
	if again, ok := children[0].(*spelled); ok {
		return again, nil
	}
	return &spelled{expression.UnaryExpressionStub{Child: children[0]}, s.set}, nil
}
