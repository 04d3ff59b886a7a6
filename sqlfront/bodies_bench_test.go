package sqlfront_test

import (
	"context"
	"testing"
)

// BenchmarkBodies is what a statement costs that stands in a body, beside the same statement from a client.
func BenchmarkBodies(b *testing.B) {
	s := newDatabase(b).serve()
	c := s.conn("")
	run(b, c, "create database d", "use d",
		"create table agg (id int primary key, n int, total decimal(20,2))",
		"create table plain (id int primary key auto_increment, a int, v decimal(10,2))",
		"create table fired (id int primary key auto_increment, a int, v decimal(10,2))",
		"create table stamped (id int primary key auto_increment, a int, v decimal(10,2))",
		"insert into agg values (1, 0, 0), (2, 0, 0)",
		"create trigger f after insert on fired for each row update agg set n = n + 1, total = total + new.v where id = new.a",
		"create trigger st before insert on stamped for each row set new.a = new.a + 1",
		"create procedure points(k int, v decimal(10,2)) begin declare x int default 0; "+
			"select n into x from agg where id = k; update agg set n = n + 1, total = total + v where id = k; insert into plain (a, v) values (x, v); end",
		"create procedure ten(k int) begin declare i int default 0; while i < 10 do update agg set n = n + 1 where id = k; set i = i + 1; end while; end",
		"create procedure nothing() begin end",
	)
	ctx := context.Background()
	write := func(queries ...string) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, q := range queries {
					if _, err := c.ExecContext(ctx, q); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	}
	b.Run("insert", write("insert into plain (a, v) values (1, 2.5)"))
	b.Run("insert+update", write("begin", "insert into plain (a, v) values (1, 2.5)", "update agg set n = n + 1, total = total + 2.5 where id = 1", "commit"))
	b.Run("insert-fires", write("insert into fired (a, v) values (1, 2.5)"))
	b.Run("insert-stamps", write("insert into stamped (a, v) values (1, 2.5)"))
	b.Run("call-nothing", write("call nothing()"))
	b.Run("call-points", write("call points(1, 2.5)"))
	b.Run("call-ten", write("call ten(2)"))
}
