package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestFunctionsByPlans: a function of a column has one value, by the library's plan and by the cached one
// that runs the statement from the second time on. The latter was made of what the binder says, without what
// is put in the place of its expressions: YEAR(20240229) was 2024 once and then NULL, IFNULL(d, s) a date and
// then a time.
func TestFunctionsByPlans(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	run(t, c, `create table f (id int primary key, i int, b bigint, u bigint unsigned, w decimal(12,3),
		x double, s varchar(30), c char(8), d date, t datetime, t6 datetime(6), m time, m6 time(6),
			e enum('b','a'))`,
		`insert into f values (1, 20240229, -1, 18446744073709551615, -1.5, 1.5, '2 03:04:05', 'ab',
			'2024-02-29', '2024-02-29 23:59:58', '2024-02-29 23:59:59.5', '-01:02:03', '12:34:56.789', 'a')`,
		`insert into f values (2, 101, 20240102030405, 5, 20240102, 0.25, '2024-2-30', '7.5x',
			'1999-12-31', '1970-01-01', '2001-02-03 04:05:06', '838:59:59', '-00:00:00.5', 'b')`,
		"insert into f (id) values (3)")
	columns := strings.Split("i b u w x s c d t t6 m m6 e", " ")
	var exprs []string
	for _, a := range columns {
		for _, f := range strings.Split("abs year month day hour minute second date time to_days last_day "+
			"dayofweek quarter concat length upper hex bin round floor sign unix_timestamp not -", " ") {
			exprs = append(exprs, fmt.Sprintf("%s (%s)", f, a))
		}
		exprs = append(exprs, "cast("+a+" as date)", "cast("+a+" as char)", "cast("+a+" as signed)",
			"cast("+a+" as decimal(20,2))", "date_add("+a+", interval 1 day)", a+" is null",
			"sum("+a+")", "max("+a+")", "avg("+a+")")
		for _, o := range strings.Split("i w s d t6 m", " ") {
			for _, f := range []string{"ifnull(%s, %s)", "%s + %s", "%s %% %s", "datediff(%s, %s)",
				"if(id = 1, %s, %s)"} {
				exprs = append(exprs, fmt.Sprintf(f, a, o))
			}
		}
	}
	for _, e := range exprs {
		q := "select " + e + " from f order by 1"
		run(t, c, "set moka_plan_cache = 0")
		once := answer(c, q, nil, true)
		run(t, c, "set moka_plan_cache = 1")
		for range 3 {
			if again := answer(c, q, nil, true); once != again {
				t.Errorf("%s:\n     first %s\n      then %s", q, once, again)
				break
			}
		}
	}
}
