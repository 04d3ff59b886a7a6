package observer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"moka/kv"
	"moka/sqlfront/observer"
	"moka/triggers"
)

// TestRunsAreRemembered: what the last runs were about, and what became of them.
func TestRunsAreRemembered(t *testing.T) {
	_, c := start(t)
	c.exec(account, "create table log (id int primary key)",
		"create observer o after insert or delete on account for each row with (attempts = 2, backoff_ms = "+
			"1) "+
			"insert into log values (3)")
	c.exec("insert into account (id) values (7)", "wait for observers", "insert into account (id) values (8)")
	c.eventually("select parked from moka.observer_backlog", "1")
	const runs = "select observer_schema, observer_name, event_table, row_key, attempt, conflicts, result, " +
		"error like '%Duplicate%' from moka.observer_runs order by started, attempt"
	c.eventually(runs, "d o account id=7 1 0 done NULL; d o account id=8 1 0 failed 1; "+
		"d o account id=8 2 0 parked 1")
	c.want("select count(*) from moka.observer_runs where changed <= started and duration_us > 0 and "+
		"started > now() - interval 1 minute", "3")
	c.exec("drop observer o")
	c.want(runs, "")
}

// TestRememberedRunsAreBounded: a hundred for each observer, the last ones; a busy one leaves those of
// others.
func TestRememberedRunsAreBounded(t *testing.T) {
	_, c := start(t)
	c.exec("create table a (id int primary key)", "create table b (id int primary key)",
		"create observer rare after insert on a for each row set @x = 1",
		"create observer busy after insert on b for each row set @x = 1",
		"insert into a values (1)", "wait for observers")
	for i := range 30 {
		c.exec(fmt.Sprintf("insert into b values (%d), (%d), (%d), (%d), (%d)", 5*i, 5*i+1, 5*i+2, 5*i+3,
			5*i+4))
	}
	c.exec("wait for observers")
	// The last runs may still be on their way here from their commits.
	c.eventually("select observer_name, count(*) from moka.observer_runs group by 1 order by 1",
		"busy 100; rare 1")
}

// TestRunLogHasItsBytes: many observers with long keys and errors take no more than what the log may have.
func TestRunLogHasItsBytes(t *testing.T) {
	var l observer.RunLog
	long := strings.Repeat("x", 3000)
	for i := range 5000 {
		l.Add(triggers.Ran{Observer: uint32(i % 1000), Column: kv.Column{Row: kv.RowKey(long)},
			Err: errors.New(long)})
	}
	if runs, bytes := l.Size(); bytes > 4<<20 || runs < 1000 {
		t.Errorf("%d runs take %d bytes", runs, bytes)
	}
}
