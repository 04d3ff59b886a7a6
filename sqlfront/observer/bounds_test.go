package observer_test

import (
	"strings"
	"testing"

	"moka/sqlfront/sqlerr"
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

// TestDepthOfCascadesIsBounded: an observer whose writes wake it, through another and through a trigger, went
// on without an end. It ends at max_depth, is parked where it is seen, and goes on when it may.
func TestDepthOfCascadesIsBounded(t *testing.T) {
	_, s := start(t)
	s.exec("create table a (n int primary key)", "create table b (n int primary key)",
		"create table c (n int primary key)",
		"create trigger fire after insert on c for each row insert into a values (new.n + 1)",
		"create observer ab after insert on a for each row with (max_depth = 6) "+
			"insert into b values (new.n + 1)",
		"create observer bc after insert on b for each row insert into c values (new.n + 1)",
		"insert into a values (1), (1001)")
	s.rest()
	s.want("select group_concat(n order by n) from a where n < 1000", "1,4,7,10,13")
	s.want("select count(*) from a", "10")
	s.want("select observer_name, row_key, attempts, parked from moka.observer_errors order by 2",
		"ab n=1013 1 1; ab n=13 1 1")
	s.want("select distinct error like '%8 runs of observers, one set off by the other, have led to this "+
		"change, and max_depth of observer ''ab'' is 6; %' from moka.observer_errors", "1")
	s.exec("alter observer ab with (max_depth = 7)", "alter observer ab retry failed")
	s.rest()
	s.want("select count(*) from a", "10")
	s.exec("alter observer ab with (max_depth = 8)", "alter observer ab retry failed")
	s.rest()
	s.want("select group_concat(n order by n) from a where n < 1000", "1,4,7,10,13,16")
	s.want("select observer_name, row_key from moka.observer_errors order by 2", "ab n=1016; ab n=16")
	// What a client changes is as deep as ever: here, not at all.
	s.exec("insert into a values (500)")
	s.rest()
	s.want("select group_concat(n order by n) from a where n between 500 and 1000", "500,503,506,509,512,515")
	s.want("select max_depth from moka.observers order by observer_name", "8; NULL")
	s.wantCode("alter observer ab with (enabled = false)", sqlerr.WrongValueForVariable, "DISABLE")
	s.wantCode("alter observer ab with (max_depth = 0)", sqlerr.WrongValueForVariable, "1 to 1000000")
}

// TestDepthIsBoundedByDefault: without an option, too, and for an observer that only wakes itself.
func TestDepthIsBoundedByDefault(t *testing.T) {
	_, s := start(t)
	s.exec("create table t (id int primary key, n int)", "insert into t values (1, 0)",
		"create observer o after update on t for each row update t set n = new.n + 1 where id = new.id",
		"update t set n = 1 where id = 1")
	s.rest()
	s.want("select n from t", "66") // the client's, and runs for depths 0 to 64
	s.want("select row_key, parked from moka.observer_errors", "id=1 1")
	// A client's change of the row is run for, and the cascade that it sets off has a depth of its own.
	s.exec("update t set n = 1000 where id = 1")
	s.eventually("select n from t", "1065")
}

// TestDepthCountsAlthoughRowsAreNotifiedTogether: runs that write each other's rows, and their own, leave
// more than one notification for each, which the next run takes together. They go on counting.
func TestDepthCountsAlthoughRowsAreNotifiedTogether(t *testing.T) {
	_, s := start(t)
	s.exec("create table t (id int primary key, n int)", "insert into t values (1, 0), (2, 0), (3, 0)",
		"create observer o after update on t for each row with (max_depth = 5) update t set n = n + 1",
		"update t set n = n + 1")
	s.rest()
	s.want("select count(*), sum(parked) from moka.observer_errors", "3 3")
}
