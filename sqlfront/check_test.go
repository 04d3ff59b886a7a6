package sqlfront_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"moka/kv"
	"moka/txn"
)

// cells lists the cells of the store as transactions see them.
func (d *database) cells() (cs []kv.Column, values [][]byte) {
	d.t.Helper()
	tx := d.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer tx.Rollback()
	s := tx.Scan(context.Background(), txn.ScanOptions{Span: kv.Span{}})
	defer s.Close()
	for s.Next() {
		cs, values = append(cs, s.Column()), append(values, bytes.Clone(s.Value()))
	}
	if err := s.Err(); err != nil {
		d.t.Fatal(err)
	}
	return cs, values
}

// TestCheckTableFindsDamage damages a table below SQL in each way and asks for it.
func TestCheckTableFindsDamage(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create view v as select 1")
	fresh := func() {
		run(t, c, "drop table if exists t", "create table t (id varbinary(20) primary key, u varbinary(20), v int, unique key (u), key byv (v, u))",
			"insert into t values ('key-one', 'entry-one', 1), ('key-two', 'entry-two', 2), ('key-three', null, 3)")
		want(t, c, "check table t", "d.t check status OK")
	}
	change := func(f func(tx *txn.Txn)) {
		t.Helper()
		tx := d.client.Begin(txn.TxnOptions{})
		f(tx)
		if _, err := tx.Commit(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	found := func(wants ...string) {
		t.Helper()
		got := text(t, c, "admin check table t")
		for _, w := range append(wants, "d.t check error Corrupt") {
			if !strings.Contains(got, w) {
				t.Errorf("%q lacks %q", got, w)
			}
		}
	}
	in := func(key, value string) (kv.Column, []byte) {
		t.Helper()
		cs, vs := d.cells()
		for i := range slices.Backward(cs) { // what a dropped table has left has a lower table number
			if bytes.Contains(cs[i].Row, []byte(key)) && bytes.Contains(vs[i], []byte(value)) {
				return cs[i], vs[i]
			}
		}
		t.Fatalf("no cell has %q in its key and %q in its value", key, value)
		return kv.Column{}, nil
	}
	fresh()
	want(t, c, "check table t, v extended", "d.t check status OK; d.v check status OK")
	want(t, c, "check table mysql.user, information_schema.tables", "mysql.user check status OK; information_schema.tables check status OK")
	want(t, c, "check table nothing", "d.nothing check Error Table 'd.nothing' doesn't exist; d.nothing check status Operation failed")

	// The unique entry of a row goes away.
	entry, value := in("entry-one", "key-one")
	change(func(tx *txn.Txn) { tx.Delete(entry, txn.WriteOptions{}) })
	found("has no entry in index")

	// It leads to another row.
	fresh()
	entry, value = in("entry-one", "key-one")
	change(func(tx *txn.Txn) {
		tx.Put(entry, bytes.Replace(value, []byte("key-one"), []byte("key-two"), 1), txn.WriteOptions{})
	})
	found("leads to another row in index")

	// A row goes away and its entries stay.
	fresh()
	row, _ := in("key-one", "entry-one")
	change(func(tx *txn.Txn) { tx.Delete(row, txn.WriteOptions{}) })
	found("which is not there")

	// A row is junk.
	fresh()
	row, _ = in("key-two", "entry-two")
	change(func(tx *txn.Txn) { tx.Put(row, []byte("junk"), txn.WriteOptions{}) })
	found("cannot be read")
	run(t, c, "drop table t")
}

// TestSchemaChangeUnderWriters runs DDL on one server while others write through another: no index ever lacks
// an entry or has one too many, whatever step a writer met.
func TestSchemaChangeUnderWriters(t *testing.T) {
	d := newDatabase(t)
	one, two := d.serve(), d.serve()
	ddl := one.conn("")
	run(t, ddl, "create database d", "use d", "create table t (id int primary key, a int, b varchar(20))")
	var values []string
	for i := range 1500 { // more than one batch of a backfill
		values = append(values, fmt.Sprintf("(%d, %d, 'b%d')", i, i%7, i))
	}
	run(t, ddl, "insert into t values "+strings.Join(values, ","))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	pool := two.open("root", "d", "")
	var mu sync.Mutex
	written := 0
	for w := range 4 {
		rng := rand.New(rand.NewPCG(uint64(w), 1))
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := rng.IntN(3500)
				var q string
				switch rng.IntN(4) {
				case 0:
					q = fmt.Sprintf("insert into t (id, a, b) values (%d, %d, 'new') on duplicate key update a = a + 1", id, i)
				case 1:
					q = fmt.Sprintf("delete from t where id = %d", id)
				default:
					q = fmt.Sprintf("update t set a = %d, b = 'w%d' where id = %d", rng.IntN(9), i, id)
				}
				if _, err := pool.Exec(q); err != nil {
					t.Errorf("%s: %v", q, err)
					return
				}
				mu.Lock()
				written++
				mu.Unlock()
			}
		})
	}
	for _, step := range []string{
		"create index ia on t (a)", "alter table t modify column a bigint unsigned", "alter table t modify column b varchar(30) not null default ''", "alter table t add column c int not null default 5", "create index iac on t (a, c)", "alter table t drop index ia",
		"alter table t add index ib (b), add column e varchar(10)", "alter table t drop column c", "alter table t rename index ib to ib2",
		"alter table t drop primary key, add primary key (id)", "create unique index u on t (id, b)",
	} {
		run(t, ddl, step)
		want(t, ddl, "check table t", "d.t check status OK")
	}
	close(stop)
	wg.Wait()
	want(t, two.conn("d"), "admin check table t", "d.t check status OK")
	if written < 20 {
		t.Errorf("only %d statements were written meanwhile", written)
	}
	t.Log(written, "statements under the schema changes")
}

// TestServerFilesAreOutOfReach: without a directory set aside, no statement reads or writes a file of the
// server's machine.
func TestServerFilesAreOutOfReach(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	dir := t.TempDir()
	secret := dir + "/secret"
	if err := os.WriteFile(secret, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, c, "create database d", "use d", "create table t (id int)", "insert into t values (7)")
	for _, q := range []string{
		"load data infile '" + secret + "' into table t", "select * from t into outfile '" + dir + "/out'", "select id from t into dumpfile '" + dir + "/out'",
	} {
		_, err := c.ExecContext(context.Background(), q)
		wantErr(t, q, err, 1290, "HY000")
	}
	_, err := c.ExecContext(context.Background(), "drop database nowhere")
	wantErr(t, "drop database", err, 1008, "HY000")
	want(t, c, "select load_file('"+secret+"') is null", "1")
	want(t, c, "select * from t", "7")
	if _, err := os.Stat(dir + "/out"); err == nil {
		t.Error("a file was written")
	}
}

// TestSystemDatabaseAnswersTools asks what dump and GUI tools ask of all databases at once.
func TestSystemDatabaseAnswersTools(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key)")
	for _, q := range []string{
		"select count(*) from information_schema.triggers", "select count(*) from information_schema.events",
		"select count(*) from information_schema.routines where routine_schema = 'moka'", "show triggers from moka", "show events from moka",
		"show procedure status where db = 'moka'", "show table status from moka", "show full tables from moka",
		"select count(*) > 0 from information_schema.columns where table_schema = 'moka'",
		"select count(*) from information_schema.statistics where table_schema = 'moka'",
		"select count(*) from information_schema.table_constraints where table_schema = 'moka'",
		"select count(*) from information_schema.key_column_usage where table_schema = 'moka'",
	} {
		text(t, c, q)
	}
	for _, q := range []string{"create table moka.x (id int)", "create procedure moka.p() select 1", "drop database moka"} {
		if _, err := c.ExecContext(context.Background(), q); err == nil {
			t.Errorf("%s: no error", q)
		}
	}
}
