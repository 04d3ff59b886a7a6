package builtin

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"moka/sqlfront/rowenc"
)

// maxTextDepth bounds parentheses within parentheses in what the library's recursive parser of well-known
// text gets to read.
const maxTextDepth = 64

// SpatialReader returns the library's function of that name, if it makes a geometry of bytes or text, with
// its argument looked at first.
func SpatialReader(name string) (sql.Function, bool) {
	if !strings.HasPrefix(name, "st_") {
		return nil, false
	}
	check := checkWKT
	switch {
	case strings.HasSuffix(name, "fromwkb"):
		check = func(v any) bool { b, ok := v.([]byte); return !ok || rowenc.CheckWKB(b) == nil }
	case !strings.HasSuffix(name, "fromtext") && !strings.HasSuffix(name, "fromtxt"):
		return nil, false
	}
	i := slices.IndexFunc(function.BuiltIns, func(f sql.Function) bool { return f.FunctionName() == name })
	if i < 0 {
		return nil, false
	}
	read, ok := function.BuiltIns[i].(sql.FunctionN)
	if !ok {
		return nil, false
	}
	checked := func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) > 0 {
			first := &geometryInput{expression.UnaryExpressionStub{Child: args[0]}, name, check}
			args = append([]sql.Expression{first}, args[1:]...)
		}
		return read.Fn(ctx, args...)
	}
	return sql.FunctionN{Name: name, Fn: checked}, true
}

func checkWKT(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true // the function says what it thinks of it
	}
	depth := 0
	for _, c := range []byte(s) {
		switch c {
		case '(':
			if depth++; depth > maxTextDepth {
				return false
			}
		case ')':
			depth--
		}
	}
	return true
}

// geometryInput is the argument of a function that makes a geometry of it.
type geometryInput struct {
	expression.UnaryExpressionStub
	name  string
	check func(any) bool
}

func (g *geometryInput) String() string                 { return g.Child.String() }
func (g *geometryInput) Type(ctx *sql.Context) sql.Type { return g.Child.Type(ctx) }

// WithChildren implements sql.Expression.
func (g *geometryInput) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(g, len(children), 1)
	}
	return &geometryInput{expression.UnaryExpressionStub{Child: children[0]}, g.name, g.check}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (g *geometryInput) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, g.Child)
}

// Eval implements sql.Expression.
func (g *geometryInput) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := g.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	if !g.check(v) {
		return nil, sql.ErrInvalidGISData.New(g.name)
	}
	return v, nil
}
