package observer

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/triggers"
	"moka/txn"
)

// Hooks are the parser's doors to this package.
func (r *Registry) Hooks() parse.Hooks {
	return parse.Hooks{
		CreateObserver: func(_ context.Context, s parse.CreateObserver) (ast.Statement, error) {
			return r.inject("CREATE OBSERVER", triggerAuth(s.Table),
				func(ctx *sql.Context) (sql.RowIter, error) {
					return ok(r.create(ctx, s))
				}), nil
		},
		Notify: func(_ context.Context, s parse.Notify) (ast.Statement, error) {
			return r.notifyStatement(s), nil
		},
		WaitForObservers: func(_ context.Context, s parse.WaitForObservers) (ast.Statement, error) {
			n := r.node("WAIT FOR OBSERVERS", func(ctx *sql.Context) (sql.RowIter, error) {
				return ok(r.waitFor(ctx, s))
			})
			n.schema = types.OkResultSchema
			return ast.InjectedStatement{Auth: askedLater, Statement: n}, nil
		},
		DropObserver: func(_ context.Context, s parse.DropObserver) (ast.Statement, error) {
			return r.inject("DROP OBSERVER", askedLater, func(ctx *sql.Context) (sql.RowIter, error) {
				return ok(r.drop(ctx, s))
			}), nil
		},
		AlterObserver: func(_ context.Context, s parse.AlterObserver) (ast.Statement, error) {
			return r.inject("ALTER OBSERVER", askedLater, func(ctx *sql.Context) (sql.RowIter, error) {
				if s.Action == parse.RetryFailedObserver || s.Action == parse.DiscardFailedObserver {
					n, err := r.failed(ctx, s)
					if err != nil {
						return nil, observerError(err)
					}
					return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(n))), nil
				}
				return ok(r.alter(ctx, s))
			}), nil
		},
		CreateIncremental: func(_ context.Context, s parse.CreateIncremental) (ast.Statement, error) {
			return r.inject("CREATE INCREMENTAL VIEW", createViewAuth(s.View),
				func(ctx *sql.Context) (sql.RowIter, error) {
					return ok(r.createIncremental(ctx, s))
				}), nil
		},
		Incremental: func(_ context.Context, s parse.Incremental) (ast.Statement, error) {
			return r.incrementalStatement(s), nil
		},
		ShowObservers: func(_ context.Context, s parse.ShowObservers) (ast.Statement, error) {
			n := r.node("SHOW OBSERVERS", func(ctx *sql.Context) (sql.RowIter, error) {
				return r.show(ctx, s)
			})
			n.schema = texts("Observer", "Event", "Table", "Status", "Waiting", "Parked", "Lag_ms",
				"Statement", "Created")
			return ast.InjectedStatement{Auth: askedLater, Statement: n}, nil
		},
		ExplainObserver: func(_ context.Context, s parse.ExplainObserver) (ast.Statement, error) {
			n := r.node("EXPLAIN OBSERVER", func(ctx *sql.Context) (sql.RowIter, error) {
				return r.explain(ctx, s)
			})
			n.schema = texts("Part", "Of", "Detail")
			return ast.InjectedStatement{Auth: askedLater, Statement: n}, nil
		},
		ShowCreateObserver: func(_ context.Context, s parse.ShowCreateObserver) (ast.Statement, error) {
			n := r.node("SHOW CREATE OBSERVER", func(ctx *sql.Context) (sql.RowIter, error) {
				return r.showCreate(ctx, s)
			})
			n.schema = texts("Observer", "sql_mode", "Create Observer")
			return ast.InjectedStatement{Auth: askedLater, Statement: n}, nil
		},
	}
}

// triggerAuth asks for MySQL's TRIGGER privilege on the table, which is what an observer's body amounts to.
func triggerAuth(table parse.Name) ast.AuthInformation {
	return ast.AuthInformation{
		AuthType: ast.AuthType_TRIGGER, TargetType: ast.AuthTargetType_SingleTableIdentifier,
		TargetNames: []string{table.Database, table.Name},
	}
}

// askedLater is for statements about an observer: whose it is, and on which table, is known when it has been
// found (mayManage, maySee).
var askedLater = ast.AuthInformation{AuthType: ast.AuthType_IGNORE, TargetType: ast.AuthTargetType_Ignore}

func (r *Registry) inject(what string, auth ast.AuthInformation,
	f func(*sql.Context) (sql.RowIter, error)) ast.Statement {
	n := r.node(what, f)
	n.schema, n.write = types.OkResultSchema, true
	return ast.InjectedStatement{Auth: auth, Statement: n}
}

func (r *Registry) node(what string, f func(*sql.Context) (sql.RowIter, error)) *statement {
	return &statement{what: what, run: f}
}

// statement is one of this package's statements as the SQL engine sees it.
type statement struct {
	leaf
	what   string
	schema sql.Schema
	write  bool
	run    func(*sql.Context) (sql.RowIter, error)
	bind   func(values []any) (*statement, error) // for one with parameters
}

var _ sql.ExecSourceRel = (*statement)(nil)

func (s *statement) WithResolvedChildren(_ context.Context, values []any) (any, error) {
	if s.bind != nil {
		return s.bind(values)
	}
	return s, nil
}
func (s *statement) EndsTransaction() bool {
	return s.write && s.what != "NOTIFY"
}
func (s *statement) String() string                                           { return s.what }
func (s *statement) Schema(*sql.Context) sql.Schema                           { return s.schema }
func (s *statement) IsReadOnly() bool                                         { return !s.write }
func (s *statement) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) { return s.run(ctx) }
func (s *statement) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	return noChildren(s, ch)
}

func ok(err error) (sql.RowIter, error) {
	if err != nil {
		return nil, observerError(err)
	}
	return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(0))), nil
}

func texts(names ...string) (s sql.Schema) {
	for _, n := range names {
		s = append(s, &sql.Column{Name: n, Type: types.LongText, Nullable: true})
	}
	return s
}

// observerError words the catalog's errors with the numbers that MySQL has for triggers.
func observerError(err error) error {
	var nf *catalog.NotFoundError
	var ex *catalog.ExistsError
	var l *catalog.LimitError
	switch {
	case errors.As(err, &nf) && nf.Kind == catalog.KindObserver:
		return sqlerr.New(sqlerr.TriggerNotFound,
			"Observer '%s' does not exist; SHOW OBSERVERS lists those that do", nf.Name)
	case errors.As(err, &nf) && nf.Kind == catalog.KindTable:
		return sqlerr.UnknownTable(nf.Database, nf.Name)
	case errors.As(err, &nf) && nf.Kind == catalog.KindDatabase:
		return sqlerr.New(sqlerr.BadDatabase, "Unknown database '%s'", nf.Name)
	case errors.As(err, &ex) && (ex.Kind == catalog.KindTable || ex.Kind == catalog.KindView):
		return sqlerr.New(sqlerr.TableExists, "Table '%s' already exists", ex.Name)
	case errors.As(err, &ex) && ex.Kind == catalog.KindObserver:
		return sqlerr.New(sqlerr.TriggerExists, "Observer '%s' already exists", ex.Name)
	case errors.As(err, &l):
		return sqlerr.New(int(l.Limit), "%s", l.Message)
	}
	return sqlerr.From(err)
}

func note(ctx *sql.Context, code int, format string, args ...any) {
	ctx.Session.Warn(&sql.Warning{Level: "Note", Code: code, Message: fmt.Sprintf(format, args...)})
}

// endTransaction commits what is open, as every schema statement of MySQL does.
func endTransaction(ctx *sql.Context) error {
	s, ok := ctx.Session.(sql.TransactionSession)
	if !ok || ctx.GetTransaction() == nil {
		return nil
	}
	err := s.CommitTransaction(ctx, ctx.GetTransaction())
	ctx.SetTransaction(nil)
	return err
}

func currentDatabase(ctx *sql.Context, n parse.Name) (string, error) {
	if n.Database != "" {
		return n.Database, nil
	}
	if db := ctx.GetCurrentDatabase(); db != "" {
		return db, nil
	}
	return "", sqlerr.New(sqlerr.NoDatabase, "No database selected")
}

func (r *Registry) create(ctx *sql.Context, s parse.CreateObserver) error {
	o, err := describe(ctx, s)
	if err != nil {
		return err
	}
	// An observer lives in its table's database, as a trigger does.
	dbName, err := currentDatabase(ctx, s.Table)
	if err != nil {
		return err
	}
	if s.Backfill && o.Events&(catalog.OnInsert|catalog.OnNotify) == 0 {
		return sqlerr.Unsupported("WITH BACKFILL of an observer that is not AFTER INSERT or AFTER NOTIFY")
	}
	if s.Observer.Database != "" && !strings.EqualFold(s.Observer.Database, dbName) {
		return sqlerr.Unsupported("an observer in another database than its table")
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
		table, found := db.Table(s.Table.Name)
		if !found {
			return &catalog.NotFoundError{Kind: catalog.KindTable, Database: dbName, Name: s.Table.Name}
		}
		if o.Events&catalog.OnNotify != 0 && len(table.PrimaryKey) == 0 {
			return sqlerr.Unsupported("AFTER NOTIFY on a table without primary key")
		}
		if _, exists := db.Observer(o.Name); exists && s.IfNotExists {
			note(ctx, sqlerr.TriggerExists, "Observer '%s' already exists", o.Name)
			return nil
		}
		o.TableID, o.Columns = table.ID, nil
		for _, name := range s.Of {
			i := table.Column(name)
			if i < 0 {
				return sqlerr.New(sqlerr.BadField, "Unknown column '%s' in 'OF'", name)
			}
			o.Columns = append(o.Columns, table.Columns[i].ID)
		}
		beside := 0
		for _, other := range db.Observers() {
			if other.TableID == table.ID {
				beside += len(other.CreateStatement)
			}
		}
		if err := parse.BodyFits(o.Name, len(s.Text), beside); err != nil {
			return err
		}
		if o.Fresh = 0; s.Backfill {
			if table.Copy != nil {
				return sqlerr.Unsupported("WITH BACKFILL while the table is written anew by an ALTER TABLE")
			}
			o.Fresh = table.RowIndex
		}
		if !o.Enabled {
			if err := noteDisabled(ctx, t, snap, o); err != nil {
				return err
			}
		}
		stored, err := r.o.Catalog.CreateObserver(ctx, t, dbName, *o)
		if err != nil {
			return err
		}
		if s.Backfill {
			if err := r.beginWalk(ctx, t, stored, table); err != nil {
				return err
			}
		}
		readsOld, err := r.validate(ctx, t, stored)
		if err != nil {
			return err
		}
		if readsOld {
			warnSiblings(ctx, snap, stored)
		}
		r.warnCycle(ctx, t, stored)
		return nil
	})
}

// describe makes the descriptor of what the statement says; table and columns are filled in under a snapshot.
func describe(ctx *sql.Context, s parse.CreateObserver) (*catalog.Observer, error) {
	o := &catalog.Observer{
		Name: s.Observer.Name, Events: catalog.ObserverEvents(0), Body: s.Body, CreateStatement: s.Text,
		Enabled: true,
	}
	for from, to := range map[parse.Event]catalog.ObserverEvents{
		parse.OnInsert: catalog.OnInsert, parse.OnUpdate: catalog.OnUpdate, parse.OnDelete: catalog.OnDelete,
		parse.OnNotify: catalog.OnNotify,
	} {
		if s.Events&from != 0 {
			o.Events |= to
		}
	}
	declaredBy(ctx, o)
	for name, value := range s.Options {
		if err := setOption(o, name, value); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// setOptions are those of ALTER OBSERVER.
func setOptions(o *catalog.Observer, options map[string]string) error {
	for name, value := range options {
		if name == "enabled" {
			return sqlerr.New(sqlerr.WrongValueForVariable, "Observer option 'enabled' can't be altered: "+
				"ALTER OBSERVER %s ENABLE, or DISABLE, says what it loses", quote(o.Name))
		}
		if err := setOption(o, name, value); err != nil {
			return err
		}
	}
	return nil
}

// setOption is an option of WITH ( … ).
func setOption(o *catalog.Observer, name, value string) error {
	const hour = 3_600_000 // in milliseconds
	number := func(most int) (int, error) {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > most {
			return 0, sqlerr.New(sqlerr.WrongValueForVariable, "Observer option '%s' can't be "+
				"set to the value of '%s': it takes a number from 1 to %d", name, value, most)
		}
		return n, nil
	}
	var n int
	var err error
	switch name {
	case "attempts":
		o.MaxAttempts, err = number(1_000_000)
	case "backoff_ms":
		n, err = number(hour)
		o.Backoff = time.Duration(n) * time.Millisecond
	case "timeout_ms":
		n, err = number(hour)
		o.Timeout = time.Duration(n) * time.Millisecond
	case "max_fanout":
		o.MaxFanout, err = number(1_000_000)
	case "max_depth":
		o.MaxDepth, err = number(1_000_000)
	case "forgotten_old":
		if !strings.EqualFold(value, "null") && !strings.EqualFold(value, "park") {
			return sqlerr.New(sqlerr.WrongValueForVariable, "Observer option 'forgotten_old' can't be set "+
				"to "+
				"the value of '%s': it takes 'park' or 'null'", value)
		}
		o.ForgottenIsNull = strings.EqualFold(value, "null")
	case "enabled":
		o.Enabled = value != "0" && !strings.EqualFold(value, "false")
	default:
		return sqlerr.New(sqlerr.UnknownSystemVariable, "Unknown observer option '%s'; there are attempts, "+
			"backoff_ms, timeout_ms, max_fanout, max_depth, forgotten_old and enabled", name)
	}
	return err
}

// validate compiles the observer as of the transaction that declares it, so that an unknown name is an error
// now.
func (r *Registry) validate(ctx *sql.Context, t *txn.Txn, o *catalog.Observer) (readsOld bool, err error) {
	snap, err := r.o.Catalog.Snapshot(ctx, t)
	if err != nil {
		return false, err
	}
	if err := r.eng.ChargeBody(ctx, o, len(o.Body)); err != nil {
		return false, err
	}
	err = r.within(ctx, t, func() error {
		b, err := r.compile(ctx, snap, o)
		readsOld = err == nil && len(b.plan.ReadsOld()) > 0
		return err
	})
	return readsOld, err
}

const onChange = catalog.OnInsert | catalog.OnUpdate | catalog.OnDelete

var namesOld = regexp.MustCompile("(?i)(\\bold|`old`)\\s*\\.")

// warnSiblings says so when two observers share the changes of a table, and both use OLD. What they keep
// together is wrong: each compares with what it has acknowledged itself, not with what the other has done.
func warnSiblings(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer) {
	for _, other := range snap.Observers(o.TableID) {
		if other.ID == o.ID || o.Events&onChange == onChange || other.Events&onChange == 0 ||
			!namesOld.MatchString(other.Body) {
			continue
		}
		ctx.Warn(sqlerr.Unknown, "OLD is the row as observer '%s' has acknowledged it, whatever observer "+
			"'%s' "+
			"does: to keep one thing, use one observer AFTER INSERT OR UPDATE OR DELETE, which has "+
			"INSERTING, "+
			"UPDATING and DELETING", o.Name, other.Name)
		return
	}
}

func (r *Registry) drop(ctx *sql.Context, s parse.DropObserver) error {
	if err := endTransaction(ctx); err != nil {
		return err
	}
	dbName, err := r.databaseOf(ctx, s.Observer)
	if err != nil {
		return err
	}
	release := func() {}
	defer func() { release() }()
	return r.change(ctx, func(t *txn.Txn) error {
		snap, err := r.o.Catalog.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		db, found := snap.Database(dbName)
		if !found {
			return &catalog.NotFoundError{Kind: catalog.KindDatabase, Name: dbName}
		}
		o, found := db.Observer(s.Observer.Name)
		if !found {
			if s.IfExists {
				note(ctx, sqlerr.TriggerNotFound, "Observer '%s' does not exist", s.Observer.Name)
				return nil
			}
			return &catalog.NotFoundError{Kind: catalog.KindObserver, Database: dbName, Name: s.Observer.Name}
		}
		if err := r.mayManage(ctx, snap, o); err != nil {
			return err
		}
		if o.View != 0 {
			return keeps(snap, o)
		}
		release()
		if release, err = r.Hold(ctx, o.TableID, false); err != nil {
			return err
		}
		// What is left of its notifications goes by and by: see removeOrphans.
		return r.o.Catalog.DropObserver(ctx, t, dbName, s.Observer.Name)
	})
}

func (r *Registry) alter(ctx *sql.Context, s parse.AlterObserver) error {
	if err := endTransaction(ctx); err != nil {
		return err
	}
	dbName, err := r.databaseOf(ctx, s.Observer)
	if err != nil {
		return err
	}
	var was catalog.Observer
	told := false // how many rows others have changed is for who may see that
	release := func() {}
	defer func() { release() }()
	at, err := r.changeAt(ctx, func(t *txn.Txn) error {
		snap, err := r.o.Catalog.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		o, err := findObserver(snap, dbName, s.Observer.Name)
		if err != nil {
			return err
		}
		if err := r.mayManage(ctx, snap, o); err != nil {
			return err
		}
		counts := r.onTable(ctx, snap, o, sql.PrivilegeType_Select)
		told = counts && r.maySee(ctx, snap, o)
		if s.Action == parse.ReplayObserver {
			if err := r.mayRunFor(ctx, o, counts); err != nil {
				return err
			}
			return r.beginReplay(ctx, t, snap, o)
		}
		changed := *o
		if s.Action == parse.SetObserver {
			if err := setOptions(&changed, s.Options); err != nil {
				return err
			}
			if o.View == 0 {
				changed.CreateStatement = createText(snap, &changed, o.Body)
			}
			_, err = r.o.Catalog.UpdateObserver(ctx, t, changed)
			return err
		}
		if s.Action == parse.ReplaceObserver {
			release()
			if release, err = r.Hold(ctx, o.TableID, false); err != nil {
				return err
			}
			return r.replaceBody(ctx, t, snap, o, s)
		}
		if s.Action == parse.PauseObserver || s.Action == parse.ResumeObserver {
			changed.Paused = s.Action == parse.PauseObserver
			_, err = r.o.Catalog.UpdateObserver(ctx, t, changed)
			return err
		}
		if o.View != 0 && s.Action == parse.DisableObserver {
			return keeps(snap, o)
		}
		if changed.Enabled = s.Action == parse.EnableObserver; changed.Enabled {
			if err := r.giveBack(ctx, t, snap, o, &changed, s.Replay, counts); err != nil {
				return err
			}
			changed.DisabledAt, changed.DisabledTS, changed.DisabledRows = time.Time{}, 0, 0
		} else if o.Enabled {
			release()
			if release, err = r.Hold(ctx, o.TableID, false); err != nil {
				return err
			}
			if err := noteDisabled(ctx, t, snap, &changed); err != nil {
				return err
			}
		}
		was = *o
		_, err = r.o.Catalog.UpdateObserver(ctx, t, changed)
		return err
	})
	if err == nil && told && (s.Action == parse.EnableObserver && !s.Replay ||
		s.Action == parse.DisableObserver) {
		r.warnMissed(ctx, &was, s.Action, at)
	}
	return err
}

// databaseOf is the database that a statement about an observer means. To who has no right in it, it is none
// of his business whether there is one.
func (r *Registry) databaseOf(ctx *sql.Context, n parse.Name) (string, error) {
	db, err := currentDatabase(ctx, n)
	if err == nil && !rights.Within(ctx, r.eng.Accounts(), db) {
		return "", rights.DatabaseDenied(ctx, db)
	}
	return db, err
}

// maySee reports whether the user may know of an observer: he may declare one on its table. As with triggers,
// the body is shown to who may see that there is one. That it was he who created it says nothing: he may have
// lost the right since, and its backlog tells what others do with the table. One that keeps a view names its
// other tables and the constants of its condition: that takes the right to read the view, too.
func (r *Registry) maySee(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer) bool {
	return r.onTable(ctx, snap, o, sql.PrivilegeType_Trigger) && (o.View == 0 || r.mayRead(ctx, snap, o))
}

// onTable reports whether the user has a privilege on an observer's table.
func (r *Registry) onTable(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer,
	p sql.PrivilegeType) bool {
	db, table := databaseName(snap, o.DatabaseID), tableName(snap, o.TableID)
	return rights.OnTable(ctx, r.eng.Accounts(), db, table, p) &&
		!past.OfOthers(ctx, r.eng.Accounts(), db, table)
}

// mayManage refuses to drop or alter an observer to who may neither declare one on its table nor has created
// it. The table is not named: he may not know it. What keeps a view is for who made
// it, or may drop it.
func (r *Registry) mayManage(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer) error {
	c := ctx.Client()
	if o.View != 0 && o.Definer != c.User+"@"+c.Address && !rights.OnTable(ctx, r.eng.Accounts(),
		databaseName(snap, o.DatabaseID), tableName(snap, o.View), sql.PrivilegeType_Drop) {
		return hidden(ctx, o)
	}
	if r.eng.MayTrigger(ctx, o.Definer, databaseName(snap, o.DatabaseID), tableName(snap, o.TableID)) {
		return nil
	}
	return hidden(ctx, o)
}

func hidden(ctx *sql.Context, o *catalog.Observer) error {
	c := ctx.Client()
	return sqlerr.New(sqlerr.TableAccessDenied, "TRIGGER command denied to user '%s'@'%s' for the table of "+
		"observer '%s'", c.User, c.Address, o.Name)
}

func findObserver(snap *catalog.Snapshot, dbName, name string) (*catalog.Observer, error) {
	db, found := snap.Database(dbName)
	if !found {
		return nil, &catalog.NotFoundError{Kind: catalog.KindDatabase, Name: dbName}
	}
	o, found := db.Observer(name)
	if !found {
		return nil, &catalog.NotFoundError{Kind: catalog.KindObserver, Database: dbName, Name: name}
	}
	return o, nil
}

func (r *Registry) show(ctx *sql.Context, s parse.ShowObservers) (sql.RowIter, error) {
	dbName, err := r.databaseOf(ctx, parse.Name{Database: s.Database})
	if err != nil {
		return nil, err
	}
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	db, found := snap.Database(dbName)
	if !found {
		return nil, observerError(&catalog.NotFoundError{Kind: catalog.KindDatabase, Name: dbName})
	}
	backlogs, err := r.backlogs(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, o := range db.Observers() {
		if !r.maySee(ctx, snap, o) {
			continue
		}
		if matched, err := like(ctx, o.Name, s.Like); err != nil || !matched {
			if err != nil {
				return nil, err
			}
			continue
		}
		b := backlogs[o.ID]
		rows = append(rows, sql.NewRow(o.Name, eventNames(o.Events), tableName(snap, o.TableID), status(o),
			strconv.FormatUint(b.Waiting, 10), strconv.FormatUint(b.Parked, 10), lagMillis(b.Oldest), o.Body,
			o.Created.Format("2006-01-02 15:04:05.000000")))
	}
	return sql.RowsToRowIter(rows...), nil
}

func (r *Registry) showCreate(ctx *sql.Context, s parse.ShowCreateObserver) (sql.RowIter, error) {
	dbName, err := r.databaseOf(ctx, s.Observer)
	if err != nil {
		return nil, err
	}
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	o, err := findObserver(snap, dbName, s.Observer.Name)
	if err != nil {
		return nil, observerError(err)
	}
	if !r.maySee(ctx, snap, o) {
		return nil, hidden(ctx, o)
	}
	return sql.RowsToRowIter(sql.NewRow(o.Name, o.SQLMode, o.CreateStatement)), nil
}

func (r *Registry) backlogs(ctx context.Context) (map[uint32]triggers.Backlog, error) {
	list, err := triggers.Backlogs(ctx, r.o.Store)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Observer < list[j].Observer })
	m := make(map[uint32]triggers.Backlog, len(list))
	for _, b := range list {
		m[b.Observer] = b
	}
	return m, nil
}

func status(o *catalog.Observer) string {
	switch {
	case !o.Enabled:
		return "DISABLED"
	case o.Paused:
		return "PAUSED"
	}
	return "ENABLED"
}

func tableName(snap *catalog.Snapshot, id uint32) string {
	if t, ok := snap.TableByID(id); ok {
		return t.Name
	}
	return fmt.Sprintf("#%d", id)
}

// lagMillis is how old the oldest unacknowledged change is; "0" when there is none.
func lagMillis(oldest kv.Timestamp) string {
	if oldest == 0 {
		return "0"
	}
	return strconv.FormatUint(lagOf(oldest), 10)
}

func like(ctx *sql.Context, name, pattern string) (bool, error) {
	if pattern == "" {
		return true, nil
	}
	return expr.IsLike(ctx, name, pattern)
}
