package sqlfront_test

import "testing"

// TestUpdateOfNothingLeavesStampsAlone: an UPDATE that changes nothing does not touch columns with ON UPDATE
// CURRENT_TIMESTAMP, whatever the table has and whether there is a plan.
func TestUpdateOfNothingLeavesStampsAlone(t *testing.T) {
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	c := s.conn("d")
	const columns = "n int, s varchar(20), at datetime default '2001-01-01' on update current_timestamp"
	run(t, c, "create table p (id int primary key, "+columns+")",
		"create table c (id int primary key, p int, "+columns+", "+
			"foreign key (p) references p (id) on update cascade)",
		"create table plain (id int primary key, "+columns+")",
		"create table g (id int primary key, "+columns+", p int, b varchar(30) as (concat(s, 'x')) stored, "+
			"foreign key (p) references p (id))",
		"create table f (id int primary key, "+columns+", p int, foreign key (p) references p (id))",
		"create trigger fb before update on f for each row set new.s = new.s")
	for _, x := range []string{"p", "c", "plain", "g", "f"} {
		run(t, c, "insert into "+x+" (id, n, s) values (1, 5, 'a'), (2, 6, 'b')")
	}
	for _, cache := range []string{"1", "0"} {
		run(t, c, "set moka_plan_cache = "+cache)
		for _, x := range []string{"p", "c", "plain", "g", "f"} {
			const sets = "n = 5, s = 'a' where id = 1"
			for _, u := range []string{
				"update " + x + " set " + sets,
				"update " + x + " set n = n, s = concat(s, '')",
				"update ignore " + x + " set " + sets,
				"update " + x + " set n = (select 5) where id = 1",
				"update " + x + " set n = n order by n desc limit 1",
				"update " + x + " join (select 1 as one) o set " + x + ".n = " + x + ".n",
				"update " + x + " x, p q set x.s = x.s where x.id = q.id",
				"insert into " + x + " (id) values (1) on duplicate key update n = 5",
			} {
				run(t, c, u)
				if got := text(t, c, "select count(*) from "+x+" where at > '2001-01-01'"); got != "0" {
					t.Errorf("cache %s: %s touches %s rows", cache, u, got)
					run(t, c, "update "+x+" set at = '2001-01-01'")
				}
			}
			run(t, c, "update "+x+" set s = 'A' where id = 1")
			want(t, c, "select count(*) from "+x+" where at > '2001-01-01'", "1")
			run(t, c, "update "+x+" set s = 'a', at = '2001-01-01' where id = 1")
		}
	}
}
