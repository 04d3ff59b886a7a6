package sqlfront_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/sqlfront"
	"moka/sqlfront/pushdown"
	"moka/txn"
	"moka/txn/txntest"
)

func TestMain(m *testing.M) {
	_ = mysql.SetLogger(&mysql.NopLogger{})
	goleak.VerifyTestMain(m)
}

// database is a store in memory with SQL servers over it.
type database struct {
	t      testing.TB
	client *txn.Client
	store  kv.Store
}

func newDatabase(t testing.TB) *database {
	t.Helper()
	client, store := txntest.NewStoreWith(t, kvtest.Options{}, txn.Options{}, txn.CoprocessorOptions{Programs: pushdown.Load})
	return &database{t, client, store}
}

type server struct {
	*sqlfront.Server
	t testing.TB
}

// serve starts a SQL server; a second one over the same store is another node.
func (d *database) serve(change ...func(*sqlfront.Options)) *server {
	d.t.Helper()
	o := sqlfront.Options{Client: d.client, Store: d.store, Addr: "127.0.0.1:0",
		FollowUsers: 5 * time.Millisecond, AccountsLease: 20 * time.Millisecond}
	for _, f := range change {
		f(&o)
	}
	s, err := sqlfront.New(context.Background(), o)
	if err != nil {
		d.t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve() }()
	d.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			d.t.Error(err)
		}
		<-served
	})
	return &server{s, d.t}
}

// open returns a pool; user is "name" or "name:password".
func (s *server) open(user, db, params string) *sql.DB {
	s.t.Helper()
	pool, err := sql.Open("mysql", user+"@tcp("+s.Addr().String()+")/"+db+params)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = pool.Close() })
	return pool
}

func (s *server) conn(db string) *sql.Conn {
	s.t.Helper()
	c, err := s.open("root", db, "").Conn(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

type runner interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

func run(t testing.TB, c runner, queries ...string) {
	t.Helper()
	for _, q := range queries {
		if _, err := c.ExecContext(context.Background(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// lines are the rows of a result, columns with spaces between.
func lines(t *testing.T, rows *sql.Rows) (out []string) {
	t.Helper()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		vals, ptrs := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		var row []string
		for _, v := range vals {
			if !v.Valid {
				v.String = "NULL"
			}
			row = append(row, v.String)
		}
		out = append(out, strings.Join(row, " "))
	}
	return out
}

// text prints a result: columns with spaces, rows with semicolons.
func text(t *testing.T, c runner, query string, args ...any) string {
	t.Helper()
	rows, err := c.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	out := lines(t, rows)
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(out, "; ")
}

func want(t *testing.T, c runner, query, expect string, args ...any) {
	t.Helper()
	if got := text(t, c, query, args...); got != expect {
		t.Errorf("%s: %q, want %q", query, got, expect)
	}
}

func wantErr(t *testing.T, what string, err error, code uint16, state string) {
	t.Helper()
	var me *mysql.MySQLError
	if !errors.As(err, &me) || me.Number != code || string(me.SQLState[:]) != state {
		t.Errorf("%s: %v, want %d (%s)", what, err, code, state)
	}
}

func TestFirstSteps(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	c := s.conn("")
	run(t, c, "create database shop", "use shop",
		"create table customer (id int primary key, name varchar(40) not null, unique key (name))",
		"create table orders (id bigint primary key auto_increment, customer int not null, total decimal(10,2), key (customer), foreign key (customer) references customer (id))",
		"insert into customer values (1, 'Ann'), (2, 'Bob')",
		"insert into orders (customer, total) values (1, 9.50), (1, 0.50), (2, 3)")
	want(t, c, "select version(), @@version", "8.0.40-Moka-v0.1.0 8.0.40-Moka-v0.1.0")
	want(t, c, "select name, count(*), max(total) from customer join orders on customer.id = orders.customer group by name order by name", "Ann 2 9.50; Bob 1 3.00")

	run(t, c, "begin", "delete from orders", "rollback")
	want(t, c, "select count(*) from orders", "3")
	_, err := c.ExecContext(context.Background(), "insert into customer values (3, 'Bob')")
	wantErr(t, "duplicate", err, 1062, "23000")
	if !strings.Contains(err.Error(), "Duplicate entry 'Bob' for key 'customer.name'") {
		t.Error(err)
	}
	_, err = c.ExecContext(context.Background(), "insert into orders (customer) values (9)")
	wantErr(t, "foreign key", err, 1452, "23000")
	const key = "a foreign key constraint fails (`shop`.`orders`, CONSTRAINT `orders_ibfk_1` FOREIGN KEY (`customer`) REFERENCES `customer` (`id`))" // programs look for the columns
	if !strings.Contains(err.Error(), "Cannot add or update a child row: "+key) {
		t.Error(err)
	}
	_, err = c.ExecContext(context.Background(), "delete from customer where id = 1")
	wantErr(t, "foreign key of a child", err, 1451, "23000")
	if !strings.Contains(err.Error(), "Cannot delete or update a parent row: "+key) {
		t.Error(err)
	}
	run(t, c, "insert ignore into orders (customer) values (9)")
	want(t, c, "show warnings", "Warning 1452 Cannot add or update a child row: "+key)
	_, err = c.ExecContext(context.Background(), "selct 1")
	wantErr(t, "syntax", err, 1064, "42000")

	// Everything is there after a restart, also through another server.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := d.serve().conn("shop")
	want(t, again, "select * from customer order by id", "1 Ann; 2 Bob")
	run(t, again, "insert into orders (customer, total) values (2, 1)")
	want(t, again, "select count(*), max(id) > 3 from orders", "4 1")
}

func TestConflictOfTwoSessions(t *testing.T) {
	s := newDatabase(t).serve()
	a := s.conn("")
	run(t, a, "create database d", "use d", "create table t (id int primary key, n int)", "insert into t values (1, 0)")
	b := s.conn("d")
	run(t, a, "begin")
	want(t, a, "select n from t", "0")
	run(t, b, "update t set n = 10")
	// a has seen the row as it was: it must lose, at the statement or at the commit, and have changed
	// nothing.
	_, err := a.ExecContext(context.Background(), "update t set n = n + 1")
	if err == nil {
		_, err = a.ExecContext(context.Background(), "commit")
	}
	wantErr(t, "the second writer", err, 1213, "40001")
	want(t, a, "select n from t", "10")
	// The session is usable and in autocommit again.
	run(t, a, "update t set n = n + 1")
	want(t, b, "select n from t", "11")
}

func TestHotCounterLosesNothing(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d", "create table d.c (id int primary key, n int)", "insert into d.c values (1, 0)")
	const conns, each = 8, 25
	var wg sync.WaitGroup
	errs := make(chan error, conns*each)
	pool := s.open("root", "d", "")
	pool.SetMaxOpenConns(conns)
	for range conns {
		wg.Go(func() {
			for range each {
				if _, err := pool.Exec("update c set n = n + 1 where id = ?", 1); err != nil {
					errs <- err
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	want(t, s.conn("d"), "select n from c", fmt.Sprint(conns*each))
	if m := s.Metrics(); m.Updates != conns*each || m.RetriesGivenUp != 0 {
		t.Errorf("%+v", m)
	}
}

// TestSeveralServersAreOneDatabase: what is done through one server is there through another with the next
// statement, accounts and rights, too.
func TestSeveralServersAreOneDatabase(t *testing.T) {
	d := newDatabase(t)
	never := func(o *sqlfront.Options) { o.FollowUsers = time.Hour }
	one, two := d.serve(never), d.serve(never)
	root := one.conn("")
	run(t, root, "create database d", "create table d.t (id int primary key)", "insert into d.t values (1)",
		"create user ann@'%' identified by 'secret'", "grant all on d.* to ann@'%'")
	want(t, two.conn("d"), "select * from t", "1")
	ann, err := two.open("ann:secret", "d", "").Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ann.Close() }()
	for range 3 { // by a plan of the cache in the end
		want(t, ann, "select count(*) from t where id = 1", "1")
	}
	run(t, ann, "insert into t values (2)")
	want(t, one.conn("d"), "select * from t", "1; 2")
	for _, c := range []struct{ root, ann string }{
		{"revoke select on d.* from ann@'%'", "select count(*) from t where id = 1"},
		{"revoke insert on d.* from ann@'%'", "insert into t values (3)"},
	} {
		run(t, root, c.root)
		_, err := ann.ExecContext(context.Background(), c.ann)
		wantErr(t, c.ann, err, 1142, "42000")
	}
	run(t, two.conn(""), "create user bob@'%' identified by 'b'") // over the changes of the other server
	run(t, root, "drop user ann@'%'")
	wantErr(t, "an account that is no more", two.open("ann:secret", "", "").Ping(), 1045, "28000")
	if err := one.open("bob:b", "", "").Ping(); err != nil {
		t.Error(err)
	}
}

func TestAccountsAndVariablesSurvive(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	run(t, s.conn(""), "create user ann@'%' identified by 'secret'", "alter user root@localhost identified by 'rootpw'")
	run(t, s.open("root:rootpw", "", ""), "set persist lock_wait_timeout = 1234", "set persist sql_mode = 'STRICT_TRANS_TABLES'",
		"set persist autocommit = 1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = d.serve()
	wantErr(t, "root without its password", s.open("root", "", "").Ping(), 1045, "28000")
	wantErr(t, "a guess", s.open("ann:guess", "", "").Ping(), 1045, "28000")
	if err := s.open("ann:secret", "", "").Ping(); err != nil {
		t.Error(err)
	}
	root := s.open("root:rootpw", "", "")
	want(t, root, "select @@global.lock_wait_timeout, @@global.sql_mode", "1234 STRICT_TRANS_TABLES")
	want(t, root, "select * from performance_schema.persisted_variables where variable_name like 'lock%'", "lock_wait_timeout 1234")
	run(t, root, "reset persist lock_wait_timeout", "reset persist if exists lock_wait_timeout")
	want(t, root, "show warnings", "Warning 3615 Variable lock_wait_timeout does not exist in persisted config file")
	_, err := root.ExecContext(context.Background(), "reset persist lock_wait_timeout")
	wantErr(t, "reset of what is not there", err, 3615, "HY000")
	_, err = s.open("ann:secret", "", "").ExecContext(context.Background(), "reset persist")
	wantErr(t, "reset without a right", err, 1227, "42000")
	want(t, root, "select @@global.lock_wait_timeout", "1234") // until the next start
	run(t, root, "reset persist")
	want(t, root, "select count(*) from performance_schema.persisted_variables", "0")
	run(t, root, "set global lock_wait_timeout = 31536000", "set global sql_mode = default")
}

func TestChainAndLockClauses(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, n int)",
		"begin", "insert into t values (1, 0)", "commit and chain", "insert into t values (2, 0)", "rollback")
	want(t, c, "select id from t", "1") // the second insert was in the chained transaction
	run(t, c, "begin")
	want(t, c, "select n from t where id = 1 for update", "0")
	want(t, c, "select n from t where id = ? for update", "0", 1)
	want(t, c, "select n from t where id = 1 for share", "0")
	want(t, c, "select n from t where id = 1 lock in share mode", "0")
	run(t, c, "update t set n = 5 where id = 1", "commit")
	want(t, c, "check table t", "d.t check status OK")
	run(t, c, "do sleep(0)")
}

func TestOrderByPrefix(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, a int, b int, s varchar(5), key ab (a, b), key sb (s, b))",
		"insert into t values (1,1,3,'x'),(2,1,1,'x'),(3,2,2,'x'),(4,1,2,'y'),(5,1,9,'X')")
	want(t, c, "select id from t where a = 1 order by b limit 2", "2; 4")
	want(t, c, "select id from t where a = 1 order by b desc limit 2", "5; 1")
	want(t, c, "select id from t where a = ? order by b limit 2", "2; 4", 1)
	want(t, c, "select b from t where s = 'x' order by b limit 4", "1; 2; 3; 9")
	plan := text(t, c, "explain plan select id from t where a = 1 order by b limit 2")
	if strings.Contains(plan, "TopN") || strings.Contains(plan, "Sort") {
		t.Errorf("sorts although the index has the order:\n%s", plan)
	}
}

func TestRowKey(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d", "create table d.t (a int, b varchar(10), primary key (a, b))", "create table d.k (a int)")
	ctx := context.Background()
	var last kv.RowKey
	for _, key := range [][]string{{"-5"}, {"3"}, {"3", "abc"}, {"3", "abd"}, {"10"}} {
		k, err := s.RowKey(ctx, "d.t", key)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Compare(last, k) >= 0 {
			t.Errorf("%v: %x is not behind %x", key, k, last)
		}
		last = k
	}
	for _, bad := range []struct {
		table string
		key   []string
	}{{"t", []string{"1"}}, {"d.nope", []string{"1"}}, {"nope.t", []string{"1"}}, {"d.k", []string{"1"}}, {"d.t", []string{"x"}}, {"d.t", []string{"1", "2", "3"}}} {
		if _, err := s.RowKey(ctx, bad.table, bad.key); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// TestDrainRollsIdleTransactionsBack: a stop does not wait for a transaction in which nothing runs; its
// client might be idle for hours.
func TestDrainRollsIdleTransactionsBack(t *testing.T) {
	d := newDatabase(t)
	s := d.serve()
	c := s.conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key)", "begin", "insert into t values (1)")
	if err := s.Drain(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := c.ExecContext(context.Background(), "commit"); err == nil {
		t.Error("the transaction outlived its server")
	}
	want(t, d.serve().conn("d"), "select count(*) from t", "0")
}

// The command-line client of Debian's mariadb-client, which is what a user has at hand.
func TestMariaDBClient(t *testing.T) {
	client, err := exec.LookPath("mariadb")
	if err != nil {
		t.Fatal("the MariaDB command-line client is needed: install the package mariadb-client (make test does)")
	}
	s := newDatabase(t).serve()
	host, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	mariadb := func(script string, args ...string) (string, error) {
		cmd := exec.Command(client, append([]string{"--no-defaults", "-h", host, "-P", port, "-u", "root", "--protocol=tcp", "--skip-ssl", "-t"}, args...)...)
		cmd.Stdin = strings.NewReader(script)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := mariadb(`
		/*M!999999\- enable the sandbox mode */
		create database shop; use shop;
		create table item (id int primary key auto_increment, name varchar(20), price double, added datetime default '2024-01-02 03:04:05');
		insert into item (name, price) values ('moka', 24.5), ('cup', null);
		start transaction; update item set price = 1 where id = 1; rollback;
		select * from item;
		prepare q from 'select name from item where id = ?'; set @id = 2; execute q using @id; deallocate prepare q;
		delimiter //
		create trigger up before insert on item for each row begin set new.name = upper(new.name); end//
		delimiter ;
		insert into item (name) values ('pot');
		select name from item where id = 3; show tables; select 1;
	`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, w := range []string{"|  1 | moka |  24.5 | 2024-01-02 03:04:05 |", "|  2 | cup  |  NULL | 2024-01-02 03:04:05 |", "| cup  |", "| POT  |", "| Tables_in_shop |"} {
		if !strings.Contains(out, w) {
			t.Errorf("%q is missing from\n%s", w, out)
		}
	}
	// Drivers take a column for a boolean by its length.
	out, err = mariadb("create table flags (b boolean, n tinyint); select * from flags;", "shop", "--column-type-info")
	if err != nil || !strings.Contains(out, "Length:     1\n") || !strings.Contains(out, "Length:     4\n") {
		t.Errorf("%v\n%s", err, out)
	}
	for script, w := range map[string]string{
		"select *\nfro item;":                          "ERROR 1064 (42000) at line 1: You have an error in your SQL syntax; check the manual that corresponds to your Moka server version for the right syntax to use near 'fro item' at line 2",
		"insert into item (id, name) values (1, 'x');": "ERROR 1062 (23000) at line 1: Duplicate entry '1' for key 'item.PRIMARY'",
		"select * from nope;":                          "ERROR 1146 (42S02) at line 1: Table 'shop.nope' doesn't exist",
	} {
		out, err := mariadb(script, "shop")
		if err == nil || !strings.Contains(out, w) {
			t.Errorf("%s\n got %s\nwant %s", script, out, w)
		}
	}
}
