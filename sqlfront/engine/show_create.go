package engine

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/catalog"
	"moka/sqlfront/infoschema"
	"moka/sqlfront/parse"
)

// showCreate is SHOW CREATE TABLE of a table of ours, word by word as MySQL 8 prints it: object mappers and migrations read it with
// regular expressions. The library's text differs (no DEFAULT NULL, no VIRTUAL, parents of foreign keys without their database).
// ok is false for views and for tables of others.
func showCreate(ctx *sql.Context, n *plan.ShowCreateTable) (row sql.Row, ok bool, err error) {
	resolved, ok := n.Child.(*plan.ResolvedTable)
	if !ok || n.IsView {
		return nil, false, nil
	}
	t, ok := sql.GetUnderlyingTable(resolved.Table).(*Table)
	if !ok {
		return nil, false, nil
	}
	var parts []string
	for _, c := range n.TargetSchema() {
		if !c.HiddenSystem {
			parts = append(parts, "  "+columnText(ctx, t, c, t.Collation()))
		}
	}
	var key []string
	for _, k := range t.desc.PrimaryKey {
		for _, c := range t.desc.Columns {
			if c.ID == k.Column {
				key = append(key, quoteName(c.Name))
			}
		}
		if k.PrefixLength > 0 {
			key[len(key)-1] += fmt.Sprintf("(%d)", k.PrefixLength)
		}
		if k.Descending {
			key[len(key)-1] += " DESC"
		}
	}
	if len(key) > 0 && t.desc.Incremental == nil { // a view's key is hidden
		parts = append(parts, "  PRIMARY KEY ("+strings.Join(key, ",")+")")
	}
	for _, x := range n.Indexes {
		if x.ID() != "PRIMARY" {
			parts = append(parts, "  "+indexText(ctx, x, t))
		}
	}
	for _, x := range t.publicTexts() {
		parts = append(parts, "  FULLTEXT "+indexText(ctx, x, t))
	}
	foreign, err := t.GetDeclaredForeignKeys(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, fk := range foreign {
		parts = append(parts, "  "+foreignText(fk))
	}
	checks, err := t.GetChecks(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, c := range checks {
		text := "  CONSTRAINT " + quoteName(c.Name) + " CHECK (" + c.CheckExpression + ")"
		if !c.Enforced {
			text += " /*!80016 NOT ENFORCED */"
		}
		parts = append(parts, text)
	}
	var b strings.Builder
	b.WriteString("CREATE ")
	if t.temporary {
		b.WriteString("TEMPORARY ")
	}
	b.WriteString("TABLE " + quoteName(t.Name()) + " (\n" + strings.Join(parts, ",\n") + "\n) ENGINE=InnoDB")
	if next, err := t.PeekNextAutoIncrementValue(ctx); err == nil && next > 1 && t.auto >= 0 {
		fmt.Fprintf(&b, " AUTO_INCREMENT=%d", next)
	}
	fmt.Fprintf(&b, " DEFAULT CHARSET=%s COLLATE=%s", t.Collation().CharacterSet().Name(), t.Collation().Name())
	b.WriteString(t.desc.OptionsText())
	if comment := t.Comment(); comment != "" {
		b.WriteString(" COMMENT=" + infoschema.QuoteText(comment))
	}
	left, err := t.observersText(ctx)
	if err != nil {
		return nil, false, err
	}
	// A NUL is in expressions at most, and in strings there: client tools end the text at it.
	return sql.Row{t.Name(), strings.ReplaceAll(b.String(), "\x00", `\0`) + left}, true, nil
}

// observersText is a comment that counts the observers of the table, for who may see them: dumps are made of
// SHOW CREATE TABLE, no dump tool asks for observers, and a dump without them should say so. A comment
// restores everywhere. They are not shown as triggers, which dump tools do ask for: they are none, and CREATE
// OBSERVER in a dump would end its restore on any other server.
func (t *Table) observersText(ctx *sql.Context) (string, error) {
	if t.temporary {
		return "", nil
	}
	v, err := t.eng.viewOf(ctx)
	if err != nil {
		return "", err
	}
	n := 0 // and not their names, which others have chosen
	for _, o := range v.snap.Observers(t.desc.ID) {
		if t.eng.MayTrigger(ctx, o.Definer, t.db, t.desc.Name) {
			n++
		}
	}
	if n == 0 {
		return "", nil
	}
	const left = "\n/* observers of the table, not part of this and of no dump (SHOW OBSERVERS): %d */"
	return fmt.Sprintf(left, n), nil
}

// showCreateView is SHOW CREATE VIEW, with whose rights the view is read, and the names that its columns were given.
func (b *execBuilder) showCreateView(ctx *sql.Context, n *plan.ShowCreateTable, of *plan.SubqueryAlias, row sql.Row) (sql.RowIter, error) {
	it, err := b.base.Build(asShown(ctx, n), n, row)
	if err != nil {
		return nil, err
	}
	db := ctx.GetCurrentDatabase()
	if s := sessionOf(ctx); s != nil && s.reads.Stored != nil && strings.EqualFold(s.reads.View, of.Name()) {
		db = s.reads.Database
	}
	stored, _, err := b.eng.lookupView(ctx, db, of.Name())
	if err != nil || stored == nil {
		return it, err
	}
	head := "CREATE ALGORITHM=UNDEFINED"
	security, columns := "DEFINER", ""
	if tree := viewTree(stored); tree != nil {
		if a := strings.ToUpper(tree.ViewSpec.Algorithm); a != "" {
			head = "CREATE ALGORITHM=" + a
		}
		if strings.EqualFold(tree.ViewSpec.Security, "invoker") {
			security = "INVOKER"
		}
		var names []string
		for _, c := range tree.ViewSpec.Columns {
			names = append(names, quoteName(c.String()))
		}
		if len(names) > 0 {
			columns = " (" + strings.Join(names, ",") + ")"
		}
	}
	if at := strings.LastIndexByte(stored.Definer, '@'); at >= 0 {
		head += " DEFINER=" + quoteName(stored.Definer[:at]) + "@" + quoteName(stored.Definer[at+1:])
	}
	is := stored.Spoken.Or(olderSpoken)
	return &mapRows{it, func(_ *sql.Context, row sql.Row) {
		row[2], row[3] = is.CharacterSetClient, is.CollationConnection
		text, _ := row[1].(string)
		if _, query, ok := strings.Cut(text, "` AS "); ok {
			row[1] = head + " SQL SECURITY " + security + " VIEW " + quoteName(stored.Name) + columns + " AS " + query
		}
	}}, nil
}

func columnText(ctx *sql.Context, of *Table, c *sql.Column, table sql.CollationID) string {
	var b strings.Builder
	b.WriteString(quoteName(c.Name) + " ")
	if text, ok := infoschema.ElementsText(c.Type); ok {
		b.WriteString(text + collationText(c.Type.(sql.TypeWithCollation).Collation(), table))
	} else if t, ok := c.Type.(sql.TypeWithCollation); ok {
		b.WriteString(t.StringWithTableCollation(table))
	} else if text, ok := of.digitsText(c.Name); ok {
		b.WriteString(text)
	} else {
		b.WriteString(c.Type.String())
	}
	if c.Generated != nil {
		b.WriteString(" GENERATED ALWAYS AS " + enclosed(of.storedColumn(c.Name).Generated))
		if c.Virtual {
			b.WriteString(" VIRTUAL")
		} else {
			b.WriteString(" STORED")
		}
	}
	switch {
	case !c.Nullable:
		b.WriteString(" NOT NULL")
	case c.Type.Type() == sqltypes.Timestamp: // which was NOT NULL by default, before MySQL 8
		b.WriteString(" NULL")
	}
	if s, ok := c.Type.(sql.SpatialColumnType); ok {
		if srid, declared := s.GetSpatialTypeSRID(); declared {
			fmt.Fprintf(&b, " /*!80003 SRID %d */", srid)
		}
	}
	if c.Generated == nil && !c.AutoIncrement {
		if text, ok := defaultText(ctx, of, c); ok {
			b.WriteString(" DEFAULT " + text)
		}
	}
	if c.OnUpdate != nil {
		b.WriteString(" ON UPDATE " + c.OnUpdate.String())
	}
	if c.AutoIncrement {
		b.WriteString(" AUTO_INCREMENT")
	}
	if comment, _ := catalog.TakeDigits(c.Comment, &catalog.Type{}); comment != "" {
		b.WriteString(" COMMENT " + infoschema.QuoteText(comment))
	}
	return b.String()
}

// storedColumn is a column as the catalog has it.
func (t *Table) storedColumn(name string) *catalog.Column {
	if i := t.desc.Column(name); i >= 0 {
		return &t.desc.Columns[i]
	}
	return &catalog.Column{}
}

// enclosed is the text of an expression in parentheses, in which older releases did not keep a lone column.
func enclosed(text string) string {
	if text = parse.Spelled(text); strings.HasPrefix(text, "(") {
		return text
	}
	return "(" + text + ")"
}

// collationText is what stands behind the type of a column whose collation is not its table's.
func collationText(of, table sql.CollationID) (text string) {
	if of.CharacterSet() != table.CharacterSet() {
		text = " CHARACTER SET " + of.CharacterSet().String()
	}
	if of != table {
		text += " COLLATE " + of.String()
	}
	return text
}

// defaultText is what stands behind DEFAULT; ok is false if nothing does.
func defaultText(ctx *sql.Context, of *Table, c *sql.Column) (text string, ok bool) {
	if c.Default != nil && !c.Default.IsLiteral() {
		return parse.Spelled(of.storedColumn(c.Name).Default), true
	}
	value := constantDefault(ctx, c)
	if value == nil {
		switch c.Type.Type() {
		case sqltypes.Text, sqltypes.Blob, sqltypes.TypeJSON, sqltypes.Geometry: // which cannot have constants
			return "", false
		}
		return "NULL", c.Nullable
	}
	text = fmt.Sprint(value)
	switch {
	case types.IsBinaryType(c.Type):
		v, err := c.Default.Eval(ctx, nil)
		if b, ok := v.([]byte); err == nil && ok {
			if text = string(b); !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				return fmt.Sprintf("0x%X", b), true
			}
		}
	case types.IsBit(c.Type):
		return text, true // b'101'
	case types.IsDateType(c.Type):
		text = strings.TrimSuffix(text, " 00:00:00")
	}
	return infoschema.QuoteText(text), true
}

// constantDefault is the text of a column's constant default, nil if there is none.
func constantDefault(ctx *sql.Context, c *sql.Column) any {
	value := information_schema.GetColumnDefault(ctx, c.Default)
	if value == nil || !c.Default.IsLiteral() {
		return value
	}
	// The library gives the text of the literal, with its quotes doubled.
	switch t := c.Type.(type) {
	case sql.EnumType:
		if v, err := c.Default.Eval(ctx, nil); err == nil {
			if n, ok := v.(uint16); ok {
				if text, ok := t.At(int(n)); ok {
					return text
				}
			}
		}
	case sql.SetType:
		if v, err := c.Default.Eval(ctx, nil); err == nil {
			if bits, ok := v.(uint64); ok {
				if text, err := t.BitsToString(bits); err == nil {
					return text
				}
			}
		}
	}
	return value
}

func indexText(ctx *sql.Context, x sql.Index, t *Table) string {
	var b strings.Builder
	own, ok := x.(*index)
	if x.IsUnique() || ok && own.unique {
		b.WriteString("UNIQUE ")
	}
	b.WriteString("KEY " + quoteName(x.ID()) + " (")
	lengths := x.PrefixLengths()
	for i, e := range x.Expressions() {
		if i > 0 {
			b.WriteString(",")
		}
		c := plan.GetColumnFromIndexExpr(ctx, e, t)
		switch {
		case c == nil:
			continue
		case c.HiddenSystem && c.Generated != nil: // of a key over an expression
			if _, stored := c.Generated.Expr.(*sql.UnresolvedColumnDefault); stored { // it has its parentheses
				b.WriteString(parse.Spelled(c.Generated.Expr.String()))
			} else {
				b.WriteString(parse.Spelled(c.Generated.String()))
			}
		default:
			b.WriteString(quoteName(c.Name))
			if i < len(lengths) && lengths[i] > 0 {
				fmt.Fprintf(&b, "(%d)", lengths[i])
			}
		}
		if ok && i < len(own.descends) && own.descends[i] {
			b.WriteString(" DESC")
		}
	}
	b.WriteString(")")
	if comment := x.Comment(); comment != "" {
		b.WriteString(" COMMENT " + infoschema.QuoteText(comment))
	}
	return b.String()
}

func foreignText(fk sql.ForeignKeyConstraint) string {
	names := func(list []string) string {
		quoted := make([]string, len(list))
		for i, n := range list {
			quoted[i] = quoteName(n)
		}
		return strings.Join(quoted, ", ")
	}
	parent := quoteName(fk.ParentTable)
	if !strings.EqualFold(fk.ParentDatabase, fk.Database) {
		parent = quoteName(fk.ParentDatabase) + "." + parent
	}
	text := fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)", quoteName(fk.Name), names(fk.Columns), parent, names(fk.ParentColumns))
	for _, action := range []struct {
		on string
		do sql.ForeignKeyReferentialAction
	}{{"DELETE", fk.OnDelete}, {"UPDATE", fk.OnUpdate}} {
		if action.do != "" && action.do != sql.ForeignKeyReferentialAction_DefaultAction {
			text += " ON " + action.on + " " + string(action.do)
		}
	}
	return text
}

func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
