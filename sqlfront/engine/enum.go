package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
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
	_, alone := first.(sql.EnumType)
	if !found || equality && sameType && (alone || len(operands) == 2 && isEnum(ctx, operands[0]) != isEnum(ctx, operands[1])) {
		return e, transform.SameTree, nil
	}
	wrapped := make([]sql.Expression, len(operands))
	for i, c := range operands {
		if wrapped[i] = c; isEnum(ctx, c) {
			wrapped[i] = &enumText{c}
		}
	}
	out, err := e.WithChildren(ctx, wrapped...)
	return out, transform.NewTree, err
}

func isEnum(ctx *sql.Context, e sql.Expression) bool {
	switch e.(type) {
	case *expression.GetField, *enumText:
	default:
		return false // an unresolved expression has no type, and a constant is no ENUM
	}
	switch e.Type(ctx).(type) {
	case sql.EnumType, sql.SetType:
		return true
	}
	return false
}

// enumText is the text of an ENUM or SET.
type enumText struct{ child sql.Expression }

var (
	_ sql.Expression         = (*enumText)(nil)
	_ sql.CollationCoercible = (*enumText)(nil)
)

func (e *enumText) Resolved() bool                 { return e.child.Resolved() }
func (e *enumText) String() string                 { return e.child.String() }
func (e *enumText) IsNullable(c *sql.Context) bool { return e.child.IsNullable(c) }
func (e *enumText) Children() []sql.Expression     { return []sql.Expression{e.child} }

// WithChildren implements sql.Expression.
func (e *enumText) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(cs), 1)
	}
	return &enumText{cs[0]}, nil
}

// Type implements sql.Expression.
func (e *enumText) Type(ctx *sql.Context) sql.Type {
	collation, _ := sql.GetCoercibility(ctx, e.child)
	return types.CreateLongText(collation)
}

// CollationCoercibility implements sql.CollationCoercible.
func (e *enumText) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.child)
}

// Eval implements sql.Expression.
func (e *enumText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	switch t := e.child.Type(ctx).(type) {
	case sql.EnumType:
		if n, ok := v.(uint16); ok {
			s, _ := t.At(int(n)) // 0 is the error value, whose text is empty
			return s, nil
		}
	case sql.SetType:
		if bits, ok := v.(uint64); ok {
			return t.BitsToString(bits)
		}
	}
	return v, nil // text already
}
