package observer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/incview"
	"moka/sqlfront/parse"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/triggers"
	"moka/txn"
)

// Observers of incremental views. What they do is package incview's; here they are declared, compiled and
// run like others: they are listed, paused, replayed and waited for by their names. That on the anchor has
// the view's name.

// tellBatch is how many rows of the anchor one commit notifies of a change of a joined row. Such commits need
// no common snapshot: who refers to the row at the run's snapshot is told, who comes later knows himself.
const tellBatch = 1000

// tellTime is how long a run may take that tells all who refer to a row.
const tellTime = 30 * time.Minute

func createViewAuth(view parse.Name) ast.AuthInformation {
	return ast.AuthInformation{
		AuthType: ast.AuthType_CREATE_VIEW, TargetType: ast.AuthTargetType_SingleTableIdentifier,
		TargetNames: []string{view.Database, view.Name},
	}
}

func (r *Registry) createIncremental(ctx *sql.Context, s parse.CreateIncremental) error {
	dbName, err := currentDatabase(ctx, s.View)
	if err != nil {
		return err
	}
	is, err := describeIncremental(ctx, s)
	if err != nil {
		return err
	}
	if err := endTransaction(ctx); err != nil {
		return err
	}
	return r.change(ctx, func(t *txn.Txn) error {
		t.SetAdds(true)
		snap, err := r.o.Catalog.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		db, found := snap.Database(dbName)
		if !found {
			return &catalog.NotFoundError{Kind: catalog.KindDatabase, Name: dbName}
		}
		_, exists := db.Table(s.View.Name)
		_, plain := db.View(s.View.Name)
		if (exists || plain) && s.IfNotExists {
			note(ctx, sqlerr.TableExists, "Table '%s' already exists", s.View.Name)
			return nil
		}
		return r.declareIncremental(ctx, t, db, s.View.Name, *is)
	})
}

// describeIncremental says of the query what the catalog keeps of it, but for what it reads.
func describeIncremental(ctx *sql.Context, s parse.CreateIncremental) (*catalog.Incremental, error) {
	is := &catalog.Incremental{Query: s.Query, CreateStatement: s.Text, Spoken: engine.SpokenOf(ctx),
		Definer: ctx.Client().User + "@" + ctx.Client().Address}
	for name, to := range map[string]*string{"sql_mode": &is.SQLMode, "time_zone": &is.TimeZone} {
		v, err := ctx.GetSessionVariable(ctx, name)
		if err != nil {
			return nil, err
		}
		*to, _ = v.(string)
	}
	return is, nil
}

// within runs f as if t were the transaction of the statement, and the session had no temporary tables: no
// observer will meet those.
func (r *Registry) within(ctx *sql.Context, t *txn.Txn, f func() error) error {
	had, ignored, current := ctx.GetTransaction(), ctx.GetIgnoreAutoCommit(), ctx.GetCurrentDatabase()
	ctx.SetTransaction(r.eng.Adopt(t))
	ctx.SetIgnoreAutoCommit(true)
	defer func() {
		ctx.SetTransaction(had)
		ctx.SetIgnoreAutoCommit(ignored)
		ctx.SetCurrentDatabase(current)
	}()
	if s, ok := ctx.Session.(*engine.Session); ok {
		return s.WithoutTemporary(f)
	}
	return f()
}

// declareIncremental makes the tables and the observers of a view, all in t.
func (r *Registry) declareIncremental(ctx *sql.Context, t *txn.Txn, db *catalog.Database, name string,
	is catalog.Incremental) error {
	var shape *incview.Shape
	var view, of *catalog.Table
	err := r.within(ctx, t, func() (err error) {
		ctx.SetCurrentDatabase(db.Name)
		query, err := r.schemaOf(ctx, is.Query) // first: who may not read it learns nothing of it
		if err != nil {
			return err
		}
		if shape, err = shapeOf(ctx, db, is.Query, is.SQLMode); err != nil {
			return err
		}
		if err := r.mayAnchor(ctx, db, shape); err != nil {
			return err
		}
		parts, err := r.schemaOf(ctx, shape.Query(false))
		if err != nil {
			return err
		}
		view, of, err = shape.Tables(name, db.Collation, query, parts)
		return err
	})
	if err != nil {
		return err
	}
	if view, of, err = r.o.Catalog.CreateIncremental(ctx, t, db.Name, view, of); err != nil {
		return err
	}
	is.Contributions = of.ID
	var anchor *catalog.Observer
	for i, src := range slices.Backward(shape.Sources) { // the anchor's last: by then all are told of changes
		use := catalog.Use{Table: src.Table.ID, Columns: src.Reads(), Refer: src.Refer, Parent: src.Parent}
		o := catalog.Observer{Name: name, TableID: src.Table.ID, View: view.ID, Use: i, Enabled: true,
			Events: onChange, Spoken: is.Spoken, SQLMode: is.SQLMode, Definer: is.Definer,
			CreateStatement: is.CreateStatement, Body: shape.Query(true)}
		if src.Steady() {
			o.Columns = use.Columns
		}
		if i == 0 {
			o.Fresh = src.Table.RowIndex
		} else {
			o.Name, o.Timeout = name+"$"+src.Alias, tellTime
			o.Body = "NOTIFY " + quote(shape.Sources[src.Parent].Table.Name) + " that refer to NEW"
		}
		stored, err := r.o.Catalog.CreateObserver(ctx, t, db.Name, o)
		if err != nil {
			return err
		}
		if i == 0 {
			anchor = stored
		}
		use.Observer = stored.ID
		is.Uses = append([]catalog.Use{use}, is.Uses...)
	}
	if err := r.o.Catalog.SetIncremental(ctx, t, view.ID, &is); err != nil {
		return err
	}
	if shape.Sources[0].Table.Copy != nil {
		return sqlerr.Unsupported("CREATE INCREMENTAL VIEW while its table is written anew by an ALTER TABLE")
	}
	if err := r.beginWalk(ctx, t, anchor, shape.Sources[0].Table); err != nil {
		return err
	}
	return r.understandIncremental(ctx, t, anchor)
}

// understandIncremental compiles the view's observer, so that what it cannot run is an error now.
func (r *Registry) understandIncremental(ctx *sql.Context, t *txn.Txn, anchor *catalog.Observer) error {
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	if err := r.eng.ChargeBody(ctx, anchor, len(anchor.Body)); err != nil {
		return err
	}
	return r.within(ctx, t, func() error {
		_, err := r.compile(ctx, snap, anchor)
		return err
	})
}

// mayAnchor asks for TRIGGER on the tables: they get observers.
func (r *Registry) mayAnchor(ctx *sql.Context, db *catalog.Database, shape *incview.Shape) error {
	for _, src := range shape.Sources {
		if !rights.OnTable(ctx, r.eng.Accounts(), db.Name, src.Table.Name, sql.PrivilegeType_Trigger) {
			return rights.TableDenied(ctx, "TRIGGER", src.Table.Name)
		}
		if len(src.Table.PrimaryKey) == 0 {
			return sqlerr.Unsupported("an incremental view of '" + src.Table.Name + "', which has no " +
				"primary key")
		}
	}
	return nil
}

// schemaOf is that of a query.
func (r *Registry) schemaOf(ctx *sql.Context, query string) (sql.Schema, error) {
	n, err := r.eng.SQL().AnalyzeQuery(ctx, query)
	if err != nil {
		return nil, err
	}
	return n.Schema(ctx), nil
}

func shapeOf(ctx context.Context, db *catalog.Database, query, mode string) (*incview.Shape, error) {
	stmt, err := ast.ParseWithOptions(ctx, query, sql.NewSqlModeFromString(mode).ParserOptions())
	if err != nil {
		return nil, err
	}
	sel, ok := stmt.(*ast.Select)
	if !ok {
		return nil, fmt.Errorf("the query of an incremental view is a %T", stmt)
	}
	return incview.ShapeOf(sel, func(n ast.TableName) (*catalog.Table, error) {
		if q := n.DbQualifier.String(); q != "" && !strings.EqualFold(q, db.Name) {
			return nil, sqlerr.Unsupported("an incremental view of a table in another database")
		}
		t, ok := db.Table(n.Name.String())
		if _, isView := db.View(n.Name.String()); isView {
			return nil, sqlerr.Unsupported("an incremental view of a view: name its tables")
		}
		if !ok || t.ContributionsOf != 0 {
			return nil, sqlerr.Unsupported("an incremental view of '" + n.Name.String() + "', which " +
				"is no table of " +
				"its database")
		}
		return t, nil
	})
}

// compileIncremental compiles the observer of an incremental view.
func (r *Registry) compileIncremental(ctx *sql.Context, snap *catalog.Snapshot, b *body) error {
	o := b.observer
	view, ok := snap.TableByID(o.View)
	if !ok || view.Incremental == nil {
		return errors.New("its view is gone")
	}
	db, ok := snap.DatabaseByID(o.DatabaseID)
	if !ok {
		return errors.New("its database is gone")
	}
	mode := storedMode(o.SQLMode)
	shape, err := shapeOf(ctx, db, view.Incremental.Query, o.SQLMode)
	if err != nil {
		return err
	}
	if b.view, err = incview.Compile(ctx, r.eng, snap, view, shape); err != nil {
		return err
	}
	b.zone, b.anchor = view.Incremental.TimeZone, view.Incremental.Uses[0].Observer
	if o.Use > 0 {
		return nil
	}
	if err := ctx.SetSessionVariable(ctx, "time_zone", b.zone); err != nil {
		return err
	}
	desc, _ := snap.TableByID(o.TableID)
	text := *o
	text.Body = "BEGIN " + shape.Query(true) + "; END"
	b.plan, err = r.eng.CompileBody(ctx, db.Name, triggerText(&text, db.Name, desc.Name), mode,
		engine.BodyOf{Observer: true, Answers: true, Definer: o.Definer, Spoken: o.Spoken})
	return err
}

// storedMode is the SQL mode for texts that were written anew from a tree: it quotes in one way.
func storedMode(mode string) string {
	kept := slices.DeleteFunc(strings.Split(mode, ","), func(m string) bool {
		switch strings.ToUpper(strings.TrimSpace(m)) {
		case "ANSI", "ANSI_QUOTES", "PIPES_AS_CONCAT", "NO_BACKSLASH_ESCAPES", "IGNORE_SPACE":
			return true
		}
		return false
	})
	return strings.Join(kept, ",")
}

// runIncremental is a run of such an observer.
func (r *Registry) runIncremental(ctx *sql.Context, tx *engine.Tx, b *body, e triggers.Event) error {
	t := tx.Txn()
	suffix := e.Column.Row[len(b.table.Span().Start):]
	if r.plant != nil {
		b.view.Plant(r.plant(tx, b, e))
	}
	if b.observer.Use > 0 {
		return r.tell(ctx, t, b, e, suffix)
	}
	if err := ctx.SetSessionVariable(ctx, "time_zone", b.zone); err != nil {
		return err
	}
	tx.Maintain()
	err := b.view.Run(ctx, t, suffix, func() (sql.Row, error) {
		v, ok, err := t.Get(ctx, e.Column)
		if err != nil || !ok {
			return nil, err
		}
		now, err := b.table.DecodeRow(v)
		if err != nil {
			return nil, err
		}
		ctx.SetCurrentDatabase(b.database)
		if _, err := b.plan.Run(ctx, nil, now); err != nil {
			return nil, err
		}
		switch rows := b.plan.Rows(); len(rows) {
		case 0:
			return nil, nil
		case 1:
			return rows[0], nil
		default:
			return nil, fmt.Errorf("%w: a row of the anchor has %d rows in the join",
				triggers.ErrHopeless, len(rows))
		}
	})
	if err == nil {
		return r.giveWay(b.observer.ID, tx)
	}
	if !errors.Is(err, triggers.ErrSkip) {
		b.version = 0 // it is compiled anew
	}
	return err
}

// tell notifies the rows of the anchor that refer to a row of a joined table. Those of the last batch are
// told by the run's own commit, the others before: if the run dies they are told once more.
func (r *Registry) tell(ctx *sql.Context, t *txn.Txn, b *body, e triggers.Event, suffix []byte) error {
	if skips := b.view.Planted().Skips; skips != nil {
		if yes, err := skips(ctx); err != nil || yes {
			return errors.Join(err, triggers.ErrSkip)
		}
	}
	who := []uint32{b.anchor}
	var batch []kv.Column
	err := b.view.Referring(ctx, t, b.observer.Use, suffix, func(c kv.Column) error {
		batch = append(batch, c)
		if len(batch) < tellBatch {
			return nil
		}
		part := r.o.Client.Begin(txn.TxnOptions{Depth: uint32(e.Depth + 1)})
		defer part.Rollback()
		part.SetAdds(true)
		for _, c := range batch {
			part.NotifyWeak(c, who)
		}
		batch = batch[:0]
		_, err := part.Commit(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range batch {
		t.NotifyWeak(c, who)
	}
	if len(batch) == 0 {
		return triggers.ErrSkip
	}
	return nil
}

// incremental finds an incremental view.
func (r *Registry) incremental(ctx *sql.Context, snap *catalog.Snapshot, n parse.Name) (*catalog.Database,
	*catalog.Table, error) {
	dbName, err := r.databaseOf(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	db, found := snap.Database(dbName)
	if !found {
		return nil, nil, &catalog.NotFoundError{Kind: catalog.KindDatabase, Name: dbName}
	}
	if past.OfOthers(ctx, r.eng.Accounts(), dbName, n.Name) {
		return nil, nil, rights.TableDenied(ctx, "SELECT", n.Name)
	}
	v, found := db.Table(n.Name)
	if !found {
		return db, nil, &catalog.NotFoundError{Kind: catalog.KindTable, Database: dbName, Name: n.Name}
	}
	if v.Incremental == nil {
		return db, nil, sqlerr.New(sqlerr.WrongObject, "'%s.%s' is not INCREMENTAL VIEW", dbName, v.Name)
	}
	return db, v, nil
}

func (r *Registry) dropIncremental(ctx *sql.Context, s parse.Incremental) error {
	if err := endTransaction(ctx); err != nil {
		return err
	}
	var releases []func()
	defer func() {
		for _, release := range releases {
			release()
		}
	}()
	return r.change(ctx, func(t *txn.Txn) error {
		snap, err := r.o.Catalog.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		_, v, err := r.incremental(ctx, snap, s.View)
		var none *catalog.NotFoundError
		if errors.As(err, &none) && none.Kind == catalog.KindTable && s.IfExists {
			note(ctx, sqlerr.BadTable, "Unknown table '%s.%s'", none.Database, none.Name)
			return nil
		}
		if err != nil {
			return err
		}
		for _, u := range v.Incremental.Uses {
			release, err := r.Hold(ctx, u.Table, false)
			if err != nil {
				return err
			}
			releases = append(releases, release)
		}
		return r.o.Catalog.DropIncremental(ctx, t, v)
	})
}

// keeps is the error of who would drop or disable an observer that keeps a view.
func keeps(snap *catalog.Snapshot, o *catalog.Observer) error {
	return sqlerr.New(sqlerr.UsedByView, "Observer '%s' keeps the incremental view '%s': PAUSE lets changes "+
		"wait, DROP INCREMENTAL VIEW drops both", o.Name, tableName(snap, o.View))
}

func (r *Registry) incrementalStatement(s parse.Incremental) ast.Statement {
	auth := ast.AuthInformation{AuthType: ast.AuthType_DROP,
		TargetType: ast.AuthTargetType_SingleTableIdentifier, TargetNames: []string{s.View.Database,
			s.View.Name}}
	if s.Action == parse.DropIncremental {
		return r.inject("DROP INCREMENTAL VIEW", auth, func(ctx *sql.Context) (sql.RowIter, error) {
			return ok(r.dropIncremental(ctx, s))
		})
	}
	auth.AuthType = ast.AuthType_SELECT
	if s.Action == parse.CheckIncremental {
		n := r.node("CHECK INCREMENTAL VIEW", func(ctx *sql.Context) (sql.RowIter, error) {
			return r.checkIncremental(ctx, s.View)
		})
		n.schema = texts("View", "Op", "Msg_type", "Msg_text")
		return ast.InjectedStatement{Auth: auth, Statement: n}
	}
	n := r.node("SHOW CREATE INCREMENTAL VIEW", func(ctx *sql.Context) (sql.RowIter, error) {
		snap, err := r.eng.CatalogSnapshot(ctx)
		if err != nil {
			return nil, err
		}
		_, v, err := r.incremental(ctx, snap, s.View)
		if err != nil {
			return nil, observerError(err)
		}
		is := v.Incremental
		return sql.RowsToRowIter(sql.NewRow(v.Name, is.CreateStatement, is.CharacterSetClient,
			is.CollationConnection)), nil
	})
	n.schema = texts("View", "Create View", "character_set_client", "collation_connection")
	return ast.InjectedStatement{Auth: auth, Statement: n}
}
