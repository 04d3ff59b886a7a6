package sqlfront

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/rowname"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
	"moka/txn"
)

// lockTables are the tables of the database moka that show who waits for whom:
//
//	locks          row locks and waits for them, of all shards
//	deadlocks      the last deadlocks, one row for each step of the cycle
//	transactions   open explicit transactions of this server
func (s *Server) lockTables() []system.Table {
	return []system.Table{
		{TableName: "locks", Columns: sql.Schema{
			system.Text("trx_id"), system.Text("table_schema"), system.Text("table_name"), system.Text("index_name"), system.Text("row_key"), system.Text("lock_mode"), system.Text("lock_status"),
			system.Text("waits_for"), system.Number("age_ms"), system.Text("statement"),
		}, Rows: s.locks},
		{TableName: "deadlocks", Columns: sql.Schema{
			system.Number("deadlock_id"), system.Moment("occurred"), system.Number("step"), {Name: "victim", Type: types.Boolean}, system.Text("trx_id"), system.Text("waits_for"),
			system.Text("table_schema"), system.Text("table_name"), system.Text("index_name"), system.Text("row_key"), system.Text("statement"),
		}, Rows: s.deadlocks},
		{TableName: "transactions", Columns: sql.Schema{
			system.Text("trx_id"), system.Number("connection_id"), system.Text("user"), system.Moment("began"), system.Text("isolation_level"), system.Text("mode"), system.Moment("snapshot"),
			system.Number("cells_written"), system.Number("bytes_written"),
		}, Rows: s.transactions},
	}
}

// names begins to say in SQL what row keys are. The tables are those of now, whatever the session's
// transaction sees.
func (s *Server) names(ctx context.Context) (names *rowname.Names, done func(), err error) {
	t := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	snap, err := s.catalog.Snapshot(ctx, t)
	if err != nil {
		t.Rollback()
		return nil, nil, sqlerr.From(err)
	}
	return rowname.New(snap, t), t.Rollback, nil
}

// place is what a row key belongs to, in four columns; NULLs if that is no SQL row.
func place(n rowname.Name) (db, table, index, key any) {
	if n.Table == "" {
		return nil, nil, nil, n.Key
	}
	return n.Database, n.Table, n.Index, cmp.Or(n.Key, "gaps")
}

// tabletTables are the tables of the database moka that show where rows are.
func (s *Server) tabletTables() []system.Table {
	return []system.Table{
		{TableName: "tablets", Columns: sql.Schema{
			system.Number("tablet_id"), system.Number("generation"), system.Number("shard"),
			system.Text("begins"), system.Text("ends"),
		}, Rows: s.tablets},
	}
}

func (s *Server) tablets(ctx *sql.Context) ([]sql.Row, error) {
	list, err := s.opts.Tablets(ctx)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	keys := make([]kv.RowKey, 0, 2*len(list))
	for _, t := range list {
		keys = append(keys, t.Span.Start, t.Span.End)
	}
	texts, err := s.RowNames(ctx, keys)
	if err != nil {
		return nil, err
	}
	rows := make([]sql.Row, 0, len(list))
	for i, t := range list {
		rows = append(rows, sql.NewRow(uint64(t.ID), t.Generation, uint64(t.Shard), orNull(texts[2*i]),
			orNull(texts[2*i+1])))
	}
	return rows, nil
}

// RowNames says in SQL what row keys are; the key of no row is an empty name.
func (s *Server) RowNames(ctx context.Context, keys []kv.RowKey) ([]string, error) {
	names, done, err := s.names(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = names.Of(ctx, k).String()
	}
	return texts, nil
}

// RowValues says in SQL what stored versions of a row hold.
func (s *Server) RowValues(ctx context.Context, row kv.RowKey, stored [][]byte) ([]string, error) {
	names, done, err := s.names(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	texts := make([]string, len(stored))
	for i, b := range stored {
		texts[i] = names.Values(ctx, row, b)
	}
	return texts, nil
}

// knownTablets is Options.Tablets of who has none: what the store's cache says.
func (s *Server) knownTablets(ctx context.Context) (list []kv.Tablet, err error) {
	if s.opts.Store == nil {
		return nil, nil
	}
	for row := kv.RowKey(nil); ; {
		t, err := s.opts.Store.Locate(ctx, row)
		if err != nil {
			return nil, err
		}
		if list = append(list, t); len(t.Span.End) == 0 {
			return list, nil
		}
		row = t.Span.End
	}
}

func trx(ts kv.Timestamp) any {
	if ts == 0 {
		return nil
	}
	return ts.String()
}

func (s *Server) locks(ctx *sql.Context) ([]sql.Row, error) {
	names, done, err := s.names(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	locks, err := s.opts.Client.RowLocks(ctx)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	rows := make([]sql.Row, 0, len(locks))
	for _, l := range locks {
		db, table, index, key := place(names.Of(ctx, l.Column.Row))
		if len(l.Column.Qualifier) > 0 {
			index, key = nil, "LOCK TABLES"
		}
		mode, status := "X", "GRANTED"
		if l.Shared {
			mode = "S"
		}
		var waits any
		if l.Waiting {
			status = "WAITING"
			names := make([]string, len(l.WaitsFor))
			for i, w := range l.WaitsFor {
				names[i] = w.String()
			}
			waits = strings.Join(names, ",")
		}
		rows = append(rows, sql.NewRow(trx(l.Owner), db, table, index, key, mode, status, waits, uint64(max(0, l.Age.Milliseconds())), l.Note))
	}
	return rows, nil
}

func (s *Server) deadlocks(ctx *sql.Context) ([]sql.Row, error) {
	names, done, err := s.names(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := s.opts.Client.Deadlocks(ctx)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	var rows []sql.Row
	for _, d := range found {
		for i, w := range d.Cycle {
			db, table, index, key := place(names.Of(ctx, w.Column.Row))
			rows = append(rows, sql.NewRow(d.ID, d.Time.UTC(), uint64(i+1), w.Waiter == d.Victim, trx(w.Waiter), trx(w.Holder), db, table, index, key, w.Note))
		}
	}
	return rows, nil
}

func (s *Server) transactions(ctx *sql.Context) ([]sql.Row, error) {
	var rows []sql.Row
	for _, t := range s.engine.Transactions() {
		var snapshot any
		if t.Snapshot != 0 {
			snapshot = time.UnixMilli(t.Snapshot.Physical()).UTC()
		}
		id := trx(t.ID)
		if id == nil {
			id = fmt.Sprint("connection ", t.Connection)
		}
		rows = append(rows, sql.NewRow(id, uint64(t.Connection), t.User, t.Began.UTC(), t.Isolation, t.Mode, snapshot, uint64(t.Cells), uint64(t.Bytes)))
	}
	return rows, nil
}
