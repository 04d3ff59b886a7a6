package sqlfront_test

import (
	"context"
	"testing"
)

// What MySQL 8.0's ONLY_FULL_GROUP_BY knows of columns that depend on others. MariaDB's knows nothing of it;
// what is refused by both is in cmd/itest/testdata/compare/groups.sql.
func TestFunctionalDependence(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d",
		"create table p (id int primary key, name varchar(9), n int, u int not null, un int, unique (u), unique (un))",
		"create table b (id int primary key, p int, pages int, name varchar(9))",
		"create table k (a int, b int, c int, primary key (a, b))",
		"insert into p (id, name, n, u, un) values (1, 'a', 10, 1, 1), (2, 'b', 20, 2, null), (3, 'c', 30, 3, null)",
		"insert into b values (1, 1, 500, 'x'), (2, 1, 300, 'y'), (3, 2, 600, 'z')",
		"create view v as select id, name, n * 2 as twice from p",
		"create view s as select p, count(*) as n, max(pages) as most from b group by p")
	for q, rows := range map[string]string{
		"select id, name from p group by id":                                                                          "1 a; 2 b; 3 c",
		"select u, name from p group by u":                                                                            "1 a; 2 b; 3 c",
		"select a, b, c from k group by a, b":                                                                         "",
		"select p.name, count(b.id) from p left join b on b.p = p.id group by p.id":                                   "a 2; b 1; c 0",
		"select b.name, p.name from b join p on b.p = p.id group by b.id":                                             "x a; y a; z b",
		"select b.p, p.name, count(*) from b left join p on b.p = p.id group by b.p":                                  "1 a 2; 2 b 1",
		"select p.id, p.name from b join p using (id) group by b.id":                                                  "1 a; 2 b; 3 c",
		"select name, n, count(*) from p where id = 1":                                                                "a 10 1",
		"select name, max(n) from p where name = 'a' and 1":                                                           "a 10",
		"select x.id, x.name, x.twice from v x group by x.id":                                                         "1 a 20; 2 b 40; 3 c 60",
		"select s.p, s.n, s.most, count(*) from s join b on b.p = s.p group by s.p":                                   "1 2 500 2; 2 1 600 1",
		"with c as (select id, name from p) select c.name from c group by c.id":                                       "a; b; c",
		"select p, (select name from p where p.id = b.p) as n, count(*) from b group by p":                            "1 a 2; 2 b 1",
		"select p, exists (select 1 from p where p.id = b.p and p.n > 10) as n from b group by p":                     "1 0; 2 1",
		"select exists (select 1 from p where p.id = b.p and p.n > 10) as x, count(*) from b group by x":              "0 2; 1 1",
		"select p + 1, count(*) from b group by p + 1":                                                                "2 2; 3 1",
		"select p.id, (select count(*) from b where b.name = p.name) from p group by p.id":                            "1 0; 2 0; 3 0",
		"select p.id, l.n from p join lateral (select count(*) as n from b where b.p = p.id) l on true group by p.id": "1 2; 2 1; 3 0",
	} {
		want(t, c, q+" order by 1", rows)
	}
	for q, code := range map[string]uint16{
		"select name from p group by n":                                                                         1055,
		"select un, name from p group by un":                                                                    1055, // several rows may have NULL
		"select a, c from k group by a":                                                                         1055,
		"select p.id, b.name from p left join b on b.p = p.id group by p.id":                                    1055,
		"select p.id, p.name from p, b group by b.id":                                                           1055,
		"select b.id, p.name from b left join p on p.id = 3 and b.pages > 400 group by b.p":                     1055,
		"select p, (select name from p where p.id = b.id) from b group by p":                                    1055,
		"select p, exists (select 1 from p where p.id = b.id) from b group by p":                                1055,
		"select p from b group by p order by name":                                                              1055,
		"select p + 2 from b group by p + 1":                                                                    1055,
		"select id, name, count(*) from p group by id with rollup":                                              1055,
		"select s.p from s group by s.most":                                                                     1055,
		"with c as (select id, name from p) select x.id, y.name from c x join c y on x.id > y.id group by x.id": 1055,
		"select n - 1 as name from p group by name":                                                             1055, // the column, not the alias
		"select name, count(*) from p":                                                                          1140,
		"select name, count(*) from p where false":                                                              1140,
		"select (select b.name from b where b.id = p.id), count(*) from p":                                      1140,
	} {
		_, err := c.ExecContext(context.Background(), q)
		wantErr(t, q, err, code, "42000")
	}
	run(t, c, "set sql_mode = ''")
	want(t, c, "select max(id), name is null from p group by n > 100", "3 0")
}

// The library binds HAVING to columns that it finds by name, and forgets what subqueries need of the groups.
func TestHavingNames(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table p (id int primary key, name varchar(9))", "create table b (id int primary key, p int, r int)",
		"insert into p values (1, 'a'), (2, 'b'), (3, 'c')", "insert into b values (1, 1, 5), (2, 1, 2), (3, 2, 9)")
	// In a procedure a name may be a variable's.
	run(t, c, "create procedure q(least int) select p, sum(r) as r from b group by p having sum(r) > least",
		"create procedure j(r int) select p.id from p join b on b.p = p.id group by p.id having sum(b.r) > r and count(b.id) = 1")
	want(t, c, "call q(7)", "2 9")
	want(t, c, "call j(8)", "2")
	run(t, c, "create view v as select p, sum(r) as r from b group by p having r > 7 and max(b.id) > 1", "create table c as select p.id from p join b on b.p = p.id group by p.id having count(b.id) > 1")
	want(t, c, "select * from v", "2 9")
	want(t, c, "select id from c", "1")
	want(t, c, "select p from b group by p having sum(r) > ? and (select count(*) from p where p.id >= b.p) = ?", "1", 3, 3)
}

// TestVaryingKeys: MariaDB has no keys over expressions.
func TestVaryingKeys(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (a int)")
	for _, q := range []string{"create table u (a int, key ((rand())))", "create index i on t ((a + rand()))", "alter table t add index ((a + connection_id()))"} {
		_, err := c.ExecContext(context.Background(), q)
		wantErr(t, q, err, 3758, "HY000")
	}
	run(t, c, "create index i on t ((abs(a)))")
}
