package observer

import (
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
	"moka/triggers"
	"moka/txn"
)

// ALTER OBSERVER … RETRY FAILED and DISCARD FAILED are about what is parked: all of it, or what a condition
// is true for. The condition is that of a query of moka.observer_errors, which has, for this, the columns of
// the key of the observer's table in place of their text.

// failed does it, and returns how many rows it was about.
func (r *Registry) failed(ctx *sql.Context, s parse.AlterObserver) (n int, err error) {
	if err := engine.MayChange(ctx); err != nil {
		return 0, err
	}
	if err := endTransaction(ctx); err != nil {
		return 0, err
	}
	dbName, err := r.databaseOf(ctx, s.Observer)
	if err != nil {
		return 0, err
	}
	t := r.o.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	err = r.within(ctx, t, func() error {
		snap, err := r.eng.CatalogSnapshot(ctx)
		if err != nil {
			return err
		}
		o, err := findObserver(snap, dbName, s.Observer.Name)
		if err == nil {
			err = r.mayManage(ctx, snap, o)
		}
		if err != nil {
			return err
		}
		var wanted triggers.Wanted
		if s.Failed != nil {
			if wanted, err = r.wanted(ctx, snap, o, s.Failed); err != nil {
				return err
			}
		}
		if s.Action == parse.RetryFailedObserver {
			n, err = triggers.RetryParked(ctx, r.o.Store, o.ID, wanted)
			return err
		}
		if o.View != 0 {
			return keeps(snap, o)
		}
		n, err = triggers.DiscardParked(ctx, r.o.Client, r.o.Store, o.ID, wanted)
		return err
	})
	return n, err
}

// wanted plans a condition about failed runs.
func (r *Registry) wanted(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer,
	where *ast.Select) (triggers.Wanted, error) {
	d, ok := snap.TableByID(o.TableID)
	if !ok {
		return nil, &catalog.NotFoundError{Kind: catalog.KindTable, Name: o.Name}
	}
	table, err := r.eng.TableOf(ctx, d)
	if err != nil {
		return nil, err
	}
	keys := table.KeyColumns()
	if err := r.mayChoose(ctx, snap, o, keys); err != nil {
		return nil, err
	}
	var page []triggers.Failed
	columns := sql.Schema{system.Number("#")} // its place in the page
	for _, c := range keys {
		columns = append(columns, &sql.Column{Name: c.Name, Type: c.Type, Nullable: true})
	}
	kinds := []*sql.Column{system.Moment("changed"), system.Number("attempts"), system.Text("error")}
	shown := make([]bool, len(kinds))
	for i, c := range kinds { // a column of the key has its name
		if shown[i] = keys.IndexOfColName(c.Name) < 0; shown[i] {
			columns = append(columns, c)
		}
	}
	rows := func(ctx *sql.Context) (rows []sql.Row, err error) {
		for i, f := range page {
			values, err := table.KeyValues(ctx, f.Column.Row)
			if err != nil {
				return nil, err
			}
			row := sql.Row{uint64(i)}
			if values == nil {
				values = make([]any, len(keys))
			}
			row = append(row, values...)
			for i, v := range []any{f.CommitTS.Time().UTC(), uint64(f.Attempts), r.failure(ctx, o, f)} {
				if shown[i] {
					row = append(row, v)
				}
			}
			rows = append(rows, row)
		}
		return rows, nil
	}
	a := r.eng.SQL().Analyzer
	expr.Rewrite(where)
	if from, ok := where.From[0].(*ast.AliasedTableExpr); ok {
		from.Auth = askedLater // it shows what its user may see
	}
	with := besides{a.Catalog, system.New("moka", system.Table{TableName: "observer_errors", Columns: columns,
		Rows: rows})}
	query, err := r.eng.WithoutNames(ctx, where)
	if err != nil {
		return nil, err
	}
	bound, flags, err := planbuilder.New(ctx, with, nil).BindOnly(query, "select * from moka.observer_errors",
		nil)
	if err != nil {
		return nil, err
	}
	planned, err := a.Analyze(ctx, bound, nil, flags)
	if err != nil {
		return nil, err
	}
	return func(fs []triggers.Failed) (out []triggers.Failed, err error) {
		page = fs
		iter, err := a.ExecBuilder.Build(ctx, planned, nil)
		if err != nil {
			return nil, err
		}
		defer iter.Close(ctx)
		for {
			row, err := iter.Next(ctx)
			if err == io.EOF {
				return out, nil
			}
			if err != nil {
				return nil, err
			}
			out = append(out, fs[row[0].(uint64)])
		}
	}, nil
}

// besides is the catalog of a condition: the database moka has one table there, which anybody may read.
type besides struct {
	sql.Catalog
	errors *system.Database
}

func (c besides) Database(ctx *sql.Context, name string) (sql.Database, error) {
	if strings.EqualFold(name, c.errors.Name()) {
		return c.errors, nil
	}
	return c.Catalog.Database(ctx, name)
}

func (c besides) DatabaseTable(ctx *sql.Context, db sql.Database, name string) (sql.Table, sql.Database,
	error) {
	if strings.EqualFold(db.Name(), c.errors.Name()) {
		if t, ok, err := c.errors.GetTableInsensitive(ctx, name); ok || err != nil {
			return t, db, err
		}
	}
	return c.Catalog.DatabaseTable(ctx, db, name)
}

// mayChoose refuses a condition about failed runs to who may not read the key of the observer's table. It
// tells of the keys by how many rows it is true for, and by its warnings and errors; and who has declared the
// observer, for which TRIGGER is enough, need not know them. Where there is no key it can tell of none.
func (r *Registry) mayChoose(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer,
	keys sql.Schema) error {
	if len(keys) == 0 {
		return r.mayRunFor(ctx, o, r.onTable(ctx, snap, o, sql.PrivilegeType_Select))
	}
	db, table := databaseName(snap, o.DatabaseID), tableName(snap, o.TableID)
	for _, c := range keys {
		if !rights.MayRead(ctx, r.eng.Accounts(), db, table, c.Name) {
			u := ctx.Client()
			return sqlerr.New(sqlerr.TableAccessDenied, "SELECT command denied to user '%s'@'%s' for the "+
				"key of the table of observer '%s'", u.User, u.Address, o.Name)
		}
	}
	return nil
}

// mayRunFor refuses what is about the rows of others, or has an observer run for them with its definer's
// rights, to who is neither that nor may read them.
func (r *Registry) mayRunFor(ctx *sql.Context, o *catalog.Observer, reads bool) error {
	if c := ctx.Client(); !reads && o.Definer != c.User+"@"+c.Address {
		return sqlerr.New(sqlerr.TableAccessDenied, "SELECT command denied to user '%s'@'%s' for "+
			"the table of observer '%s'", c.User, c.Address, o.Name)
	}
	return nil
}
