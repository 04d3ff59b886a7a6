package expr

import (
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/wildcard"
)

// Like is a LIKE. The library has its own for patterns without wildcards, or with one % at the end, of which
// it makes comparisons; not under a collation that pads. LIKE itself never pads, so it is not the = that the
// library makes of it, and what it finds may be less than the text before the first wildcard: 'x\t' LIKE
// 'x%', but 'x\t' < 'x'.
type Like struct {
	*expression.Like
	last *atomic.Pointer[wildcard.Pattern] // of the last row: most have the same pattern
}

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
	return ownLike(e.(*expression.Like)), nil
}

func ownLike(l *expression.Like) *Like { return &Like{l, new(atomic.Pointer[wildcard.Pattern])} }

// newLike is text LIKE pattern.
func newLike(ctx *sql.Context, text, pattern, escape sql.Expression) sql.Expression {
	text, pattern = bothBinary(ctx, text, pattern)
	like := expression.NewLike(text, pattern, escape)
	l, ok := like.(*expression.Like)
	_, padded := Padded(ctx, text, pattern)
	lit, isLiteral := pattern.(*expression.Literal)
	var written string
	if isLiteral {
		written, isLiteral = lit.Value().(string)
	}
	// The library takes a pattern without wildcards, or with one at its end, for a comparison, and the
	// escapes in it for characters.
	escaped := isLiteral && escape == nil && strings.Contains(written, `\`)
	if !ok || !padded && !escaped && isLiteral && escape == nil && wildcard.IsPrefix(written) {
		return like
	}
	own := ownLike(l)
	if !padded && !escaped {
		return own
	}
	if _, isColumn := text.(*expression.GetField); !isLiteral || !isColumn || escape != nil {
		return own
	}
	// For the choice of an index; rows are looked at.
	prefix, rest := wildcard.LiteralPrefix(written)
	switch {
	case prefix == "":
	case rest == "" && padded:
		return expression.NewAnd(expression.NewEquals(text,
			expression.NewLiteral(strings.TrimRight(prefix, " "), pattern.Type(ctx))), own)
	case rest == "":
		return expression.NewAnd(expression.NewEquals(text,
			expression.NewLiteral(prefix, pattern.Type(ctx))), own)
	case !padded:
		return expression.NewAnd(expression.NewGreaterThanOrEqual(text,
			expression.NewLiteral(prefix, pattern.Type(ctx))), own)
	}
	return own
}

// Matched is a LIKE of the library, who writes the conditions of SHOW … LIKE itself, that hears the escapes
// of its pattern, and ends; nil where the library's own does.
func Matched(l *expression.Like) *Like {
	lit, ok := l.RightChild.(*expression.Literal)
	if !ok || l.Escape != nil {
		return nil
	}
	written, ok := lit.Value().(string)
	if !ok || !strings.Contains(written, `\`) && wildcard.IsPrefix(written) {
		return nil
	}
	return ownLike(l)
}

// bothBinary makes both sides of a comparison binary where one is: bytes are compared then, whatever the
// collation of the other. The library prefers that of a column.
func bothBinary(ctx *sql.Context, a, b sql.Expression) (sql.Expression, sql.Expression) {
	x, y := a.Type(ctx), b.Type(ctx)
	if types.IsDeferredType(x) || types.IsDeferredType(y) {
		return a, b
	}
	switch {
	case types.IsBinaryType(x) && types.IsTextOnly(y):
		return a, expression.NewBinary(b)
	case types.IsBinaryType(y) && types.IsTextOnly(x):
		return expression.NewBinary(a), b
	}
	return a, b
}
