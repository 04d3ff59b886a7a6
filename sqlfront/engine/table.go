package engine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
)

// Table is one version of a table as the SQL engine sees it. It is immutable and holds no transaction, so it may be kept in
// plans and shared by sessions; see view.
type Table struct {
	eng       *Engine
	db        string
	desc      *catalog.Table
	pk        sql.PrimaryKeySchema // schema with all public columns, in order
	collation sql.CollationID
	temporary bool
	digits    bool // some column's type has digits that the engine's does not know

	// ordinals[i] is where public column i stands in desc.Columns. Rows inside this package have the public columns only;
	// columns that are being added or removed get their fill value.
	ordinals []int
	rows     *rowenc.RowCodec
	decode   *rowenc.RowDecoder

	primary *index   // nil for a keyless table
	keys    []*index // every index that writers maintain, the primary key first
	public  []sql.Index
	texts   []*index // FULLTEXT indexes, which writers maintain as well
	auto    int      // position of the AUTO_INCREMENT column, -1 if there is none
	chars   []int    // positions of CHAR columns
	narrow  []narrowText
	// zone is that of the rows, nil for UTC and for a table without TIMESTAMP columns; see zone.go. stamps are the positions of those.
	zone   *rowenc.Zone
	stamps []int
	// virtualKeys: an index is over a virtual column.
	virtualKeys bool

	// A projection of the table, or one access path of it, is a shallow copy with these set.
	projected *projection
	// lock makes scans lock the rows that they deliver (SELECT … FOR UPDATE).
	lock *parse.Lock
	// asOf makes them read the past; see past.go.
	asOf kv.Timestamp
	// viewChecks are those of the view that a statement writes through.
	viewChecks []sql.CheckDefinition
}

type projection struct {
	names    []string
	schema   sql.Schema
	ordinals []int
	decode   *rowenc.RowDecoder
}

var (
	_ sql.Table                    = (*Table)(nil)
	_ sql.PrimaryKeyTable          = (*Table)(nil)
	_ sql.ProjectedTable           = (*Table)(nil)
	_ sql.IndexAddressableTable    = (*Table)(nil)
	_ sql.IndexSearchableTable     = (*Table)(nil)
	_ sql.StatisticsTable          = (*Table)(nil)
	_ sql.CommentedTable           = (*Table)(nil)
	_ sql.TemporaryTable           = (*Table)(nil)
	_ sql.Databaseable             = (*Table)(nil)
	_ sql.CheckTable               = (*Table)(nil)
	_ sql.ForeignKeyTable          = (*Table)(nil)
	_ sql.AutoIncrementTable       = (*Table)(nil)
	_ sql.InsertableTable          = (*Table)(nil)
	_ sql.UpdatableTable           = (*Table)(nil)
	_ sql.DeletableTable           = (*Table)(nil)
	_ sql.ReplaceableTable         = (*Table)(nil)
	_ sql.TruncateableTable        = (*Table)(nil)
	_ sql.AlterableTable           = (*Table)(nil)
	_ sql.RewritableTable          = (*Table)(nil)
	_ sql.IndexAlterableTable      = (*Table)(nil)
	_ sql.IndexBuildingTable       = (*Table)(nil)
	_ sql.PrimaryKeyAlterableTable = (*Table)(nil)
	_ sql.CheckAlterableTable      = (*Table)(nil)
	_ sql.CollationAlterableTable  = (*Table)(nil)
	_ sql.CommentAlterableTable    = (*Table)(nil)
	_ sql.Lockable                 = (*Table)(nil)
)

// rowSpace is the byte after the table id of kv.TableTxn under which SQL rows live.
const rowSpace = 0x10

// indexPrefix is the row key up to the index's own key:
//
//	┌───────────────┬────┬──────────┬──────────┬───────────┐
//	│ TableTxn (u32)│ 10 │ table u32│ index u32│ key bytes │
//	└───────────────┴────┴──────────┴──────────┴───────────┘
func indexPrefix(table, index uint32) kv.RowKey {
	k := make([]byte, 0, 9)
	k = append(k, rowSpace)
	k = binary.BigEndian.AppendUint32(k, table)
	k = binary.BigEndian.AppendUint32(k, index)
	return kv.MakeRowKey(kv.TableTxn, k)
}

func indexSpan(table, index uint32) kv.Span {
	start := indexPrefix(table, index)
	end := append(kv.RowKey(nil), start...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			break
		}
	}
	return kv.Span{Start: start, End: end}
}

// newTable makes the engine's object for a descriptor, for rows in a time zone.
func newTable(e *Engine, db string, desc *catalog.Table, zone *rowenc.Zone) (*Table, error) {
	t := &Table{eng: e, db: db, desc: desc, auto: -1}
	if stamped(desc) {
		t.zone = zone
	}
	var err error
	if t.collation, err = sql.ParseCollation("", desc.Collation, false); err != nil {
		return nil, fmt.Errorf("engine: table %s.%s: %w", db, desc.Name, err)
	}
	if t.collation == sql.Collation_Unspecified {
		t.collation = sql.Collation_Default
	}
	var schema sql.Schema
	var columns []rowenc.Column
	position := map[uint32]int{} // by column id
	for i := range desc.Columns {
		c := &desc.Columns[i]
		typ, err := c.Type.SQL()
		if err != nil {
			return nil, fmt.Errorf("engine: column %s.%s.%s: %w", db, desc.Name, c.Name, err)
		}
		if c.State != catalog.StatePublic {
			continue
		}
		position[c.ID] = len(schema)
		col := t.column(c, typ)
		if col.AutoIncrement {
			t.auto = len(schema)
		}
		if c.Type.Kind == "char" {
			t.chars = append(t.chars, len(schema))
		}
		if charset, ok := narrowColumn(typ); ok {
			t.narrow = append(t.narrow, narrowText{len(schema), charset})
		}
		t.ordinals = append(t.ordinals, i)
		if _, ok := c.Type.Digits(); ok {
			t.digits = true
		}
		if isStamp(typ) {
			t.stamps = append(t.stamps, len(schema))
		}
		schema = append(schema, col)
		rc := rowenc.Column{ID: c.ID, Type: typ, Zone: t.zone}
		if c.Fill != nil {
			if rc.Default, err = t.filled(c, typ); err != nil {
				return nil, fmt.Errorf("engine: column %s.%s.%s: %w", db, desc.Name, c.Name, err)
			}
		}
		columns = append(columns, rc)
	}
	pkOrdinals := make([]int, len(desc.PrimaryKey))
	for i, c := range desc.PrimaryKey {
		pkOrdinals[i] = position[c.Column]
		schema[pkOrdinals[i]].PrimaryKey = true
	}
	t.pk = sql.NewPrimaryKeySchema(schema, pkOrdinals...)
	if t.rows, err = rowenc.NewRowCodec(columns); err != nil {
		return nil, fmt.Errorf("engine: table %s.%s: %w", db, desc.Name, err)
	}
	t.decode = t.rows.Project(nil)
	return t, t.buildIndexes(position)
}

// column makes the engine's column of a descriptor. Defaults stay text: the engine parses them where it needs them.
func (t *Table) column(c *catalog.Column, typ sql.Type) *sql.Column {
	col := &sql.Column{
		Name: c.Name, Type: typ, Nullable: c.Nullable, Source: t.desc.Name, DatabaseSource: t.db,
		AutoIncrement: c.AutoIncrement, Comment: c.Comment, Extra: extra(c),
		Virtual: c.Virtual, Hidden: c.Hidden, HiddenSystem: c.HiddenSystem,
	}
	if _, ok := c.Type.Digits(); ok { // so that they are there in a table LIKE this one
		col.Comment = catalog.MarkDigits(c.Comment, int(c.Type.Precision), int(c.Type.Scale))
	}
	if c.Default != "" {
		text := c.Default
		if isStamp(typ) {
			text = localDefault(t.zone, text)
		}
		col.Default = sql.NewUnresolvedColumnDefaultValue(text)
	}
	if c.Generated != "" {
		col.Generated = sql.NewUnresolvedColumnDefaultValue(enclosed(c.Generated))
	}
	if c.OnUpdate != "" {
		col.OnUpdate = sql.NewUnresolvedColumnDefaultValue(c.OnUpdate)
	}
	return col
}

// fit returns the row as it is stored: a CHAR is read without the spaces at its end, in MySQL because it is stored with as many as fit.
func (t *Table) fit(row sql.Row) sql.Row {
	same := true
	for _, i := range t.chars {
		s, ok := row[i].(string)
		if !ok || !strings.HasSuffix(s, " ") {
			continue
		}
		if same {
			row, same = slices.Clone(row), false
		}
		row[i] = strings.TrimRight(s, " ")
	}
	return row
}

// Name implements sql.Table.
func (t *Table) Name() string { return t.desc.Name }

// String implements sql.Table.
func (t *Table) String() string { return t.desc.Name }

// Database implements sql.Databaseable.
func (t *Table) Database() string { return t.db }

// Descriptor is the catalog's description of the table.
func (t *Table) Descriptor() *catalog.Table { return t.desc }

// Schema implements sql.Table.
func (t *Table) Schema(*sql.Context) sql.Schema {
	if t.projected != nil {
		return t.projected.schema
	}
	return t.pk.Schema
}

// PrimaryKeySchema implements sql.PrimaryKeyTable.
func (t *Table) PrimaryKeySchema(*sql.Context) sql.PrimaryKeySchema { return t.pk }

// Collation implements sql.Table.
func (t *Table) Collation() sql.CollationID { return t.collation }

// Comment implements sql.CommentedTable.
func (t *Table) Comment() string { return t.desc.Comment }

// IsTemporary implements sql.TemporaryTable. The library asserts the interface on every table that a READ ONLY transaction
// writes to, and panics without it.
func (t *Table) IsTemporary() bool { return t.temporary }

// WithProjections implements sql.ProjectedTable. An empty list that is not nil means that no column is wanted.
func (t *Table) WithProjections(ctx *sql.Context, names []string) (sql.Table, error) {
	p := &projection{names: names, schema: make(sql.Schema, len(names)), ordinals: make([]int, len(names))}
	for i, n := range names {
		j := t.ordinal(n)
		if j < 0 {
			return nil, sql.ErrTableColumnNotFound.New(t.desc.Name, n)
		}
		p.ordinals[i], p.schema[i] = j, t.pk.Schema[j]
	}
	p.decode = t.rows.Project(p.ordinals)
	c := *t
	c.projected = p
	return &c, nil
}

// Projections implements sql.ProjectedTable.
func (t *Table) Projections() []string {
	if t.projected == nil {
		return nil
	}
	return t.projected.names
}

// ordinal is the position of a public column, -1 if there is none of that name.
func (t *Table) ordinal(name string) int {
	for i, c := range t.pk.Schema {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
}

// GetIndexes implements sql.IndexAddressable.
func (t *Table) GetIndexes(ctx *sql.Context) ([]sql.Index, error) {
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	return now.listed(ctx), nil
}

// PreciseMatch implements sql.IndexAddressable. Lookups are exact, but the engine's comparison of strings has the last word:
// where a collation's order in our keys and its equality in the engine should ever differ, the filter decides.
func (t *Table) PreciseMatch() bool { return false }

// IndexedAccess implements sql.IndexAddressable. The lookup comes again with LookupPartitions, for each row of a join.
func (t *Table) IndexedAccess(ctx *sql.Context, lookup sql.IndexLookup) sql.IndexedTable {
	if now, err := t.current(ctx); err == nil && now.desc != t.desc {
		// In the midst of a schema change the index may be younger than the table object that the engine holds.
		c := *now
		if t.projected == nil {
			return &indexedTable{Table: &c}
		}
		if p, err := c.WithProjections(ctx, t.projected.names); err == nil {
			return &indexedTable{Table: p.(*Table)}
		}
	}
	return &indexedTable{Table: t}
}

// GetChecks implements sql.CheckTable.
func (t *Table) GetChecks(ctx *sql.Context) ([]sql.CheckDefinition, error) {
	now, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	return append(now.checkDefinitions(), t.viewChecks...), nil
}

func (t *Table) checkDefinitions() []sql.CheckDefinition {
	checks := make([]sql.CheckDefinition, len(t.desc.Checks))
	for i, c := range t.desc.Checks {
		checks[i] = sql.CheckDefinition{Name: c.Name, CheckExpression: c.Expression, Enforced: c.Enforced}
	}
	return checks
}

// Lock implements sql.Lockable. LOCK TABLES does not come here; see locktables.go.
func (t *Table) Lock(ctx *sql.Context, write bool) error { return nil }

// Unlock implements sql.Lockable.
func (t *Table) Unlock(ctx *sql.Context, id uint32) error { return nil }

// base is the table without projection.
func (t *Table) base() *Table {
	if t.projected == nil {
		return t
	}
	c := *t
	c.projected = nil
	return &c
}
