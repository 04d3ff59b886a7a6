package engine

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/catalog"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

// ShouldRewriteTable implements sql.RewritableTable: whether stored rows or keys change with the schema.
func (t *Table) ShouldRewriteTable(ctx *sql.Context, before, after sql.PrimaryKeySchema, old, col *sql.Column) bool {
	if !samePrimaryKey(before, withoutDropped(after)) {
		return true
	}
	switch {
	case old != nil && col != nil:
		return !sameStorage(old.Type, col.Type) || fewerDigits(old, col) || old.Virtual != col.Virtual || (col.Generated != nil) != (old.Generated != nil)
	case old != nil: // dropped: an index that goes on without the column has other keys
		for _, x := range append(slices.Clip(t.keys), t.texts...) {
			if len(x.cols) > 1 && slices.ContainsFunc(x.cols, func(c int) bool { return strings.EqualFold(t.pk.Schema[c].Name, old.Name) }) {
				return true
			}
		}
	}
	return false
}

// withoutDropped is the schema behind DROP COLUMN: the library leaves -1 in the primary key for a column that was in it. The key goes on
// with the others, as MySQL has it, or is gone.
func withoutDropped(s sql.PrimaryKeySchema) sql.PrimaryKeySchema {
	s.PkOrdinals = slices.DeleteFunc(slices.Clone(s.PkOrdinals), func(o int) bool { return o < 0 })
	return s
}

func samePrimaryKey(a, b sql.PrimaryKeySchema) bool {
	if len(a.PkOrdinals) != len(b.PkOrdinals) {
		return false
	}
	// A renamed column is in the same place of the key, so only the number and the types are compared; the key's columns
	// cannot be exchanged in one statement.
	for i := range a.PkOrdinals {
		if !sameStorage(a.Schema[a.PkOrdinals[i]].Type, b.Schema[b.PkOrdinals[i]].Type) {
			return false
		}
	}
	return true
}

// sameStorage reports whether values and keys of the old type are read back as equal values of the new one.
func sameStorage(old, typ sql.Type) bool {
	a, err := catalog.TypeOf(old)
	if err != nil {
		return false
	}
	b, err := catalog.TypeOf(typ)
	if err != nil {
		return false
	}
	if a.Collation != b.Collation && b.Collation != "" && typ.(sql.TypeWithCollation).Collation() != sql.Collation_Unspecified {
		return false
	}
	b.Collation = a.Collation
	ints := []string{"tinyint", "smallint", "mediumint", "int", "bigint"}
	i, j := slices.Index(ints, a.Kind), slices.Index(ints, b.Kind)
	if i >= 0 && j >= 0 {
		return a.Unsigned == b.Unsigned && i <= j
	}
	if _, ok := typ.(sql.SpatialColumnType); ok && b.SRID != nil && (a.SRID == nil || *a.SRID != *b.SRID) {
		return false // each row has to be looked at
	}
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case "varchar", "varbinary", "text", "blob":
		return a.Length <= b.Length
	case "decimal":
		return a.Scale == b.Scale && a.Precision <= b.Precision
	case "enum", "set":
		return len(a.Values) <= len(b.Values) && slices.Equal(a.Values, b.Values[:len(a.Values)])
	}
	return a.Length == b.Length && a.Precision == b.Precision && a.Scale == b.Scale && a.Unsigned == b.Unsigned
}

// RewriteInserter implements sql.RewritableTable: the engine reads the table and hands every row over in its new shape. The rows go
// under new index ids, which nobody reads before the new descriptor is committed with them.
//
// A column with a constant default needs none of that: the constant becomes what rows without the column read as, and the
// scan that the engine is about to begin is answered with nothing.
func (t *Table) RewriteInserter(ctx *sql.Context, before, after sql.PrimaryKeySchema, old, col *sql.Column, idxCols []sql.IndexColumn) (sql.RowInserter, error) {
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	after = withoutDropped(after)
	dropsAuto := old != nil && col == nil && old.AutoIncrement // what wants a key goes with it
	if len(before.PkOrdinals) > 0 && len(after.PkOrdinals) == 0 && !dropsAuto {
		if err := sql.ValidatePrimaryKeyDrop(ctx, t, before); err != nil {
			return nil, err
		}
	}
	if old == nil && col != nil && samePrimaryKey(before, after) && len(idxCols) == 0 {
		fill, ok, err := constantFill(ctx, col)
		if err == nil && ok {
			err = t.zeroRows(ctx, tx, col)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			tx.quiet = t
			return &quietInserter{}, t.addFilled(ctx, after, col, fill)
		}
	}
	if a := tx.alteration; a != nil && !t.temporary {
		tx.quiet = t
		return &quietInserter{}, a.reshape(ctx, tx, t, func(now *Table) (*catalog.Table, error) {
			return reshape(ctx, now, after, old, col, idxCols)
		})
	}
	if !t.temporary {
		if err := tx.beginDDL(ctx); err != nil {
			return nil, err
		}
		if err := tx.exclude(ctx, t); err != nil {
			return nil, err
		}
	}
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	d, err := reshape(ctx, now, after, old, col, idxCols)
	if err != nil {
		return nil, err
	}
	return newRewriter(ctx, tx, now, d)
}

// constantFill is the value that existing rows get in a new column, if it is the same for all of them, or none.
func constantFill(ctx *sql.Context, col *sql.Column) (fill []byte, ok bool, err error) {
	if col.Virtual && col.Generated != nil && !col.PrimaryKey {
		return nil, true, nil // computed by whoever reads the row; nothing of it is stored
	}
	if col.Generated != nil || col.AutoIncrement || col.PrimaryKey || col.Virtual {
		return nil, false, nil
	}
	var v any
	switch {
	case col.Default != nil:
		if !col.Default.IsLiteral() || !col.Default.Resolved() {
			return nil, false, nil
		}
		if v, err = col.Default.Eval(ctx, nil); err != nil {
			return nil, false, err
		}
	case !col.Nullable:
		v = col.Type.Zero()
	}
	if v == nil {
		return nil, col.Nullable, nil
	}
	if v, _, err = col.Type.Convert(ctx, v); err != nil {
		return nil, false, err
	}
	if at, ok := v.(time.Time); ok && isStamp(col.Type) {
		micros, exists := zoneOf(ctx).Instant(at)
		if !exists {
			return nil, false, nil // the rows are written, and the value is looked at there
		}
		v = time.UnixMicro(micros).UTC()
	}
	fill, err = rowenc.AppendValue(ctx, nil, col.Type, v)
	return fill, err == nil, err
}

// zeroRows refuses a new column that fills rows with a date of zeros where the SQL mode has none.
func (t *Table) zeroRows(ctx *sql.Context, tx *Tx, col *sql.Column) error {
	if col.Default != nil || col.Nullable || !types.IsTime(col.Type) || !strict(ctx) ||
		!sql.LoadSqlMode(ctx).ModeEnabled("NO_ZERO_DATE") {
		return nil
	}
	now, err := t.current(ctx)
	if err != nil {
		return err
	}
	it := &entryIter{tx: tx, spans: wholeSpan(indexSpan(now.desc.ID, now.desc.RowIndex))}
	defer it.Close()
	if _, ok, err := it.Next(ctx); err != nil || !ok {
		return err
	}
	kind, zero := "datetime", "0000-00-00 00:00:00"
	if types.IsDateType(col.Type) {
		kind, zero = "date", "0000-00-00"
	}
	return sqlerr.New(sqlerr.TruncatedWrongValue, "Incorrect %s value: '%s' for column '%s' at row 1", kind, zero,
		col.Name)
}

// addFilled adds the column in the place that the new schema gives it.
func (t *Table) addFilled(ctx *sql.Context, after sql.PrimaryKeySchema, col *sql.Column, fill []byte) error {
	order := &sql.ColumnOrder{First: true}
	for i, c := range after.Schema {
		if strings.EqualFold(c.Name, col.Name) && i > 0 {
			order = &sql.ColumnOrder{AfterColumn: after.Schema[i-1].Name}
		}
	}
	return t.change(ctx, func(d *catalog.Table) error {
		c, err := describeColumn(ctx, col, t.collation)
		if err != nil {
			return err
		}
		c.Fill = fill
		d.Columns = append(d.Columns, c)
		return d.MoveColumn(len(d.Columns)-1, order)
	})
}

// quietInserter takes the place of a rewriter when there is nothing to rewrite.
type quietInserter struct{}

func (*quietInserter) StatementBegin(*sql.Context)              {}
func (*quietInserter) DiscardChanges(*sql.Context, error) error { return nil }
func (*quietInserter) StatementComplete(*sql.Context) error     { return nil }
func (*quietInserter) Insert(*sql.Context, sql.Row) error       { return nil }
func (*quietInserter) Close(*sql.Context) error                 { return nil }

// keepsTexts reports whether a column of a table that is rewritten keeps the texts of its expressions: it is not the
// one that the statement is about, and names none that has another name from now on. What the library prints of an
// expression that it has bound is not always that expression.
func keepsTexts(was *catalog.Column, now, old, changed *sql.Column) bool {
	if changed == nil || old == nil {
		return true
	}
	if strings.EqualFold(now.Name, changed.Name) {
		return false
	}
	if strings.EqualFold(old.Name, changed.Name) {
		return true
	}
	for _, text := range []string{was.Default, was.Generated, was.OnUpdate} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(old.Name)) {
			return false
		}
	}
	return true
}

// reshape makes the descriptor for a new schema: columns keep their ids by name (or by the rename), keys their columns.
func reshape(ctx *sql.Context, t *Table, after sql.PrimaryKeySchema, old, col *sql.Column, idxCols []sql.IndexColumn) (*catalog.Table, error) {
	d := t.desc.Clone()
	var columns []catalog.Column
	kept := map[uint32]bool{}
	for _, c := range after.Schema {
		name := c.Name
		if old != nil && col != nil && strings.EqualFold(c.Name, col.Name) {
			name = old.Name
		}
		i := d.Column(name)
		same := i >= 0 && keepsTexts(&d.Columns[i], c, old, col)
		if same {
			c = c.Copy()
			c.Default, c.Generated, c.OnUpdate = nil, nil, nil
		}
		n, err := describeColumn(ctx, c, t.collation)
		if err != nil {
			return nil, err
		}
		if same {
			was := &d.Columns[i]
			n.Default, n.Generated, n.OnUpdate = was.Default, was.Generated, was.OnUpdate
		}
		if i >= 0 {
			n.ID = d.Columns[i].ID
		} else {
			n.ID = d.NextColumnID
			d.NextColumnID++
		}
		kept[n.ID] = true
		columns = append(columns, n)
	}
	for _, c := range d.Columns {
		if !kept[c.ID] {
			d.DropFromIndexes(c.ID)
		}
	}
	d.Columns = columns
	lengths := map[uint32]uint32{}
	for _, k := range d.PrimaryKey {
		lengths[k.Column] = k.PrefixLength
	}
	for _, c := range idxCols {
		if i := d.Column(c.Name); i >= 0 {
			lengths[d.Columns[i].ID] = uint32(c.Length)
		}
	}
	d.PrimaryKey = nil
	for _, o := range after.PkOrdinals {
		id := columns[o].ID
		columns[o].Nullable = false
		if err := keyable(columns[o]); err != nil {
			return nil, err
		}
		d.PrimaryKey = append(d.PrimaryKey, catalog.IndexColumn{Column: id, PrefixLength: lengths[id]})
	}
	return d, nil
}

// rewriter fills the new storage of a table. It works in the statement's transaction, so a rewrite is atomic with the
// change of the descriptor, and bounded by the transaction's size cap (error 1197 says so).
type rewriter struct {
	editor
	tx   *Tx
	from *Table
	desc *catalog.Table
	auto uint64 // the greatest value of the AUTO_INCREMENT column
	bad  bool
	work *job // for SHOW PROCESSLIST
}

func newRewriter(ctx *sql.Context, tx *Tx, from *Table, d *catalog.Table) (*rewriter, error) {
	if err := freshStorage(ctx, from.eng, d); err != nil {
		return nil, catalogError(err)
	}
	to, err := newTable(from.eng, from.db, d, zoneOf(ctx))
	if err != nil {
		return nil, catalogError(err)
	}
	to.temporary = from.temporary
	rows, _, err := from.RowCount(ctx)
	if err != nil {
		return nil, err
	}
	r := &rewriter{tx: tx, from: from, desc: d, work: from.eng.jobs.watch(ctx.Session.ID(), "copying table "+from.db+"."+from.desc.Name, rows)}
	// Not among the running editors: what it reads and what it writes lie under different ids, and the clauses of ALTER TABLE that
	// follow have to see what it has written.
	r.editor = editor{table: to, listed: true}
	r.begin(tx, false)
	// The fence of a descriptor that is not stored yet cannot be required.
	tx.fenced = addFence(tx.fenced, d)
	return r, nil
}

// freshStorage gives a descriptor new ids for its rows and indexes.
func freshStorage(ctx *sql.Context, e *Engine, d *catalog.Table) error {
	d.RowIndex = d.NextIndexID
	d.NextIndexID++
	for i := range d.Indexes {
		d.Indexes[i].ID = d.NextIndexID
		d.NextIndexID++
	}
	d.NewKeys()
	if len(d.PrimaryKey) == 0 && d.RowIDs.ID == 0 {
		seq, err := e.catalog.NewSequence(ctx, 1)
		if err != nil {
			return err
		}
		d.RowIDs = seq
	}
	return nil
}

func (r *rewriter) Insert(ctx *sql.Context, row sql.Row) error {
	r.work.rows.Add(1)
	if i := r.table.auto; i >= 0 && row[i] != nil {
		if n, in, err := sqlUint64(ctx, row[i]); err == nil && in == sql.InRange {
			r.auto = max(r.auto, n)
		}
	}
	return r.editor.Insert(ctx, row)
}

func (r *rewriter) DiscardChanges(ctx *sql.Context, err error) error {
	r.from.eng.jobs.remove(r.work)
	r.bad = true
	return r.editor.DiscardChanges(ctx, err)
}

// Close publishes the new storage.
func (r *rewriter) Close(ctx *sql.Context) error {
	r.from.eng.jobs.remove(r.work)
	if r.bad || r.failed {
		return nil
	}
	r.bad = true
	return r.from.change(ctx, func(d *catalog.Table) error {
		*d = *r.desc.Clone()
		if d.AutoIncrement.ID == 0 {
			d.AutoIncrement.Start = r.auto + 1
		}
		return nil
	})
}

// rebuild rewrites the table with a changed descriptor, for changes that the engine does not stream rows for.
func (t *Table) rebuild(ctx *sql.Context, f func(d *catalog.Table) error) error {
	tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	if a := tx.alteration; a != nil && !t.temporary {
		return a.reshape(ctx, tx, t, func(now *Table) (*catalog.Table, error) {
			d := now.desc.Clone()
			return d, f(d)
		})
	}
	if !t.temporary {
		if err := tx.beginDDL(ctx); err != nil {
			return err
		}
		if err := tx.exclude(ctx, t); err != nil {
			return err
		}
	}
	now, err := t.current(ctx)
	if err != nil {
		return err
	}
	d := now.desc.Clone()
	if err := f(d); err != nil {
		return err
	}
	r, err := newRewriter(ctx, tx, now, d)
	if err != nil {
		return err
	}
	if err := now.copyTo(ctx, r); err != nil {
		_ = r.DiscardChanges(ctx, err)
		return err
	}
	return r.Close(ctx)
}

func (t *Table) copyTo(ctx *sql.Context, r *rewriter) error {
	parts, err := t.Partitions(ctx)
	if err != nil {
		return err
	}
	rows := sql.NewTableRowIter(ctx, t, parts)
	defer rows.Close(ctx)
	for {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.Insert(ctx, row); err != nil {
			return err
		}
	}
}

// Truncate implements sql.TruncateableTable, for TRUNCATE TABLE and for DELETE without a condition. The former is a schema change:
// the table gets new, empty storage. The latter is a statement like any other: it can be rolled back, concurrent inserts
// survive it, and the number of rows is reported.
func (t *Table) Truncate(ctx *sql.Context) (int, error) {
	if err := t.refusePast(nil); err != nil {
		return 0, err
	}
	base := t.base()
	if err := base.refuseTruncate(ctx); err != nil {
		return 0, err
	}
	if isTruncate(ctx.Query()) {
		return 0, base.shrink(ctx, func(d *catalog.Table) error {
			if err := freshStorage(ctx, t.eng, d); err != nil {
				return err
			}
			if d.AutoIncrement.ID == 0 {
				return nil
			}
			var err error
			d.AutoIncrement, err = t.eng.catalog.NewSequence(ctx, 1)
			return err
		})
	}
	e := base.editor(ctx, true)
	e.StatementBegin(ctx)
	n, err := base.deleteAll(ctx, e)
	if err != nil {
		_ = e.DiscardChanges(ctx, err)
	}
	return n, closeEditor(ctx, e, err)
}

func closeEditor(ctx *sql.Context, e *editor, err error) error {
	if err == nil {
		err = e.StatementComplete(ctx)
	}
	if cerr := e.Close(ctx); err == nil {
		err = cerr
	}
	return err
}

func (t *Table) deleteAll(ctx *sql.Context, e *editor) (int, error) {
	parts, err := t.Partitions(ctx)
	if err != nil {
		return 0, err
	}
	rows := sql.NewTableRowIter(ctx, t, parts)
	defer rows.Close(ctx)
	for n := 0; ; n++ {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if err := e.Delete(ctx, row); err != nil {
			return n, err
		}
	}
}

// isTruncate tells TRUNCATE from DELETE; the engine plans both as the same node. A statement that is not recognised is
// taken for a DELETE, which is right for both, only slower.
func isTruncate(query string) bool {
	query = strings.TrimLeft(query, " \t\r\n(")
	return len(query) > 8 && strings.EqualFold(query[:8], "truncate")
}

func addFence(m map[fence]struct{}, d *catalog.Table) map[fence]struct{} {
	if m == nil {
		m = map[fence]struct{}{}
	}
	m[fence{d.ID, d.Version}] = struct{}{}
	return m
}

func sqlUint64(ctx *sql.Context, v any) (uint64, sql.ConvertInRange, error) {
	c, in, err := types.Uint64.Convert(ctx, v)
	if err != nil {
		return 0, in, err
	}
	n, _ := c.(uint64)
	return n, in, nil
}
