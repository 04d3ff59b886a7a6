package namedlock

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// session is a SQL session that can have named locks.
type session interface{ NamedLocks() *Held }

// Functions are MySQL's locking functions, over l. Each is computed where and as often as a row is: the
// caller has to see to that.
func (l *Locks) Functions() []sql.Function {
	return []sql.Function{
		l.function("get_lock", types.Int64, 2, func(ctx *sql.Context, h *Held, args []any) (any, error) {
			name, err := fold(args[0])
			if err != nil {
				return nil, err
			}
			seconds, _, err := types.Int64.Convert(ctx, args[1])
			if err != nil {
				return nil, err
			}
			got, err := h.acquire(ctx, l, ctx.ID(), name, timeout(seconds))
			return number(got), err
		}),
		l.function("release_lock", types.Int64, 1, func(ctx *sql.Context, h *Held, args []any) (any, error) {
			name, err := fold(args[0])
			if err != nil {
				return nil, err
			}
			if own, err := h.release(ctx, name); own || err != nil {
				return number(own), err
			}
			if _, used, err := l.holder(ctx, name); used || err != nil {
				return int64(0), err
			}
			return nil, nil // there is no such lock
		}),
		l.function("is_free_lock", types.Int64, 1, func(ctx *sql.Context, _ *Held, args []any) (any, error) {
			name, err := fold(args[0])
			if err != nil {
				return nil, err
			}
			_, used, err := l.holder(ctx, name)
			return number(!used), err
		}),
		l.function("is_used_lock", types.Uint64, 1, func(ctx *sql.Context, _ *Held, args []any) (any, error) {
			name, err := fold(args[0])
			if err != nil {
				return nil, err
			}
			connection, used, err := l.holder(ctx, name)
			if !used || err != nil {
				return nil, err
			}
			return uint64(connection), nil
		}),
		l.function("release_all_locks", types.Uint64, 0,
			func(ctx *sql.Context, h *Held, _ []any) (any, error) {
				n, err := h.ReleaseAll(ctx)
				return uint64(n), err
			}),
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// timeout is the second argument of GET_LOCK: NULL is 0, a negative one waits for ever.
func timeout(seconds any) time.Duration {
	s, _ := seconds.(int64)
	return time.Duration(min(s, math.MaxInt64/int64(time.Second))) * time.Second
}

func (l *Locks) function(name string, t sql.Type, args int,
	eval func(*sql.Context, *Held, []any) (any, error)) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(_ *sql.Context, es ...sql.Expression) (sql.Expression, error) {
		if len(es) != args {
			return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), args, len(es))
		}
		return &call{name, t, es, eval}, nil
	}}
}

// call is a call of a locking function.
type call struct {
	name string
	t    sql.Type
	args []sql.Expression
	eval func(ctx *sql.Context, h *Held, args []any) (any, error)
}

var (
	_ sql.FunctionExpression         = (*call)(nil)
	_ sql.CollationCoercible         = (*call)(nil)
	_ sql.NonDeterministicExpression = (*call)(nil)
)

// Eval implements sql.Expression.
func (c *call) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	s, ok := ctx.Session.(session)
	if !ok {
		return nil, fmt.Errorf("%s: the session has no named locks", c.name)
	}
	vs := make([]any, len(c.args))
	for i, e := range c.args {
		v, err := e.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if i == 0 && v != nil {
			if v, _, err = types.LongText.Convert(ctx, v); err != nil {
				return nil, err
			}
		}
		vs[i] = v
	}
	return c.eval(ctx, s.NamedLocks(), vs)
}

// FunctionName implements sql.FunctionExpression.
func (c *call) FunctionName() string { return c.name }

// Description implements sql.FunctionExpression.
func (c *call) Description() string { return "a named lock, the same on all SQL nodes." }

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (*call) IsNonDeterministic() bool { return true }

// Resolved implements sql.Expression.
func (c *call) Resolved() bool {
	for _, e := range c.args {
		if !e.Resolved() {
			return false
		}
	}
	return true
}

// String implements fmt.Stringer.
func (c *call) String() string {
	var args []string
	for _, e := range c.args {
		args = append(args, e.String())
	}
	return c.name + "(" + strings.Join(args, ",") + ")"
}

// Type implements sql.Expression.
func (c *call) Type(*sql.Context) sql.Type { return c.t }

// IsNullable implements sql.Expression.
func (*call) IsNullable(*sql.Context) bool { return true }

// Children implements sql.Expression.
func (c *call) Children() []sql.Expression { return c.args }

// WithChildren implements sql.Expression.
func (c *call) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(c.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(children), len(c.args))
	}
	return &call{c.name, c.t, children, c.eval}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (*call) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}
