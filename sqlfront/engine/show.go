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
	"moka/sqlfront/infoschema"
	"moka/sqlfront/rights"
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
	rows, err := b.shownRows(ctx, n, row)
	if err != nil {
		return nil, err
	}
	var table sql.Table
	if rt, ok := n.Child.(*plan.ResolvedTable); ok {
		table = rt.Table
	}
	rows = b.eng.seenColumns(ctx, n.Child, rows, 0)
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
		if r[at] = infoschema.ShownText(constantDefault(ctx, c)); c.Default != nil &&
			c.Default.IsLiteral() && types.IsDateType(c.Type) {
			if text, ok := r[at].(string); ok {
				r[at] = strings.TrimSuffix(text, " 00:00:00")
			}
		}
	}
	return sql.RowsToRowIter(rows...), nil
}

func isEnumType(t sql.Type) bool { return types.IsEnum(t) || types.IsSet(t) }

var typeCollation = regexp.MustCompile(` (CHARACTER SET|COLLATE) \w+`)

// bareType is a column's type without character set and collation, which have a column of their own.
func bareType(t sql.Type) string {
	if text, ok := infoschema.ElementsText(t); ok {
		return text
	}
	text := t.String()
	return typeCollation.ReplaceAllString(text, "")
}

// showTables is SHOW [FULL] TABLES. A row is the name and, with FULL, the type.
func (b *execBuilder) showTables(ctx *sql.Context, n *plan.ShowTables, row sql.Row) (sql.RowIter, error) {
	if n.Database() == nil || isShown(ctx, n) {
		return nil, nil
	}
	rows, err := b.shownRows(ctx, n, row)
	if err != nil {
		return nil, err
	}
	if n.Full && strings.EqualFold(n.Database().Name(), sql.InformationSchemaDatabaseName) {
		for _, r := range rows {
			r[1] = "SYSTEM VIEW"
		}
	}
	return sql.RowsToRowIter(slices.DeleteFunc(rows, func(r sql.Row) bool {
		return !b.eng.sees(ctx, n.Database().Name(), r[0].(string)) // the library shows each view
	})...), nil
}

// shownRows are the rows that the library has.
func (b *execBuilder) shownRows(ctx *sql.Context, n sql.Node, row sql.Row) ([]sql.Row, error) {
	it, err := b.base.Build(asShown(ctx, n), n, row)
	if err != nil {
		return nil, err
	}
	return sql.RowIterToRows(ctx, it)
}

// showDatabases leaves the database of the accounts out for who may do nothing in it.
func (b *execBuilder) showDatabases(ctx *sql.Context, n *plan.ShowDatabases, row sql.Row) (sql.RowIter,
	error) {
	if isShown(ctx, n) {
		return nil, nil
	}
	rows, err := b.shownRows(ctx, n, row)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(slices.DeleteFunc(rows, func(r sql.Row) bool {
		return r[0] == infoschema.AccountsDatabase &&
			!rights.Listed(ctx, b.eng.accounts(), infoschema.AccountsDatabase)
	})...), nil
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
	return infoschema.Columns(it, v.snap), nil
}
