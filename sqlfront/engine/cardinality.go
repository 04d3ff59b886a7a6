package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// SHOW INDEX and information_schema.statistics tell how many distinct values an index has. The library leaves a zero.

// cardinality is about how many distinct values the first columns of an index have, zero if the table was not analysed.
func (e *Engine) cardinality(ctx *sql.Context, t *Table, index string, columns int) int64 {
	for _, x := range t.keys {
		if !strings.EqualFold(x.id, index) {
			continue
		}
		rows, _ := e.stats.Estimate(ctx, counted{t})
		n, of, ok := e.stats.Distinct(t.desc.ID, x, columns)
		switch {
		case !ok || of == 0:
			return 0
		case x.unique && columns == len(x.cols):
			return int64(rows)
		}
		return int64(float64(n) / float64(of) * float64(max(rows, 1)))
	}
	return 0
}

// The places of what these two show in their rows.
const (
	showIndexName, showIndexSeq, showIndexColumn, showIndexCollation, showIndexCardinality, showIndexExpression = 2, 3, 4, 5, 6, 14
	showIndexSubPart, showIndexComment, showIndexIndexComment                                                   = 7, 11, 12
	infoSchemaName, infoTableName, infoIndexName, infoSeq, infoCollation, infoCardinality, infoSubPart          = 1, 2, 5, 6, 8, 9, 10
)

// mapRows changes rows on their way.
type mapRows struct {
	sql.RowIter
	change func(ctx *sql.Context, row sql.Row)
}

func (m *mapRows) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := m.RowIter.Next(ctx)
	if err == nil {
		m.change(ctx, row)
	}
	return row, err
}

func asInt(v any) int {
	switch n := v.(type) {
	case int:
		return n
	case int32:
		return int(n)
	case int64:
		return int(n)
	case uint32:
		return int(n)
	}
	return 0
}

// showIndexes is SHOW INDEX with cardinalities, of the columns of which the user may know.
func (b *execBuilder) showIndexes(ctx *sql.Context, n *plan.ShowIndexes, row sql.Row) (sql.RowIter, error) {
	rt, ok := n.Child.(*plan.ResolvedTable)
	if !ok {
		return nil, nil
	}
	t := ownTable(rt.UnderlyingTable())
	if t == nil || isShown(ctx, n) {
		return nil, nil
	}
	asked := n
	if texts := t.publicTexts(); len(texts) > 0 {
		again := *n
		again.IndexesToShow = append(slices.Clip(n.IndexesToShow), texts...)
		asked = &again
	}
	it, err := b.base.Build(asShown(ctx, asked), asked, row)
	if err != nil {
		return nil, err
	}
	it = &mapRows{it, func(ctx *sql.Context, row sql.Row) {
		name, _ := row[showIndexName].(string)
		if t.isText(name) { // words are in no order of the rows
			row[showIndexCollation], row[showIndexCardinality] = nil, nil
			return
		}
		if b.shows {
			// The library takes the one comment for the other.
			row[showIndexComment], row[showIndexIndexComment] = "", row[showIndexComment]
			if n := t.prefixLength(name, asInt(row[showIndexSeq])); n > 0 {
				row[showIndexSubPart] = int64(n)
			}
			row[showIndexCollation] = t.direction(name, asInt(row[showIndexSeq]))
			if i := t.desc.Column(fmt.Sprint(row[showIndexColumn])); i >= 0 && t.desc.Columns[i].HiddenSystem {
				row[showIndexColumn] = nil
				row[showIndexExpression] = strings.TrimSuffix(strings.TrimPrefix(t.desc.Columns[i].Generated, "("), ")")
			}
		}
		row[showIndexCardinality] = b.eng.cardinality(ctx, t, name, asInt(row[showIndexSeq]))
	}}
	rows, err := sql.RowIterToRows(ctx, it)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(b.eng.seenColumns(ctx, n.Child, rows, showIndexColumn)...), nil
}

// prefixLength is how many characters or bytes of a column an index has, 0 for all.
func (t *Table) prefixLength(name string, seq int) uint32 {
	for i := range t.desc.Indexes {
		if x := &t.desc.Indexes[i]; strings.EqualFold(x.Name, name) && seq > 0 && seq <= len(x.Columns) {
			return x.Columns[seq-1].PrefixLength
		}
	}
	if strings.EqualFold(name, "PRIMARY") && seq > 0 && seq <= len(t.desc.PrimaryKey) {
		return t.desc.PrimaryKey[seq-1].PrefixLength
	}
	return 0
}

// direction is how a column of an index was declared: "A" or "D".
func (t *Table) direction(name string, seq int) string {
	for _, x := range t.keys {
		if strings.EqualFold(x.id, name) && seq > 0 && seq <= len(x.descends) && x.descends[seq-1] {
			return "D"
		}
	}
	return "A"
}

// cardinalityTable is information_schema.statistics with cardinalities.
type cardinalityTable struct {
	sql.Table
	eng *Engine
}

var _ sql.CatalogTable = (*cardinalityTable)(nil)

// AssignCatalog implements sql.CatalogTable.
func (t *cardinalityTable) AssignCatalog(cat sql.Catalog) sql.Table {
	if c, ok := t.Table.(sql.CatalogTable); ok {
		return &cardinalityTable{c.AssignCatalog(cat), t.eng}
	}
	return t
}

// PartitionRows implements sql.Table.
func (t *cardinalityTable) PartitionRows(ctx *sql.Context, p sql.Partition) (sql.RowIter, error) {
	it, err := t.Table.PartitionRows(naming(ctx), p)
	if err != nil {
		return nil, err
	}
	return &mapRows{it, func(ctx *sql.Context, row sql.Row) {
		db, _ := row[infoSchemaName].(string)
		table, _ := row[infoTableName].(string)
		name, _ := row[infoIndexName].(string)
		d, err := t.eng.provider.Database(ctx, db)
		if err != nil {
			return
		}
		found, ok, err := d.GetTableInsensitive(ctx, table)
		if err != nil || !ok {
			return
		}
		if own := ownTable(found); own != nil && own.isText(name) {
			row[infoCollation], row[infoCardinality] = nil, nil
		} else if own != nil {
			if row[infoSubPart] != nil && own.prefixLength(name, asInt(row[infoSeq])) == 0 {
				row[infoSubPart] = nil
			}
			if own.direction(name, asInt(row[infoSeq])) == "D" {
				row[infoCollation] = "D"
			}
			row[infoCardinality] = t.eng.cardinality(ctx, own, name, asInt(row[infoSeq]))
		}
	}}, nil
}
