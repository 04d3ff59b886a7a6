package sqlfront_test

import "testing"

// TestWritesThroughViewsWithSubqueries: a bare name in a subquery of the view's WHERE was taken for a column
// of the table below, so that the condition held of each row: UPDATE and DELETE changed rows that are not in
// the view.
func TestWritesThroughViewsWithSubqueries(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (id int primary key, a int)",
		"create table ids (id int primary key, a int, n int)", "insert into ids values (1, 7, 1), (3, 8, 3)",
		"create view v as select id, a from t where id in (select id from ids)",
		"create view renamed as select id as x, a as y from t where id in (select id from ids where a > 7)",
		"create view e as select id, a from t where exists (select 1 from ids where n = t.id and a = 7)",
		"create view deep as select * from v where a not in (select n from ids where id = 3)",
		"create view scalar as select * from t where a < (select max(a) from ids)",
		"create view u as select * from t where id in (select n from ids union select id from ids)")
	for _, q := range []struct{ query, expect string }{
		{"update v set a = a + 10", "1 11;2 2;3 13;4 4"},
		{"delete from v", "2 2;4 4"},
		{"update v set a = a + 10 where a > 1 limit 1", "1 1;2 2;3 13;4 4"},
		{"update renamed set y = y + 10", "1 1;2 2;3 13;4 4"},
		{"delete from renamed", "1 1;2 2;4 4"},
		{"update e set a = a + 10", "1 11;2 2;3 3;4 4"},
		{"delete from deep", "2 2;3 3;4 4"},
		{"update scalar set a = 20", "1 20;2 20;3 20;4 20"},
		{"delete from u", "2 2;4 4"},
		{"insert into v values (5, 5)", "1 1;2 2;3 3;4 4;5 5"},
		{"insert into v values (2, 1), (3, 1) on duplicate key update a = 9", "1 1;2 9;3 9;4 4"},
	} {
		run(t, c, "delete from t", "insert into t values (1, 1), (2, 2), (3, 3), (4, 4)")
		script{{q.query, ""}, {"select * from t", q.expect}}.run(t, c)
	}
}
