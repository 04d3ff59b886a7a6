package sqlfront_test

import (
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// TestLoadDataSets: SET of LOAD DATA looks at the columns that it names. It looked at those by their place,
// so that SET z = a stored b's value whenever the list was not that of the table. The rows are MariaDB's.
func TestLoadDataSets(t *testing.T) {
	root := newDatabase(t).serve().conn("")
	run(t, root, "create database d", "use d", "set global local_infile = 1",
		"create table t (id int primary key, a int, b int, c int, z int, w int)",
		"create table u (id int auto_increment primary key, d date, y int default 7, "+
			"e enum('x', 'y') default 'y', n int not null default 3, "+
			"s varchar(10) default (concat('q', n)), g int as (n + 1))",
		"create table v (id int primary key, n int not null)")
	const numbers, words = "1\t10\t20\t30\n2\t11\t21\t31\n", "2020-01-02\tx\n2021-02-03\ty\n\\N\tx\n"
	mysql.RegisterReaderHandler("numbers", func() io.Reader { return strings.NewReader(numbers) })
	mysql.RegisterReaderHandler("words", func() io.Reader { return strings.NewReader(words) })
	defer mysql.DeregisterReaderHandler("numbers")
	defer mysql.DeregisterReaderHandler("words")
	for _, c := range []struct{ file, into, table, want string }{
		{"numbers", "(id, a, b, c) set z = a, w = b + c", "t", "1 10 20 30 10 50;2 11 21 31 11 52"},
		{"numbers", "(id, @x, b, c) set z = @x, a = id", "t", "1 1 20 30 10 NULL;2 2 21 31 11 NULL"},
		{"numbers", "(c, b, a, id) set z = a, w = id", "t", "30 20 10 1 20 30;31 21 11 2 21 31"},
		{"numbers", "(id, a, @b, @c) set a = a + 1, b = a", "t",
			"1 11 11 NULL NULL NULL;2 12 12 NULL NULL NULL"},
		{"numbers", "(id, a, @b, @c) set b = a, c = b, z = t.c", "t",
			"1 10 10 10 10 NULL;2 11 11 11 11 NULL"},
		{"numbers", "(id, a, b, c) set z = default, w = default(w)", "t",
			"1 10 20 30 NULL NULL;2 11 21 31 NULL NULL"},
		{"numbers", "(@1, @2, @3, @4) set id = @1, w = @2 * 2", "t",
			"1 NULL NULL NULL NULL 20;2 NULL NULL NULL NULL 22"},
		{"numbers", "(a, id, @x, @y) set b = concat(@x, @y), z = a, w = z", "t",
			"10 1 2030 NULL 1 1;11 2 2131 NULL 2 2"},
		{"words", "(d, e) set y = year(d), n = e + 0", "u",
			"2020-01-02 2020 x 1 q1 2;2021-02-03 2021 y 2 q2 3;NULL NULL x 1 q1 2"},
		{"words", "(@d, e) set d = nullif(@d, '2020-01-02'), y = default", "u",
			"NULL 7 x 3 q3 4;2021-02-03 7 y 3 q3 4;NULL 7 x 3 q3 4"},
		{"words", "(@d, @d) set s = @d", "u", "NULL 7 y 3 x 4;NULL 7 y 3 y 4;NULL 7 y 3 x 4"},
		{"words", "(d, e) set nosuch = 1", "u", "error 1054"},
		{"words", "(d, e) set y = nosuch", "u", "error 1054"},
		{"words", "(d, e) set g = 1", "u", "error 3105"},
		{"words", "(d, e) set y = (select 1)", "u", "error 1235"},
		{"words", "(d, e) set y = 1, y = 2", "u", "error 1235"},
		{"words", "(d, e) set y = coalesce(default(y), 1)", "u", "error 1235"},
		// LOCAL is IGNORE.
		{"numbers", "(@x, @y, @z) set id = 1", "t", "1 NULL NULL NULL NULL NULL"},
		{"numbers", "(@x, @y, @z, @z, @z) set id = 1", "t", "1 NULL NULL NULL NULL NULL"},
		{"numbers", "(@x, @y, @z, @z) set id = @x", "v", "1 0;2 0"},
	} {
		got := results(t, root, "load data local infile 'Reader::"+c.file+"' into table "+c.table+" "+c.into)
		if got == "" {
			columns := map[string]string{"t": "id, a, b, c, z, w", "u": "d, y, e, n, s, g", "v": "*"}[c.table]
			got = results(t, root, "select "+columns+" from "+c.table+" order by id")
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.into, got, c.want)
		}
		run(t, root, "delete from "+c.table)
	}
}
