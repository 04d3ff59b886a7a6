package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/assign"
	"moka/sqlfront/expr"
	"moka/sqlfront/routine"
)

// MySQL compares ENUM and SET with text, and among themselves, as text, and so do MIN and MAX; only ORDER BY and comparisons with
// numbers go by their numbers. The library goes by numbers everywhere. For equality that comes to the same, as long as both sides
// are of one type, and finds rows by an index, so it stays; an index is of no use for the rest, as it lies in the order of numbers.

// asText wraps the operands that are ENUM or SET, unless a number is among the others.
func asText(ctx *sql.Context, e sql.Expression, equality bool) (sql.Expression, transform.TreeIdentity, error) {
	operands := e.Children()
	var first sql.Type
	found, sameType := false, true
	for _, c := range operands {
		if !isEnum(ctx, c) {
			t := c.Type(ctx)
			if !types.IsText(t) && t != types.Null {
				return e, transform.SameTree, nil
			}
			continue
		}
		t := c.Type(ctx)
		found, sameType = true, sameType && (first == nil || first.Equals(t))
		first = t
	}
	if equality && slices.ContainsFunc(operands, func(c sql.Expression) bool { return expr.NotMember(ctx, first, c) || !isEnum(ctx, c) && ofRows(ctx, c) }) {
		sameType = false // the library finds no text in a hash of numbers
	}
	_, alone := first.(sql.EnumType)
	if !found || equality && sameType && (alone || len(operands) == 2 && isEnum(ctx, operands[0]) != isEnum(ctx, operands[1])) {
		return e, transform.SameTree, nil
	}
	wrapped := make([]sql.Expression, len(operands))
	for i, c := range operands {
		if wrapped[i] = c; isEnum(ctx, c) {
			wrapped[i] = expr.NewEnumLabel(c)
		}
	}
	out, err := e.WithChildren(ctx, wrapped...)
	return out, transform.NewTree, err
}

func isEquality(e sql.Expression) bool {
	switch e.(type) {
	case *expression.Equals, *expression.NullSafeEquals:
		return true
	}
	return false
}

// isEnum reports whether an expression has the value of an ENUM or SET. The library gives constants that are compared with one its
// type, which they have not.
func isEnum(ctx *sql.Context, e sql.Expression) bool {
	switch e := e.(type) {
	case nil, *expression.Literal, *expression.BindVar, *expression.UserVar, *sql.ColumnDefaultValue, expression.Tuple:
		return false
	case *routine.Held: // whose parameter is not resolved
		return expr.IsEnum(e.Type(ctx))
	case *plan.Subquery:
		return e.Resolved() && types.NumColumns(e.Type(ctx)) == 1 && expr.IsEnum(e.Type(ctx))
	}
	return e.Resolved() && expr.IsEnum(e.Type(ctx))
}

// textOfEnum makes a text of an ENUM or SET; everything else stays.
func textOfEnum(ctx *sql.Context, e sql.Expression) sql.Expression {
	if _, done := e.(*expr.EnumLabel); !done && isEnum(ctx, e) {
		return expr.NewEnumLabel(e)
	}
	return e
}

// takesNumber are the places of arguments that are numbers, of functions that do not know ENUM and SET, or take them for texts.
var takesNumber = map[string][]int{
	"conv": {1, 2}, "elt": {0}, "insert": {1, 2}, "left": {1}, "locate": {2}, "lpad": {1}, "mid": {1, 2}, "repeat": {1}, "right": {1}, "round": {0, 1},
	"rpad": {1}, "sha2": {1}, "substr": {1, 2}, "substring": {1, 2}, "substring_index": {2}, "truncate": {0, 1},
}

// enumNumbers is a call with numbers where its ENUMs and SETs are numbers; nil if there are none.
func enumNumbers(ctx *sql.Context, e sql.FunctionExpression, name string) (sql.Expression, error) {
	var out []sql.Expression
	for _, at := range takesNumber[name] {
		if args := e.Children(); at < len(args) && args[at] != nil && isEnum(ctx, args[at]) {
			if out == nil {
				out = slices.Clone(args)
			}
			out[at] = expression.NewConvert(args[at], expression.ConvertToUnsigned)
		}
	}
	if out == nil {
		return nil, nil
	}
	return e.WithChildren(ctx, out...)
}

// ofRows reports whether an expression depends on columns.
func ofRows(ctx *sql.Context, e sql.Expression) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		_, ok := e.(*expression.GetField)
		return ok
	})
}

// enumSource is an INSERT whose rows have the texts of ENUMs and SETs where their columns are none, or others; nil if it needs none. The
// library's projection of the source onto the table has the types of the columns, so it is too late to ask there.
func enumSource(ctx *sql.Context, n *plan.InsertInto) sql.Node {
	source, changed := enumRows(ctx, n.Source)
	if !changed {
		return nil
	}
	return n.WithSource(source)
}

func enumRows(ctx *sql.Context, n sql.Node) (sql.Node, bool) {
	switch n := n.(type) {
	case *arrivingRows:
		if child, changed := enumRows(ctx, n.Child); changed {
			again := *n
			again.Child = child
			return &again, true
		}
	case *plan.TriggerExecutor:
		if left, changed := enumRows(ctx, n.Left()); changed {
			again, err := n.WithChildren(ctx, left, n.Right())
			return again, err == nil
		}
	case *plan.Project:
		from := n.Child.Schema(ctx)
		var out []sql.Expression
		for i, e := range n.Projections {
			f, ok := e.(*expression.GetField)
			if !ok || f.Index() >= len(from) || !expr.AssignedAsText(from[f.Index()].Type, f.Type(ctx)) {
				continue
			}
			if out == nil {
				out = append(out, n.Projections...)
			}
			of := from[f.Index()]
			out[i] = expr.NewEnumLabel(expression.NewGetField(f.Index(), of.Type, of.Name, of.Nullable))
		}
		if out != nil {
			again := *n
			again.Projections = out
			return &again, true
		}
	}
	return n, false
}

// intoVariables is a SELECT … INTO @v that finds texts where the query has ENUMs, SETs, dates or times: the
// library makes the type of a variable of its value. It is nil if there is nothing to do.
func intoVariables(ctx *sql.Context, n *plan.Into) sql.Node {
	typed := func(c *sql.Column) bool { return assign.Typed(c.Type) }
	if _, done := n.Child.(*meantTexts); done || !slices.ContainsFunc(n.Child.Schema(ctx), typed) {
		return nil
	}
	again := *n
	again.Child = &meantTexts{plan.UnaryNode{Child: n.Child}}
	return &again
}

// meantTexts are the rows of its child with texts in the place of values that mean nothing without their
// type.
type meantTexts struct{ plan.UnaryNode }

// String implements sql.Node.
func (n *meantTexts) String() string { return n.Child.String() }

// IsReadOnly implements sql.Node.
func (n *meantTexts) IsReadOnly() bool { return n.Child.IsReadOnly() }

// WithChildren implements sql.Node.
func (n *meantTexts) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return &meantTexts{plan.UnaryNode{Child: children[0]}}, nil
}

type meantTextsIter struct {
	sql.RowIter
	schema sql.Schema
}

// Next implements sql.RowIter.
func (it *meantTextsIter) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := it.RowIter.Next(ctx)
	if err != nil {
		return nil, err
	}
	row = slices.Clone(row)
	for i, c := range it.schema {
		if !assign.Typed(c.Type) {
			continue
		}
		if row[i], err = assign.Of(ctx, row[i], c.Type, types.LongText); err != nil {
			return nil, err
		}
	}
	return row, nil
}
