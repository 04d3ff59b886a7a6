package engine

import (
	"bytes"
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
	children []childKey
}

// childKey is a foreign key that refers to the table: values to which there are rows must not go.
type childKey struct {
	columns []int // of the table; in the order of key, if there is one
	child   *Table
	key     *index // of the child, beginning with the columns of the foreign key; nil: not looked at
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
	if c.plan.kind == planInsert && c.plan.taken == takenRefused {
		return k, nil
	}
	for i := range references {
		child, ok := c.childKey(v, t, &references[i])
		if !ok || child.key == nil && c.plan.kind == planDelete {
			return nil, unplanned(reasonTable)
		}
		k.children = append(k.children, child)
	}
	return k, nil
}

// childKey finds an index by which the rows that refer to one of the table are found.
func (c *compiler) childKey(v *view, t *Table, r *catalog.Reference) (k childKey, ok bool) {
	parents, ok := ordinalsOf(t, r.Key.ParentColumns)
	if k.columns = parents; !ok || r.Table.ID == t.desc.ID {
		return k, ok
	}
	child, err := v.table(c.eng, r.Database, r.Table)
	if err != nil {
		return k, true
	}
	columns, ok := ordinalsOf(child, r.Key.Columns)
	if !ok {
		return k, true
	}
	for i := range columns {
		if !eval.SameKind(child.pk.Schema[columns[i]].Type, t.pk.Schema[parents[i]].Type) {
			return k, true
		}
	}
	for _, x := range child.keys {
		if !x.exact() || len(x.cols) < len(columns) {
			continue
		}
		if at, ok := permutation(x.cols[:len(columns)], columns); ok {
			k.child, k.key, k.columns = child, x, nil
			for _, i := range at {
				k.columns = append(k.columns, parents[i])
			}
			break
		}
	}
	return k, true
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
	scope := eval.Scope{Literal: eval.TextLiteral, Operands: &operands, Slot: slot}
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

// current reports whether the parents and the children are what they were. Who refers to the table is of the
// table's own version.
func (k *constraints) current(snap *catalog.Snapshot) bool {
	for i := range k.parents {
		if !unchanged(k.parents[i].parent, snap) {
			return false
		}
	}
	for i := range k.children {
		if t := k.children[i].child; t != nil && !unchanged(t, snap) {
			return false
		}
	}
	return true
}

// unchanged reports whether a table is what it was.
func unchanged(t *Table, snap *catalog.Snapshot) bool {
	d, ok := snap.Database(t.db)
	if !ok {
		return false
	}
	desc, ok := d.Table(t.desc.Name)
	return ok && desc == t.desc
}

// keep makes sure that a row keeps the constraints when it comes in the place of another; nil is no row. Those
// of foreign keys are left alone with foreign_key_checks = 0, under which dumps are restored. errFallback says that it does not, or that it is more than a plan wants to know.
func (r *fastRun) keep(old, row sql.Row) error {
	k := r.plan.keeps
	if k == nil {
		return nil
	}
	if old != nil && r.set.foreignKeys {
		for i := range k.children {
			if err := r.hasNoChild(&k.children[i], old, row); err != nil {
				return err
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
	if !r.set.foreignKeys {
		return nil
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

// keepMany makes sure that new rows keep the constraints: each parent is looked for once, with one request.
func (r *fastRun) keepMany(rows []sql.Row) error {
	k := r.plan.keeps
	if k == nil {
		return nil
	}
	for _, row := range rows {
		for _, p := range k.checks {
			truth, err := p.Eval(r.ctx, &k.frame, row)
			if err != nil || truth == eval.False {
				return errFallback
			}
		}
	}
	if !r.set.foreignKeys {
		return nil
	}
	for i := range k.parents {
		if err := r.haveParents(&k.parents[i], rows); err != nil {
			return err
		}
	}
	return nil
}

// haveParents is hasParent for new rows.
func (r *fastRun) haveParents(p *parentKey, rows []sql.Row) error {
	asked := map[string]bool{}
	var all []rowenc.Span
	values := make([]any, len(p.columns))
rows:
	for _, row := range rows {
		for i, c := range p.columns {
			if row[c] == nil {
				continue rows
			}
			values[i] = row[c]
			if n, ok := rowenc.Int64(row[c]); ok {
				values[i] = n
			}
		}
		key, err := p.key.codec.Encode(r.ctx, nil, values...)
		if err != nil {
			return errFallback
		}
		if asked[string(key)] {
			continue
		}
		asked[string(key)] = true
		spans, ok := r.spansOf(p.key, p.columns, row)
		if !ok {
			return errFallback
		}
		all = append(all, spans...)
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b rowenc.Span) int { return bytes.Compare(a.Start, b.Start) })
	it, err := p.parent.PartitionRows(r.ctx, &partition{index: p.key, spans: all, reference: true})
	if err != nil {
		return err
	}
	found := 0
	err = drain(r.ctx, it, func(sql.Row) (bool, error) {
		found++
		return true, nil
	})
	if err == nil && found != len(all) {
		err = errFallback // one has none
	}
	return err
}

// hasNoChild makes sure that no row refers to one that goes, or to values of it that do. Whoever writes a row
// that does at the same time depends on this one.
func (r *fastRun) hasNoChild(c *childKey, old, row sql.Row) error {
	changed := false
	for _, col := range c.columns {
		if old[col] == nil {
			return nil // nothing refers to NULL
		}
		same, err := r.sameValue(col, old, row)
		if err != nil {
			return errFallback
		}
		changed = changed || !same
	}
	if !changed {
		return nil
	}
	if c.key == nil {
		return errFallback
	}
	spans, ok := r.spansOf(c.key, c.columns, old)
	if !ok {
		return errFallback
	}
	it, err := c.child.PartitionRows(r.ctx, &partition{index: c.key, spans: spans, live: true, batch: 1})
	if err != nil {
		return err
	}
	defer it.Close(r.ctx)
	if _, err := it.Next(r.ctx); err == nil {
		return errFallback // an error, or it goes, too
	} else if err != io.EOF {
		return err
	}
	return nil
}

// spansOf are where the entries of an index are that have the values of these columns of a row, none of them
// NULL, in its first ones.
func (r *fastRun) spansOf(x *index, columns []int, row sql.Row) ([]rowenc.Span, bool) {
	rng := make(sql.MySQLRange, len(columns))
	for i, c := range columns {
		v := row[c]
		if n, ok := rowenc.Int64(v); ok {
			v = n
		}
		rng[i] = equalTo(v, x.table.pk.Schema[x.cols[i]].Type)
	}
	spans, err := x.codec.Spans(r.ctx, x.prefix, sql.MySQLRangeCollection{rng})
	return spans, err == nil && len(spans) == 1 && spans[0].Exact
}

// hasParent looks for the parent that a row names, which has to be there still when the transaction commits.
// A row with a NULL in the key has none, and needs none.
func (r *fastRun) hasParent(p *parentKey, old, row sql.Row) error {
	changed := old == nil
	for _, c := range p.columns {
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
	}
	if !changed {
		return nil
	}
	spans, ok := r.spansOf(p.key, p.columns, row)
	if !ok {
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
