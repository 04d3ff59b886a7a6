package observer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
	"moka/triggers"
)

// SystemTables are the tables of the database moka that show observers:
//
//	observers          what is declared
//	observer_backlog   for each, how many rows wait or are parked, and how old the oldest unacknowledged change is
//	observer_errors    the rows whose last run failed, with its error
//	observer_runs      the last runs of this process; see runLog
//	observer_writes    the tables that runs of this process have written to, for who draws a graph of what
//	                   sets off what
//	incremental_views  what is kept as an incremental view, and how far behind it is
func (r *Registry) SystemTables() []system.Table {
	return []system.Table{
		{TableName: "observers", Columns: declaredColumns(strings.ToLower), Rows: r.declared},
		{TableName: "observer_backlog", Columns: sql.Schema{
			system.Name("observer_schema"), system.Name("observer_name"), system.Number("waiting"),
			system.Number("parked"), system.Moment("oldest_change"), system.Number("lag_ms"),
			system.Number("rows_walked"), system.Number("rows_to_walk"),
		}, Rows: r.waiting},
		{TableName: "observer_errors", Columns: sql.Schema{
			system.Name("observer_schema"), system.Name("observer_name"), system.Name("event_table"),
			system.Text("row_key"), system.Moment("changed"), system.Number("attempts"),
			{Name: "parked", Type: types.Boolean}, system.Text("error"),
		}, Rows: r.failing},
		{TableName: "observer_runs", Columns: sql.Schema{
			system.Name("observer_schema"), system.Name("observer_name"), system.Name("event_table"),
			system.Text("row_key"), system.Moment("changed"), system.Moment("started"),
			system.Number("duration_us"), system.Number("attempt"), system.Number("conflicts"),
			system.Name("result"), system.Text("error"),
		}, Rows: r.ran},
		{TableName: "observer_writes", Columns: sql.Schema{
			system.Name("observer_schema"), system.Name("observer_name"), system.Name("event_table"),
			system.Name("table_schema"), system.Name("table_name"),
		}, Rows: r.written},
		{TableName: "incremental_views", Columns: viewColumns(strings.ToLower), Rows: r.views},
	}
}

// Information are the tables that information_schema gets: the declarations, in that schema's style.
func (r *Registry) Information() []system.Table {
	return []system.Table{
		{TableName: "OBSERVERS", Columns: declaredColumns(strings.ToUpper), Rows: r.declared},
		{TableName: "INCREMENTAL_VIEWS", Columns: viewColumns(strings.ToUpper), Rows: r.views},
	}
}

func declaredColumns(style func(string) string) sql.Schema {
	s := sql.Schema{
		system.Number("observer_id"), system.Name("observer_schema"), system.Name("observer_name"),
		system.Name("events"), system.Text("of_columns"), system.Name("event_table"),
		system.Name("status"), system.Text("action_statement"), system.Number("attempts"),
		system.Number("backoff_ms"), system.Text("sql_mode"), system.Text("definer"),
		system.Moment("created"), system.Number("timeout_ms"), system.Number("max_fanout"),
		system.Number("max_depth"), system.Name("forgotten_old"),
	}
	for _, c := range s {
		c.Name = style(c.Name)
	}
	return s
}

// declared lists the observers as the statement's transaction sees them.
func (r *Registry) declared(ctx *sql.Context) ([]sql.Row, error) {
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, o := range snap.AllObservers() {
		if !r.maySee(ctx, snap, o) {
			continue
		}
		rows = append(rows, sql.NewRow(uint64(o.ID), databaseName(snap, o.DatabaseID), o.Name,
			eventNames(o.Events), strings.Join(columnNames(snap, o), ","),
			tableName(snap, o.TableID), status(o), o.Body, set(int64(o.MaxAttempts)),
			set(o.Backoff.Milliseconds()), o.SQLMode, o.Definer, o.Created.UTC(),
			set(o.Timeout.Milliseconds()), set(int64(o.MaxFanout)),
			set(int64(o.MaxDepth)), forgottenOld(o)))
	}
	return rows, nil
}

// set is an option's value, NULL for the default.
func set(n int64) any {
	if n == 0 {
		return nil
	}
	return uint64(n)
}

func forgottenOld(o *catalog.Observer) string {
	if o.ForgottenIsNull {
		return "null"
	}
	return "park"
}

func (r *Registry) waiting(ctx *sql.Context) ([]sql.Row, error) {
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	backlogs, err := r.backlogs(ctx)
	if err != nil {
		return nil, err
	}
	walks, err := r.walks(ctx)
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	for _, o := range snap.AllObservers() {
		if !r.maySee(ctx, snap, o) {
			continue
		}
		var walked, of any // NULL where there is nothing to walk
		if w, ok := walks[o.ID]; ok {
			walked, of = w.Walked, max(w.Of, w.Walked)
		}
		b := backlogs[o.ID]
		var oldest any
		var lag uint64
		if b.Oldest != 0 {
			oldest, lag = b.Oldest.Time().UTC(), lagOf(b.Oldest)
		}
		rows = append(rows, sql.NewRow(databaseName(snap, o.DatabaseID), o.Name, b.Waiting, b.Parked,
			oldest, lag, walked, of))
	}
	return rows, nil
}

// written lists the tables that observers have written to. What a body may write to if it takes another
// branch is not in it: nothing says so but the body's own run.
func (r *Registry) written(ctx *sql.Context) ([]sql.Row, error) {
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	writes := make(map[uint32][]uint32, len(r.mu.writes))
	for id, tables := range r.mu.writes {
		writes[id] = slices.Clone(tables)
	}
	r.mu.Unlock()
	var rows []sql.Row
	for _, o := range snap.AllObservers() {
		if !r.maySee(ctx, snap, o) {
			continue
		}
		slices.Sort(writes[o.ID])
		for _, id := range writes[o.ID] {
			t, ok := snap.TableByID(id)
			if !ok { // it has been dropped
				continue
			}
			if in := databaseName(snap, t.DatabaseID); r.eng.MaySee(ctx, in, t.Name) {
				rows = append(rows, sql.NewRow(databaseName(snap, o.DatabaseID), o.Name,
					tableName(snap, o.TableID), in, t.Name))
			}
		}
	}
	return rows, nil
}

func (r *Registry) failing(ctx *sql.Context) ([]sql.Row, error) {
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	failed, err := triggers.ListFailed(ctx, r.o.Store, 0)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	var rows []sql.Row
	for _, f := range failed {
		o, ok := snap.ObserverByID(f.Observer)
		// dropped, and its notifications are being removed; or somebody else's
		if !ok || !r.maySee(ctx, snap, o) {
			continue
		}
		key, err := r.shownKey(ctx, snap, o, f.Column.Row)
		if err != nil {
			return nil, err
		}
		parked := int8(0)
		if f.Parked {
			parked = 1
		}
		rows = append(rows, sql.NewRow(databaseName(snap, o.DatabaseID), o.Name,
			tableName(snap, o.TableID), key,
			f.CommitTS.Time().UTC(), uint64(f.Attempts), parked, r.failure(ctx, o, f)))
	}
	return rows, nil
}

// shownKey is a row's key, NULL to who may not read the table: TRIGGER shows no values.
func (r *Registry) shownKey(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer,
	row kv.RowKey) (any, error) {
	if !r.onTable(ctx, snap, o, sql.PrivilegeType_Select) {
		return nil, nil
	}
	return r.keyText(ctx, snap, o, row)
}

func (r *Registry) failure(ctx *sql.Context, o *catalog.Observer, f triggers.Failed) any {
	definer, text := f.Said()
	return r.errorText(ctx, o, definer, text)
}

// errorText is the error of a run, which may name values that its definer of then may read: NULL to anybody
// else but who may do everything, be it who has made the observer his own since.
func (r *Registry) errorText(ctx *sql.Context, o *catalog.Observer, definer, text string) any {
	c := ctx.Client()
	if me := c.User + "@" + c.Address; (definer != me || o.Definer != me) &&
		!rights.Has(ctx, r.eng.Accounts(), sql.PrivilegeType_Super) {
		return nil
	}
	return text
}

func (r *Registry) keyText(ctx *sql.Context, snap *catalog.Snapshot, o *catalog.Observer,
	key kv.RowKey) (string, error) {
	desc, ok := snap.TableByID(o.TableID)
	if !ok {
		return fmt.Sprintf("0x%x", []byte(key)), nil
	}
	table, err := r.eng.TableOf(ctx, desc)
	if err != nil {
		return "", err
	}
	return table.KeyText(ctx, key)
}

func databaseName(snap *catalog.Snapshot, id uint32) string {
	if db, ok := snap.DatabaseByID(id); ok {
		return db.Name
	}
	return fmt.Sprintf("#%d", id)
}

// columnNames are those of UPDATE OF; none means every column.
func columnNames(snap *catalog.Snapshot, o *catalog.Observer) (names []string) {
	t, ok := snap.TableByID(o.TableID)
	if !ok {
		return nil
	}
	for _, id := range o.Columns {
		for i := range t.Columns {
			if t.Columns[i].ID == id {
				names = append(names, t.Columns[i].Name)
			}
		}
	}
	return names
}

// lagOf is how old a change is, in milliseconds.
func lagOf(ts kv.Timestamp) uint64 { return uint64(max(0, time.Since(ts.Time()).Milliseconds())) }
