package expr

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// builtin is a function of ours. Its arguments come to eval as values; if one is NULL the result
// is, unless nulls is set.
type builtin struct {
	name     string
	min, max int // number of arguments
	typ      func(ctx *sql.Context, args []sql.Expression) sql.Type
	eval     func(ctx *sql.Context, c *call, vs []any) (any, error)
	nulls    bool
}

func (b *builtin) function() sql.Function {
	return sql.FunctionN{Name: b.name,
		Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			if len(args) < b.min || len(args) > b.max {
				want := fmt.Sprint(b.min)
				if b.max > b.min {
					want = fmt.Sprintf("%d to %d", b.min, b.max)
				}
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(b.name), want, len(args))
			}
			return &call{b, args}, nil
		}}
}

// call is a call of a function of ours.
type call struct {
	*builtin
	args []sql.Expression
}

var (
	_ sql.FunctionExpression = (*call)(nil)
	_ sql.CollationCoercible = (*call)(nil)
)

// FunctionName implements sql.FunctionExpression.
func (c *call) FunctionName() string { return c.name }

// Description implements sql.FunctionExpression.
func (c *call) Description() string { return "see MySQL's manual." }

// Resolved implements sql.Expression.
func (c *call) Resolved() bool {
	for _, a := range c.args {
		if !a.Resolved() {
			return false
		}
	}
	return true
}

// String implements sql.Expression.
func (c *call) String() string {
	args := make([]string, len(c.args))
	for i, a := range c.args {
		args[i] = a.String()
	}
	return c.name + "(" + strings.Join(args, ",") + ")"
}

// Type implements sql.Expression.
func (c *call) Type(ctx *sql.Context) sql.Type {
	return askType(ctx, c, func(ctx *sql.Context) sql.Type { return c.typ(ctx, c.args) })
}

// IsNullable implements sql.Expression.
func (c *call) IsNullable(*sql.Context) bool { return true }

// Children implements sql.Expression.
func (c *call) Children() []sql.Expression { return c.args }

// WithChildren implements sql.Expression.
func (c *call) WithChildren(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != len(c.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(args), len(c.args))
	}
	return &call{c.builtin, args}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *call) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return askCollation(ctx, c, func(ctx *sql.Context) (sql.CollationID, byte) {
		if !types.IsTextOnly(c.Type(ctx)) {
			return sql.Collation_binary, 5
		}
		return argsCollation(ctx, c.args)
	})
}

// Eval implements sql.Expression.
func (c *call) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	vs := make([]any, len(c.args))
	for i, a := range c.args {
		v, err := a.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if err != nil || v == nil && !c.nulls {
			return nil, err
		}
		vs[i] = v
	}
	return c.eval(ctx, c, vs)
}

// argsCollation is the collation of what a function makes of texts: theirs, the connection's if
// there is none among them.
func argsCollation(ctx *sql.Context, args []sql.Expression) (collation sql.CollationID, strength byte) {
	found := false
	for _, a := range args {
		if !types.IsTextOnly(a.Type(ctx)) {
			continue
		}
		c, k := coercibility(ctx, a)
		if !found {
			collation, strength, found = c, k, true
			continue
		}
		collation, strength = sql.ResolveCoercibility(collation, strength, c, k)
	}
	if !found || strength >= 5 {
		return ctx.GetCollation(), 4
	}
	return collation, strength
}

// binaryArgs reports whether one of the arguments is a binary string: then the result is, and characters are
// bytes.
func binaryArgs(ctx *sql.Context, args []sql.Expression) bool {
	for _, a := range args {
		if types.IsBinaryType(a.Type(ctx)) {
			return true
		}
	}
	return false
}

// textOf is a value as text.
func textOf(ctx *sql.Context, e sql.Expression, v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	t := e.Type(ctx)
	if types.IsEnum(t) || types.IsSet(t) {
		s, _, err := types.ConvertToCollatedString(ctx, v, t)
		return s, err
	}
	out, err := t.SQL(ctx, nil, v)
	if err != nil {
		return types.ConvertToString(ctx, v, types.LongText.(sql.StringType), nil)
	}
	return out.ToString(), nil
}

func textsOf(ctx *sql.Context, c *call, vs []any) ([]string, error) {
	out := make([]string, len(vs))
	for i, v := range vs {
		var err error
		if out[i], err = textOf(ctx, c.args[i], v); err != nil {
			return nil, err
		}
	}
	return out, nil
}
