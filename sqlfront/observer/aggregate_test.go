package observer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// keepsSum is what "Complete means" in a body: one observer for all events adds NEW and takes OLD away.
const keepsSum = "update total set s = s + coalesce(new.a, 0) - coalesce(old.a, 0), " +
	"n = n + (new.id is not null) - (old.id is not null)"

// TestEachBodyNamesBothRows: NEW and OLD are in every body, NULL where there is none, and the words say what
// has happened since the last acknowledgement.
func TestEachBodyNamesBothRows(t *testing.T) {
	_, c := start(t)
	c.exec(account, "create table log (n int primary key auto_increment, said varchar(60))",
		"create observer o after insert or update or delete on account for each row insert into log (said) "+
			"values (concat_ws(' ', if(inserting, 'i', ''), if(updating, 'u', ''), if(deleting, 'd', ''), "+
			"ifnull(old.balance, 'none'), ifnull(new.balance, 'none'), old.id is null, new.id is null))")
	const last = "select said from log order by n desc limit 1"
	for _, step := range []struct{ does, said string }{
		{"insert into account (id, balance) values (1, 10)", "i   none 10 1 0"},
		{"update account set balance = 11", " u  10 11 0 0"},
		{"delete from account", "  d 11 none 0 1"},
	} {
		c.exec(step.does, "wait for observers")
		c.want(last, step.said)
	}
	// While it is not running, what happened is one step; a row that came and went is none.
	c.exec("insert into account (id, balance) values (2, 1)", "wait for observers", "begin",
		"delete from account where id = 2", "insert into account (id, balance) values (2, 7)", "commit",
		"wait for observers")
	c.want(last, " u  1 7 0 0")
	c.exec("drop observer o", "create observer n after notify on account for each row insert into log "+
		"(said) "+
		"values (concat_ws(' ', inserting, updating, deleting, old.balance, new.balance))",
		"notify account", "wait for observers")
	c.want(last, "0 0 0 7 7")
	c.exec("update account set balance = 8", "notify account", "wait for observers")
	c.want(last, "0 1 0 7 8")
	// A variable of the body is in front of the word.
	c.exec("drop observer n", "create observer v after update on account for each row begin declare "+
		"deleting int "+
		"default 5; insert into log (said) values (deleting); end",
		"update account set balance = 9", "wait for observers")
	c.want(last, "5")
}

// TestOneObserverKeepsASum: of random histories of inserts, updates, deletes and moves of keys by several
// sessions, over processes that die and come back, failing runs and retries, sum and count are exact whenever
// all has been done. MOKA_OBSERVER_HISTORIES says how many; 10,000 have been run.
func TestOneObserverKeepsASum(t *testing.T) {
	histories := 150
	if n, err := strconv.Atoi(os.Getenv("MOKA_OBSERVER_HISTORIES")); err == nil {
		histories = n
	}
	w := newWorld(t)
	w.withheld = 100 * time.Millisecond // what a dead process has is withheld for so long
	front := w.node(false)
	front.session("").exec("create database d")
	c := front.session("d")
	c.exec("create table base (id int primary key, a int)",
		"create table total (s int, n int)", "insert into total values (0, 0)",
		"create table refused (id int primary key)",
		// A run about a row that is refused fails, and is parked; the history decides when it is not any
		// more.
		"create observer o after insert or update or delete on base for each row with (attempts = 2, "+
			"backoff_ms = 1) begin if exists (select 1 from refused where id = coalesce(new.id, old.id)) "+
			"then "+
			"signal sqlstate '45000'; end if; "+keepsSum+"; end")
	other := front.session("d")
	node := w.node(true)
	for h := range histories {
		r := rand.New(rand.NewPCG(uint64(h), 15))
		var did []string
		do := func(s *session, q string) {
			did = append(did, q)
			if _, _, err := s.run(q); err != nil && !strings.Contains(err.Error(), "1062") {
				t.Fatalf("history %d: %s: %v", h, q, err)
			}
		}
		for range 4 + r.IntN(14) {
			s := []*session{c, other}[r.IntN(2)]
			id, a := 1+r.IntN(4), r.IntN(100)
			switch r.IntN(14) {
			case 0, 1, 2, 3:
				do(s, fmt.Sprintf("replace into base values (%d, %d)", id, a))
			case 4, 5, 6:
				do(s, fmt.Sprintf("update base set a = a + %d where id = %d", a, id))
			case 7, 8:
				do(s, fmt.Sprintf("delete from base where id = %d", id))
			case 9:
				do(s, fmt.Sprintf("update ignore base set id = %d where id = %d", 1+r.IntN(4), id))
			case 10:
				do(s, fmt.Sprintf("update base set a = if(a is null, %d, null)", a))
			case 11:
				do(s, fmt.Sprintf("replace into refused values (%d)", id))
			case 12:
				do(s, "delete from refused")
				do(s, "alter observer o retry failed")
			case 13:
				node.read.left.Store(int64(1 + r.IntN(40))) // so many requests, and it is dead
				did = append(did, "the process dies")
			}
		}
		do(c, "delete from refused")
		if node.read.left.Load() != 0 {
			node.read.left.Store(1)
			node.stop()
			node = w.node(true)
		}
		// A run that began before the rows were refused no longer may be parked behind the retry.
		parked := true
		for range 10 {
			do(c, "alter observer o retry failed")
			got := c.text("wait for observers timeout 60")
			if parked = strings.HasPrefix(got, "error 9020"); !parked && got != "" {
				t.Fatalf("history %d: %s", h, got)
			} else if !parked {
				break
			}
		}
		if parked {
			t.Fatalf("history %d: %s\n%s", h, c.text("select * from moka.observer_errors"), strings.Join(did,
				"\n"))
		}
		got := c.text("select s, n from total")
		if want := c.text("select coalesce(sum(a), 0), count(*) from base"); got != want {
			t.Fatalf("history %d: the observer has %s, the table %s\n%s", h, got, want, strings.Join(did,
				"\n"))
		}
	}
}

// TestSiblingsAreWarned: three observers for three events keep no sum (O3), and are told which form does.
func TestSiblingsAreWarned(t *testing.T) {
	_, c := start(t)
	c.exec("create table base (id int primary key, a int)", "create table total (s int, n int)",
		"create observer i after insert on base for each row update total set s = s + new.a")
	c.want("show warnings", "")
	c.exec("create observer u after update on base for each row update total set s = s + new.a - old.a")
	c.want("show warnings", "")
	c.exec("create observer x after delete on base for each row update total set s = s - old.a")
	if got := c.text("show warnings"); !strings.Contains(got,
		"has acknowledged it, whatever observer 'u' does") {
		t.Error(got)
	}
	c.exec("create observer whole after insert or update or delete on base for each row " + keepsSum)
	c.want("show warnings", "")
}
