package sqlfront

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/sqlerr"
)

// lockTables are the tables of the database moka that show who waits for whom:
//
//	locks          row locks and waits for them, of all shards
//	deadlocks      the last deadlocks, one row for each step of the cycle
//	transactions   open explicit transactions of this server
func (s *Server) lockTables() []engine.SystemTable {
	return []engine.SystemTable{
		{TableName: "locks", Columns: sql.Schema{
			word("trx_id"), word("table_schema"), word("table_name"), word("index_name"), word("row_key"), word("lock_mode"), word("lock_status"),
			word("waits_for"), count("age_ms"), word("statement"),
		}, Rows: s.locks},
		{TableName: "deadlocks", Columns: sql.Schema{
			count("deadlock_id"), moment("occurred"), count("step"), {Name: "victim", Type: types.Boolean}, word("trx_id"), word("waits_for"),
			word("table_schema"), word("table_name"), word("index_name"), word("row_key"), word("statement"),
		}, Rows: s.deadlocks},
		{TableName: "transactions", Columns: sql.Schema{
			word("trx_id"), count("connection_id"), word("user"), moment("began"), word("isolation_level"), word("mode"), moment("snapshot"),
			count("cells_written"), count("bytes_written"),
		}, Rows: s.transactions},
	}
}

var momentType = types.MustCreateDatetimeType(sqltypes.Datetime, 6)

func word(n string) *sql.Column   { return &sql.Column{Name: n, Type: types.LongText, Nullable: true} }
func count(n string) *sql.Column  { return &sql.Column{Name: n, Type: types.Uint64, Nullable: true} }
func moment(n string) *sql.Column { return &sql.Column{Name: n, Type: momentType, Nullable: true} }

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
