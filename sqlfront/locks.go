package sqlfront

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
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

// place names what a row key belongs to; NULLs if that is no SQL row.
func place(snap *catalog.Snapshot, row kv.RowKey) (db, table, index, key any) {
	b := row.Row()
	key = hex.EncodeToString(b)
	if row.Table() != kv.TableTxn || len(b) < 9 || b[0] != 0x10 { // the box is in engine/table.go
		return nil, nil, nil, key
	}
	id, x := binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint32(b[5:])
	desc, ok := snap.TableByID(id)
	if !ok {
		return nil, nil, nil, key
	}
	if d, ok := snap.DatabaseByID(desc.DatabaseID); ok {
		db = d.Name
	}
	index = "PRIMARY"
	for i := range desc.Indexes {
		if desc.Indexes[i].ID == x {
			index = desc.Indexes[i].Name
		}
	}
	if key = hex.EncodeToString(b[9:]); key == "" {
		key = "gaps"
	}
	return db, desc.Name, index, key
}

func trx(ts kv.Timestamp) any {
	if ts == 0 {
		return nil
	}
	return ts.String()
}

func (s *Server) locks(ctx *sql.Context) ([]sql.Row, error) {
	snap, err := s.engine.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	locks, err := s.opts.Client.RowLocks(ctx)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	rows := make([]sql.Row, 0, len(locks))
	for _, l := range locks {
		db, table, index, key := place(snap, l.Column.Row)
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
	snap, err := s.engine.CatalogSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.opts.Client.Deadlocks(ctx)
	if err != nil {
		return nil, sqlerr.From(err)
	}
	var rows []sql.Row
	for _, d := range found {
		for i, w := range d.Cycle {
			db, table, index, key := place(snap, w.Column.Row)
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
