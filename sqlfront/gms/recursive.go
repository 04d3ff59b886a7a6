package gms

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The columns of a recursive query have the types of its first part (WITH RECURSIVE days AS (SELECT d FROM t
// UNION ALL SELECT d + INTERVAL 1 DAY FROM days)). The library widens these while it binds, a DATE to a
// DATETIME(6), and hands the wide types on to whoever names the columns. SettleRecursive goes through the
// bound tree from the bottom to the top and gives the columns their types back; those of numbers and texts
// stay wide, which nobody sees. StoreRecursive makes the rows of the other parts fit them, as the rows of a
// table.

// SettleRecursive is for statements with a recursive query; of others it changes nothing.
func SettleRecursive(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	if !anyRecursive(ctx, n) {
		return n, transform.SameTree, nil
	}
	s := &settling{types: map[sql.ColumnId]sql.Type{}}
	out, err := s.node(ctx, n)
	if err != nil || out == nil {
		return n, transform.SameTree, err
	}
	return out, transform.NewTree, nil
}

func anyRecursive(ctx *sql.Context, n sql.Node) (found bool) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if _, ok := n.(*plan.RecursiveCte); ok {
			found = true
		}
		if x, ok := n.(sql.Expressioner); ok && !found {
			for _, e := range x.Expressions() {
				EachSubquery(ctx, e, func(q *plan.Subquery) { found = found || anyRecursive(ctx, q.Query) })
			}
		}
		return !found
	})
	return found
}

// ownType is the type that a column keeps; nil if the library's is as good.
func ownType(t sql.Type) sql.Type {
	if types.IsTime(t) || types.IsBit(t) {
		return t
	}
	return nil
}

type settling struct {
	types map[sql.ColumnId]sql.Type // of columns that have other types than they were bound with
	// names are the same within the recursive part, where the library gives columns new numbers.
	names []settled
}

type settled struct {
	table string
	types map[string]sql.Type
}

// node returns nil if nothing in n changes.
func (s *settling) node(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	if r, ok := n.(*plan.RecursiveCte); ok {
		return s.recursive(ctx, r)
	}
	changed := false
	children := slices.Clone(n.Children())
	for i, c := range children {
		again, err := s.node(ctx, c)
		if err != nil {
			return nil, err
		}
		if again != nil {
			children[i], changed = again, true
		}
	}
	if changed {
		var err error
		if n, err = n.WithChildren(ctx, children...); err != nil {
			return nil, err
		}
	}
	x, ok := n.(sql.Expressioner)
	if ok {
		exprs, retyped := slices.Clone(x.Expressions()), false
		for i, e := range exprs {
			again, same, err := s.expression(ctx, e)
			if err != nil {
				return nil, err
			}
			if !same {
				exprs[i], retyped = again, true
			}
		}
		if retyped {
			var err error
			if n, err = x.WithExpressions(ctx, exprs...); err != nil {
				return nil, err
			}
			changed = true
		}
	}
	if d, ok := n.(*plan.SubqueryAlias); ok {
		changed = s.handOn(ctx, d.Columns(), d.Child.Schema(ctx), d.ScopeMapping) || changed
	}
	if !changed {
		return nil, nil
	}
	return n, nil
}

// handOn notes the types of the columns of a derived table whose rows have these columns.
func (s *settling) handOn(
	ctx *sql.Context, columns sql.ColSet, of sql.Schema, mapping map[sql.ColumnId]sql.Expression,
) (changed bool) {
	i := 0
	columns.ForEach(func(id sql.ColumnId) {
		if i < len(of) {
			if t := ownType(of[i].Type); t != nil {
				s.types[id], changed = t, true
				if f, ok := mapping[id].(*expression.GetField); ok {
					mapping[id] = retyped(f, t)
				}
			}
		}
		i++
	})
	return changed
}

func retyped(f *expression.GetField, t sql.Type) sql.Expression {
	column := expression.NewGetFieldWithTable(
		f.Index(), int(f.TableId()), t, f.Database(), f.Table(), f.Name(), true)
	return column.WithId(f.Id())
}

// expression gives the columns in e their types; what is computed of them and has a number has another type
// then, too.
func (s *settling) expression(
	ctx *sql.Context, e sql.Expression,
) (sql.Expression, transform.TreeIdentity, error) {
	out, same, err := transform.Expr(ctx, e, func(
		ctx *sql.Context, e sql.Expression,
	) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *expression.GetField:
			t, ok := s.types[e.Id()]
			if !ok {
				for _, n := range s.names {
					if strings.EqualFold(n.table, e.Table()) {
						t, ok = n.types[strings.ToLower(e.Name())], true
					}
				}
			}
			if t == nil || !ok || t.Equals(e.Type(ctx)) || ownType(e.Type(ctx)) == nil {
				return e, transform.SameTree, nil
			}
			return retyped(e, t), transform.NewTree, nil
		case *plan.Subquery:
			q, err := s.node(ctx, e.Query)
			if q == nil || err != nil {
				return e, transform.SameTree, err
			}
			return e.WithQuery(q), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	if err != nil || bool(same) {
		return e, transform.SameTree, err
	}
	if id, ok := out.(sql.IdExpression); ok && id.Id() != 0 {
		if _, column := out.(*expression.GetField); !column {
			if t := ownType(out.Type(ctx)); t != nil {
				s.types[id.Id()] = t
			}
		}
	}
	return out, transform.NewTree, nil
}

func (s *settling) recursive(ctx *sql.Context, r *plan.RecursiveCte) (sql.Node, error) {
	left, err := s.node(ctx, r.Left())
	if err != nil {
		return nil, err
	}
	changed := left != nil
	if left == nil {
		left = r.Left()
	}
	first, columns := left.Schema(ctx), r.Schema(ctx)
	if len(first) != len(columns) {
		return nil, nil
	}
	inner := settled{r.Name(), map[string]sql.Type{}}
	for i, c := range columns { // the very columns that the table of the last round has
		if t := ownType(first[i].Type); t != nil {
			c.Type, changed = t, true
			inner.types[strings.ToLower(c.Name)] = t
		}
	}
	if len(inner.types) == 0 && !changed {
		return nil, nil
	}
	s.handOn(ctx, r.Columns(), columns, nil)
	before := s.names
	s.names = append(slices.Clip(before), inner)
	transform.InspectWithOpaque(ctx, r.Right(), func(_ *sql.Context, n sql.Node) bool {
		if a, ok := n.(*plan.TableAlias); ok {
			if t, ok := a.Child.(*plan.RecursiveTable); ok && strings.EqualFold(t.Name(), r.Name()) {
				s.names = append(s.names, settled{a.Name(), inner.types})
			}
		}
		return true
	})
	right, err := s.node(ctx, r.Right())
	s.names = before
	if err != nil {
		return nil, err
	}
	if right == nil {
		right = r.Right()
	}
	return r.WithChildren(ctx, left, right)
}
