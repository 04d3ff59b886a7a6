package sqlfront_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// fittingKinds are types of columns, with values of rows and values that are compared with them.
var fittingKinds = []struct{ kind, rows, values string }{
	{"date", "'2024-02-28', '2024-02-29', '2024-03-01'",
		"'2024-02-29', '2024-02-29 01:02:03', TIMESTAMP'2024-02-29 01:02:03', DATE'2024-02-29', 20240229, " +
			"20240229010203, TIMESTAMP'2024-02-29 23:59:59.9', '2024-02-29 00:00:00'"},
	{"datetime", "'2024-02-28 23:59:59', '2024-02-29 00:00:00', '2024-02-29 00:00:01'",
		"'2024-02-29 00:00:00.25', TIMESTAMP'2024-02-29 00:00:00.75', '2024-02-29', 20240229, " +
			"DATE'2024-02-29', '2024-02-29 00:00:01'"},
	{"datetime(2)", "'2024-02-28 23:59:59.99', '2024-02-29 00:00:00', '2024-02-29 00:00:00.01'",
		"TIMESTAMP'2024-02-29 00:00:00.005', '2024-02-29 00:00:00.004', '2024-02-29'"},
	{"timestamp", "'2024-02-28 23:59:59', '2024-02-29 00:00:00', '2024-02-29 00:00:01'",
		"'2024-02-29 00:00:00.25', TIMESTAMP'2024-02-29 00:00:00.75', '2024-02-29', DATE'2024-02-29'"},
	{"time", "'-00:00:01', '00:00:00', '00:00:01', '00:00:02'",
		"'00:00:00.25', TIME'00:00:01.75', TIME'-00:00:00.5', '00:00:01', 1, 1.5, '-00:00:00.75'"},
	{"year", "2000, 2001, 2024, 0", "2001.5, '2001', '2001.5', 24, 2024, 1, 0, 2e3"},
	{"int", "-1, 0, 1, 2, 3", "1.5, '1.5', -0.5, '-0.5', 15e-1, '1', 1, '2x', 1e20, '99999999999', 1.0"},
	{"tinyint unsigned", "0, 1, 2, 255", "-1, 0.5, '0.5', 254.5, 255.5, '300', 300, -0.4, '-0.4', '1.4'"},
	{"bigint", "1, 9007199254740992, 9007199254740993", "1.5, '1.5', 9007199254740992.5, '2', 1e0"},
	{"decimal(5,1)", "1.1, 1.2, 1.3, 2", "1.25, 1.2, '1.25', '1.2', 125e-2, 2, 1.15, 9999999, 1.24999"},
	{"float", "1.1, 1.5, 2.5", "1.1, '1.1', 1.5, '1.5', 11e-1, 2, 1.49"},
	{"double", "1.1, 1.5, 2.5", "1.1, '1.1', 1.5, '1.5', 11e-1, 2"},
	{"enum('z','b','a','2')", "'z', 'b', 'a', '2'", "'b', 'a', 'q', 2, 2.5, '2', 0, '3', 'B'"},
	{"set('z','b','a')", "'z', 'b', 'a', 'z,b', ''", "'b', 'z,b', 'q', 2, 2.5, '3', 0, 'b,z'"},
	{"varchar(20)", "'2024-2-29', '2024-02-29', '2024-02-29 00:00:00', '1', '01', '1.0', '2', '10', 'x'",
		"DATE'2024-02-29', DATE'2024-03-29', TIMESTAMP'2024-02-29 01:02:03', 1, 1.5, 2, 1e0, '1', 'X'"},
	{"char(20)", "'2024-2-29', '2024-02-29', '1', '01', '10:00:00', '9:00:00'",
		"DATE'2024-02-29', DATE'2024-03-29', TIME'10:00:00', 1, 1.5, '1'"},
	{"varbinary(20)", "'2024-2-29', '2024-02-29', '1', '01', '1.0'", "DATE'2024-02-29', 1, 1.5, '1'"},
}

// fittingConditions are what is asked of a column c and a value %s.
var fittingConditions = []string{
	"c = %s", "c <=> %s", "c < %s", "c <= %s", "c > %s", "c >= %s", "c <> %s", "not c < %s",
	"%s < c", "%s >= c",
	"c between %s and %[1]s", "c in (%s)", "c in (%s, null)", "c not in (%s)", "c < %s or c > %[1]s",
}

// TestRangesFitValues: with an index a comparison finds the rows of which it is true, whatever the value's
// type. The library made a key of the value by what rounds it, or of a text column where the texts are
// converted.
func TestRangesFitValues(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	planned, cached := s.conn("d"), s.conn("d")
	run(t, planned, "set moka_plan_cache = 0", "set sql_mode = ''")
	run(t, cached, "set moka_plan_cache = 1", "set sql_mode = ''")
	for i, k := range fittingKinds {
		none, key := fmt.Sprint("n", i), fmt.Sprint("k", i)
		pair, primary := fmt.Sprint("p", i), fmt.Sprint("u", i)
		run(t, planned, fmt.Sprintf("create table %s (c %s, id int)", none, k.kind),
			fmt.Sprintf("create table %s (c %s, id int, key (c))", key, k.kind),
			fmt.Sprintf("create table %s (c %s, id int, a int default 7, key (a, c))", pair, k.kind),
			fmt.Sprintf("create table %s (c %s, id int, primary key (c))", primary, k.kind))
		for _, table := range []string{none, key, pair, primary} {
			var rows []string
			for id, v := range strings.Split(k.rows, ", ") {
				rows = append(rows, fmt.Sprintf("(%s, %d)", v, id))
			}
			run(t, planned, fmt.Sprintf("insert into %s (c, id) values %s", table, strings.Join(rows, ", ")))
		}
		for _, v := range strings.Split(k.values, ", ") {
			for _, condition := range fittingConditions {
				condition = fmt.Sprintf(condition, v)
				want, failed := joined(t, planned, "select id from "+none+" where "+condition)
				for query, c := range map[string]runner{
					"select id from " + key + " where " + condition:                   planned,
					"select id from " + primary + " where " + condition:               cached,
					"select id from " + pair + " where a = 7 and (" + condition + ")": planned,
				} {
					got, err := joined(t, c, query)
					if (err == nil) != (failed == nil) || !slices.Equal(got, want) {
						t.Errorf("%s: %s: %v, %v; without an index %v, %v", k.kind, query, got, err,
							want, failed)
					}
				}
			}
		}
	}
}

// TestWritesByFittingRanges is the same of what writes, and of values that are bound.
func TestWritesByFittingRanges(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, "create table t (d date, n int, v varchar(20), key (d), key (v))",
		"insert into t values ('2024-02-28', 0, '2024-2-28'), ('2024-02-29', 1, '2024-2-29')")
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for _, cache := range []string{"set moka_plan_cache = 0", "set moka_plan_cache = 1"} {
		run(t, c, cache, "update t set n = 0")
		for range 2 {
			for condition, want := range map[string]string{
				"d < ?": "2024-02-28,2024-02-29", "d <= ?": "2024-02-28,2024-02-29", "d > ?": "",
				"d >= ?": "", "d = ?": "", "d <> ?": "2024-02-28,2024-02-29",
				"d between ? and '2024-03-01'": "",
			} {
				var got sql.NullString
				query := "select group_concat(d order by d) from t where " + condition
				err := c.QueryRowContext(t.Context(), query, noon).Scan(&got)
				if err != nil || got.String != want {
					t.Errorf("%s: %s: %v, %v, want %s", cache, condition, got.String, err, want)
				}
			}
		}
		script{
			{"update t set n = n + 1 where d < timestamp'2024-02-29 12:00:00'", ""},
			{"update t set n = n + 2 where d <> '2024-02-29 12:00:00'", ""},
			{"update t set n = n + 4 where v = date'2024-02-29'", ""},
			{"update t set n = n + 8 where d = timestamp'2024-02-29 12:00:00'", ""},
			{"select n from t order by d", "3;7"},
			{"begin", ""},
			{"delete from t where d < timestamp'2024-02-29 12:00:00'", ""},
			{"select count(*) from t", "0"},
			{"rollback", ""},
			{"begin", ""},
			{"delete from t where v < date'2024-03-29' and v > date'2024-02-28'", ""},
			{"select v from t", "2024-2-28"},
			{"rollback", ""},
		}.run(t, c)
	}
}
