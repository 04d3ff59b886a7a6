package engine

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
	"moka/sqlfront/rights"
)

// bounded is a function that makes long strings out of short arguments: REPEAT('x', 10000000000) would take all memory there is. As
// in MySQL, a result longer than max_allowed_packet is NULL, with warning 1301.
type bounded struct {
	sql.Expression // the library's, over the same arguments
	name           string
	count          int // the argument that says how long
	unit           int // the argument that is repeated, -1 if it is one character
}

var (
	_ sql.FunctionExpression = (*bounded)(nil)
	_ sql.FunctionProvider   = (*provider)(nil)
)

// Function implements sql.FunctionProvider; it is asked before the library's own functions.
func (p *provider) Function(ctx *sql.Context, schema, name string) (sql.Function, bool) {
	name = strings.ToLower(name)
	var in *rights.Stored
	if s := sessionOf(ctx); s != nil {
		in = s.callee(name)
	}
	if f, ok := p.funcs[name]; ok {
		return f, true
	}
	f, ok := boundedFunction(name)
	if f, ok = expr.CollatedFunction(name, f, ok); ok {
		return f, true
	}
	if schema == "" && native(name) {
		return nil, false
	}
	if f, ok := p.storedFunction(ctx, in, schema, name); ok {
		return f, true
	}
	return goneFromView(ctx, name)
}

// goneFromView is the function that a view calls and the client does not, and that is not there any more.
func goneFromView(ctx *sql.Context, name string) (sql.Function, bool) {
	if ctx == nil || ctx.Session == nil {
		return nil, false
	}
	s := sessionOf(ctx)
	if s == nil || ctx.Query() == "" || s.reads.text == "" {
		return nil, false
	}
	call := regexp.MustCompile("(?i)\\b" + regexp.QuoteMeta(name) + "`?\\s*\\(")
	if call.MatchString(ctx.Query()) || !call.MatchString(s.reads.text) {
		return nil, false
	}
	view := s.reads
	return sql.FunctionN{Name: name, Fn: func(*sql.Context, ...sql.Expression) (sql.Expression, error) {
		return nil, sql.ErrInvalidRefInView.New(view.Database, view.View)
	}}, true
}

func boundedFunction(name string) (sql.Function, bool) {
	switch name {
	case "repeat":
		return sql.Function2{Name: "repeat", Fn: func(ctx *sql.Context, s, n sql.Expression) sql.Expression {
			return &bounded{function.NewRepeat(ctx, s, n), "repeat", 1, 0}
		}}, true
	case "space":
		return sql.Function1{Name: "space", Fn: func(ctx *sql.Context, n sql.Expression) sql.Expression {
			return &bounded{function.NewSpace(ctx, n), "space", 0, -1}
		}}, true
	}
	for _, of := range []func(string) (sql.Function, bool){typedFunction, computedFunction, clockFunction, spatialReader} {
		if f, ok := of(name); ok {
			return f, true
		}
	}
	return growing(name)
}

// native reports whether the library has a function of the name, which then goes before a stored one.
func native(name string) bool {
	return natives()[name]
}

var natives = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, f := range function.BuiltIns {
		names[strings.ToLower(f.FunctionName())] = true
	}
	return names
})

func (b *bounded) FunctionName() string { return b.name }
func (b *bounded) Description() string  { return "a string of at most max_allowed_packet bytes." }

// WithChildren implements sql.Expression.
func (b *bounded) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := b.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &bounded{e, b.name, b.count, b.unit}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (b *bounded) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, b.Expression)
}

// Eval implements sql.Expression. Arguments are evaluated once: a second time they might say something else.
func (b *bounded) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := b.Children()
	values := make([]any, len(args))
	literals := make([]sql.Expression, len(args))
	for i, a := range args {
		v, err := a.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		values[i], literals[i] = v, expression.NewLiteral(v, a.Type(ctx))
	}
	if values[b.count] != nil {
		n, _, err := types.Int64.Convert(ctx, values[b.count])
		if err == nil {
			unit := int64(1)
			if b.unit >= 0 {
				if s, _, err := types.LongText.Convert(ctx, values[b.unit]); err == nil {
					if s, err := sql.UnwrapAny(ctx, s); err == nil {
						if text, ok := s.(string); ok {
							unit = int64(len(text))
						}
					}
				}
			}
			if b.name == "repeat" && n.(int64) < 0 && values[b.unit] != nil {
				return "", nil
			}
			if limit := expr.MaxPacket(ctx); unit > 0 && n.(int64) > limit/unit {
				ctx.Warn(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", b.name, limit)
				return nil, nil
			}
		}
	}
	e, err := b.Expression.WithChildren(ctx, literals...)
	if err != nil {
		return nil, err
	}
	return e.Eval(ctx, row)
}
