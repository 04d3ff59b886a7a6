package engine

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/catalog"
	"moka/sqlfront/gms"
	"moka/sqlfront/inband"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
)

// describe makes a descriptor of what CREATE TABLE asks for. Column i has the id i+1; the catalog relies on it.
func describe(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, pk []sql.IndexColumn, collation sql.CollationID, comment string) (*catalog.Table, error) {
	if collation == sql.Collation_Unspecified {
		collation = sql.Collation_Default
	}
	d := &catalog.Table{Name: name, Collation: collation.Name(), Comment: comment}
	for i, c := range schema.Schema {
		col, err := describeColumn(ctx, c, collation)
		if err != nil {
			return nil, err
		}
		col.ID = uint32(i + 1)
		d.Columns = append(d.Columns, col)
	}
	d.NextColumnID = uint32(len(d.Columns) + 1)
	lengths := map[string]uint32{}
	for _, c := range pk {
		lengths[strings.ToLower(c.Name)] = uint32(c.Length)
	}
	for _, o := range schema.PkOrdinals {
		if err := keyable(d.Columns[o]); err != nil {
			return nil, err
		}
		d.PrimaryKey = append(d.PrimaryKey, catalog.IndexColumn{
			Column: d.Columns[o].ID, PrefixLength: lengths[strings.ToLower(d.Columns[o].Name)],
		})
		d.Columns[o].Nullable = false
	}
	return d, nil
}

// describeColumn leaves the id open.
func describeColumn(ctx *sql.Context, c *sql.Column, collation sql.CollationID) (catalog.Column, error) {
	typ := c.Type
	if ct, ok := typ.(sql.TypeWithCollation); ok && ct.Collation() == sql.Collation_Unspecified {
		var err error
		if typ, err = ct.WithNewCollation(collation); err != nil {
			return catalog.Column{}, err
		}
	}
	stored, err := catalog.TypeOf(typ)
	if err != nil {
		return catalog.Column{}, err
	}
	comment, _ := catalog.TakeDigits(c.Comment, &stored)
	col := catalog.Column{
		Name: hiddenName(c.Name), Type: stored, Nullable: c.Nullable && !c.PrimaryKey, AutoIncrement: c.AutoIncrement,
		Comment: comment, Virtual: c.Virtual, Hidden: c.Hidden, HiddenSystem: c.HiddenSystem || hiddenName(c.Name) != c.Name,
	}
	if err := zeroDefault(ctx, c); err != nil {
		return catalog.Column{}, err
	}
	if col.Default, err = expressionText(ctx, c.Default); err != nil {
		return catalog.Column{}, err
	}
	if isStamp(typ) {
		if col.Default, err = storedDefault(zoneOf(ctx), col.Name, col.Default); err != nil {
			return catalog.Column{}, err
		}
	}
	if col.Generated, err = expressionText(ctx, c.Generated); err != nil {
		return catalog.Column{}, err
	}
	if col.Generated != "" {
		col.Generated = enclosed(col.Generated)
	}
	if col.OnUpdate, err = expressionText(ctx, c.OnUpdate); err != nil {
		return catalog.Column{}, err
	}
	return col, nil
}

// zeroDefault is the error of a date of zeros as a default where the SQL mode has none.
func zeroDefault(ctx *sql.Context, c *sql.Column) error {
	d := c.Default
	if d == nil || !types.IsTime(c.Type) || !d.IsLiteral() || !d.Resolved() || !strict(ctx) || !sql.LoadSqlMode(ctx).ModeEnabled("NO_ZERO_DATE") {
		return nil
	}
	v, err := d.Eval(ctx, nil)
	if at, ok := v.(time.Time); err == nil && ok && at.Equal(types.ZeroTime) {
		return sqlerr.New(sqlerr.InvalidDefault, "Invalid default value for '%s'", c.Name)
	}
	return nil // whatever else is wrong with it is said elsewhere
}

// hiddenName is the library's name of a column that CREATE TABLE has for a key over an expression.
func hiddenName(name string) string {
	if rest, ok := strings.CutPrefix(name, parse.FunctionalPrefix); ok {
		return sql.HiddenSystemColumnPrefix + rest
	}
	return name
}

// expressionText prints a default as SQL, with bare column names: the table may be renamed.
func expressionText(ctx *sql.Context, d *sql.ColumnDefaultValue) (string, error) {
	if d == nil {
		return "", nil
	}
	e, _, err := transform.Expr(ctx, d, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		f, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		bare := expression.NewGetField(f.Index(), f.Type(ctx), f.Name(), f.IsNullable(ctx))
		return bare.WithQuotedNames(sql.DefaultMySQLSchemaFormatter, true), transform.NewTree, nil
	})
	if err != nil {
		return "", err
	}
	text := e.String()
	if d.IsLiteral() {
		return parse.Spelled(text), nil
	}
	return storedText(text)
}

// storedText is the text of an expression as it is stored and shown: one that the parser understands as it stands,
// in this process and in others.
func storedText(text string) (string, error) {
	if text = parse.Spelled(text); inband.In(text) || !parse.Readable(text) {
		return "", sqlerr.Unsupported("this expression in the definition of a table")
	}
	return text, nil
}

// describeIndex makes the descriptor of an index over columns that the table has.
func describeIndex(t *catalog.Table, def sql.IndexDef) (catalog.Index, error) {
	switch {
	case def.IsSpatial():
		return catalog.Index{}, sqlerr.Unsupported("SPATIAL indexes")
	case def.IsVector():
		return catalog.Index{}, sqlerr.Unsupported("VECTOR indexes")
	}
	if comment, ok := catalog.TakeFullText(def.Comment); ok {
		return describeText(t, def, comment)
	}
	x := catalog.Index{Name: def.Name, Unique: def.IsUnique(), Comment: def.Comment}
	for _, c := range def.Columns {
		i := t.Column(hiddenName(c.Name))
		if i < 0 {
			return catalog.Index{}, sql.ErrKeyColumnDoesNotExist.New(c.Name)
		}
		if err := keyable(t.Columns[i]); err != nil {
			return catalog.Index{}, err
		}
		x.Columns = append(x.Columns, catalog.IndexColumn{Column: t.Columns[i].ID, PrefixLength: uint32(c.Length)})
	}
	x.Comment = catalog.TakeDescending(x.Comment, x.Columns)
	return x, nil
}

// keyable refuses columns whose values have no key (rowenc.KeyCodec); of JSON the library says so itself.
func keyable(c catalog.Column) error {
	typ, err := c.Type.SQL()
	if err != nil {
		return err
	}
	switch typ.Type() {
	case sqltypes.Geometry, sqltypes.Vector:
		return sqlerr.Unsupported("keys of " + typ.String() + " columns")
	}
	return nil
}

// settleTypes gives new columns of spatial types the type that looks at bytes first, as stored columns have it (ALTER TABLE converts
// by the new column), and columns of keys over expressions the type of their expression.
func settleTypes(ctx *sql.Context, n sql.Node) (err error) {
	checked := func(c *sql.Column) {
		c.Type = catalog.Checked(c.Type)
		for _, d := range []*sql.ColumnDefaultValue{c.Default, c.Generated, c.OnUpdate} {
			if d != nil && d.OutType != nil {
				d.OutType = catalog.Checked(d.OutType)
			}
		}
	}
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.AddColumn:
			checked(n.Column())
		case *plan.ModifyColumn:
			checked(n.NewColumn())
		case *plan.TableCopier:
			gms.SelectedColumns(ctx, n)
		case *plan.CreateTable:
			for _, x := range n.Indexes() {
				if x.Name == "PRIMARY" && x.Constraint == sql.IndexConstraint_None { // see index.IsUnique
					err = sqlerr.Unsupported("CREATE TABLE LIKE a table whose keys an older release made; SHOW CREATE TABLE prints what to run instead")
				}
			}
			for _, c := range n.TargetSchema() {
				if c.HiddenSystem { // the library would leave all keys of the new table out
					err = sqlerr.Unsupported("CREATE TABLE LIKE a table with keys over expressions; SHOW CREATE TABLE prints what to run instead")
				}
				if hiddenName(c.Name) != c.Name && c.Generated != nil {
					c.Type = c.Generated.Expr.Type(ctx)
					c.Generated.OutType = c.Type
				}
				checked(c)
			}
		}
		return true
	})
	return err
}
