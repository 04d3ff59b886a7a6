package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
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
	text, pattern = bothBinary(ctx, text, pattern)
	like := expression.NewLike(text, pattern, escape)
	l, ok := like.(*expression.Like)
	_, padded := Padded(ctx, text, pattern)
	lit, isLiteral := pattern.(*expression.Literal)
	var written string
	if isLiteral {
		written, isLiteral = lit.Value().(string)
	}
	// The library takes a pattern without wildcards, or with one at its end, for a comparison, and the escapes in it for characters.
	escaped := isLiteral && escape == nil && strings.Contains(written, `\`)
	if !ok || !padded && !escaped {
		return like
	}
	own := &Like{l}
	if _, isColumn := text.(*expression.GetField); !isLiteral || !isColumn || escape != nil {
		return own
	}
	// For the choice of an index; rows are looked at.
	prefix, rest := literalPrefix(written)
	switch {
	case prefix == "":
	case rest == "" && padded:
		return expression.NewAnd(expression.NewEquals(text, expression.NewLiteral(strings.TrimRight(prefix, " "), pattern.Type(ctx))), own)
	case rest == "":
		return expression.NewAnd(expression.NewEquals(text, expression.NewLiteral(prefix, pattern.Type(ctx))), own)
	case !padded:
		return expression.NewAnd(expression.NewGreaterThanOrEqual(text, expression.NewLiteral(prefix, pattern.Type(ctx))), own)
	}
	return own
}

// WithEscapes is a LIKE of the library that hears the escapes of its pattern; nil where there are none. The library writes the conditions
// of SHOW … LIKE itself.
func WithEscapes(l *expression.Like) *Like {
	lit, ok := l.RightChild.(*expression.Literal)
	if !ok || l.Escape != nil {
		return nil
	}
	if written, ok := lit.Value().(string); !ok || !strings.Contains(written, `\`) {
		return nil
	}
	return &Like{l}
}

// literalPrefix is what a text starts with that is like the pattern, and the pattern from its first wildcard on.
func literalPrefix(pattern string) (prefix, rest string) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%' || c == '_':
			return b.String(), pattern[i:]
		case c == '\\' && i+1 < len(pattern):
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String(), ""
}

// bothBinary makes both sides of a comparison binary where one is: bytes are compared then, whatever the collation of the other. The
// library prefers that of a column.
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
