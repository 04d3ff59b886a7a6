package sqlfront_test

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestWaitForObserversIsKilled: KILL and the end of the client end it, and leave nothing behind.
func TestWaitForObserversIsKilled(t *testing.T) {
	s := observing(t)
	root, c := s.conn(""), s.conn("")
	run(t, root, "create database d", "create table d.a (id int primary key)",
		"create observer d.o after insert on d.a for each row set @x = sleep(1000000)",
		"insert into d.a values (1)")
	const waits = "select count(*) from information_schema.processlist where info = 'wait for observers'"
	ended := make(chan error, 1)
	wait := func(ctx context.Context) {
		_, err := c.ExecContext(ctx, "wait for observers")
		ended <- err
	}
	id := text(t, c, "select connection_id()")
	go wait(context.Background())
	eventually(t, root, waits, "1")
	run(t, root, "kill query "+id)
	wantErr(t, "the wait", <-ended, 1317, "70100")
	want(t, c, "select 1", "1")

	ctx, leave := context.WithCancel(context.Background())
	go wait(ctx)
	eventually(t, root, waits, "1")
	leave() // the driver closes the connection
	if err := <-ended; err == nil {
		t.Error("it has ended well")
	}
	eventually(t, root, waits, "0")
	run(t, root, "alter observer d.o disable")
}

// TestWaitForObserversTellsNothing: by name one waits for what one may see. Else anybody does who has a right
// in the database, and learns that all is done.
func TestWaitForObserversTellsNothing(t *testing.T) {
	s := observing(t)
	root := s.conn("")
	run(t, root, "create database own", "create database hid", "create table own.a (id int primary key)",
		"create table hid.a (id int primary key)", "create user few", "grant insert on own.a to few",
		"create observer own.o after insert on own.a for each row with (attempts = 1) signal sqlstate "+
			"'45000'",
		"create observer hid.o after insert on hid.a for each row with (attempts = 1) signal sqlstate "+
			"'45000'",
		"insert into hid.a values (1)", "insert into own.a values (1)")
	eventually(t, root, "select sum(parked) from moka.observer_backlog", "2")
	few := s.open("few", "own", "")
	wantError(t, few, "wait for observers o", 1142)
	wantError(t, few, "wait for observers hid.o", 1044)
	_, err := few.ExecContext(context.Background(), "wait for observers")
	wantErr(t, "the wait", err, 9020, "HY000")
	if strings.Contains(err.Error(), "'o'") {
		t.Errorf("it says %v", err)
	}
	wantError(t, root, "wait for observers", 9020)
	run(t, root, "drop observer own.o", "drop observer hid.o", "wait for observers")
	run(t, few, "wait for observers")
	run(t, s.open("few", "", ""), "wait for observers")
}

// TestObserversPage runs the examples of docs/observers.md. Each is a database of its own; a comment behind a
// query is its result.
func TestObserversPage(t *testing.T) {
	var blocks []string
	for _, file := range []string{"observers.md", "incremental-views.md"} {
		page, err := os.ReadFile("../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		examples := strings.Split(string(page), "```sql\n")[1:]
		if len(examples) == 0 {
			t.Fatalf("%s has no examples", file)
		}
		blocks = append(blocks, examples...)
	}
	for _, b := range blocks {
		s := observing(t)
		run(t, s.conn(""), "create database d")
		c := s.conn("d")
		example, _, _ := strings.Cut(b, "```")
		var statement strings.Builder
		for _, line := range strings.Split(example, "\n") {
			code, result, shown := strings.Cut(line, "  -- ")
			statement.WriteString(strings.TrimSpace(code) + " ")
			q, whole := strings.CutSuffix(strings.TrimSpace(statement.String()), ";")
			lower := strings.ToLower(q)
			if !whole || strings.Contains(lower, " begin ") && !strings.HasSuffix(lower, " end") {
				continue
			}
			if statement.Reset(); shown {
				want(t, c, q, strings.TrimSpace(result))
			} else {
				run(t, c, q)
			}
		}
		if rest := strings.TrimSpace(statement.String()); rest != "" {
			t.Errorf("an example ends with %s", rest)
		}
	}
}
