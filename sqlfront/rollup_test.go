package sqlfront_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// What MariaDB does not have of WITH ROLLUP; the rest is compared with it
// (cmd/itest/testdata/compare/rollup.sql).
func TestGrouping(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table s (id int primary key, y int not null, c varchar(9), p int)",
		"insert into s values (1, 2000, 'x', 5), (2, 2001, null, 7), (3, 2001, 'x', 1)")
	want(t, c, "select y, c, sum(p), grouping(y), grouping(c), grouping(y, c) from s group by y, c with rollup",
		"2000 x 5 0 0 0; 2000 NULL 5 0 1 1; 2001 NULL 7 0 0 0; 2001 x 1 0 0 0; 2001 NULL 8 0 1 1; NULL NULL 13 1 1 3")
	want(t, c, "select if(grouping(y), 'all', y), sum(p) from s group by y with rollup order by grouping(y) desc, y desc", "all 13; 2001 8; 2000 5")
	want(t, c, "select sum(p) from s group by y with rollup having grouping(y) = 1", "13")
	want(t, c, "select d.s from (select y, sum(p) as s from s group by y with rollup) d where d.y is null", "13")
	want(t, c, "select y, sum(p) from s where id < ? group by y with rollup", "2000 5; 2001 7; NULL 12", 3)
	run(t, c, "create view v as select y, count(*) as n from s group by y with rollup")
	want(t, c, "select n from v where y is null", "3")
	_, err := c.ExecContext(context.Background(), "select ifnull(c, 'none'), count(*) from s group by ifnull(c, 'none') with rollup")
	wantErr(t, "an expression that is not NULL", err, 1235, "42000")
	// Keys that are as long as there are columns, for as many groups of each row: days (usage-11 of the
	// second trial).
	for columns, number := range map[int]uint16{65: 1235, 20_000: 1117} {
		query := "select 1 from s group by y" + strings.Repeat(", y + 1", columns-1) + " with rollup"
		_, err = c.ExecContext(context.Background(), query)
		wantNumber(t, fmt.Sprint(columns, " columns"), err, number)
	}
	_, err = c.ExecContext(context.Background(), "select grouping(p), count(*) from s group by y with rollup")
	wantErr(t, "GROUPING of something else", err, 1582, "42000")
}
