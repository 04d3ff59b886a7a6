package engine

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/chain"
	"moka/sqlfront/collate"
	"moka/sqlfront/expr"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
)

// condition turns the conjuncts of a filter that a program can say into its language; nil if it can say none. c.whole tells
// whether it can say all of them.
func (c *pushCompiler) condition(filter sql.Expression) (*pushdown.Expr, string) {
	var said []*pushdown.Expr
	var text []string
	c.whole = true
	left := pushdown.MaxNodes / 2 // the program has more than the condition
	for _, e := range expression.SplitConjunction(c.ctx, filter) {
		x := c.expr(e, 0)
		if x == nil || nodes(x) > left {
			c.whole = false
			continue
		}
		left -= nodes(x)
		said = append(said, x)
		text = append(text, e.String())
	}
	switch len(said) {
	case 0:
		return nil, ""
	case 1:
		return said[0], text[0]
	}
	return &pushdown.Expr{Op: pushdown.OpAnd, Args: said}, strings.Join(text, " AND ")
}

// nodes is the size of a condition.
func nodes(x *pushdown.Expr) int {
	n := 1
	for _, a := range x.Args {
		n += nodes(a)
	}
	return n
}

// maxPushedDepth bounds the nesting of a condition, well below what a shard accepts.
const maxPushedDepth = 64

// expr turns an expression into the language of programs, nil if it does not mean exactly the same there.
func (c *pushCompiler) expr(e sql.Expression, depth int) *pushdown.Expr {
	if depth > maxPushedDepth {
		return nil
	}
	list := func(op pushdown.Op, es ...sql.Expression) *pushdown.Expr {
		x := &pushdown.Expr{Op: op}
		for _, e := range es {
			a := c.expr(e, depth+1)
			if a == nil {
				return nil
			}
			x.Args = append(x.Args, a)
		}
		return x
	}
	switch e := e.(type) {
	case *expression.Literal:
		switch v := e.Value().(type) {
		case nil:
			return &pushdown.Expr{Op: pushdown.OpNull}
		case bool:
			if v {
				return &pushdown.Expr{Op: pushdown.OpTrue}
			}
			return &pushdown.Expr{Op: pushdown.OpFalse}
		}
		return nil
	case *expression.And:
		return list(pushdown.OpAnd, chain.Parts[*expression.And](e)...)
	case *expression.Or:
		return list(pushdown.OpOr, chain.Parts[*expression.Or](e)...)
	case *chain.Chain:
		if !e.Or {
			return list(pushdown.OpAnd, e.Parts...)
		}
		x := list(pushdown.OpOr, e.Parts...)
		if x != nil {
			if x.Args = pushdown.FoldIn(x.Args); len(x.Args) == 1 {
				return x.Args[0]
			}
		}
		return x
	case *expression.Not:
		return list(pushdown.OpNot, e.Child)
	case *expression.IsNull:
		if f, ok := e.Child.(*expression.GetField); ok {
			if at, ok := c.column(c.ordinal(f), false); ok {
				return &pushdown.Expr{Op: pushdown.OpIsNull, Column: at}
			}
		}
		return nil
	case *expression.Between:
		low := c.compare(pushdown.GreaterEqual, e.Val, e.Lower)
		high := c.compare(pushdown.LessEqual, e.Val, e.Upper)
		if low == nil || high == nil {
			return nil
		}
		return &pushdown.Expr{Op: pushdown.OpAnd, Args: []*pushdown.Expr{low, high}}
	case *expression.Equals:
		return c.compare(pushdown.Equal, e.Left(), e.Right())
	case *expression.NullSafeEquals:
		return c.compare(pushdown.NullEqual, e.Left(), e.Right())
	case *expression.LessThan:
		return c.compare(pushdown.Less, e.Left(), e.Right())
	case *expression.LessThanOrEqual:
		return c.compare(pushdown.LessEqual, e.Left(), e.Right())
	case *expression.GreaterThan:
		return c.compare(pushdown.Greater, e.Left(), e.Right())
	case *expression.GreaterThanOrEqual:
		return c.compare(pushdown.GreaterEqual, e.Left(), e.Right())
	case *expression.InTuple, *expression.HashInTuple:
		left, right := e.Children()[0], e.Children()[1]
		if collate.IsTextList(c.ctx, e) {
			return c.in(left, right, collate.NewIn(c.ctx, left, right.(expression.Tuple)))
		}
		return c.in(left, right, nil)
	case *collate.In:
		return c.in(e.Left, e.Items, e)
	case *collate.InList:
		return c.in(e.Left, e.Items, nil)
	case *expression.Like:
		return c.like(e)
	case *expr.Like:
		return c.like(e.Like)
	}
	return nil
}

var mirrored = map[pushdown.Relation]pushdown.Relation{
	pushdown.Equal: pushdown.Equal, pushdown.NotEqual: pushdown.NotEqual, pushdown.NullEqual: pushdown.NullEqual,
	pushdown.Less: pushdown.Greater, pushdown.LessEqual: pushdown.GreaterEqual,
	pushdown.Greater: pushdown.Less, pushdown.GreaterEqual: pushdown.LessEqual,
}

// compare is a comparison of a column with a literal, or with a column of the same type.
func (c *pushCompiler) compare(rel pushdown.Relation, left, right sql.Expression) *pushdown.Expr {
	left, right = weighed(left), weighed(right)
	f, ok := left.(*expression.GetField)
	if !ok {
		if f, ok = right.(*expression.GetField); !ok {
			return nil
		}
		rel, left, right = mirrored[rel], right, left
	}
	o := c.ordinal(f)
	at, ok := c.column(o, false)
	if !ok || !c.columns[at].Keys {
		return nil
	}
	t := c.table.pk.Schema[o].Type
	switch r := right.(type) {
	case *expression.Literal:
		if r.Value() == nil {
			if rel == pushdown.NullEqual {
				return &pushdown.Expr{Op: pushdown.OpIsNull, Column: at}
			}
			return &pushdown.Expr{Op: pushdown.OpNull}
		}
		key, ok := c.key(t, f, r)
		if !ok {
			return nil
		}
		return &pushdown.Expr{Op: pushdown.OpCompare, Relation: rel, Column: at, Key: key}
	case *expression.GetField:
		p := c.ordinal(r)
		other, ok := c.column(p, true)
		if !ok || c.columns[at].Type != c.columns[other].Type || !types.TypesEqual(t, c.table.pk.Schema[p].Type) || !comparableColumns(t) {
			return nil
		}
		return &pushdown.Expr{Op: pushdown.OpColumns, Relation: rel, Column: at, Other: other}
	}
	return nil
}

// weighed is the text of a weight: programs compare texts by their keys in any case.
func weighed(e sql.Expression) sql.Expression {
	if w, ok := e.(*expr.Weight); ok {
		return w.Child
	}
	return e
}

func comparableColumns(t sql.Type) bool {
	return types.IsInteger(t) || types.IsDecimal(t) || types.IsTextOnly(t) || t.Type() == sqltypes.Date || t.Type() == sqltypes.Datetime
}

// key returns the key of a literal for comparison with a column; ok is false unless the engine's comparison of the two is
// that of the column's own type, with the literal at its exact place among the column's values.
func (c *pushCompiler) key(t sql.Type, f sql.Expression, l *expression.Literal) ([]byte, bool) {
	lt, v := l.Type(c.ctx), l.Value()
	switch {
	case types.IsInteger(t):
		// Beyond 2^53 the engine compares numbers of different signs as doubles.
		if !types.IsInteger(lt) || !small(v) && types.IsUnsigned(lt) != types.IsUnsigned(t) {
			return nil, false
		}
	case types.IsDecimal(t):
		if !types.IsInteger(lt) && !types.IsDecimal(lt) {
			return nil, false
		}
		d, in, err := types.InternalDecimalType.Convert(c.ctx, v)
		if err != nil || in != sql.InRange {
			return nil, false
		}
		v = d
	case t.Type() == sqltypes.Float64:
		if types.IsInteger(lt) && small(v) {
			d, _, err := types.Float64.Convert(c.ctx, v)
			if err != nil {
				return nil, false
			}
			v = d
		} else if lt.Type() != sqltypes.Float64 {
			return nil, false
		}
	case types.IsTextOnly(t):
		s, ok := t.(sql.StringType)
		if !ok || !types.IsTextOnly(lt) || s.Collation() != comparedCollation(c.ctx, f, l) {
			return nil, false
		}
	case types.IsBinaryType(t):
		switch s := v.(type) {
		case string:
			if !types.IsText(lt) {
				return nil, false
			}
			v = []byte(s)
		case []byte:
		default:
			return nil, false
		}
	case t.Type() == sqltypes.Date, t.Type() == sqltypes.Datetime, isStamp(t):
		if !types.IsTextOnly(lt) && !types.IsTime(lt) {
			return nil, false
		}
		d, in, err := types.DatetimeMaxPrecision.Convert(c.ctx, v)
		when, ok := d.(time.Time)
		if err != nil || in != sql.InRange || !ok {
			return nil, false
		}
		if isStamp(t) {
			// Of a time of day that is one instant this holds for every relation: what is before it is before, whatever comes twice.
			micros, one := c.table.zone.Only(when)
			if !one {
				return nil, false
			}
			when = time.UnixMicro(micros).UTC()
		}
		v = when
	default:
		return nil, false
	}
	return rowenc.KeyOf(c.ctx, t, v)
}

// comparedCollation is the collation under which two expressions are compared.
func comparedCollation(ctx *sql.Context, a, b sql.Expression) sql.CollationID {
	x, kx := sql.GetCoercibility(ctx, a)
	y, ky := sql.GetCoercibility(ctx, b)
	collation, _ := sql.ResolveCoercibility(x, kx, y, ky)
	return collation
}

// small reports whether an integer is below 2^53, so that a double has it exactly.
func small(v any) bool {
	switch v := v.(type) {
	case int64:
		return v > -1<<53 && v < 1<<53
	case uint64:
		return v < 1<<53
	case int:
		return v > -1<<53 && v < 1<<53
	case int8, int16, int32, uint8, uint16, uint32:
		return true
	case float64:
		return math.Abs(v) < 1<<53
	}
	return false
}

// in is IN with a list of literals, of integers or of text.
func (c *pushCompiler) in(left, right sql.Expression, text *collate.In) *pushdown.Expr {
	f, ok := left.(*expression.GetField)
	list, okList := right.(expression.Tuple)
	if !ok || !okList {
		return nil
	}
	o := c.ordinal(f)
	at, ok := c.column(o, true)
	if !ok {
		return nil
	}
	t := c.table.pk.Schema[o].Type
	switch {
	case types.IsInteger(t):
	case text != nil && types.IsTextOnly(t):
		if s, ok := t.(sql.StringType); !ok || s.Collation() != text.Collation {
			return nil
		}
	default:
		return nil
	}
	x := &pushdown.Expr{Op: pushdown.OpIn, Column: at}
	for _, item := range list {
		l, ok := item.(*expression.Literal)
		if !ok {
			return nil
		}
		if l.Value() == nil {
			x.HasNull = true
			continue
		}
		if types.IsInteger(t) && types.IsUnsigned(t) != types.IsUnsigned(l.Type(c.ctx)) && !small(l.Value()) {
			return nil
		}
		key, ok := c.key(t, f, l)
		if !ok {
			return nil
		}
		x.Keys = append(x.Keys, key)
	}
	slices.SortFunc(x.Keys, bytes.Compare)
	x.Keys = slices.CompactFunc(x.Keys, bytes.Equal)
	return x
}

// like is a LIKE that asks for a prefix.
func (c *pushCompiler) like(e *expression.Like) *pushdown.Expr {
	f, ok := e.Left().(*expression.GetField)
	l, okPattern := e.Right().(*expression.Literal)
	if !ok || !okPattern || e.Escape != nil {
		return nil
	}
	o := c.ordinal(f)
	at, ok := c.column(o, true)
	pattern, okText := l.Value().(string)
	if !ok || !okText || !strings.HasSuffix(pattern, "%") {
		return nil
	}
	prefix := strings.TrimRight(pattern, "%")
	t := c.table.pk.Schema[o].Type
	s, ok := t.(sql.StringType)
	if !ok || !types.IsTextOnly(t) || strings.ContainsAny(prefix, `%_\`) || s.Collation() != comparedCollation(c.ctx, f, l) {
		return nil
	}
	key, ok := rowenc.PrefixKeyOf(t, prefix)
	if !ok {
		return nil
	}
	return &pushdown.Expr{Op: pushdown.OpPrefix, Column: at, Key: key}
}
