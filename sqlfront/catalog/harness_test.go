package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

var ctx = context.Background()

// clock is an oracle for one process.
type clock struct{ last atomic.Uint64 }

func (c *clock) Next(context.Context) (kv.Timestamp, error) {
	for {
		last := c.last.Load()
		next := max(last+1, uint64(kv.TimestampAt(time.Now())))
		if c.last.CompareAndSwap(last, next) {
			return kv.Timestamp(next), nil
		}
	}
}

// cluster is a store that several SQL nodes share.
type cluster struct {
	store *kvtest.Mem
	clock clock
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{store: kvtest.NewMem(kvtest.Options{
		Shards:       2,
		Splits:       []kv.RowKey{kv.MakeRowKey(kv.TableTxn, []byte{prefixSequence})},
		Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})},
	})}
	t.Cleanup(func() {
		if err := c.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// node is a SQL node: a catalog with a client of its own.
type node struct {
	*Catalog
	client *txn.Client
}

func (c *cluster) node(t testing.TB, o Options) *node {
	t.Helper()
	client, err := txn.NewClient(c.store, &c.clock, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	cat, err := Open(ctx, client, o)
	if err != nil {
		t.Fatal(err)
	}
	return &node{cat, client}
}

// do runs f in a transaction and commits it.
func (n *node) do(t testing.TB, f func(tx *txn.Txn) error) {
	t.Helper()
	if err := n.try(f); err != nil {
		t.Fatal(err)
	}
}

func (n *node) try(f func(tx *txn.Txn) error) error {
	tx := n.client.Begin(txn.TxnOptions{})
	if err := f(tx); err != nil {
		tx.Rollback()
		return err
	}
	_, err := tx.Commit(ctx)
	return err
}

// now returns the catalog as a new transaction sees it.
func (n *node) now(t testing.TB) *Snapshot {
	t.Helper()
	tx := n.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	s, err := n.Snapshot(ctx, tx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (n *node) table(t testing.TB, db, name string) *Table {
	t.Helper()
	d, ok := n.now(t).Database(db)
	if !ok {
		t.Fatalf("no database %s", db)
	}
	tbl, ok := d.Table(name)
	if !ok {
		t.Fatalf("no table %s.%s", db, name)
	}
	return tbl
}

func sqlType(t testing.TB, typ sql.Type) Type {
	t.Helper()
	d, err := TypeOf(typ)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// accounts is a table with all that a table has: CREATE TABLE name (id BIGINT AUTO_INCREMENT PRIMARY KEY,
// owner TEXT, parent BIGINT …).
func accounts(t testing.TB, name string) *Table {
	return &Table{
		Name: name,
		Columns: []Column{
			{Name: "id", Type: sqlType(t, types.Int64), AutoIncrement: true},
			{Name: "Owner", Type: sqlType(t, types.LongText), Nullable: true, Default: "'nobody'"},
			{Name: "parent", Type: sqlType(t, types.Int64), Nullable: true},
		},
		PrimaryKey: []IndexColumn{{Column: 1}},
		Indexes: []Index{
			{Name: "by_owner", Columns: []IndexColumn{{Column: 2, PrefixLength: 10}}},
			{Name: "by_parent", Columns: []IndexColumn{{Column: 3}}, Unique: true},
		},
		ForeignKeys: []ForeignKey{{Name: "fk", Columns: []string{"parent"}, ParentDatabase: "bank",
			ParentTable: name, ParentColumns: []string{"id"}, OnDelete: "CASCADE", Resolved: true}},
		Checks:    []Check{{Name: "chk", Expression: "(id > 0)", Enforced: true}},
		Collation: "utf8mb4_0900_ai_ci",
		Created:   time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// bank makes the database bank with a table of that name.
func bank(t testing.TB, n *node, tables ...string) {
	t.Helper()
	n.do(t, func(tx *txn.Txn) error {
		if _, err := n.CreateDatabase(ctx, tx, "bank", "utf8mb4_0900_ai_ci"); err != nil {
			return err
		}
		for _, name := range tables {
			if _, err := n.CreateTable(ctx, tx, "bank", accounts(t, name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// dump writes down everything that a snapshot shows, through its methods.
func dump(t testing.TB, s *Snapshot) string {
	t.Helper()
	type database struct {
		*Database
		Tables     []*Table
		Views      []*View
		Triggers   []*Trigger
		Procedures []*Procedure
		Events     []*Event
		Observers  []*Observer
	}
	var all struct {
		Version   uint64
		Databases []database
		Observers []*Observer
		Blobs     map[string]string
		ByID      []string
		Refs      []string
	}
	all.Version, all.Observers, all.Blobs = s.Version, s.AllObservers(), map[string]string{}
	for _, d := range s.Databases() {
		all.Databases = append(all.Databases,
			database{d, d.Tables(), d.Views(), d.Triggers(), d.Procedures(), d.Events(), d.Observers()})
		if byID, ok := s.DatabaseByID(d.ID); !ok || byID != d {
			t.Errorf("DatabaseByID(%d) is not %s", d.ID, d.Name)
		}
		for _, tbl := range d.Tables() {
			if byID, ok := s.TableByID(tbl.ID); !ok || byID != tbl {
				t.Errorf("TableByID(%d) is not %s", tbl.ID, tbl.Name)
			}
			for _, o := range s.Observers(tbl.ID) {
				all.ByID = append(all.ByID, fmt.Sprintf("%s.%s: observer %d", d.Name, tbl.Name, o.ID))
			}
			for _, r := range s.References(d.Name, tbl.Name) {
				all.Refs = append(all.Refs, fmt.Sprintf("%s.%s <- %s.%s %s", d.Name, tbl.Name,
					r.Database.Name, r.Table.Name, r.Key.Name))
			}
		}
	}
	for _, name := range s.Blobs("") {
		b, _ := s.Blob(name)
		all.Blobs[name] = string(b)
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
