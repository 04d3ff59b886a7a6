package operator

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// setOperation builds UNION, INTERSECT and EXCEPT: the library takes rows for different whose bytes are,
// for the same whose hashes are, and skips the rows of OFFSET before it sorts. It returns nil for UNION
// ALL that is not sorted.
func (b *Builder) setOperation(ctx *sql.Context, n *plan.SetOp, row sql.Row) (sql.RowIter, error) {
	schema := setSchema(ctx, n)
	if !n.Distinct && n.SetOpType == plan.UnionType && len(n.SortConditions) == 0 {
		return nil, nil
	}
	left, err := b.Base.Build(ctx, n.Left(), row)
	if err != nil {
		return nil, err
	}
	same := newCollatedRows(schema, len(row))
	var it sql.RowIter = left
	if n.SetOpType == plan.UnionType {
		it = &iters.UnionIter{Cur: left, NextIter: func(ctx *sql.Context) (sql.RowIter, error) {
			return b.Base.Build(ctx, n.Right(), row)
		}}
	} else {
		right, err := b.Base.Build(ctx, n.Right(), row)
		if err != nil {
			_ = left.Close(ctx)
			return nil, err
		}
		it = &setIter{
			left: left, right: right, same: same, except: n.SetOpType == plan.ExceptType,
			distinct: n.Distinct,
			charge:   b.Pool.Charge(ctx, "distinct", sqlerr.CapacityExceeded),
		}
	}
	if n.Distinct {
		it = b.distinctRows(ctx, it, newCollatedRows(schema, len(row)))
	}
	if len(n.SortConditions) > 0 {
		by := make(sql.SortConditions, len(n.SortConditions))
		for i, s := range n.SortConditions {
			e, err := merged(ctx, s.Expr, schema, len(row))
			if err != nil {
				_ = it.Close(ctx)
				return nil, err
			}
			by[i] = s
			by[i].Expr = expr.ByCollation(ctx, e)
		}
		it = &sortIter{pool: b.Pool, by: by, child: it,
			charge: b.Pool.Charge(ctx, "sort", sqlerr.OutOfSortMemory)}
	}
	if n.Offset != nil {
		skip, err := iters.GetInt64Value(ctx, n.Offset)
		if err != nil {
			_ = it.Close(ctx)
			return nil, err
		}
		it = &skipIter{RowIter: it, skip: skip}
	}
	if n.Limit != nil {
		limit, err := iters.GetInt64Value(ctx, n.Limit)
		if err != nil {
			_ = it.Close(ctx)
			return nil, err
		}
		it = &iters.LimitIter{Limit: limit, ChildIter: it}
	}
	return it, nil
}

// merged gives the columns that a set operation is sorted by the types that its columns have: to the library
// they are those of its left side, numbers where the right side made texts of them.
func merged(ctx *sql.Context, e sql.Expression, schema sql.Schema, outer int) (sql.Expression, error) {
	out, _, err := transform.Expr(ctx, e,
		func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			f, ok := e.(*expression.GetField)
			at := 0
			if ok {
				at = f.Index() - outer
			}
			if !ok || at < 0 || at >= len(schema) || f.Type(ctx).Equals(schema[at].Type) {
				return e, transform.SameTree, nil
			}
			return expression.NewGetField(f.Index(), schema[at].Type, f.Name(), true), transform.NewTree, nil
		})
	return out, err
}

// setSchema is the schema of a set operation with the collations that its texts are compared by: the library
// converts the sides to a text of its own.
func setSchema(ctx *sql.Context, n *plan.SetOp) sql.Schema {
	schema := n.Schema(ctx)
	for i, c := range schema {
		if !types.IsTextOnly(c.Type) {
			continue
		}
		collation, _ := sideCollation(ctx, n, i)
		if collation == sql.Collation_Unspecified || collation == sql.Collation_binary {
			continue
		}
		col := *c
		col.Type = types.CreateLongText(collation)
		schema[i] = &col
	}
	return schema
}

// sideCollation is the collation of a column of a query, and how much it insists on it.
func sideCollation(ctx *sql.Context, n sql.Node, column int) (sql.CollationID, byte) {
	switch n := n.(type) {
	case *plan.SetOp:
		a, i := sideCollation(ctx, n.Left(), column)
		b, j := sideCollation(ctx, n.Right(), column)
		return sql.ResolveCoercibility(a, i, b, j)
	case *plan.Sort, *plan.Limit, *plan.Offset, *plan.TopN, *plan.Distinct, *plan.Having:
		return sideCollation(ctx, n.Children()[0], column)
	case *plan.Project:
		if column < len(n.Projections) {
			e := n.Projections[column]
			if a, ok := e.(*expression.Alias); ok {
				e = a.Child
			}
			if c, ok := e.(*expression.Convert); ok {
				e = c.Child
				if f, ok := e.(*expression.GetField); ok && types.IsTextOnly(f.Type(ctx)) {
					if _, over := n.Child.(*plan.Project); over && f.Index() < len(n.Child.Schema(ctx)) {
						return sideCollation(ctx, n.Child, f.Index())
					}
				}
			}
			if c, ok := expr.CollationOf(ctx, e); ok {
				_, k := sql.GetCoercibility(ctx, e)
				return c, k
			}
			if t := e.Type(ctx); types.IsNumber(t) || types.IsTime(t) || expr.IsSpan(t) {
				return ctx.GetCollation(), 5 // made a text, which insists on nothing
			}
		}
	}
	if schema := n.Schema(ctx); column < len(schema) {
		if t, ok := schema[column].Type.(sql.StringType); ok && types.IsTextOnly(t) {
			return t.Collation(), 2
		}
	}
	return sql.Collation_binary, 6
}

// skipIter leaves out the first rows.
type skipIter struct {
	sql.RowIter
	skip int64
}

// Next implements sql.RowIter.
func (it *skipIter) Next(ctx *sql.Context) (sql.Row, error) {
	for ; it.skip > 0; it.skip-- {
		if _, err := it.RowIter.Next(ctx); err != nil {
			return nil, err
		}
	}
	return it.RowIter.Next(ctx)
}

// setIter is INTERSECT or EXCEPT: of each row of the right side one of the left is left, or left
// out; with DISTINCT, all.
type setIter struct {
	left, right sql.RowIter
	same        collatedRows
	except      bool
	distinct    bool
	rights      map[string]int
	charge      *Charge
}

// Next implements sql.RowIter.
func (it *setIter) Next(ctx *sql.Context) (sql.Row, error) {
	if it.rights == nil {
		it.rights = map[string]int{}
		for {
			row, err := it.right.Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			key, err := it.same.keyOf(ctx, row)
			if err != nil {
				return nil, err
			}
			if n, ok := it.rights[string(key)]; !ok || !it.distinct {
				it.rights[string(key)] = n + 1
				if ok {
					continue
				}
				if err := it.charge.Add(distinctBytes); err != nil {
					return nil, err
				}
			}
		}
	}
	for {
		row, err := it.left.Next(ctx)
		if err != nil {
			return nil, err
		}
		key, err := it.same.keyOf(ctx, row)
		if err != nil {
			return nil, err
		}
		n := it.rights[string(key)]
		found := n > 0
		if found && !it.distinct {
			it.rights[string(key)] = n - 1
		}
		if found != it.except {
			return row, nil
		}
	}
}

// Close implements sql.RowIter.
func (it *setIter) Close(ctx *sql.Context) error {
	it.rights = nil
	it.charge.Release()
	err := it.left.Close(ctx)
	if closing := it.right.Close(ctx); err == nil {
		err = closing
	}
	return err
}
