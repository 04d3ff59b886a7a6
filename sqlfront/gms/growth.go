package gms

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// maxConditions bounds the nodes of conditions in which names give way to the expressions of columns. Each
// view that names a column of the one below twice doubles them: a WHERE on the eighteenth took minutes, in
// which KILL was not heard, and then memory. What would be larger stays above the columns.
const maxConditions = 5_000

// grows reports whether the conditions of a query would become too large on their way below its columns.
// Literals do not count: a list of many values is brought down as ever.
func grows(ctx *sql.Context, n sql.Node) bool {
	columns := map[sql.ColumnId]sql.Expression{}
	var conditions []sql.Expression
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.Project:
			for _, e := range n.Projections {
				if a, ok := e.(*expression.Alias); ok {
					columns[a.Id()] = a.Child
				}
			}
		case *plan.Filter:
			conditions = append(conditions, n.Expression)
		case *plan.JoinNode:
			conditions = append(conditions, n.Filter)
		}
		return true
	})
	if len(columns) == 0 || len(conditions) == 0 {
		return false
	}
	m := measured{columns: columns, sizes: map[sql.ColumnId]int{}}
	size := 0
	for _, e := range conditions {
		size += m.size(ctx, e)
	}
	return size > maxConditions && m.replaced
}

// measured are the nodes of columns, each looked at once.
type measured struct {
	columns  map[sql.ColumnId]sql.Expression
	sizes    map[sql.ColumnId]int
	replaced bool // a name by more than another name
}

func (m *measured) size(ctx *sql.Context, e sql.Expression) (n int) {
	if e == nil {
		return 0
	}
	transform.InspectExpr(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.Literal:
			return false
		case *expression.GetField:
			n += m.column(ctx, e.Id())
		default:
			n++
		}
		return n > maxConditions
	})
	return n
}

func (m *measured) column(ctx *sql.Context, id sql.ColumnId) int {
	e, ok := m.columns[id]
	if !ok {
		return 1
	}
	if size, known := m.sizes[id]; known {
		return size
	}
	m.sizes[id] = 1 // should it name itself
	size := m.size(ctx, e)
	m.sizes[id] = size
	m.replaced = m.replaced || size > 1
	return size
}
