package gms

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// The library leaves a row alone when an UPDATE makes it "equal", and asks the columns' collations what is
// equal: under MySQL's default collation SET name = 'ANN' would not touch a row with 'ann'. MySQL compares
// bytes. The library takes the types to compare with from schemas that it finds in the plan, so the plan that
// is built gets schemas whose text compares by its bytes. Nothing else looks at them there: names are
// resolved, ranges are chosen.

// ExactUpdate returns an UPDATE of one table over byte-exact schemas; nil if none of the columns needs it.
func ExactUpdate(ctx *sql.Context, n *plan.Update) (sql.Node, error) {
	if _, done := n.Child.(*ExactTable); done {
		return nil, nil
	}
	table, err := plan.GetUpdatable(n.Child)
	if err != nil {
		return nil, nil // the library will say it
	}
	whole := table.Schema(ctx)
	if h, ok := table.(*plan.ForeignKeyHandler); ok {
		whole = h.Table.Schema(ctx) // its own is that of the plan, each column twice: no row is equal in that
	}
	schema, differs := exactSchema(whole)
	if !differs {
		return nil, nil
	}
	child, _, err := transform.Node(ctx, n.Child,
		func(ctx *sql.Context, c sql.Node) (sql.Node, transform.TreeIdentity, error) {
			src, ok := c.(*plan.UpdateSource)
			if !ok || !src.UpdateExprs.HasDerivedUpdates() {
				return c, transform.SameTree, nil
			}
			out, err := src.WithChildren(ctx, &ExactTable{Node: src.Child, table: table, schema: schema})
			return out, transform.NewTree, err
		})
	if err != nil {
		return nil, err
	}
	if h, ok := table.(*plan.ForeignKeyHandler); ok {
		// Its own schema is what rows are counted by.
		exact := *h
		exact.Sch, _ = exactSchema(h.Sch)
		table = &exact
	}
	return n.WithChildren(ctx, &ExactTable{Node: child, table: table, schema: schema})
}

// ExactUpsert does the same for INSERT … ON DUPLICATE KEY UPDATE, where generated columns hang on it.
func ExactUpsert(n *plan.InsertInto) *plan.InsertInto {
	dest, ok := n.Destination.(*plan.InsertDestination)
	if !ok || !n.OnDupExprs.HasUpdates() {
		return nil
	}
	schema, differs := exactSchema(dest.Sch)
	if !differs {
		return nil
	}
	to := *dest
	to.Sch = schema
	exact := *n
	exact.Destination = &to
	return &exact
}

// exactSchema copies a schema with byte-exact text; differs is false if there is no text that
// would compare otherwise.
func exactSchema(s sql.Schema) (exact sql.Schema, differs bool) {
	exact = make(sql.Schema, len(s))
	for i, c := range s {
		exact[i] = c
		t, ok := c.Type.(sql.StringType)
		if _, done := c.Type.(exactText); done || !ok || strings.HasSuffix(t.Collation().Name(), "bin") ||
			t.Collation() == sql.Collation_binary {
			continue
		}
		col := *c
		col.Type = exactText{t}
		exact[i], differs = &col, true
	}
	return exact, differs
}

// exactText is a text type that compares bytes.
type exactText struct{ sql.StringType }

// Compare implements sql.Type.
func (t exactText) Compare(ctx context.Context, a, b any) (int, error) {
	x, ok := a.(string)
	y, ok2 := b.(string)
	if ok && ok2 {
		return strings.Compare(x, y), nil
	}
	if a != nil && b != nil {
		// A value may be a handle on a long text.
		u, err := sql.UnwrapAny(ctx, a)
		if err != nil {
			return 0, err
		}
		v, err := sql.UnwrapAny(ctx, b)
		if err != nil {
			return 0, err
		}
		x, ok = u.(string)
		y, ok2 = v.(string)
		if ok && ok2 {
			return strings.Compare(x, y), nil
		}
	}
	return t.StringType.Compare(ctx, a, b)
}

// ExactTable is a node of an UPDATE that the library takes for the table, with an exact schema. It
// is its child otherwise.
type ExactTable struct {
	sql.Node
	table  sql.UpdatableTable
	schema sql.Schema
}

var (
	_ sql.Node           = (*ExactTable)(nil)
	_ sql.UpdatableTable = (*ExactTable)(nil)
)

// Name implements sql.Table.
func (t *ExactTable) Name() string { return t.table.Name() }

// Schema implements sql.Table and sql.Node.
func (t *ExactTable) Schema(*sql.Context) sql.Schema { return t.schema }

// Collation implements sql.Table.
func (t *ExactTable) Collation() sql.CollationID { return t.table.Collation() }

// Partitions implements sql.Table.
func (t *ExactTable) Partitions(ctx *sql.Context) (sql.PartitionIter, error) {
	return t.table.Partitions(ctx)
}

// PartitionRows implements sql.Table.
func (t *ExactTable) PartitionRows(ctx *sql.Context, p sql.Partition) (sql.RowIter, error) {
	return t.table.PartitionRows(ctx, p)
}

// Updater implements sql.UpdatableTable.
func (t *ExactTable) Updater(ctx *sql.Context) sql.RowUpdater { return t.table.Updater(ctx) }

// WithChildren implements sql.Node.
func (t *ExactTable) WithChildren(ctx *sql.Context, ch ...sql.Node) (sql.Node, error) {
	inner, err := t.Node.WithChildren(ctx, ch...)
	return &ExactTable{Node: inner, table: t.table, schema: t.schema}, err
}
