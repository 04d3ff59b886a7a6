// Package chain has conditions that are joined by OR, or by AND, by the thousand, as lists.
package chain

import (
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
	"moka/sqlfront/rowenc"
)

// Chain is what is joined by OR, or by AND, as a list: conditions that programs write by the thousand, `a = 1
// OR a = 2 OR …`. The planner draws no conclusions from it, for which it would compare each part with each
// other; the ranges of keys (package engine) are found when the statement begins.
//
// Most of the parts compare one column with constants. They are found by its value, so that a row costs a
// lookup and not a walk:
//
//	OR    a = 3 AND b = 5    is false where a is not 3 (and not NULL), whatever b is
//	AND   a <> 3             is true there
type Chain struct {
	Or    bool
	Parts []sql.Expression
	index *chainIndex
}

var (
	_ sql.Expression         = (*Chain)(nil)
	_ sql.CollationCoercible = (*Chain)(nil)
)

// NewChain joins parts.
func NewChain(or bool, parts []sql.Expression) *Chain {
	return &Chain{Or: or, Parts: parts, index: &chainIndex{}}
}

// chainIndex finds the parts that matter to a row. It is made when the first row comes: the parts
// are rewritten until then.
type chainIndex struct {
	once  sync.Once
	field *expression.GetField // nil: all parts are looked at
	text  sql.CollationID      // the column is a text; else an integer
	under map[any][]int        // the parts by what they compare the field with
	rest  []int                // which do not
}

// Eval implements sql.Expression.
func (c *Chain) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	c.index.once.Do(func() { c.index.build(ctx, c) })
	if f := c.index.field; f != nil {
		v, err := f.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if key, ok := c.index.key(ctx, v); ok {
			return c.eval(ctx, row, c.index.under[key], c.index.rest)
		}
	}
	null := false
	for _, p := range c.Parts {
		switch v, err := c.part(ctx, row, p); {
		case err != nil:
			return nil, err
		case v == nil:
			null = true
		case *v == c.Or:
			return c.Or, nil
		}
	}
	if null {
		return nil, nil
	}
	return !c.Or, nil
}

func (c *Chain) eval(ctx *sql.Context, row sql.Row, lists ...[]int) (any, error) {
	null := false
	for _, list := range lists {
		for _, i := range list {
			switch v, err := c.part(ctx, row, c.Parts[i]); {
			case err != nil:
				return nil, err
			case v == nil:
				null = true
			case *v == c.Or:
				return c.Or, nil
			}
		}
	}
	if null {
		return nil, nil
	}
	return !c.Or, nil
}

// part is the truth of a part, nil for NULL.
func (c *Chain) part(ctx *sql.Context, row sql.Row, p sql.Expression) (*bool, error) {
	v, err := p.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	b, err := sql.ConvertToBool(ctx, v)
	return &b, err
}

// pin is a comparison for equality of a column with a constant.
type pin struct {
	field *expression.GetField
	text  sql.CollationID
	key   any
}

// build takes the column that most parts are pinned to.
func (x *chainIndex) build(ctx *sql.Context, c *Chain) {
	type column struct {
		index int
		text  sql.CollationID
	}
	pins := make([][]pin, len(c.Parts))
	values := map[column]map[any]bool{}
	var best column
	for i, p := range c.Parts {
		pins[i] = c.pins(ctx, p)
		for _, p := range pins[i] {
			at := column{p.field.Index(), p.text}
			if values[at] == nil {
				values[at] = map[any]bool{}
			}
			values[at][p.key] = true
			if len(values[at]) > len(values[best]) {
				best = at
			}
		}
	}
	if len(values[best]) < 8 {
		return
	}
	x.under = make(map[any][]int, len(values[best]))
	for i := range c.Parts {
		at := slices.IndexFunc(pins[i], func(p pin) bool { return column{p.field.Index(), p.text} == best })
		if at < 0 {
			x.rest = append(x.rest, i)
			continue
		}
		p := pins[i][at]
		x.field, x.text = p.field, p.text
		x.under[p.key] = append(x.under[p.key], i)
	}
}

// pins are the columns that decide about a part with any value but one.
func (c *Chain) pins(ctx *sql.Context, part sql.Expression) (pins []pin) {
	if !c.Or {
		not, ok := part.(*expression.Not)
		if !ok {
			return nil
		}
		if p, ok := pinned(ctx, not.Child); ok {
			return []pin{p}
		}
		return nil
	}
	for _, e := range expression.SplitConjunction(ctx, part) {
		if p, ok := pinned(ctx, e); ok {
			pins = append(pins, p)
		}
	}
	return pins
}

func pinned(ctx *sql.Context, e sql.Expression) (pin, bool) {
	eq, ok := e.(*expression.Equals)
	if !ok {
		return pin{}, false
	}
	left, right := unweighed(eq.Left()), unweighed(eq.Right())
	f, ok := left.(*expression.GetField)
	if !ok {
		left, right = right, left
		if f, ok = left.(*expression.GetField); !ok {
			return pin{}, false
		}
	}
	l, ok := right.(*expression.Literal)
	if !ok || l.Value() == nil {
		return pin{}, false
	}
	x := chainIndex{}
	switch t := f.Type(ctx); {
	case types.IsInteger(t) && types.IsInteger(l.Type(ctx)):
	case types.IsTextOnly(t) && types.IsTextOnly(l.Type(ctx)):
		if x.text, ok = expr.CollationOf(ctx, left, right); !ok || x.text == sql.Collation_Unspecified {
			return pin{}, false
		}
	default:
		return pin{}, false
	}
	key, ok := x.key(ctx, l.Value())
	return pin{f, x.text, key}, ok
}

func unweighed(e sql.Expression) sql.Expression {
	if w, ok := e.(*expr.Weight); ok {
		return w.Child
	}
	return e
}

// key is the same for values that are equal.
func (x *chainIndex) key(ctx *sql.Context, v any) (any, bool) {
	if v == nil {
		return nil, false
	}
	if x.text != sql.Collation_Unspecified {
		key, err := expr.WeightOf(ctx, x.text, v)
		return string(key), err == nil
	}
	if n, ok := rowenc.Int64(v); ok {
		return n, true
	}
	n, ok := v.(uint64) // above all int64
	return n, ok
}

// Resolved implements sql.Expression.
func (c *Chain) Resolved() bool {
	return !slices.ContainsFunc(c.Parts, func(e sql.Expression) bool { return !e.Resolved() })
}

// String implements sql.Expression.
func (c *Chain) String() string {
	texts := make([]string, len(c.Parts))
	for i, p := range c.Parts {
		texts[i] = p.String()
	}
	if c.Or {
		return "(" + strings.Join(texts, " OR ") + ")"
	}
	return "(" + strings.Join(texts, " AND ") + ")"
}

// Type implements sql.Expression.
func (c *Chain) Type(*sql.Context) sql.Type { return types.Boolean }

// IsNullable implements sql.Expression.
func (c *Chain) IsNullable(ctx *sql.Context) bool {
	return slices.ContainsFunc(c.Parts, func(e sql.Expression) bool { return e.IsNullable(ctx) })
}

// Children implements sql.Expression.
func (c *Chain) Children() []sql.Expression { return c.Parts }

// CollationCoercibility implements sql.CollationCoercible.
func (c *Chain) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (c *Chain) WithChildren(_ *sql.Context, parts ...sql.Expression) (sql.Expression, error) {
	if len(parts) != len(c.Parts) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(parts), len(c.Parts))
	}
	return NewChain(c.Or, parts), nil
}

// From so many parts on, a condition is more than the library's search for an index should see: it compares
// each range with each other.
const (
	longChain = 100  // joined by OR; <> joined by AND; NOT IN (…)
	longList  = 1000 // IN (…)
)

// Hide hides such conditions from the planner, in a Chain. What indexes have to say about them is found
// when the statement begins.
func Hide(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (
		sql.Node, transform.TreeIdentity, error,
	) {
		f, ok := n.(*plan.Filter)
		if !ok {
			return n, transform.SameTree, nil
		}
		conjuncts := Parts[*expression.And](f.Expression)
		out, changed := chainsOf(conjuncts)
		if !changed {
			return n, transform.SameTree, nil
		}
		return plan.NewFilter(ctx, expression.JoinAnd(out...), f.Child), transform.NewTree, nil
	})
}

func chainsOf(conjuncts []sql.Expression) (out []sql.Expression, changed bool) {
	apart := map[sql.ColumnId][]sql.Expression{} // the conjuncts that are column <> constant
	if len(conjuncts) >= longChain {
		for _, e := range conjuncts {
			if id, ok := columnApart(e); ok {
				apart[id] = append(apart[id], e)
			}
		}
	}
	for _, e := range conjuncts {
		if id, ok := columnApart(e); ok && len(apart[id]) >= longChain {
			if e == apart[id][0] {
				out, changed = append(out, NewChain(false, apart[id])), true
			}
			continue
		}
		switch x := e.(type) {
		case *expression.Or:
			if parts := Parts[*expression.Or](x); len(parts) >= longChain {
				e, changed = NewChain(true, parts), true
			}
		case *expression.InTuple:
			if lengthOf(x) >= longList {
				e, changed = NewChain(true, []sql.Expression{x}), true
			}
		case *expression.Not:
			if in, ok := x.Child.(*expression.InTuple); ok && lengthOf(in) >= longChain {
				e, changed = NewChain(false, []sql.Expression{x}), true
			}
		}
		out = append(out, e)
	}
	return out, changed
}

// Has reports whether an index may find the rows of a condition by what was hidden.
func Has(filter sql.Expression) bool {
	return slices.ContainsFunc(Parts[*expression.And](filter), func(e sql.Expression) bool {
		c, ok := e.(*Chain)
		return ok && c.Or
	})
}

func lengthOf(in *expression.InTuple) int {
	list, _ := in.Right().(expression.Tuple)
	return len(list)
}

// columnApart is the column of a condition of the form column <> constant.
func columnApart(e sql.Expression) (sql.ColumnId, bool) {
	not, ok := e.(*expression.Not)
	if !ok {
		return 0, false
	}
	eq, ok := not.Child.(*expression.Equals)
	if !ok {
		return 0, false
	}
	f, ok := eq.Left().(*expression.GetField)
	if !ok || !isLiteral(eq.Right()) {
		return 0, false
	}
	return f.Id(), true
}

func isLiteral(e sql.Expression) bool {
	_, ok := e.(*expression.Literal)
	return ok
}

// Parts lists what is joined by AND, or by OR: a OR b OR c OR … is as deep as it is long.
func Parts[T sql.Expression](e sql.Expression) (parts []sql.Expression) {
	todo := []sql.Expression{e}
	for len(todo) > 0 {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := last.(T); ok {
			children := last.Children()
			todo = append(todo, children[1], children[0])
			continue
		}
		parts = append(parts, last)
	}
	return parts
}
