package observer_test

import (
	"strings"
	"testing"
)

const tenRows = "insert into ten values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)"

// TestFanoutIsBounded: one change of an observer that writes thousands of rows into its own table for each
// row filled the disk (trig-8). Rows that notify nobody are not counted.
func TestFanoutIsBounded(t *testing.T) {
	_, s := start(t)
	s.exec("create table chain (id int primary key auto_increment, a int)", "create table l (id int)",
		"create table ten (a int)", tenRows,
		"create table x (id int primary key)",
		"create observer fan after insert on chain for each row "+
			"insert into chain (a) select 1 from ten q, ten r, ten s, ten t",
		"create observer two after insert on x for each row with (max_fanout = 2) begin "+
			"insert into l select new.id from ten; "+
			"if new.id < 10 then insert into x values (new.id + 10), (new.id + 20); end if; "+
			"if new.id = 30 then insert into x values (31), (32), (33); end if; end",
		"insert into chain (a) values (1)", "insert into x values (1), (30)")
	s.rest()
	s.want("select count(*) from chain", "1")
	s.want("select observer_name, row_key, attempts, parked from moka.observer_errors order by 1",
		"fan id=1 1 1; two id=30 1 1")
	for name, most := range map[string]string{
		"fan": "10000 rows that notify observers, and max_fanout of observer 'fan' is 5000",
		"two": "3 rows that notify observers, and max_fanout of observer 'two' is 2",
	} {
		got := s.text("select error from moka.observer_errors where observer_name = '" + name + "'")
		if !strings.Contains(got, most) {
			t.Errorf("%s: %q, want %q", name, got, most)
		}
	}
	s.want("select group_concat(id order by id) from x", "1,11,21,30")
	s.want("select count(*) from l", "30")
	s.want("select max_fanout, timeout_ms from moka.observers where observer_name = 'two'", "2 NULL")
}

// TestRunsAreEndedInTime: a body that never ends is ended when its time is over, whatever it is at.
func TestRunsAreEndedInTime(t *testing.T) {
	for name, body := range map[string]string{
		"sleep": "set @x = sleep(1000000);",
		"loop":  "while true do set @x = 1; end while;",
		"query": "set @x = (select count(*) from ten a, ten b, ten c, ten d, ten e, ten f, ten g, ten h, " +
			"ten i, ten j, ten k, ten l);",
	} {
		t.Run(name, func(t *testing.T) {
			_, s := start(t)
			s.exec("create table t (id int primary key)", "create table ten (a int)",
				tenRows,
				"create observer o after insert on t for each row with (timeout_ms = 100, attempts = 2, "+
					"backoff_ms = 1) begin "+body+" end")
			s.exec("insert into t values (1)")
			s.eventually("select attempts, parked, error like 'observer o ran for more than 100ms and was "+
				"stopped%' from moka.observer_errors", "2 1 1")
		})
	}
}
