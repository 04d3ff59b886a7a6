package sqlfront_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestBodiesChangeNothing fires random triggers by random statements, in a session with the plan cache, where
// bodies are kept and their statements have plans, and in one without, where each is planned for itself. What
// a client sees and what is left must be the same: also of values that do not fit, of handlers, cascades,
// statements that fail in the middle of many rows, savepoints, schema changes between two firings, and
// temporary tables before those that bodies mean.
func TestBodiesChangeNothing(t *testing.T) {
	seeds := 3
	if n, err := strconv.Atoi(os.Getenv("MOKA_PLANCACHE_SEEDS")); err == nil {
		seeds = n
	}
	s := newDatabase(t).serve()
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			c := &comparison{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 7))}
			for i, db := range []string{fmt.Sprintf("kept%d", seed), fmt.Sprintf("anew%d", seed)} {
				run(t, s.conn(""), "create database "+db)
				conn, err := s.open("root", db, "").Conn(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				run(t, conn, bodyTables...)
				run(t, conn, fmt.Sprintf("set moka_plan_cache = %d", 1-i))
				c.conns[i] = conn
			}
			before := s.Metrics()
			for range 500 {
				c.fire()
			}
			c.check("commit", nil, false)
			c.compareBodyTables()
			after := s.Metrics()
			if n := after.PlanBodyHits - before.PlanBodyHits; n < 50 {
				t.Errorf("only %d statements found their triggers compiled", n)
			}
		})
	}
}

var bodyTables = []string{
	`create table src (id int primary key, k int, s varchar(10), d decimal(8,2), at date)`,
	`create table dst (id int primary key, n int not null default 0, s varchar(6), d decimal(6,1), u tinyint unsigned unique)`,
	`create table hist (n int auto_increment primary key, what varchar(12), a int, b varchar(20), key ka (a))`,
	`create table sub (id int primary key, v int, constraint fk foreign key (v) references dst (id) on delete cascade on update set null)`,
	`insert into dst (id, n, s) values (0, 0, 'zero'), (1, 1, 'one'), (2, 2, 'two'), (3, 3, null), (4, 4, 'four')`,
	`insert into sub values (1, 1), (2, 2), (3, 2)`,
	`create trigger cascade1 after update on dst for each row insert into hist (what, a, b) values ('dst', new.id, concat_ws('/', old.n, new.n, new.s))`,
	`create trigger cascade2 before insert on hist for each row set new.a = coalesce(new.a, -1), new.b = left(new.b, 20)`,
}

// bodyTriggers are bodies by what fires them; one of each kind is there at a time.
var bodyTriggers = map[string][]string{
	"before insert": {
		"set new.k = new.k + 1",
		"set new.s = concat(new.s, new.s), new.d = new.d * 2",
		"begin declare x int default (select max(n) from dst); set new.k = coalesce(new.k, x); end",
		"begin declare x int; declare y varchar(10); select n, s into x, y from dst where id = new.k; set new.s = y, new.d = x; end",
		"begin if new.k = 3 then signal sqlstate '45000' set message_text = 'three'; elseif new.k > 3 then set new.k = 0; end if; end",
		"begin case new.k when 1 then set new.s = 'one'; when 2 then set new.d = null; else set new.at = '2024-02-29'; end case; end",
	},
	"after insert": {
		"update dst set n = n + 1, d = d + new.d where id = new.k",
		"update dst set n = n + new.k, s = new.s where id = new.k",
		"insert into dst (id, n, s, d, u) values (new.id, new.k, new.s, new.d, new.k)",
		"delete from dst where id = new.k",
		"update dst set u = new.k where id >= new.k and id < new.k + 2",
		"insert into hist (what, a, b) select s, id, n from dst where id >= new.k order by id",
		"insert into hist (what, a, b) select dst.s, sub.id, dst.n from dst join sub on sub.v = dst.id where dst.id = new.k order by sub.id",
		"update dst join sub on sub.v = dst.id set dst.n = dst.n + new.id where sub.id = new.k",
		"insert into hist (what, a) values ('max', (select max(n) from dst where id <= new.k))",
		"replace into dst (id, n, s) values (new.k, new.id, new.s)",
		"insert into dst (id, s) values (new.k, new.s) on duplicate key update n = n + 1, s = values(s)",
		"begin declare n int default 0; declare continue handler for 1062 set n = n + 1; insert into dst (id, u) values (new.id, new.k); " +
			"insert into dst (id, u) values (new.id + 50, new.k), (new.id + 51, new.k); insert into hist (what, a) values ('dup', n); end",
		"begin declare exit handler for sqlexception insert into hist (what, a) values ('caught', new.id); update dst set n = new.k where id = 1; " +
			"insert into dst (id, n, s) values (new.id, new.k, new.s); insert into hist (what) values ('through'); end",
		"begin declare i int default 0; while i < new.k and i < 4 do update dst set n = n + i where id = i; set i = i + 1; end while; end",
		"begin declare done int default 0; declare x int; declare c cursor for select id from dst where n >= new.k order by id; " +
			"declare continue handler for not found set done = 1; open c; l: loop fetch c into x; if done then leave l; end if; " +
			"insert into hist (what, a) values ('cursor', x); end loop; close c; end",
		"begin declare a, b int; update dst set n = n + 1 where id < 3; set a = row_count(); insert into hist (what, a) values ('count', a); " +
			"set b = last_insert_id(); update hist set b = b > 0 where n = last_insert_id(); end",
		"begin update dst set n = n + 1 where id = 1; if new.k is null then delete from src where id = 1; end if; end",
	},
	"before update": {
		"set new.k = old.k + 1",
		"begin if new.k <=> old.k then set new.s = 'same'; end if; end",
		"begin if new.d > 100 then signal sqlstate '45000' set message_text = 'dear'; end if; end",
	},
	"after update": {
		"update dst set n = n + new.k - old.k where id in (old.k, new.k)",
		"insert into hist (what, a, b) values ('update', old.id, concat(old.s, '>', new.s))",
		"begin delete from dst where id = old.k; insert into dst (id, n, s) values (new.k, new.id, old.s); end",
	},
	"before delete": {
		"insert into hist (what, a, b) values ('delete', old.id, old.d)",
		"begin declare n int; select count(*) into n from hist where a = old.id; if n > 5 then delete from hist where a = old.id; end if; end",
	},
	"after delete": {
		"update dst set n = n - 1 where id = old.k",
		"begin set @gone = concat_ws(',', @gone, old.id); set @gone = right(@gone, 20); end",
	},
}

var bodyEvents = []string{"before insert", "after insert", "after insert", "after insert", "before update", "after update", "before delete", "after delete"}

// fire runs one random statement.
func (c *comparison) fire() {
	r := c.rng
	id := func() string { return strconv.Itoa(r.IntN(30)) }
	num := func() string {
		return []string{"0", "1", "2", "3", "4", "7", "300", "-1", "null", "2147483647"}[r.IntN(10)]
	}
	row := func() string {
		s := []string{"'a'", "'ab'", "''", "null", "'abcdef'", "'abcdefghij'", "'é'"}[r.IntN(7)]
		d := []string{"0", "1.25", "-2.5", "99999.9", "null", "123.456"}[r.IntN(6)]
		at := []string{"null", "'2024-01-15'", "'2023-12-31'"}[r.IntN(3)]
		return "(" + strings.Join([]string{id(), num(), s, d, at}, ", ") + ")"
	}
	switch r.IntN(32) {
	case 0, 1, 2:
		event := bodyEvents[r.IntN(len(bodyEvents))]
		bodies := bodyTriggers[event]
		name := strings.ReplaceAll(event, " ", "_")
		c.check("commit", nil, false)
		c.check("drop trigger if exists "+name, nil, false)
		c.check("create trigger "+name+" "+event+" on src for each row "+bodies[r.IntN(len(bodies))], nil, false)
	case 3:
		c.check("begin", nil, false)
	case 4:
		c.check([]string{"commit", "rollback"}[r.IntN(2)], nil, false)
	case 5:
		c.check("savepoint p", nil, false)
	case 6:
		c.check("rollback to p", nil, false)
	case 7:
		c.check("commit", nil, false)
		c.check([]string{
			"alter table dst add column extra int default 5", "alter table dst drop column extra", "alter table dst add index kn (n)", "alter table dst drop index kn",
			"alter table dst modify s varchar(6) default 'def'", "alter table hist add index kw (what)", "alter table hist drop index kw",
		}[r.IntN(7)], nil, false)
	case 8:
		c.check("create temporary table dst (id int primary key, n int not null default 0, s varchar(6), d decimal(6,1), u tinyint unsigned unique)", nil, false)
		c.check("insert into src values "+row()+", "+row(), nil, false)
		c.check("select * from dst order by id", nil, true)
		c.check("drop temporary table if exists dst", nil, false)
	case 9:
		c.check("set sql_mode = "+[]string{"''", "'STRICT_TRANS_TABLES'", "default"}[r.IntN(3)], nil, false)
	case 10:
		c.check("select row_count(), @gone", nil, true)
		c.compareBodyTables()
	case 11, 12:
		c.check("update src set k = "+num()+" where id = "+id(), nil, false)
	case 13:
		c.check("update src set k = k + 1, d = d + 1 where id >= "+id()+" and id < "+id(), nil, false)
	case 14:
		c.check("delete from src where id = "+id(), nil, false)
	case 15:
		c.check("delete from src where id > "+id(), nil, false)
	case 16:
		c.check("replace into src values "+row(), nil, false)
	case 17:
		c.check("insert into src values "+row()+", "+row()+" on duplicate key update k = k + 1", nil, false)
	case 18:
		c.check("insert into src select id + 30, k, s, d, at from src where id < "+num(), nil, false)
	case 19, 20, 21:
		c.check("insert into src values "+row()+", "+row()+", "+row(), nil, false)
	case 30:
		c.check("update src join (select 3 as n) one on src.k < one.n "+
			"set src.k = src.k + "+num()+", src.d = one.n where src.id > "+id(), nil, false)
	case 31:
		c.check("delete src from src join (select "+num()+" as n) one on src.k = one.n", nil, false)
	default:
		c.check("insert into src values "+row(), nil, false)
	}
}

func (c *comparison) compareBodyTables() {
	for _, q := range []string{"select * from src order by id", "select * from dst order by id", "select what, a, b from hist order by n", "select * from sub order by id"} {
		c.check(q, nil, true)
	}
}
