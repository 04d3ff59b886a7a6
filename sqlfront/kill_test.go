package sqlfront_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"moka/kv/kvtest"
)

// TestKillThroughAnotherServer: a statement and a connection end by KILL wherever that is said, for who may.
func TestKillThroughAnotherServer(t *testing.T) {
	d := newDatabase(t)
	one, two := d.serve(), d.serve()
	root := one.conn("")
	run(t, root, "create user ann@'%' identified by 'secret'")
	var mine, other uint32
	if err := root.QueryRowContext(context.Background(), "select connection_id()").Scan(&mine); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	victim, err := two.open("root", "", "").Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Close() }()
	if err := victim.QueryRowContext(ctx, "select connection_id()").Scan(&other); err != nil {
		t.Fatal(err)
	}
	if mine>>21 == other>>21 {
		t.Fatalf("connections %d and %d are of one node", mine, other)
	}
	ann := one.open("ann:secret", "", "")
	_, err = ann.ExecContext(ctx, fmt.Sprintf("kill query %d", other))
	wantErr(t, "kill of somebody else's statement", err, 1095, "HY000")
	_, err = root.ExecContext(ctx, fmt.Sprintf("kill %d", other+1000))
	wantErr(t, "kill of nobody", err, 1094, "HY000")
	_, err = root.ExecContext(ctx, fmt.Sprintf("kill %d", 900<<21|1))
	wantErr(t, "kill on no node", err, 1094, "HY000")

	sleeping := make(chan error, 1)
	run(t, victim, "set @x = 1", "create database d", "create table d.t (id int primary key)", "insert into d.t values (1), (2)")
	locker := one.conn("d")
	run(t, locker, "begin", "update t set id = 5 where id = 1")
	go func() {
		_, err := victim.ExecContext(ctx, "update d.t set id = 6 where id = 1")
		sleeping <- err
	}()
	// The statement waits for a lock, which the test has, until it is killed.
	run(t, root, fmt.Sprintf("kill query %d", other))
	for {
		select {
		case err := <-sleeping:
			wantErr(t, "the killed statement", err, 1317, "70100")
			want(t, victim, "select @x", "1")
			run(t, root, fmt.Sprintf("kill %d", other))
			for err = nil; err == nil; { // the connection ends with its next packet
				err = victim.PingContext(ctx)
			}
			return
		default: // it had not begun when it was killed
			run(t, root, fmt.Sprintf("kill query %d", other))
		}
	}
}

// TestWhoAndWhence: USER() is who logged in from which host, CURRENT_USER() the account at work; lists of
// processes have the client's address.
func TestWhoAndWhence(t *testing.T) {
	s := newDatabase(t).serve()
	root := s.conn("")
	run(t, root, "create database d", "create user ann@'%' identified by 'secret'", "grant execute on d.* to ann@'%'",
		"create procedure d.p() select user(), current_user(), session_user(), system_user()")
	ann := s.open("ann:secret", "d", "")
	ann.SetMaxOpenConns(1)
	want(t, ann, "select user(), current_user(), session_user()", "ann@localhost ann@% ann@localhost")
	want(t, ann, "call p()", "ann@localhost root@localhost ann@localhost ann@localhost")
	want(t, ann, "select id = connection_id(), user, host like 'localhost:%', db, command, state from information_schema.processlist", "1 ann 1 d Query reading processlist")
	want(t, root, "select count(*) from performance_schema.processlist where user = 'ann' and host like 'localhost:%' and db = 'd'", "1")
}

// TestPlannedStatementsAreProcesses: a statement that runs by its plan is seen, counted and killed as
// others are, and the connection sleeps behind it.
func TestPlannedStatementsAreProcesses(t *testing.T) {
	s := newStage(t, kvtest.Options{})
	const update = "update t set v = v + 1 where id = 1"
	id := text(t, s.in("b"), "select connection_id()")
	s.do("b", "set innodb_lock_wait_timeout = 1000", update, update) // there is a plan for it now
	state := func() string {
		return text(t, s.in("c"), "select command, info from information_schema.processlist where id = "+id)
	}
	running := func() int {
		n, err := strconv.Atoi(strings.Fields(text(t, s.in("c"), "show global status like 'Threads_running'"))[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// The answer is with the client before the statement is off the list, as MySQL has it, too.
	const command = "select command from information_schema.processlist where id = "
	eventually(t, s.in("c"), command+id, "Sleep")
	before := running()
	s.do("a", "begin", "update t set v = 5 where id = 1")
	s.blocks("b", update)
	if got := state(); got != "Query "+update {
		t.Errorf("the statement that waits is shown as %q", got)
	}
	if got := running(); got != before+1 {
		t.Errorf("%d statements run, and %d before", got, before)
	}
	s.do("c", "kill query "+id)
	s.ends("b 1317")
	eventually(t, s.in("c"), command+id, "Sleep")
	s.do("a", "commit")
	s.do("c", "kill query "+id) // nobody hears it, the next statement least of all
	s.do("b", update)
	s.want("b", "select v from t where id = 1", "6")
}
