package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/infoschema"
	"moka/sqlfront/parse"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
	"moka/txn"
)

// Database is a stored database. It is only a name: what is in it depends on the transaction that asks.
type Database struct {
	eng  *Engine
	name string
}

var (
	_ sql.Database                = (*Database)(nil)
	_ sql.TableCreator            = (*Database)(nil)
	_ sql.SchemaValidator         = (*Database)(nil)
	_ sql.IndexedTableCreator     = (*Database)(nil)
	_ sql.TableDropper            = (*Database)(nil)
	_ sql.TableRenamer            = (*Database)(nil)
	_ sql.VersionedDatabase       = (*Database)(nil)
	_ sql.CollatedDatabase        = (*Database)(nil)
	_ sql.ViewDatabase            = (*Database)(nil)
	_ sql.TriggerDatabase         = (*Database)(nil)
	_ sql.StoredProcedureDatabase = (*Database)(nil)
	_ sql.EventDatabase           = (*Database)(nil)
	_ sql.TemporaryTableCreator   = (*Database)(nil)
	_ sql.TemporaryTableDatabase  = (*Database)(nil)
)

// Name implements sql.Database.
func (d *Database) Name() string { return d.name }

// contents returns the database in the transaction's view; nil if it has been dropped meanwhile.
func (d *Database) contents(ctx *sql.Context) (*view, *catalog.Database, error) {
	v, err := d.eng.viewOf(ctx)
	if err != nil {
		return nil, nil, err
	}
	c, ok := v.snap.Database(d.name)
	if !ok {
		return nil, nil, sql.ErrDatabaseNotFound.New(d.name)
	}
	return v, c, nil
}

// GetTableInsensitive implements sql.Database. Temporary tables hide stored ones.
func (d *Database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if t := d.temporary(ctx, name); t != nil {
		return t, true, nil
	}
	if t, ok, err := d.below(ctx, name); ok {
		return t, t != nil, err
	}
	t, err := d.table(ctx, name)
	if t == nil || err != nil {
		if s := sessionOf(ctx); s != nil && err == nil {
			s.miss(name)
		}
		return nil, false, err
	}
	return t, true, nil
}

func (d *Database) table(ctx *sql.Context, name string) (*Table, error) {
	v, c, err := d.contents(ctx)
	if err != nil {
		return nil, err
	}
	desc, ok := c.Table(name)
	if !ok {
		return nil, nil
	}
	if err := d.eng.mayReadThen(ctx, c, desc); err != nil {
		return nil, err
	}
	return v.table(d.eng, c, desc)
}

// GetTableInsensitiveAsOf implements sql.VersionedDatabase: a table of the past (past.go), or one whose rows are to be locked (lock.go).
// The parser turns SELECT … FOR UPDATE into AS OF, because the engine forgets the one and hands the other to storage as it is.
func (d *Database) GetTableInsensitiveAsOf(ctx *sql.Context, name string, asOf any) (sql.Table, bool, error) {
	if asOf == parse.AsOfUnbound {
		return d.GetTableInsensitive(ctx, name) // only to be described
	}
	lock, ok := parse.ParseLock(asOf)
	if !ok {
		t, err := d.tableAsOf(ctx, name, asOf)
		if t == nil || err != nil {
			if s := sessionOf(ctx); s != nil && err == nil {
				s.miss(name)
			}
			return nil, false, err
		}
		return t, true, nil
	}
	t, ok, err := d.GetTableInsensitive(ctx, name)
	if !ok || err != nil {
		return nil, ok, err
	}
	c := *t.(*Table)
	c.lock = &lock
	return &c, true, nil
}

// GetTableNamesAsOf implements sql.VersionedDatabase.
func (d *Database) GetTableNamesAsOf(ctx *sql.Context, asOf any) ([]string, error) {
	if _, ok := parse.ParseLock(asOf); ok || asOf == nil {
		return d.GetTableNames(ctx)
	}
	v, _, err := d.eng.viewAsOf(ctx, asOf)
	if err != nil {
		return nil, err
	}
	c, ok := v.snap.Database(d.name)
	if !ok {
		return nil, nil
	}
	return d.readable(ctx, c), nil
}

// readable are the names of the tables of the past that the user may read.
func (d *Database) readable(ctx *sql.Context, c *catalog.Database) []string {
	return slices.DeleteFunc(tableNames(c), func(n string) bool {
		t, _ := c.Table(n)
		return d.eng.mayReadPast(ctx, c, t) != nil
	})
}

func tableNames(c *catalog.Database) []string {
	var names []string
	for _, t := range c.Tables() {
		if t.ContributionsOf == 0 {
			names = append(names, t.Name)
		}
	}
	return names
}

// GetTableNames implements sql.Database.
func (d *Database) GetTableNames(ctx *sql.Context) ([]string, error) {
	_, c, err := d.contents(ctx)
	if err != nil {
		return nil, err
	}
	l := infoschema.LimitOf(ctx)
	if l != nil && l.One != "" {
		if t, ok := c.Table(l.One); ok {
			return []string{t.Name}, nil
		}
		return nil, nil
	}
	names := slices.DeleteFunc(tableNames(c), func(n string) bool {
		t, _ := c.Table(n)
		return d.eng.mayReadThen(ctx, c, t) != nil
	})
	if l != nil {
		names = slices.DeleteFunc(names, func(n string) bool { return !l.Table(d.name, n) })
	}
	return names, nil
}

// GetCollation implements sql.CollatedDatabase.
func (d *Database) GetCollation(ctx *sql.Context) sql.CollationID {
	if _, c, err := d.contents(ctx); err == nil {
		if id, err := sql.ParseCollation("", c.Collation, false); err == nil && id != sql.Collation_Unspecified {
			return id
		}
	}
	return sql.Collation_Default
}

// SetCollation implements sql.CollatedDatabase.
func (d *Database) SetCollation(ctx *sql.Context, collation sql.CollationID) error {
	return d.eng.ddl(ctx, func(tx *Tx) error {
		_, err := d.eng.catalog.AlterDatabase(ctx, tx.store(), d.name, collation.Name())
		return err
	})
}

// maxRowSize is MySQL's, for what is declared. Rows here could be longer; schemas that leave for another server could not.
const maxRowSize = 65535

// ValidateSchema implements sql.SchemaValidator.
func (d *Database) ValidateSchema(schema sql.Schema) error {
	size := int64(0)
	for _, c := range schema {
		switch t := c.Type.(type) {
		case sql.StringType:
			if types.IsTextBlob(t) {
				size += 12
			} else {
				size += t.MaxByteLength()
			}
		default:
			size += 8
		}
	}
	if size > maxRowSize {
		return analyzererrors.ErrInvalidRowLength.New(maxRowSize, size)
	}
	return nil
}

// CreateTable implements sql.TableCreator.
func (d *Database) CreateTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, collation sql.CollationID, comment string) error {
	return d.createTable(ctx, name, schema, nil, collation, comment)
}

// CreateIndexedTable implements sql.IndexedTableCreator: a primary key over prefixes of columns.
func (d *Database) CreateIndexedTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, pk sql.IndexDef, collation sql.CollationID, comment string) error {
	return d.createTable(ctx, name, schema, pk.Columns, collation, comment)
}

func (d *Database) createTable(ctx *sql.Context, name string, schema sql.PrimaryKeySchema, pk []sql.IndexColumn, collation sql.CollationID, comment string) error {
	comment, options := catalog.TakeOptions(comment)
	desc, err := describe(ctx, name, schema, pk, collation, comment)
	if err != nil {
		return catalogError(err)
	}
	desc.SetOptions(options)
	desc.DeclareKey(options)
	noteOptions(ctx, name, len(desc.PrimaryKey) > 0, options)
	return d.eng.ddl(ctx, func(tx *Tx) error {
		return d.eng.addTable(ctx, tx.store(), d.name, desc)
	})
}

// addTable puts a table into the catalog.
func (e *Engine) addTable(ctx *sql.Context, st *txn.Txn, database string, desc *catalog.Table) error {
	snap, err := e.catalog.Snapshot(ctx, st)
	if err != nil {
		return err
	}
	if err := e.fits(ctx, desc, snap.References(database, desc.Name)); err != nil {
		return err
	}
	if err := parse.CheckColumns(desc, nil); err != nil {
		return catalogError(err)
	}
	_, err = e.catalog.CreateTable(ctx, st, database, desc)
	return err
}

// DropTable implements sql.TableDropper. The engine has checked that no foreign key needs the table.
func (d *Database) DropTable(ctx *sql.Context, name string) error {
	if d.dropTemporary(ctx, name) {
		return nil
	}
	return d.eng.removal(ctx, func(tx *Tx) error {
		if t, ok, err := d.GetTableInsensitive(ctx, name); err != nil {
			return err
		} else if t, is := t.(*Table); ok && is {
			if err := tx.insist(ctx, t); err != nil {
				return err
			}
		}
		return d.eng.catalog.DropTable(ctx, tx.store(), d.name, name)
	})
}

// RenameTable implements sql.TableRenamer.
func (d *Database) RenameTable(ctx *sql.Context, old, name string) error {
	return d.eng.ddl(ctx, func(tx *Tx) error {
		return d.eng.renameTable(ctx, tx.store(), d.name, old, d.name, name)
	})
}

// CreateView implements sql.ViewDatabase.
func (d *Database) CreateView(ctx *sql.Context, name, definition, create string) error {
	var dropped *catalog.View
	if s := sessionOf(ctx); s != nil {
		if dropped, s.dropped = s.dropped, nil; dropped != nil && s.renames() {
			return d.renameView(ctx, dropped, name)
		}
	}
	if verb := strings.TrimLeft(create, " \t\r\n"); len(verb) > 6 && strings.EqualFold(verb[:5], "alter") { // the parser has written it so for the planner
		if dropped == nil || !strings.EqualFold(dropped.Name, name) {
			return sqlerr.New(sqlerr.NoSuchTable, "Table '%s.%s' doesn't exist", d.name, name)
		}
		create = "create or replace" + verb[5:]
	}
	definer, err := d.eng.definerOfView(ctx, create)
	if err != nil {
		return err
	}
	if err := refuseTemporary(ctx, create); err != nil {
		return err
	}
	return d.eng.ddl(ctx, func(tx *Tx) error {
		v, c, err := d.contents(ctx)
		if err != nil {
			return err
		}
		if _, ok := c.View(name); ok {
			return sql.ErrExistingView.New(d.name, name)
		}
		create, definition, err := d.eng.viewReader(ctx, d.name).View(create, definition)
		if err != nil {
			return err
		}
		made := catalog.View{Name: name, Definition: definition, CreateStatement: strings.Clone(create),
			SQLMode: sqlMode(ctx), Spoken: SpokenOf(ctx), Definer: definer}
		if err := d.eng.viewMay(v, c, &made); err != nil {
			return err
		}
		return d.eng.catalog.CreateView(ctx, tx.store(), d.name, made)
	})
}

// refuseTemporary refuses a view of a temporary table of the session, which nobody else could read.
func refuseTemporary(ctx *sql.Context, create string) error {
	s := sessionOf(ctx)
	d := viewTree(&catalog.View{CreateStatement: create, SQLMode: sqlMode(ctx)})
	if s == nil || !s.temp.any() || d == nil {
		return nil
	}
	for _, t := range syntax.Tables(d.ViewSpec.ViewExpr) {
		db := cmp.Or(t.DbQualifier.String(), ctx.GetCurrentDatabase())
		if s.HasTemporary(db, t.Name.String()) {
			return sqlerr.New(sqlerr.ViewOfTemporary, "View's SELECT refers to a temporary table '%s'",
				t.Name.String())
		}
	}
	return nil
}

// renameView makes a view again that RENAME TABLE has taken away: nothing but its name is another one,
// whoever renames it. What the names in it mean now, MySQL says when it is read.
func (d *Database) renameView(ctx *sql.Context, was *catalog.View, name string) error {
	return d.eng.ddl(ctx, func(tx *Tx) error {
		_, c, err := d.contents(ctx)
		if err != nil {
			return err
		}
		if _, ok := c.View(name); ok {
			return sql.ErrExistingView.New(d.name, name)
		}
		now := *was
		now.Name = name
		return d.eng.catalog.CreateView(ctx, tx.store(), d.name, now)
	})
}

// DropView implements sql.ViewDatabase.
func (d *Database) DropView(ctx *sql.Context, name string) error {
	return d.eng.removal(ctx, func(tx *Tx) error {
		_, c, err := d.contents(ctx)
		if err != nil {
			return err
		}
		was, _ := c.View(name)
		err = d.eng.catalog.DropView(ctx, tx.store(), d.name, name)
		if s := sessionOf(ctx); s != nil && err == nil {
			s.dropped = was
		}
		return err
	})
}

// GetViewDefinition implements sql.ViewDatabase.
func (d *Database) GetViewDefinition(ctx *sql.Context, name string) (sql.ViewDefinition, bool, error) {
	version, c, err := d.contents(ctx)
	if err != nil {
		return sql.ViewDefinition{}, false, err
	}
	v, ok := c.View(name)
	if ok && d.temporary(ctx, name) != nil {
		return sql.ViewDefinition{}, false, nil // that one stands before the view, and takes no privilege
	}
	if !ok {
		if _, isTable := c.Table(name); isTable && parse.ShowsView(ctx.Query()) {
			return sql.ViewDefinition{}, false, sqlerr.New(sqlerr.WrongObject, "'%s.%s' is not VIEW", d.name, name)
		}
		return sql.ViewDefinition{}, false, nil
	}
	if err := rights.MayExplain(ctx, d.name, v.Name); err != nil {
		return sql.ViewDefinition{}, false, err
	}
	if err := cmp.Or(past.MayUseView(ctx, d.eng.accounts(), c, v), d.eng.viewReadable(version, c, v)); err != nil {
		return sql.ViewDefinition{}, false, err
	}
	if s := sessionOf(ctx); s != nil {
		s.reads = readView{s.storedAs(d.name, v.Name, v.Definer, invokers(v)), v.CreateStatement, v.SQLMode}
		s.reads.Literals = s.collationOf(v.Spoken)
		if s.planning && s.GetCurrentDatabase() == "" { // the library binds no view without a current one
			s.within = d.name
		}
	}
	return viewDefinition(v), true, nil
}

// readView is the view that the planner has asked for last.
type readView struct {
	*rights.Stored
	text, mode string
}

// ReadsView implements parse.ViewReader. It is the text itself that is compared, not what it says: a client that sends the same words as a
// statement of its own creates a view, for which it needs rights that who reads it does not.
func (s *Session) ReadsView(text string) (v *rights.Stored, ok bool) {
	if text == "" || len(text) != len(s.reads.text) || unsafe.StringData(text) != unsafe.StringData(s.reads.text) {
		return nil, false
	}
	if s.stage == stageBegun {
		s.stage = stageEntered // it is not the client's statement that is parsed
	}
	return s.reads.Stored, true
}

// viewDefinition is a view as the library knows it: the text is what SHOW CREATE VIEW shows behind AS.
func viewDefinition(v *catalog.View) sql.ViewDefinition {
	text := v.Definition
	if option := checkOption(v); option != "" {
		if end := len(text) - len("with"); end > 0 && strings.EqualFold(text[end:], "with") { // as older releases have cut it out
			text = strings.TrimRight(text[:end], " \t\r\n")
		}
		text += " WITH " + option + " CHECK OPTION"
	}
	return sql.ViewDefinition{Name: v.Name, TextDefinition: text, CreateViewStatement: v.CreateStatement, SqlMode: v.SQLMode}
}

// TablesAndViews are the names of what information_schema tells the columns of.
func (d *Database) TablesAndViews(ctx *sql.Context) ([]string, error) {
	names, err := d.GetTableNames(ctx)
	if err != nil {
		return nil, err
	}
	views, err := d.AllViews(ctx)
	for _, v := range views {
		names = append(names, v.Name)
	}
	return names, err
}

// AllViews implements sql.ViewDatabase. The library makes lists of it for users, from which they learn what there is.
func (d *Database) AllViews(ctx *sql.Context) ([]sql.ViewDefinition, error) {
	_, c, err := d.contents(ctx)
	if err != nil {
		return nil, err
	}
	var all []sql.ViewDefinition
	l := infoschema.LimitOf(ctx)
	for _, v := range c.Views() {
		if (l == nil || l.Table(d.name, v.Name)) && d.eng.maySee(ctx, d.name, v.Name) &&
			past.MayUseView(ctx, d.eng.accounts(), c, v) == nil {
			all = append(all, viewDefinition(v))
		}
	}
	return all, nil
}

// GetTriggers implements sql.TriggerDatabase.
func (d *Database) GetTriggers(ctx *sql.Context) ([]sql.TriggerDefinition, error) {
	_, c, err := d.contents(ctx)
	if err != nil {
		return nil, err
	}
	var all []sql.TriggerDefinition
	var inOrder []*catalog.Trigger
	for _, t := range c.Triggers() {
		inOrder = parse.InsertTrigger(inOrder, t, d.eng.triggerHead)
	}
	for _, t := range inOrder {
		text, ok := d.eng.shownTrigger(t)
		if !ok {
			continue
		}
		all = append(all, sql.TriggerDefinition{Name: t.Name, CreateStatement: text, CreatedAt: t.Created, SqlMode: t.SQLMode})
	}
	if s := sessionOf(ctx); s != nil && s.planning && len(all) > 0 {
		s.within = d.name
	}
	return all, nil
}

// besideTrigger reports whether there is a trigger of that name for the same changes as another one.
func (e *Engine) besideTrigger(d *catalog.Database, head *ast.DDL, name string) bool {
	t, ok := d.Trigger(name)
	if !ok || t.Name != name {
		return false
	}
	return e.triggerHead(t).Beside(parse.HeadOf(head))
}

// CreateTrigger implements sql.TriggerDatabase.
func (d *Database) CreateTrigger(ctx *sql.Context, def sql.TriggerDefinition) error {
	return d.eng.ddl(ctx, func(tx *Tx) error {
		_, c, err := d.contents(ctx)
		if err != nil {
			return err
		}
		if _, ok := c.Trigger(def.Name); ok {
			return sqlerr.New(sqlerr.TriggerExists, "Trigger already exists")
		}
		head, _, err := d.eng.triggerTree(def.CreateStatement, def.SqlMode)
		if err != nil {
			return err
		}
		if d.temporary(ctx, head.Table.Name.String()) != nil {
			return sqlerr.New(sqlerr.TriggerOnTemporary, "Trigger's '%s' is view or temporary table",
				head.Table.Name.String())
		}
		if in := head.TriggerSpec.TrigName.Qualifier.String(); in != "" && !strings.EqualFold(in, d.name) {
			return sqlerr.New(sqlerr.TriggerInWrongSchema, "Trigger in wrong schema")
		}
		definer, own, err := d.eng.newDefiner(ctx, head.TriggerSpec.Definer)
		if err != nil {
			return err
		}
		if o := head.TriggerSpec.Order; o != nil && !d.eng.besideTrigger(c, head, o.OtherTriggerName) {
			return sqlerr.New(sqlerr.NoReferencedTrigger, "Referenced trigger '%s' for the given action time "+
				"and event type does not exist.", o.OtherTriggerName)
		}
		if err := tx.insistOn(ctx, d, head.Table.Name.String()); err != nil {
			return err
		}
		// Created is not what SET timestamp says: triggers fire in this order.
		made := catalog.Trigger{Name: def.Name, CreateStatement: def.CreateStatement, SQLMode: def.SqlMode,
			Spoken: SpokenOf(ctx), Definer: definer, Created: sql.Now()}
		beside := 0
		for _, t := range c.Triggers() {
			if strings.EqualFold(d.eng.triggerHead(t).Table, head.Table.Name.String()) {
				beside += len(t.CreateStatement)
			}
		}
		if err := parse.BodyFits(def.Name, len(def.CreateStatement), beside); err != nil {
			return err
		}
		text, _ := d.eng.shownTrigger(&made)
		if err := d.eng.ChargeBody(ctx, &made, len(text)); err != nil {
			return err
		}
		shown, _, err := d.eng.triggerTree(text, def.SqlMode)
		if err != nil || !parse.SameTrigger(shown, head) {
			return sqlerr.New(sqlerr.SyntaxError, "the trigger's text cannot be shown again as it is: "+
				"write CREATE DEFINER = `user`@`host` TRIGGER without comments")
		}
		b, err := d.eng.CompileBody(ctx, d.name, def.CreateStatement, def.SqlMode,
			BodyOf{Definer: definer, Spoken: made.Spoken})
		if err == nil && own {
			err = b.permitted(ctx)
		}
		if err != nil {
			return err
		}
		return d.eng.catalog.CreateTrigger(ctx, tx.store(), d.name, head.Table.Name.String(), made)
	})
}

// DropTrigger implements sql.TriggerDatabase.
func (d *Database) DropTrigger(ctx *sql.Context, name string) error {
	return d.eng.removal(ctx, func(tx *Tx) error {
		_, c, err := d.contents(ctx)
		if err != nil {
			return err
		}
		table := ""
		if t, ok := c.Trigger(name); ok {
			table = d.eng.triggerHead(t).Table
		}
		if err := tx.insistOn(ctx, d, table); err != nil {
			return err
		}
		if err := d.eng.keepOrder(ctx, tx, c, name); err != nil {
			return err
		}
		return d.eng.catalog.DropTrigger(ctx, tx.store(), d.name, table, name)
	})
}

// GetStoredProcedure implements sql.StoredProcedureDatabase.
func (d *Database) GetStoredProcedure(ctx *sql.Context, name string) (sql.StoredProcedureDetails, bool, error) {
	_, c, err := d.contents(ctx)
	if err != nil {
		return sql.StoredProcedureDetails{}, false, err
	}
	p, ok := c.Procedure(name)
	if !ok {
		return sql.StoredProcedureDetails{}, false, nil
	}
	return procedureDetails(p), true, nil
}

func procedureDetails(p *catalog.Procedure) sql.StoredProcedureDetails {
	return sql.StoredProcedureDetails{
		Name: p.Name, CreateStatement: p.CreateStatement, SqlMode: p.SQLMode, CreatedAt: p.Created, ModifiedAt: p.Modified,
	}
}

// GetStoredProcedures implements sql.StoredProcedureDatabase.
func (d *Database) GetStoredProcedures(ctx *sql.Context) ([]sql.StoredProcedureDetails, error) {
	_, c, err := d.contents(ctx)
	if err != nil {
		return nil, err
	}
	var all []sql.StoredProcedureDetails
	for _, p := range c.Procedures() {
		all = append(all, procedureDetails(p))
	}
	return all, nil
}

// SaveStoredProcedure implements sql.StoredProcedureDatabase.
func (d *Database) SaveStoredProcedure(ctx *sql.Context, p sql.StoredProcedureDetails) error {
	return d.eng.ddl(ctx, func(tx *Tx) error {
		return d.eng.catalog.CreateProcedure(ctx, tx.store(), d.name, catalog.Procedure{
			Name: p.Name, CreateStatement: p.CreateStatement, SQLMode: p.SqlMode, Created: p.CreatedAt, Modified: p.ModifiedAt,
		})
	})
}

// DropStoredProcedure implements sql.StoredProcedureDatabase.
func (d *Database) DropStoredProcedure(ctx *sql.Context, name string) error {
	return d.eng.removal(ctx, func(tx *Tx) error { return d.eng.catalog.DropProcedure(ctx, tx.store(), d.name, name) })
}

// GetEvent implements sql.EventDatabase.
func (d *Database) GetEvent(ctx *sql.Context, name string) (sql.EventDefinition, bool, error) {
	_, c, err := d.contents(ctx)
	if err != nil {
		return sql.EventDefinition{}, false, err
	}
	e, ok := c.Event(name)
	if !ok || !d.eng.maySeeEvents(ctx, d.name) {
		return sql.EventDefinition{}, false, nil
	}
	return e.Definition(), true, nil
}

// GetEvents implements sql.EventDatabase. The token is the catalog's version.
func (d *Database) GetEvents(ctx *sql.Context) ([]sql.EventDefinition, any, error) {
	v, c, err := d.contents(ctx)
	if err != nil {
		return nil, nil, err
	}
	var all []sql.EventDefinition
	if !d.eng.maySeeEvents(ctx, d.name) {
		return nil, v.snap.Version, nil
	}
	for _, e := range c.Events() {
		all = append(all, e.Definition())
	}
	return all, v.snap.Version, nil
}

// SaveEvent implements sql.EventDatabase.
func (d *Database) SaveEvent(ctx *sql.Context, e sql.EventDefinition) (bool, error) {
	if _, _, err := d.eng.newDefiner(ctx, e.Definer); err != nil {
		return false, err
	}
	err := d.eng.ddl(ctx, func(tx *Tx) error {
		return d.eng.catalog.CreateEvent(ctx, tx.store(), d.name, catalog.NewEvent(e))
	})
	return e.Status == sql.EventStatus_Enable.String(), err
}

// DropEvent implements sql.EventDatabase.
func (d *Database) DropEvent(ctx *sql.Context, name string) error {
	return d.eng.removal(ctx, func(tx *Tx) error { return d.eng.catalog.DropEvent(ctx, tx.store(), d.name, name) })
}

// UpdateEvent implements sql.EventDatabase.
func (d *Database) UpdateEvent(ctx *sql.Context, name string, e sql.EventDefinition) (bool, error) {
	if _, _, err := d.eng.newDefiner(ctx, e.Definer); err != nil {
		return false, err
	}
	err := d.eng.ddl(ctx, func(tx *Tx) error {
		return d.eng.catalog.UpdateEvent(ctx, tx.store(), d.name, name, catalog.NewEvent(e))
	})
	return e.Status == sql.EventStatus_Enable.String(), err
}

// UpdateLastExecuted implements sql.EventDatabase.
func (d *Database) UpdateLastExecuted(ctx *sql.Context, name string, at time.Time) error {
	return d.eng.ddl(ctx, func(tx *Tx) error {
		_, c, err := d.contents(ctx)
		if err != nil {
			return err
		}
		e, ok := c.Event(name)
		if !ok {
			return sql.ErrEventDoesNotExist.New(name)
		}
		changed := *e
		changed.LastExecuted = at
		return d.eng.catalog.UpdateEvent(ctx, tx.store(), d.name, name, changed)
	})
}

// NeedsToReloadEvents implements sql.EventDatabase.
func (d *Database) NeedsToReloadEvents(ctx *sql.Context, token any) (bool, error) {
	v, err := d.eng.viewOf(ctx)
	if err != nil {
		return false, err
	}
	seen, ok := token.(uint64)
	return !ok || seen != v.snap.Version, nil
}

func sqlMode(ctx *sql.Context) string { return sql.LoadSqlMode(ctx).String() }
