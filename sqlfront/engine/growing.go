package engine

import (
	"moka/sqlfront/expr"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// grower is a function whose result is about as long as its arguments together, or a small multiple of that: harmless once, and
// CONCAT(CONCAT(x, x), CONCAT(x, x)) is not. As with bounded, a result longer than max_allowed_packet is NULL, with warning 1301;
// of few arguments it is looked at afterwards, which costs nothing; otherwise it is known beforehand how long it will be.
type grower struct {
	sql.Expression // the library's, over the same arguments
	name           string
	length         func(args []string) int64
}

var _ sql.FunctionExpression = (*grower)(nil)

// growing returns the function of that name, if it is one that grows.
func growing(name string) (sql.Function, bool) {
	sum := func(args []string) (n int64) {
		for _, a := range args {
			n += int64(len(a))
		}
		return n
	}
	times := func(k int64) func([]string) int64 {
		return func(args []string) int64 { return k * sum(args) }
	}
	many := func(length func([]string) int64, make func(*sql.Context, ...sql.Expression) (sql.Expression, error)) (sql.Function, bool) {
		return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			e, err := make(ctx, args...)
			if err != nil {
				return nil, err
			}
			return &grower{e, name, length}, nil
		}}, true
	}
	one := func(length func([]string) int64, make func(*sql.Context, sql.Expression) sql.Expression) (sql.Function, bool) {
		return sql.Function1{Name: name, Fn: func(ctx *sql.Context, arg sql.Expression) sql.Expression {
			return &grower{make(ctx, arg), name, length}
		}}, true
	}
	switch name {
	case "concat":
		return many(sum, function.NewConcat)
	case "concat_ws":
		return many(func(args []string) int64 {
			if len(args) == 0 {
				return 0
			}
			return sum(args) + int64(len(args[0]))*int64(max(0, len(args)-3))
		}, function.NewConcatWithSeparator)
	case "hex":
		return one(times(2), function.NewHex)
	case "to_base64":
		return one(func(args []string) int64 { return 4 * (sum(args) + 2) / 3 }, function.NewToBase64)
	case "quote":
		return one(sum, function.NewQuote)
	case "replace":
		return sql.Function3{Name: name, Fn: func(ctx *sql.Context, a, b, c sql.Expression) sql.Expression {
			return &grower{function.NewReplace(ctx, a, b, c), name, func(args []string) int64 {
				if len(args) != 3 || args[1] == "" {
					return 0
				}
				return int64(len(args[0])) + int64(strings.Count(args[0], args[1]))*int64(len(args[2])-len(args[1]))
			}}
		}}, true
	}
	return nil, false
}

func (g *grower) FunctionName() string { return g.name }
func (g *grower) Description() string  { return "a string of at most max_allowed_packet bytes." }

// WithChildren implements sql.Expression.
func (g *grower) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := g.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &grower{e, g.name, g.length}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (g *grower) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, g.Expression)
}

// fewArguments are no danger: each of them is at most a packet.
const fewArguments = 4

// Eval implements sql.Expression. The arguments are evaluated once.
func (g *grower) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := g.Children()
	if len(args) <= fewArguments && g.name != "replace" {
		v, err := g.Expression.Eval(ctx, row)
		if s, ok := v.(string); ok && len(s) > 1<<10 {
			if limit := expr.MaxPacket(ctx); int64(len(s)) > limit {
				return g.tooLong(ctx, limit)
			}
		}
		return v, err
	}
	texts := make([]string, len(args))
	literals := make([]sql.Expression, len(args))
	size := 0
	for i, a := range args {
		v, err := a.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v, err = sql.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		switch v := v.(type) {
		case string:
			texts[i] = v
		case []byte:
			texts[i] = string(v)
		case nil:
		default:
			if text, _, err := types.LongText.Convert(ctx, v); err == nil {
				texts[i], _ = text.(string)
			}
		}
		size += len(texts[i])
		literals[i] = expression.NewLiteral(v, a.Type(ctx))
	}
	if size > 1<<10 { // no function of these makes a packet out of a kilobyte
		if limit := expr.MaxPacket(ctx); g.length(texts) > limit {
			return g.tooLong(ctx, limit)
		}
	}
	e, err := g.Expression.WithChildren(ctx, literals...)
	if err != nil {
		return nil, err
	}
	return e.Eval(ctx, row)
}

func (g *grower) tooLong(ctx *sql.Context, limit int64) (any, error) {
	ctx.Warn(1301, "Result of %s() was larger than max_allowed_packet (%d) - truncated", g.name, limit)
	return nil, nil
}
