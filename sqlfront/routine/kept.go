package routine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/syntax"
)

// What is kept of a statement of a body is analysed once and run many times: that takes a statement in which
// nothing has a value of the moment it was analysed in, and for each run a plan of its own.

// Repeatable reports whether a function depends on its arguments and the session's settings alone, and keeps
// nothing.
func Repeatable(name string) bool {
	return slices.Contains(repeatableFunctions, strings.ToLower(name))
}

var repeatableFunctions = []string{
	"abs", "ceil", "ceiling", "char_length", "coalesce", "concat", "concat_ws", "curdate", "current_date",
	"current_timestamp", "date", "date_add", "date_sub", "datediff", "day", "floor", "greatest", "hour",
	"if", "ifnull", "lcase", "least", "left", "length", "lower", "lpad", "ltrim", "minute", "mod",
	"month", "now", "nullif", "replace", "reverse", "right", "round", "rpad", "rtrim", "second", "sign",
	"substr", "substring", "trim", "truncate", "ucase", "upper", "year",
}

// Timeless reports whether a statement calls nothing that may have another value the next time: what depends
// on no column the planner computes.
func Timeless(stmt ast.Statement) bool {
	ok := true
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.FuncExpr:
			ok = ok && timelessFunctions[n.Name.Lowered()]
		case *ast.ColName:
			ok = ok && !strings.HasPrefix(n.Name.String(), "@")
		case *ast.Insert:
			ok = ok && timelessRows(n.Rows)
		}
		return ok, nil
	}, stmt)
	return ok
}

// timelessRows looks at what the walk leaves out.
func timelessRows(rows ast.InsertRows) bool {
	if s, ok := rows.(ast.SelectStatement); ok {
		return Timeless(s)
	}
	return true
}

// timelessFunctions are those that are known to depend on their arguments alone.
var timelessFunctions = map[string]bool{}

func init() {
	for _, f := range repeatableFunctions {
		timelessFunctions[f] = true
	}
	for _, f := range []string{"curdate", "current_date", "current_timestamp", "now"} {
		delete(timelessFunctions, f)
	}
	for _, f := range []string{
		"avg", "bit_and", "bit_or", "bit_xor", "count", "group_concat", "json_arrayagg", "json_objectagg",
		"max", "min", "std", "stddev", "stddev_pop", "stddev_samp", "sum", "var_pop", "var_samp",
		"variance", "row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value",
		"json_extract", "json_object", "json_array", "json_unquote", "json_set", "json_contains",
		"json_length", "cast", "exp", "find_in_set", "field", "hex", "instr", "ln", "locate", "log",
		"md5", "pow", "power", "rlike", "sha1", "sha2", "space", "sqrt", "strcmp", "unhex", "dayofmonth",
		"dayofweek", "dayofyear", "last_day", "quarter", "time", "timestampdiff", "to_days", "week",
		"weekday", "yearweek", "values",
	} {
		timelessFunctions[f] = true
	}
}

// CopyPlan copies the plan from its leaves on, with its subqueries, which keep what they have found.
func CopyPlan(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeWithOpaque(ctx, n, copyNode)
	if err != nil {
		return nil, err
	}
	out, _, err = transform.NodeExprsWithOpaque(ctx, out, copySubquery)
	return out, err
}

func copyNode(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		c := *n
		return &c, transform.NewTree, nil
	case *plan.IndexedTableAccess:
		c := *n
		return &c, transform.NewTree, nil
	case *plan.Values:
		c := *n
		return &c, transform.NewTree, nil
	case *plan.InsertInto: // whose source is not among its children
		src, err := CopyPlan(ctx, n.Source)
		if err != nil {
			return nil, transform.SameTree, err
		}
		return n.WithSource(src), transform.NewTree, nil
	}
	return n, transform.SameTree, nil
}

func copySubquery(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	q, ok := e.(*plan.Subquery)
	if !ok {
		return e, transform.SameTree, nil
	}
	query, err := CopyPlan(ctx, q.Query)
	return q.WithQuery(query), transform.NewTree, err
}
