package cast

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// New is CAST(e AS …) to what spec says, "char 3". The library leaves the length out where e has the type
// without one: CAST(longtext AS CHAR(3)) was all of it.
func New(spec string, e sql.Expression) (sql.Expression, error) {
	to, text, _ := strings.Cut(spec, " ")
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	if to == expression.ConvertToBinary {
		return expression.NewConvertWithLengthAndScale(e, to, n, 0), nil
	}
	return &Cut{expression.UnaryExpressionStub{Child: expression.NewConvert(e, to)}, n}, nil
}

// NewCut is the first characters of a text.
func NewCut(characters string, e sql.Expression) (sql.Expression, error) {
	n, err := strconv.Atoi(characters)
	if err != nil {
		return nil, err
	}
	return &Cut{expression.UnaryExpressionStub{Child: e}, n}, nil
}

// Cut is the first n characters of a CAST to a text; the library's cuts bytes.
type Cut struct {
	expression.UnaryExpressionStub
	n int
}

// Type implements sql.Expression.
func (c *Cut) Type(ctx *sql.Context) sql.Type { return c.Child.Type(ctx) }

// String is as the library's: functional indexes are found by it.
func (c *Cut) String() string {
	return strings.TrimSuffix(c.Child.String(), ")") + "(" + strconv.Itoa(c.n) + "))"
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *Cut) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, c.Child)
}

// WithChildren implements sql.Expression.
func (c *Cut) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), 1)
	}
	return &Cut{expression.UnaryExpressionStub{Child: children[0]}, c.n}, nil
}

// Eval implements sql.Expression.
func (c *Cut) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	text, ok := v.(string)
	if !ok || err != nil || len(text) <= c.n {
		return v, err
	}
	n := 0
	for i := range text {
		if n == c.n {
			return text[:i], nil
		}
		n++
	}
	return text, nil
}
