package sqlfront_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"moka/sqlfront"
)

// TestTimestampsOfTwoZones: what a session writes is seen by one of another zone at the same moment, in every
// way that rows come and go. That statements get what MariaDB's do is tested in cmd/itest (TestTimeZones,
// compare/zones.sql).
func TestTimestampsOfTwoZones(t *testing.T) {
	dir := t.TempDir()
	s := newDatabase(t).serve(func(o *sqlfront.Options) { o.FileDir = dir })
	run(t, s.conn(""), "create database d")
	utc, berlin := s.conn("d"), s.conn("d")
	run(t, utc, "set time_zone = '+00:00'", "create table t (id int primary key, ts timestamp null, n int, key (ts))",
		"create table log (id int, was timestamp null, is_now timestamp null, seen varchar(30))",
		"create trigger x after update on t for each row insert into log values (new.id, old.ts, new.ts, (select min(ts) from t where ts >= new.ts))")
	run(t, berlin, "set time_zone = 'Europe/Berlin'")

	t.Run("prepared", func(t *testing.T) {
		at := time.Date(2020, 7, 1, 12, 0, 0, 0, time.UTC) // as the driver sends it: a time of day
		for range 3 {
			if _, err := berlin.ExecContext(t.Context(), "replace into t values (?, ?, ?)", 1, at, 1); err != nil {
				t.Fatal(err)
			}
			want(t, utc, "select ts from t where id = ?", "2020-07-01 10:00:00", 1)
			want(t, berlin, "select ts from t where id = ?", "2020-07-01 12:00:00", 1)
			want(t, berlin, "select id from t where ts = ?", "1", at)
			want(t, utc, "select id from t where ts = ?", "", at)
			want(t, berlin, "select id from t where ts > ? and ts <= ?", "1", at.Add(-time.Hour), at)
		}
	})
	t.Run("triggers", func(t *testing.T) {
		for i := range 3 { // the body is compiled, then kept
			run(t, berlin, "update t set ts = '2020-07-01 12:00:00', n = -1 where id = 1", "delete from log", "update t set ts = ts + interval 1 hour where id = 1")
			want(t, utc, "select * from log", "1 2020-07-01 10:00:00 2020-07-01 11:00:00 2020-07-01 13:00:00")
			run(t, utc, "delete from log", fmt.Sprintf("update t set ts = ts + interval 1 hour, n = %d where id = 1", i))
			want(t, berlin, "select * from log", "1 2020-07-01 13:00:00 2020-07-01 14:00:00 2020-07-01 12:00:00")
		}
	})
	t.Run("the hour that comes twice", func(t *testing.T) {
		run(t, utc, "replace into t values (2, '2018-10-28 00:30:00', 0), (3, '2018-10-28 01:30:00', 0), (4, '2018-10-28 01:10:00', 0)")
		want(t, berlin, "select id, ts, unix_timestamp(ts) from t where ts between '2018-10-28 02:00:00' and '2018-10-28 02:30:00' order by id",
			"2 2018-10-28 02:30:00 1540686600; 3 2018-10-28 02:30:00 1540690200; 4 2018-10-28 02:10:00 1540689000")
		want(t, berlin, "select max(ts), min(ts) from t where ts < '2019-01-01'", "2018-10-28 02:30:00 2018-10-28 02:10:00")
		want(t, berlin, "select count(*) from t where ts = '2018-10-28 02:30:00'", "2")
		for _, groups := range []string{"select ts, count(*) from t where id in (2, 3) group by ts", "select ts, count(*) from t ignore index (ts) where id in (2, 3) group by ts, n"} {
			want(t, berlin, groups, "2018-10-28 02:30:00 1; 2018-10-28 02:30:00 1")
		}
		want(t, berlin, "select count(*), (select count(distinct ts) from t where id in (2, 3)) from (select distinct ts from t where id in (2, 3)) d", "2 2")
		want(t, berlin, "select count(*) from t a join t b on a.ts = b.ts where a.id = 2 and b.id = 3", "1")
		run(t, berlin, "update t set n = n + 1 where id in (2, 3, 4)", "update t set id = id + 10 where ts = '2018-10-28 02:30:00'", "update t set n = n + 1 where ts = '2018-10-28 02:10:00'")
		want(t, utc, "select id, ts, n from t where id > 1 order by id", "4 2018-10-28 01:10:00 2; 12 2018-10-28 00:30:00 1; 13 2018-10-28 01:30:00 1")
		want(t, utc, "select id from t where ts = '2018-10-28 01:30:00'", "13")
		run(t, berlin, "delete from t where id = 13")
		want(t, utc, "select id from t where ts >= '2018-10-28 01:00:00' and ts < '2018-10-28 02:00:00'", "4")
		if got := text(t, utc, "check table t"); got != "d.t check status OK" {
			t.Error(got)
		}
	})
	t.Run("files", func(t *testing.T) {
		out, in := filepath.Join(dir, "out"), filepath.Join(dir, "in")
		run(t, berlin, fmt.Sprintf("select id, ts from t where id in (4, 12) order by id into outfile '%s'", out))
		if b, err := os.ReadFile(out); err != nil || string(b) != "4\t2018-10-28 02:10:00\n12\t2018-10-28 02:30:00\n" {
			t.Errorf("%q %v", b, err)
		}
		if err := os.WriteFile(in, []byte("100\t2020-01-01 01:00:00\n101\t2020-07-01 02:00:00\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, berlin, fmt.Sprintf("load data infile '%s' into table t (id, ts)", in))
		want(t, utc, "select id, ts from t where id >= 100 order by ts", "100 2020-01-01 00:00:00; 101 2020-07-01 00:00:00")
		if err := os.WriteFile(in, []byte("102\t2018-03-25 02:30:00\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := berlin.ExecContext(t.Context(), fmt.Sprintf("load data infile '%s' into table t (id, ts)", in)); errorNumber(err) != 1292 {
			t.Errorf("a time that there is not: %v", err)
		}
	})
	t.Run("the past", func(t *testing.T) {
		then := moment(t) // in UTC
		run(t, utc, "update t set ts = null where id = 100")
		want(t, utc, "select ts from t as of timestamp '"+then+"' where id = 100", "2020-01-01 00:00:00")
		run(t, berlin, "set time_zone = '+06:00'")
		at, err := time.Parse("2006-01-02 15:04:05.000", then)
		if err != nil {
			t.Fatal(err)
		}
		want(t, berlin, "select id, ts from t as of timestamp '"+at.Add(6*time.Hour).Format("2006-01-02 15:04:05.000")+"' where ts = '2020-01-01 06:00:00'", "100 2020-01-01 06:00:00")
		run(t, berlin, "set time_zone = 'Europe/Berlin'")
	})
	t.Run("the plan cache", func(t *testing.T) {
		hits := s.Metrics().PlanHits
		for i := range 4 {
			want(t, berlin, "select ts from t where id = 101", "2020-07-01 02:00:00")
			run(t, berlin, fmt.Sprintf("update t set ts = '2020-07-01 02:00:0%d' where id = 101", i), "update t set ts = '2020-07-01 02:00:00' where id = 101")
		}
		if now := s.Metrics().PlanHits; now < hits+6 {
			t.Errorf("%d plans were used", now-hits)
		}
	})
	t.Run("clocks", func(t *testing.T) {
		run(t, berlin, "create table c (id int primary key, made timestamp not null default current_timestamp, n int, changed timestamp(6) not null default current_timestamp(6) on update current_timestamp(6))",
			"insert into c (id) values (1)", "update c set n = 1")
		want(t, utc, "select abs(timestampdiff(second, made, utc_timestamp())) < 60, abs(timestampdiff(second, changed, utc_timestamp())) < 60 from c", "1 1")
		want(t, berlin, "select abs(timestampdiff(second, made, now())) < 60, abs(unix_timestamp(made) - unix_timestamp()) < 60 from c", "1 1")
	})
	for _, name := range []string{"+14:01", "-14:00", "Europe/Nowhere", "", "Local", "+5", "+05:60"} {
		if _, err := utc.ExecContext(context.Background(), "set time_zone = '"+name+"'"); errorNumber(err) != 1298 {
			t.Errorf("%q: %v", name, err)
		}
	}
	run(t, utc, "set time_zone = '+5:30'")
	want(t, utc, "select @@time_zone", "+05:30")
	run(t, utc, "set time_zone = '-13:59'", "set time_zone = '+14:00'", "set time_zone = 'system'")
	want(t, utc, "select @@time_zone", "SYSTEM")
}
