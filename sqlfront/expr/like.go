package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// Like is a LIKE under a collation that pads. LIKE itself never pads, so it is not the = that the library makes of a pattern without
// wildcards, and what it finds may be less than the text before the first wildcard: 'x\t' LIKE 'x%', but 'x\t' < 'x'.
type Like struct{ *expression.Like }

var (
	_ sql.Expression         = (*Like)(nil)
	_ sql.CollationCoercible = (*Like)(nil)
)

// WithChildren implements sql.Expression.
func (l *Like) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := l.Like.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &Like{e.(*expression.Like)}, nil
}

// newLike is text LIKE pattern.
func newLike(ctx *sql.Context, text, pattern, escape sql.Expression) sql.Expression {
	like := expression.NewLike(text, pattern, escape)
	l, ok := like.(*expression.Like)
	if _, padded := Padded(ctx, text, pattern); !ok || !padded {
		return like
	}
	own := &Like{l}
	lit, ok := pattern.(*expression.Literal)
	_, isColumn := text.(*expression.GetField)
	if !ok || !isColumn || escape != nil {
		return own
	}
	if s, ok := lit.Value().(string); ok && s != "" && !strings.ContainsAny(s, `%_\`) {
		// For the choice of an index; rows are looked at.
		return expression.NewAnd(expression.NewEquals(text, expression.NewLiteral(strings.TrimRight(s, " "), pattern.Type(ctx))), own)
	}
	return own
}
