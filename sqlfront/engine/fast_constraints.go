package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"moka/sqlfront/catalog"
	"moka/sqlfront/eval"
	"moka/sqlfront/rowenc"
)

// constraints are what the rows of a plan's writes have to keep: checks, and foreign keys from the table and
// to it. A row that does not keep them is left to the general planner, which words the error, and cascades.
type constraints struct {
	checks   []eval.Predicate // over rows of the table
	frame    eval.Frame       // of the checks
	parents  []parentKey
	children [][]int // columns that rows of other tables refer to: these values must not go
}

// parentKey is a foreign key of the table.
type parentKey struct {
	columns []int // of the table
	parent  *Table
	key     *index // of the parent, over the columns that the foreign key names, in its order
}

// constraints compiles those of a table; nil if there are none.
func (c *compiler) constraints(
	ctx *sql.Context, v *view, d *catalog.Database, t *Table,
) (*constraints, error) {
	references := v.snap.References(d.Name, t.desc.Name)
	if len(t.desc.Checks) == 0 && len(t.desc.ForeignKeys) == 0 && len(references) == 0 {
		return nil, nil
	}
	k := &constraints{}
	if c.plan.kind != planDelete {
		if err := k.addChecks(ctx, t); err != nil {
			return nil, err
		}
		for i := range t.desc.ForeignKeys {
			p, ok := c.parentKey(v, t, &t.desc.ForeignKeys[i])
			if !ok {
				return nil, unplanned(reasonTable)
			}
			k.parents = append(k.parents, p)
		}
	}
	if c.plan.kind == planInsert {
		return k, nil
	}
	for i := range references {
		cols, ok := ordinalsOf(t, references[i].Key.ParentColumns)
		if !ok {
			return nil, unplanned(reasonTable)
		}
		k.children = append(k.children, cols)
	}
	if c.plan.kind == planDelete && len(k.children) > 0 {
		return nil, unplanned(reasonTable)
	}
	return k, nil
}

func (k *constraints) addChecks(ctx *sql.Context, t *Table) error {
	if len(t.desc.Checks) == 0 {
		return nil
	}
	_, checks, err := t.resolved(ctx, t.checkDefinitions())
	if err != nil {
		return unplanned(reasonTable)
	}
	var operands []eval.Typed
	slot := func(f *expression.GetField) (int, bool) { return f.Index(), f.Index() < len(t.pk.Schema) }
	scope := eval.Scope{Literal: planLiteral, Operands: &operands, Slot: slot}
	for _, check := range checks {
		if !check.Enforced {
			continue
		}
		p, err := eval.New(ctx, check.Expr, scope)
		if err != nil {
			return unplanned(reasonTable)
		}
		k.checks = append(k.checks, p)
	}
	if err := k.frame.Bind(operands); err != nil {
		return unplanned(reasonTable)
	}
	return nil
}

// parentKey finds the parent of a foreign key; false if a value of the one is not simply one of the other.
func (c *compiler) parentKey(v *view, t *Table, f *catalog.ForeignKey) (p parentKey, ok bool) {
	if !f.Resolved || equalFold(f.ParentTable, t.desc.Name) && equalFold(f.ParentDatabase, t.db) {
		return p, false
	}
	d, ok := v.snap.Database(f.ParentDatabase)
	if !ok {
		return p, false
	}
	desc, ok := d.Table(f.ParentTable)
	if !ok {
		return p, false
	}
	var err error
	if p.parent, err = v.table(c.eng, d, desc); err != nil {
		return p, false
	}
	columns, ok1 := ordinalsOf(t, f.Columns)
	parents, ok2 := ordinalsOf(p.parent, f.ParentColumns)
	if !ok1 || !ok2 {
		return p, false
	}
	for i := range columns {
		if !eval.SameKind(p.parent.pk.Schema[parents[i]].Type, t.pk.Schema[columns[i]].Type) {
			return p, false
		}
	}
	for _, x := range p.parent.keys {
		if !x.exact() || !x.unique || len(x.cols) != len(parents) {
			continue
		}
		if at, ok := permutation(x.cols, parents); ok {
			p.key = x
			for _, i := range at {
				p.columns = append(p.columns, columns[i])
			}
			return p, true
		}
	}
	return p, false
}

// permutation says where each of a is in b.
func permutation(a, b []int) (at []int, ok bool) {
	for _, x := range a {
		i := slices.Index(b, x)
		if i < 0 {
			return nil, false
		}
		at = append(at, i)
	}
	return at, true
}

func ordinalsOf(t *Table, names []string) (cols []int, ok bool) {
	for _, n := range names {
		i := t.ordinal(n)
		if i < 0 {
			return nil, false
		}
		cols = append(cols, i)
	}
	return cols, true
}

// current reports whether the parents are what they were. Who refers to the table is of the table's own
// version.
func (k *constraints) current(snap *catalog.Snapshot) bool {
	for i := range k.parents {
		p := k.parents[i].parent
		d, ok := snap.Database(p.db)
		if !ok {
			return false
		}
		if desc, ok := d.Table(p.desc.Name); !ok || desc != p.desc {
			return false
		}
	}
	return true
}

// keep makes sure that a row keeps the constraints when it comes in the place of another; nil is no row.
// errFallback says that it does not, or that it is more than a plan wants to know.
func (r *fastRun) keep(old, row sql.Row) error {
	k := r.plan.keeps
	if k == nil {
		return nil
	}
	if old != nil {
		for _, cols := range k.children {
			for _, c := range cols {
				if same, err := r.sameValue(c, old, row); err != nil || !same {
					return errFallback
				}
			}
		}
	}
	if row == nil {
		return nil
	}
	for _, p := range k.checks {
		truth, err := p.Eval(r.ctx, &k.frame, row)
		if err != nil || truth == eval.False {
			return errFallback
		}
	}
	for i := range k.parents {
		if err := r.hasParent(&k.parents[i], old, row); err != nil {
			return err
		}
	}
	return nil
}

func (r *fastRun) sameValue(column int, old, row sql.Row) (bool, error) {
	if row == nil || old[column] == nil || row[column] == nil {
		return row != nil && old[column] == nil && row[column] == nil, nil
	}
	n, err := compare(r.ctx, r.plan.table.pk.Schema[column].Type, old[column], row[column])
	return n == 0, err
}

// hasParent looks for the parent that a row names, which has to be there still when the transaction commits.
// A row with a NULL in the key has none, and needs none.
func (r *fastRun) hasParent(p *parentKey, old, row sql.Row) error {
	changed := old == nil
	rng := make(sql.MySQLRange, len(p.columns))
	for i, c := range p.columns {
		if row[c] == nil {
			return nil
		}
		if !changed {
			same, err := r.sameValue(c, old, row)
			if err != nil {
				return errFallback
			}
			changed = !same
		}
		v := row[c]
		if n, ok := rowenc.Int64(v); ok {
			v = n
		}
		rng[i] = equalTo(v, p.parent.pk.Schema[p.key.cols[i]].Type)
	}
	if !changed {
		return nil
	}
	spans, err := p.key.codec.Spans(r.ctx, p.key.prefix, sql.MySQLRangeCollection{rng})
	if err != nil || len(spans) != 1 || !spans[0].Exact {
		return errFallback
	}
	it, err := p.parent.PartitionRows(r.ctx, &partition{index: p.key, spans: spans, reference: true})
	if err != nil {
		return err
	}
	defer it.Close(r.ctx)
	if _, err := it.Next(r.ctx); err == io.EOF {
		return errFallback // there is none
	} else if err != nil {
		return err
	}
	return nil
}
