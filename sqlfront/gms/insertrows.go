package gms

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// InsertInTime replaces most of the library's rule that completes the rows of INSERT: for each column that
// the statement does not name it made a table of the names of all columns anew, 27 s for a table of four
// thousand, and KILL was not heard. The library still plans where the rows come from, and the columns that it
// treats apart, of which a table has few: AUTO_INCREMENT, and DEFAULT (UUID()).
func InsertInTime() error {
	at := slices.IndexFunc(analyzer.OnceAfterAll, func(r analyzer.Rule) bool {
		return r.Id.String() == "resolveInsertRows"
	})
	if at < 0 {
		return errors.New("gms: the library has no rule that completes the rows of INSERT any more")
	}
	resolve := analyzer.OnceAfterAll[at].Apply
	analyzer.OnceAfterAll[at].Apply = func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node,
		scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node,
		transform.TreeIdentity, error) {
		switch n.(type) {
		case *plan.TriggerExecutor, *plan.CreateProcedure:
			return n, transform.SameTree, nil
		}
		return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity,
			error) {
			insert, ok := n.(*plan.InsertInto)
			if !ok {
				return n, transform.SameTree, nil
			}
			to, ok := insert.Destination.(*plan.InsertDestination)
			if !ok {
				return resolve(ctx, a, n, scope, sel, flags)
			}
			apart, few := *insert, *to
			few.Sch = slices.Collect(func(yield func(*sql.Column) bool) {
				for _, c := range to.Sch {
					if treatedApart(c) && !yield(c) {
						return
					}
				}
			})
			apart.Destination = &few
			done, _, err := resolve(ctx, a, &apart, scope, sel, flags)
			if err != nil {
				return nil, transform.SameTree, err
			}
			whole, err := completed(ctx, done, to)
			return whole, transform.NewTree, err
		})
	}
	return nil
}

// treatedApart reports whether the library has to plan a column, since what it is given is told to whoever
// asks for the last value.
func treatedApart(c *sql.Column) bool {
	if c.AutoIncrement {
		return true
	}
	if c.Default == nil || !c.PrimaryKey {
		return false
	}
	e := c.Default.Expr
	if binary, ok := e.(*function.UUIDToBin); ok {
		e = binary.Children()[0]
	}
	_, is := e.(*function.UUIDFunc)
	return is
}

// completed is an INSERT with rows of all columns, of one that has those that are treated apart.
func completed(ctx *sql.Context, n sql.Node, to *plan.InsertDestination) (sql.Node, error) {
	insert, ok := n.(*plan.InsertInto)
	if !ok {
		return nil, errors.New("gms: an INSERT was planned as something else")
	}
	of, ok := insert.Source.(*plan.Project)
	if !ok {
		return nil, errors.New("gms: an INSERT has no projection")
	}
	names, fields := make(map[string]int, len(to.Sch)), make(map[string]int, len(to.Sch))
	for i, c := range slices.Backward(to.Sch) {
		fields[strings.ToLower(c.Name)] = i
	}
	for i, name := range slices.Backward(insert.ColumnNames) {
		names[strings.ToLower(name)] = i
	}
	if len(insert.ColumnNames) == 0 && hasValues(of.Child) {
		names = fields
	}
	whole := *insert
	whole.Destination = to
	row, apart := make([]sql.Expression, len(to.Sch)), of.Projections
	for i, c := range to.Sch {
		at, named := names[strings.ToLower(c.Name)]
		if !named && !c.Nullable && c.Default == nil && c.Generated == nil && !c.AutoIncrement {
			whole.DeferredDefaults.Add(i)
		}
		var err error
		switch {
		case treatedApart(c):
			row[i], apart = apart[0], apart[1:]
		case named:
			row[i] = expression.NewGetField(at, c.Type, c.Name, c.Nullable)
		case c.Default == nil:
			row[i], err = placed(ctx, c.Generated, fields)
		default:
			row[i], err = placed(ctx, c.Default, fields)
		}
		if err != nil {
			return nil, err
		}
	}
	whole.Source = plan.NewProject(ctx, row, of.Child)
	return &whole, nil
}

// placed is the value of a column that was not given, by the places of the columns in it.
func placed(ctx *sql.Context, v *sql.ColumnDefaultValue, fields map[string]int) (sql.Expression, error) {
	e, _, err := transform.Expr(ctx, v, func(_ *sql.Context, e sql.Expression) (sql.Expression,
		transform.TreeIdentity, error) {
		f, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		i, ok := fields[strings.ToLower(f.Name())]
		if !ok {
			return nil, transform.SameTree, sql.ErrColumnNotFound.New(f.Name())
		}
		return f.WithIndex(i), transform.NewTree, nil
	})
	return e, err
}

// hasValues reports whether rows have values at all: those of VALUES (), () have none.
func hasValues(source sql.Node) bool {
	v, ok := source.(*plan.Values)
	return !ok || slices.ContainsFunc(v.ExpressionTuples, func(t []sql.Expression) bool {
		return len(t) > 0
	})
}
