package observer_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/sqlerr"
)

// TestWaitFollowsChains: what has been committed before is done, and what the runs for it have changed, to
// the chain's end; also by name, where the names are those of the first step only.
func TestWaitFollowsChains(t *testing.T) {
	_, c := start(t)
	c.exec("create table a (id int primary key)", "create table b (id int primary key)",
		"create table z (id int primary key)",
		"create observer one after insert on a for each row begin set @x = sleep(0.02); "+
			"insert into b values (new.id); end",
		"create observer two after insert on b for each row begin set @x = sleep(0.02); "+
			"insert into z values (new.id); end")
	for i, wait := range []string{"wait for observers", "WAIT FOR OBSERVERS one;",
		"wait for observers d.one, two timeout 30", "wait for observers timeout 30"} {
		c.exec(fmt.Sprintf("insert into a values (%d), (%d)", 2*i, 2*i+1), wait)
		c.want("select count(*) from z", fmt.Sprint(2*i+2))
	}
}

// TestWaitForWalkThatEndsAtOnce: rows that were walked as the wait began are waited for, though the walk is
// through before the wait has looked for one. (It took what the walk had notified of for what came later.)
func TestWaitForWalkThatEndsAtOnce(t *testing.T) {
	w := newWorld(t)
	front := w.node(false)
	front.session("").exec("create database d")
	c := front.session("d")
	c.exec("create table a (id int primary key)", "insert into a values (1), (2)",
		"create table broken (id int primary key)", "insert into broken values (1)",
		"create observer o after insert on a for each row with (attempts = 100000, backoff_ms = 1) with "+
			"backfill if exists (select * from broken) then signal sqlstate '45000'; end if")
	const scanLocks = 41 // what a wait begins with, behind its timestamp
	var once sync.Once
	asked := func(cmd kv.CommandID, _ kv.Message) {
		if cmd == scanLocks {
			once.Do(func() {
				w.node(true)
				front.session("d").eventually("select rows_walked from moka.observer_backlog", "NULL")
			})
		}
	}
	front.read.asked.Store(&asked)
	c.wantCode("wait for observers timeout 0", sqlerr.QueryTimeout, "Observer 'o' has not run")
	front.read.asked.Store(nil)
	c.exec("delete from broken", "wait for observers timeout 30")
}

// TestWaitLeavesOthersAlone: an observer that never gets to an end holds up who waits for another, no more
// than one that is not there.
func TestWaitLeavesOthersAlone(t *testing.T) {
	_, c := start(t)
	c.exec("create table a (id int primary key)", "create table b (id int primary key)",
		"create table z (id int primary key)",
		"create observer slow after insert on a for each row set @x = sleep(30)",
		"create observer quick after insert on b for each row insert into z values (new.id)",
		"insert into a values (1)", "insert into b values (1)", "wait for observers quick timeout 20")
	c.want("select count(*) from z", "1")
	c.wantCode("wait for observers timeout 0.05", sqlerr.QueryTimeout, "Observer 'slow' has not run")
	c.wantCode("wait for observers quick, slow timeout 0", sqlerr.QueryTimeout, "after 0s")
	c.exec("wait for observers quick timeout 30")
	c.exec("wait for observers quick timeout 0") // it just asks, and there is nothing to wait for
	c.exec("create database other", "use other", "wait for observers timeout 20")
	c.exec("use d", "alter observer slow disable")
}

// TestWaitSaysWhatStops: what nobody will do is an error that says how to go on.
func TestWaitSaysWhatStops(t *testing.T) {
	_, c := start(t)
	c.exec("create table a (id int primary key)", "create table b (id int primary key)",
		"create observer o after insert on a for each row with (attempts = 1, backoff_ms = 1) "+
			"signal sqlstate '45000' set message_text = 'no'",
		"create observer first after insert on b for each row begin set @x = sleep(0.2); "+
			"insert into a values (new.id); end",
		"insert into a values (1)")
	c.wantCode("wait for observers timeout 20", sqlerr.ObserverStopped,
		"Observer 'o' has given up on changes that are waited for")
	// What has been parked before is no part of what one waits for by another name; what is now, is.
	c.exec("wait for observers first timeout 20", "insert into b values (2)")
	c.wantCode("wait for observers first timeout 20", sqlerr.ObserverStopped,
		"ALTER OBSERVER `d`.`o` RETRY FAILED")
	c.exec("alter observer o disable")
	c.wantCode("wait for observers o", sqlerr.ObserverStopped, "")
	c.exec("drop observer o", "wait for observers timeout 20")
	c.wantCode("wait for observers o", sqlerr.TriggerNotFound, "Observer 'o' does not exist")
	c.wantCode("wait for observers none.o", sqlerr.BadDatabase, "")

	// One that is disabled and has nothing to do stops nobody; one that has says so.
	c.exec("create observer s after insert on b for each row set @x = sleep(30)", "insert into b values (3)",
		"alter observer s disable")
	c.wantCode("wait for observers s", sqlerr.ObserverStopped, "is disabled and has changes")
	c.exec("drop observer s", "create observer idle after insert on b for each row with (enabled = false) "+
		"set @x = 1",
		"insert into b values (4)", "wait for observers timeout 20")
}

// TestWaitIsAStatementByItself: in a transaction and in bodies it is error 1179.
func TestWaitIsAStatementByItself(t *testing.T) {
	_, c := start(t)
	const no = "You are not allowed to execute this command in a transaction"
	c.exec("create table a (id int primary key)", "begin")
	c.wantCode("wait for observers", sqlerr.CommandNotAllowed, no)
	c.exec("commit", "wait for observers", "set autocommit = 0", "wait for observers",
		"insert into a values (1)")
	c.wantCode("wait for observers", sqlerr.CommandNotAllowed, no)
	c.exec("commit", "wait for observers", "set autocommit = 1",
		"create procedure p() begin prepare s from 'wait for observers'; execute s; end")
	c.wantCode("call p()", sqlerr.CommandNotAllowed, no)
	for _, body := range []string{"create trigger w before insert on a for each row wait for observers",
		"create observer w after insert on a for each row begin wait for observers; end",
		"create procedure q() wait for observers", "create function f() returns int begin wait for " +
			"observers; return 1; end"} {
		if got := c.text(body); !strings.HasPrefix(got, "error ") {
			c.exec("insert into a values (2)")
			t.Errorf("%s: %s", body, got)
		}
	}
	for _, bad := range []string{"wait for observers,", "wait for observers a b",
		"wait for observers timeout 'x'",
		"wait for", "wait for observers timeout -1", "wait for observers a timeout",
		"wait for observers timeout 1.x", "wait for observers timeout 1x"} {
		c.wantCode(bad, sqlerr.SyntaxError, "")
	}
	c.exec("create observer timeout after insert on a for each row set @x = 1", "wait for observers timeout",
		"wait for observers timeout timeout 20", "wait for observers timeout, timeout timeout 20")
}

// TestWaitEndsWithItsStatement: KILL and the end of a connection are the end of the statement's context. It
// has looked a few times by then, not thousands of times.
func TestWaitEndsWithItsStatement(t *testing.T) {
	n, c := start(t)
	c.exec("create table a (id int primary key)",
		"create observer o after insert on a for each row set @x = sleep(30)", "insert into a values (1)")
	var looks atomic.Int64
	looked := make(chan struct{}, 1)
	count := func(id kv.CommandID, _ kv.Message) {
		if id == 69 {
			if looks.Add(1) == 5 {
				looked <- struct{}{}
			}
		}
	}
	n.read.asked.Store(&count)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	s := n.session("d")
	began := time.Now()
	go func() {
		sctx := sql.NewContext(ctx, sql.WithSession(s.sess)).WithQuery("wait for observers")
		_, _, _, err := s.eng.SQL().Query(sctx, "wait for observers")
		ended <- err
	}()
	<-looked
	cancel()
	if err := <-ended; err == nil {
		t.Error("it was cancelled and has ended well")
	}
	if most := 10 + time.Since(began).Milliseconds(); looks.Load() > most {
		t.Errorf("%d looks in %v", looks.Load(), time.Since(began))
	}
	c.exec("alter observer o disable")
}

// TestWaitSeesWhatIsCarriedOver: an ALTER that writes the table anew gives its rows other keys, and what is
// to be done for them with it.
func TestWaitSeesWhatIsCarriedOver(t *testing.T) {
	_, c := start(t)
	c.exec("create table a (id int primary key, n int)", "create table z (id int primary key, n varchar(10))",
		"create observer o after insert on a for each row begin set @x = sleep(0.01); insert into z values "+
			"(new.id, new.n); end")
	for i := range 40 {
		c.exec(fmt.Sprintf("insert into a values (%d, %d)", i, i))
	}
	c.exec("alter table a modify n varchar(10)", "wait for observers timeout 30")
	c.want("select count(*) from z", "40")
}

// TestWaitIsExact: clients that change the same few rows as fast as they can, by two steps of observers, find
// what they have written behind each wait.
func TestWaitIsExact(t *testing.T) {
	n, c := start(t)
	c.exec("create table a (id int primary key, n int)", "create table b (id int primary key, n int)",
		"create table z (id int primary key, n int)",
		"insert into a values (1, 0), (2, 0)",
		"create observer one after insert or update on a for each row replace into b values (new.id, new.n)",
		"create observer two after insert or update on b for each row replace into z values (new.id, new.n)")
	var clients sync.WaitGroup
	for range 4 {
		s := n.session("d")
		clients.Go(func() {
			for i := range 25 {
				id := 1 + i%2
				s.exec(fmt.Sprintf("update a set n = last_insert_id(n + 1) where id = %d", id))
				wrote := s.text("select last_insert_id()")
				s.exec("wait for observers")
				if got := s.text(fmt.Sprintf("select n >= %s from z where id = %d", wrote, id)); got != "1" {
					t.Errorf("%s was written, and then there is %s", wrote,
						s.text(fmt.Sprintf("select n from z where id = %d", id)))
				}
			}
		})
	}
	clients.Wait()
}
