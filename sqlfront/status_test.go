package sqlfront_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"moka/kv/kvtest"

	"moka/sqlfront"
)

// XA was said to be there; datadir was empty and socket one of a MySQL that is not there.
func TestWhatTheServerSaysOfItself(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	s.want("a", "select engine, xa, savepoints from information_schema.engines", "InnoDB NO YES")
	s.fails("a", 1235, "xa start 'x'")
	s.want("a", "select concat('<', @@socket, @@datadir, '>'), @@tmpdir <> ''", "<> 1")
}

// TestStatusVariables: what is counted is counted once, in the session and in the process.
func TestStatusVariables(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	value := func(scope, name string) int {
		t.Helper()
		got := strings.Fields(text(t, s.in("a"), "show "+scope+" status like '"+name+"'"))
		if len(got) != 2 {
			t.Fatalf("%s: %v", name, got)
		}
		n, err := strconv.Atoi(got[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, statements := range map[string][]string{
		"Com_begin": {"begin", "start transaction", "start transaction read only"}, "Com_commit": {"commit", "commit work"}, "Com_rollback": {"rollback"},
		"Com_select": {"select 1", "select * from t", "select * from t where id = 1", "select * from t where id = 1", "select * from t where id = 1"},
		"Com_insert": {"insert into t values (70, 1, 70, 1)", "insert into t values (71, 1, 71, 1)", "insert into t values (72, 1, 72, 1)"}, "Com_update": {"update t set v = 1 where id = 70"}, "Com_delete": {"delete from t where id >= 70"},
		"Com_create_table": {"create table n (id int, v int)", "create table m like n"}, "Com_alter_table": {"alter table n add column w int"}, "Com_truncate": {"truncate n"}, "Com_drop_table": {"drop table n, m"},
		"Com_create_db": {"create database e"}, "Com_drop_db": {"drop database e"}, "Com_create_view": {"create view w as select 1"}, "Com_drop_view": {"drop view w"},
		"Com_set_option": {"set @a = 1", "set names utf8mb4"}, "Com_lock_tables": {"lock tables t read"}, "Com_unlock_tables": {"unlock tables"}, "Com_show_tables": {"show tables"},
		"Com_create_procedure": {"create procedure p() select 1"}, "Com_call_procedure": {"call p()"}, "Com_drop_procedure": {"drop procedure p"},
		"Com_analyze": {"analyze table t"}, "Com_check": {"check table t"}, "Com_savepoint": {"savepoint x"}, "Com_create_user": {"create user u"}, "Com_grant": {"grant select on d.* to u"}, "Com_drop_user": {"drop user u"},
	} {
		switch name { // in an order that works
		case "Com_alter_table", "Com_truncate", "Com_drop_table", "Com_drop_db", "Com_drop_view", "Com_call_procedure", "Com_drop_procedure", "Com_grant", "Com_drop_user":
			run(t, s.in("b"), "create table if not exists n (id int, v int)", "create table if not exists m (id int)", "create database if not exists e", "create or replace view w as select 1",
				"drop procedure if exists p", "create procedure p() select 1", "create user if not exists u")
		case "Com_create_table", "Com_create_db", "Com_create_view", "Com_create_procedure", "Com_create_user":
			run(t, s.in("b"), "drop table if exists n, m", "drop database if exists e", "drop view if exists w", "drop procedure if exists p", "drop user if exists u")
		}
		here, all := value("session", name), value("global", name)
		asked, everybody := value("session", "Questions"), value("global", "Queries")
		s.do("a", statements...)
		n := len(statements)
		if got := value("session", name) - here; got != n {
			t.Errorf("%s: %d in the session, want %d", name, got, n)
		}
		if got := value("global", name) - all; got < n {
			t.Errorf("%s: %d in the process, want %d", name, got, n)
		}
		if got := value("session", "Questions") - asked; got != n+4 && name != "Com_call_procedure" {
			t.Errorf("%v: %d questions, want %d", statements, got, n+4)
		}
		if got := value("global", "Queries") - everybody; got < n+4 {
			t.Errorf("%v: %d queries, want %d", statements, got, n+4)
		}
		s.do("a", "unlock tables", "rollback")
	}
	s.until("time that has passed", func() bool { return value("global", "Uptime") > 0 })
	s.want("a", "select variable_value > 0 from performance_schema.global_status where variable_name = 'Uptime'", "1")
	waits := value("global", "Innodb_row_lock_waits")
	s.do("a", "begin", "update t set v = 5 where id = 1")
	s.blocks("b", "update t set v = 6 where id = 1")
	s.do("a", "commit")
	s.ends("b 0")
	if got := value("global", "Innodb_row_lock_waits"); got <= waits {
		t.Errorf("%d waits for row locks, as before", got)
	}
	// What the server says of itself.
	s.do("a", "create table Mixed (id int)")
	s.want("a", "select @@lower_case_table_names, count(*) from MIXED", "2 0")
	s.want("a", "select table_name from information_schema.tables where table_name = 'Mixed'", "Mixed")
	s.want("a", "select group_concat(schema_name order by schema_name) from information_schema.schemata where schema_name <> 'e'", "d,information_schema,moka,mysql,performance_schema")
	s.want("a", "select schema_name from information_schema.schemata where schema_name = 'mysql'", "mysql")
	s.want("a", "select character_set_name, default_collate_name, maxlen from information_schema.character_sets where character_set_name in ('latin1', 'utf8mb4') order by 1", "latin1 latin1_swedish_ci 1; utf8mb4 utf8mb4_0900_ai_ci 4")
	shown := strings.Count(text(t, s.in("a"), "show character set"), ";") + 1
	s.want("a", "select count(*) from information_schema.character_sets", fmt.Sprint(shown))
}

// TestPlanningIsInterrupted: time that is up ends planning, not only what is planned.
func TestPlanningIsInterrupted(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	var list strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&list, ", %d", i)
	}
	const hint = "/*+ max_execution_time(1) */"
	plain := "select " + hint + " count(*) from t where v in (0" + list.String() + ")"
	for _, q := range []string{plain, "explain " + strings.Replace(plain, hint, "", 1)} {
		if strings.HasPrefix(q, "explain") {
			s.do("a", "set max_execution_time = 1")
		}
		_, err := s.in("a").ExecContext(context.Background(), q)
		wantErr(t, q[:30], err, 3024, "HY000")
	}
	s.do("a", "set max_execution_time = 0", strings.Replace(plain, hint, "", 1))
}

// TestCipherOfTheConnection: a client that came over TLS reads in Ssl_cipher and Ssl_version that it did, and
// another that it did not.
func TestCipherOfTheConnection(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := newDatabase(t).serve(func(o *sqlfront.Options) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13}
	})
	over := s.open("root", "", "?tls=skip-verify")
	want(t, over, "show status where variable_name = 'ssl_version'", "Ssl_version TLSv1.3")
	if got := results(t, over, "show session status like 'ssl_cipher'"); !strings.HasPrefix(got, "Ssl_cipher TLS_") {
		t.Errorf("over TLS: %q", got)
	}
	want(t, s.conn(""), "show status like 'ssl_cipher'", "Ssl_cipher ")
}

// TestQuietConnections: a connection that has not sent a statement yet is in the process list with its
// address (it was %).
func TestQuietConnections(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create user ann identified by 'secret'")
	quiet, err := s.open("ann:secret", "", "").Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Close()
	want(t, root, "select user, host like 'localhost:%' from information_schema.processlist where id <> connection_id() and user = 'ann'", "ann 1")
}
