package engine

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
)

// What SHOW says of tables is read by programs: dumps, migrations and object mappers. Where the library's words are not MySQL's,
// they are put right here.

// extra is MySQL's column of that name, as far as the library does not make it.
func extra(c *catalog.Column) string {
	switch {
	case c.HiddenSystem:
		return ""
	case c.AutoIncrement:
		return "auto_increment"
	case c.Generated != "" && c.Virtual:
		return "VIRTUAL GENERATED"
	case c.Generated != "":
		return "STORED GENERATED"
	case c.OnUpdate == "":
		return "" // or DEFAULT_GENERATED, which the library adds
	case c.Default != "" && !literalText.MatchString(c.Default):
		return "DEFAULT_GENERATED on update " + c.OnUpdate
	}
	return "on update " + c.OnUpdate
}

// literalText tells a stored default that is a constant.
var literalText = regexp.MustCompile(`^(?i)(['"0-9.+-]|null|b'|x'|true|false)`)

// shown marks a node that the library is asked to run as it is.
type shown struct{}

func isShown(ctx *sql.Context, n sql.Node) bool { return ctx.Value(shown{}) == n }

func asShown(ctx *sql.Context, n sql.Node) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, shown{}, n))
}

// showColumns is SHOW [FULL] COLUMNS. A row is Field, Type, [Collation,] Null, Key, Default, Extra [, Privileges, Comment].
func (b *execBuilder) showColumns(ctx *sql.Context, n *plan.ShowColumns, row sql.Row) (sql.RowIter, error) {
	if !b.shows || isShown(ctx, n) {
		return nil, nil
	}
	it, err := b.base.Build(asShown(ctx, n), n, row)
	if err != nil {
		return nil, err
	}
	rows, err := sql.RowIterToRows(ctx, it)
	if err != nil {
		return nil, err
	}
	var table sql.Table
	if rt, ok := n.Child.(*plan.ResolvedTable); ok {
		table = rt.Table
	}
	if rt, ok := n.Child.(*plan.ResolvedTable); ok && rt.SqlDatabase != nil {
		if may := b.eng.columnsSeen(ctx, rt.SqlDatabase.Name(), rt.Name()); may != nil {
			rows = slices.DeleteFunc(rows, func(r sql.Row) bool { return !may(r[0].(string)) })
		}
	}
	texts := ownTable(table).textColumns()
	columns := map[string]*sql.Column{}
	for _, c := range n.TargetSchema() {
		columns[c.Name] = c
	}
	for _, r := range rows {
		c := columns[r[0].(string)]
		if c == nil {
			continue
		}
		r[1] = shownType(table, c)
		at := 4 // of Default
		key := 3
		if n.Full {
			at, key = 5, 4
			if r[2] = nil; types.IsTextOnly(c.Type) || isEnumType(c.Type) {
				if t, ok := c.Type.(sql.TypeWithCollation); ok {
					r[2] = t.Collation().Name()
				}
			}
			r[7] = "select,insert,update,references"
			if text, ok := r[8].(string); ok {
				r[8], _ = catalog.TakeDigits(text, &catalog.Type{})
			}
		}
		if r[key] == "" && texts[c.Name] {
			r[key] = "MUL"
		}
		if r[at] = shownText(information_schema.GetColumnDefault(ctx, c.Default)); c.Default != nil && c.Default.IsLiteral() && types.IsDateType(c.Type) {
			if text, ok := r[at].(string); ok {
				r[at] = strings.TrimSuffix(text, " 00:00:00")
			}
		}
	}
	return sql.RowsToRowIter(rows...), nil
}

// shownText is a text of an expression with MySQL's words.
func shownText(v any) any {
	if text, ok := v.(string); ok {
		return parse.Spelled(text)
	}
	return v
}

func isEnumType(t sql.Type) bool { return types.IsEnum(t) || types.IsSet(t) }

var typeCollation = regexp.MustCompile(` (CHARACTER SET|COLLATE) \w+`)

// bareType is a column's type without character set and collation, which have a column of their own.
func bareType(t sql.Type) string {
	text := t.String()
	if quoted := strings.LastIndexByte(text, '\''); quoted >= 0 { // members of an ENUM are not to be looked into
		return text[:quoted] + typeCollation.ReplaceAllString(text[quoted:], "")
	}
	return typeCollation.ReplaceAllString(text, "")
}

// showTables is SHOW [FULL] TABLES. A row is the name and, with FULL, the type.
func (b *execBuilder) showTables(ctx *sql.Context, n *plan.ShowTables, row sql.Row) (sql.RowIter, error) {
	if !n.Full || n.Database() == nil || !strings.EqualFold(n.Database().Name(), sql.InformationSchemaDatabaseName) || isShown(ctx, n) {
		return nil, nil
	}
	it, err := b.base.Build(asShown(ctx, n), n, row)
	if err != nil {
		return nil, err
	}
	return &mapRows{it, func(_ *sql.Context, row sql.Row) {
		row[1] = "SYSTEM VIEW"
	}}, nil
}

// informationColumns is information_schema.columns with what the library leaves out, or gets wrong, of our tables.
func (b *execBuilder) informationColumns(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	if _, ok := sql.GetUnderlyingTable(n.Table).(*information_schema.ColumnsTable); !ok || !b.shows || isShown(ctx, n) {
		return nil, nil
	}
	it, err := b.base.Build(asShown(ctx, n), n, row)
	if err != nil {
		return nil, err
	}
	v, err := b.eng.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	return &columnsIter{RowIter: it, snap: v.snap}, nil
}

type columnsIter struct {
	sql.RowIter
	snap *catalog.Snapshot
}

// Next implements sql.RowIter. The fields are those of MySQL's manual, in its order.
func (it *columnsIter) Next(ctx *sql.Context) (sql.Row, error) {
	const (
		schema, table, column, def, dataType, characters, octets, precision, scale, fraction, columnType, key, comment, generation = 1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 15, 16, 19, 20
	)
	r, err := it.RowIter.Next(ctx)
	if err != nil || len(r) <= generation {
		return r, err
	}
	if r[key] == "" && it.textual(r[schema], r[table], r[column]) {
		r[key] = "MUL"
	}
	switch r[dataType] {
	case "tinytext", "text", "mediumtext", "longtext":
		r[characters] = r[octets]
	case "date":
		if text, ok := r[def].(string); ok {
			r[def] = strings.TrimSuffix(text, " 00:00:00")
		}
	}
	r[def], r[generation] = shownText(r[def]), shownText(r[generation])
	if text, ok := r[comment].(string); ok {
		r[comment], _ = catalog.TakeDigits(text, &catalog.Type{})
	}
	switch r[dataType] {
	case "time", "float", "double":
		if c := it.column(r[schema], r[table], r[column]); c != nil {
			if n, ok := c.Type.Digits(); ok {
				r[columnType] = c.Type.DigitsText()
				if c.Type.Kind == "time" {
					r[fraction] = uint32(n)
				} else {
					r[precision], r[scale] = uint64(c.Type.Precision), uint64(n)
				}
			}
		}
	}
	if extra, _ := r[17].(string); strings.HasSuffix(extra, " GENERATED") {
		if c := it.column(r[schema], r[table], r[column]); c != nil {
			r[generation] = strings.TrimSuffix(strings.TrimPrefix(c.Generated, "("), ")")
		}
	}
	return r, nil
}

func (it *columnsIter) column(names ...any) *catalog.Column {
	_, c := it.find(names...)
	return c
}

func (it *columnsIter) find(names ...any) (*catalog.Table, *catalog.Column) {
	var text [3]string
	for i, n := range names {
		text[i], _ = n.(string)
	}
	d, ok := it.snap.Database(text[0])
	if !ok {
		return nil, nil
	}
	t, ok := d.Table(text[1])
	if !ok {
		return nil, nil
	}
	for i := range t.Columns {
		if t.Columns[i].Name == text[2] {
			return t, &t.Columns[i]
		}
	}
	return nil, nil
}

// textual reports whether a FULLTEXT index begins with the column.
func (it *columnsIter) textual(names ...any) bool {
	t, c := it.find(names...)
	return t != nil && slices.ContainsFunc(t.Indexes, func(x catalog.Index) bool {
		return x.FullText && x.State == catalog.StatePublic && x.Columns[0].Column == c.ID
	})
}
