package sqlfront_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront"
	"moka/sqlfront/engine"
	"moka/txn"
	"moka/txn/txntest"
)

// pausing is a store that holds one request for rows of tables back: the first one during which something is
// so. Not one for accounts, which have to be there for the statements that look at what is held.
type pausing struct {
	kv.Store
	when             atomic.Pointer[func() bool]
	reached, release chan struct{}
}

// rowSpace is what the keys of all rows of tables begin with.
const rowSpace = 0x10

func (p *pausing) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, c kv.CommandID,
	req kv.Message) (kv.Message, error) {
	rows := func() bool {
		return bytes.Contains(req.AppendTo(nil), append(kv.MakeRowKey(kv.TableTxn, nil), rowSpace))
	}
	if when := p.when.Load(); when != nil && (*when)() && rows() && p.when.CompareAndSwap(when, nil) {
		close(p.reached)
		<-p.release
	}
	return p.Store.Call(ctx, shard, tablets, c, req)
}

func (p *pausing) hold(when func() bool) {
	p.reached, p.release = make(chan struct{}), make(chan struct{})
	p.when.Store(&when)
}

func pausingDatabase(t *testing.T) (*database, *pausing) {
	d := newDatabase(t)
	p := &pausing{Store: d.store}
	client, err := txn.NewClient(p, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &database{t, client, p}, p
}

func fillTable(t *testing.T, c runner, rows int) {
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20))")
	var values []string
	for i := range rows {
		values = append(values, fmt.Sprintf("(%d, %d, 'b%d')", i, i%50, i))
	}
	run(t, c, "INSERT INTO t VALUES "+strings.Join(values, ","))
}

func TestProgressAndKillOfSchemaChanges(t *testing.T) {
	d, store := pausingDatabase(t)
	s := d.serve(func(*sqlfront.Options) {})
	a, b := s.conn(""), s.conn("")
	const rows = 3000
	fillTable(t, a, rows)
	id := text(t, a, "SELECT CONNECTION_ID()")
	run(t, b, "CREATE USER stranger")
	stranger := s.open("stranger", "", "")
	for _, change := range []struct {
		statement, state, jobs string
		killed                 string
	}{
		{"CREATE INDEX ia ON t (a)", "adding index ia to d.t", "add index t ia running CREATE INDEX ia ON t (a)", "cancelled Query execution was interrupted"},
		{"ALTER TABLE t MODIFY COLUMN a VARCHAR(10)", "copying table d.t", "alter table t NULL running ALTER TABLE t MODIFY COLUMN a VARCHAR(10)", "cancelled Query execution was interrupted"},
	} {
		store.hold(func() bool {
			all, err := s.Engine().Processes(sql.NewEmptyContext())
			return err == nil && slices.ContainsFunc(all, func(p engine.Process) bool {
				return strings.HasPrefix(p.State, change.state+": ") && !strings.HasPrefix(p.State, change.state+": 0 ")
			})
		})
		done := make(chan error, 1)
		go func() {
			_, err := a.ExecContext(context.Background(), change.statement)
			done <- err
		}()
		select {
		case <-store.reached:
		case err := <-done:
			t.Fatalf("%s never said that it is %s: %v", change.statement, change.state, err)
		}
		if got := text(t, b, "SELECT state FROM performance_schema.processlist WHERE id = "+id); !strings.HasPrefix(got, change.state+": ") || !strings.HasSuffix(got, " rows") {
			t.Errorf("%s: state %q", change.statement, got)
		}
		if got := text(t, b, "SHOW PROCESSLIST"); !strings.Contains(got, change.state+": ") {
			t.Errorf("SHOW PROCESSLIST: %s", got)
		}
		if got := text(t, b, "SELECT kind, table_name, object, state, statement FROM moka.jobs WHERE finished IS NULL AND rows_done <= "+fmt.Sprint(rows)); got != change.jobs {
			t.Errorf("moka.jobs: %s", got)
		}
		// Of who may not change the table it is no thread at all.
		job := text(t, b, "SELECT "+fmt.Sprint(engine.JobConnection(0))+
			" + id FROM moka.jobs WHERE finished IS NULL")
		if got := results(t, stranger, "KILL "+job); got != "error 1094" {
			t.Errorf("a stranger's KILL of the job: %s", got)
		}
		run(t, b, "KILL QUERY "+id)
		close(store.release)
		if err := <-done; err == nil || !strings.Contains(err.Error(), "1317") {
			t.Errorf("%s: %v", change.statement, err)
		}
		if got := text(t, b, "SELECT state, error FROM moka.jobs WHERE finished IS NOT NULL ORDER BY id DESC LIMIT 1"); got != change.killed {
			t.Errorf("after KILL: %s", got)
		}
		if got := text(t, b, "SELECT COUNT(*) FROM information_schema.statistics WHERE index_name = 'ia'"); got != "0" {
			t.Errorf("%s has left an index behind", change.statement)
		}
		// The error is with the client before the server is done with the statement.
		eventually(t, b, "SELECT state FROM performance_schema.processlist WHERE id = "+id, "NULL")
		// Done again, it comes to its end.
		run(t, a, change.statement)
		if got := text(t, b, "CHECK TABLE d.t"); !strings.HasSuffix(got, "status OK") {
			t.Error(got)
		}
		run(t, a, "DROP TABLE t", "DROP DATABASE d")
		fillTable(t, a, rows)
	}
	if got := text(t, b, "SELECT state, rows_done, rows_estimated > 0, resumed, kill_id, error FROM moka.jobs WHERE state = 'done'"); got != fmt.Sprintf("done %[1]d 1 0 NULL NULL; done %[1]d 1 0 NULL NULL", rows) {
		t.Errorf("moka.jobs in the end: %s", got)
	}
}
