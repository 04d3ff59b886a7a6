package multitable

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"moka/sqlfront/gms"
	"moka/sqlfront/sqlerr"
)

// go-mysql-server finds the tables of an UPDATE or DELETE by their names alone: of a.t and b.t it takes the
// one for the other, and it takes a table for written to whose ON UPDATE CURRENT_TIMESTAMP or generated
// columns it has added to the assignments. Its rule for joins is replaced by Written.

// name is what a statement calls a table: its alias, or its own name, and the database that it is in.
type name struct{ database, table string }

func nameOf(f *expression.GetField) name { return name{f.Database(), f.Table()} }

func (n name) of(database, table string) bool {
	return strings.EqualFold(n.table, table) &&
		(n.database == "" || database == "" || strings.EqualFold(n.database, database))
}

func (n name) key() string { return strings.ToLower(n.database + "." + n.table) }

// Written is the rule: an UPDATE over a join gets the tables that it assigns to, and nothing of the library's
// that goes by names (checks, and values of columns that the statement does not name: Table.Update knows
// them). A DELETE of tables that it names gets those that it means.
func Written(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.Update:
		src, ok := n.Child.(*plan.UpdateSource)
		if !ok || !gms.Joins(src.Child) {
			return n, transform.SameTree, nil
		}
		explicit := src.UpdateExprs.ExplicitUpdateExprs()
		targets := map[string]sql.Node{}
		for _, e := range explicit {
			of, err := assigned(e)
			if err != nil {
				return nil, transform.SameTree, err
			}
			t, more := find(src.Child, nameOf(of))
			if t == nil || more {
				return nil, transform.SameTree, plan.ErrUpdateForTableNotSupported.New(of.Table())
			}
			targets[nameOf(of).key()] = resolved(t)
		}
		only := *src
		only.UpdateExprs = plan.NewUpdateExprs(explicit, len(explicit))
		out, err := n.WithChecks(nil).(*plan.Update).WithChildren(ctx, plan.NewUpdateJoin(targets, &only))
		return out, transform.NewTree, err
	case *plan.DeleteFrom:
		if !n.HasExplicitTargets() {
			return n, transform.SameTree, nil
		}
		targets := slices.Clone(n.GetDeleteTargets())
		for i, t := range targets {
			named, ok := t.(sql.NameableNode)
			if !ok {
				return nil, transform.SameTree, plan.ErrDeleteFromNotSupported.New()
			}
			of := name{table: named.Name()}
			found, more := find(n.Child, of)
			if more {
				return nil, transform.SameTree, sqlerr.Unsupported(
					"DELETE of one of two tables with the name '" + of.table + "' and no alias")
			}
			if found != nil { // else it is a view, or there is nothing to join: the library words it
				targets[i] = found
			}
		}
		return n.WithExplicitTargets(targets), transform.NewTree, nil
	}
	return n, transform.SameTree, nil
}

// WrittenBy are the tables that an INSERT, UPDATE or DELETE writes to.
func WrittenBy(n sql.Node) []sql.Node {
	switch n := n.(type) {
	case *plan.InsertInto:
		return []sql.Node{n.Destination}
	case *plan.Update:
		if join, ok := n.Child.(*plan.UpdateJoin); ok {
			return slices.Collect(maps.Values(join.UpdateTargets))
		}
		return []sql.Node{n.Child}
	case *plan.DeleteFrom:
		return n.GetDeleteTargets()
	}
	return nil
}

func assigned(e sql.Expression) (*expression.GetField, error) {
	if set, ok := e.(*expression.SetField); ok {
		if f, ok := set.LeftChild.(*expression.GetField); ok {
			return f, nil
		}
	}
	return nil, plan.ErrUpdateUnexpectedSetResult.New(e)
}

// find returns the table of that name, and whether there are several.
func find(n sql.Node, of name) (found sql.Node, several bool) {
	take := func(n sql.Node) {
		several = found != nil
		found = n
	}
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.TableAlias:
			if r := resolved(n); r != nil && of.of(databaseOf(r), n.Name()) {
				take(n)
			}
			return false
		case *plan.IndexedTableAccess:
			if r := resolved(n); r != nil && of.of(databaseOf(r), r.Name()) {
				take(r)
			}
			return false
		case *plan.ResolvedTable:
			if of.of(databaseOf(n), n.Name()) {
				take(n)
			}
		}
		return true
	})
	return found, several
}

// resolved is the table below an alias or an access by an index.
func resolved(n sql.Node) (t *plan.ResolvedTable) {
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.ResolvedTable:
			t = n
		case *plan.IndexedTableAccess:
			t, _ = n.TableNode.(*plan.ResolvedTable)
		}
		return t == nil
	})
	return t
}

func databaseOf(t *plan.ResolvedTable) string {
	if t.SqlDatabase == nil {
		return ""
	}
	return t.SqlDatabase.Name()
}

// Place is where the rows of a table are among those of a join.
type Place struct {
	Node sql.Node // the table, or what checks its foreign keys
	// Table is which one it is, and PrimaryKey has its columns.
	Table      uint32
	PrimaryKey []int

	at    name
	first int
	width int
	id    sql.TableId
	sets  []assignment
}

// Name is what the statement calls the table.
func (p *Place) Name() string { return p.at.table }

// Shared says whether the statement writes to a table under two names. Its primary key cannot be changed
// then: under the other name its rows are known by it.
func Shared(places []*Place) (shared bool, err error) {
	for i, p := range places {
		for _, q := range places[:i] {
			if p.Table != q.Table {
				continue
			}
			shared = true
			if p.movesRows() || q.movesRows() {
				return true, sqlerr.New(sqlerr.MultiUpdateKeyConflict, "Primary key/partition key update is "+
					"not allowed since the table is updated both as '%s' and '%s'.", q.Name(), p.Name())
			}
		}
	}
	return shared, nil
}

func (p *Place) movesRows() bool {
	return slices.ContainsFunc(p.sets, func(a assignment) bool {
		return slices.Contains(p.PrimaryKey, a.column)
	})
}

// Target is the table as a target of the statement.
func (p *Place) Target(t *Table, rows sql.Node) *Target {
	return &Target{Table: t, first: p.first, width: p.width, outer: nullable(rows, p.at, false), sets: p.sets,
		met: map[string]struct{}{}}
}

// Updated are the places of the tables that an UPDATE assigns to, in the order of its FROM.
func Updated(ctx *sql.Context, join *plan.UpdateJoin, rows sql.Node, exprs []sql.Expression) ([]*Place,
	error) {
	schema := rows.Schema(ctx)
	places := map[string]*Place{}
	for _, e := range exprs {
		f, err := assigned(e)
		if err != nil {
			return nil, err
		}
		of := nameOf(f)
		p := places[of.key()]
		if p == nil {
			if p, err = place(schema, of); err != nil {
				return nil, err
			}
			p.Node, p.id = join.UpdateTargets[of.key()], f.TableId()
			places[of.key()] = p
		}
		column := slices.IndexFunc(schema[p.first:p.first+p.width], func(c *sql.Column) bool {
			return strings.EqualFold(c.Name, f.Name())
		})
		if column < 0 {
			return nil, sql.ErrTableColumnNotFound.New(f.Table(), f.Name())
		}
		p.sets = append(p.sets, assignment{column, e.(*expression.SetField)})
	}
	return inOrder(places), nil
}

// Deleted are the places of the tables that a DELETE names.
func Deleted(ctx *sql.Context, n *plan.DeleteFrom) ([]*Place, error) {
	schema := n.Child.Schema(ctx)
	places := map[string]*Place{}
	for _, t := range n.GetDeleteTargets() {
		under := t
		if h, ok := t.(*plan.ForeignKeyHandler); ok {
			under = h.OriginalNode
		}
		r := resolved(under)
		named, ok := under.(sql.NameableNode)
		if r == nil || !ok {
			return nil, plan.ErrDeleteFromNotSupported.New()
		}
		of := name{databaseOf(r), named.Name()}
		p, err := place(schema, of)
		if err != nil {
			return nil, err
		}
		p.Node, p.id = t, r.Id()
		places[of.key()] = p
	}
	return inOrder(places), nil
}

func inOrder(places map[string]*Place) (all []*Place) {
	for _, p := range places {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Place) int { return cmp.Compare(a.id, b.id) })
	return all
}

// place finds the columns of a table in the rows of a join.
func place(schema sql.Schema, of name) (*Place, error) {
	p := &Place{at: of}
	for i, c := range schema {
		if !of.of(c.DatabaseSource, c.Source) {
			continue
		}
		if p.width > 0 && p.first+p.width != i {
			return nil, sqlerr.Unsupported("a join that takes the columns of '" + of.table + "' apart")
		}
		if p.width == 0 {
			p.first = i
		}
		p.width++
	}
	if p.width == 0 {
		return nil, plan.ErrUpdateForTableNotSupported.New(of.table)
	}
	return p, nil
}

// Width is that of the table in the rows.
func (p *Place) Width() int { return p.width }

// nullable says whether an outer join may put NULLs in the place of a table's row.
func nullable(n sql.Node, of name, outer bool) bool {
	switch n := n.(type) {
	case *plan.JoinNode:
		return nullable(n.Left(), of, outer || n.Op.IsRightOuter() || n.Op.IsFullOuter()) ||
			nullable(n.Right(), of, outer || n.Op.IsLeftOuter() || n.Op.IsFullOuter())
	case *plan.TableAlias:
		r := resolved(n)
		return outer && r != nil && of.of(databaseOf(r), n.Name())
	case *plan.IndexedTableAccess:
		r := resolved(n)
		return outer && r != nil && of.of(databaseOf(r), r.Name())
	case *plan.ResolvedTable:
		return outer && of.of(databaseOf(n), n.Name())
	}
	for _, c := range n.Children() {
		if nullable(c, of, outer) {
			return true
		}
	}
	return false
}
