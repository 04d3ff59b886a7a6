package sqlfront_test

import (
	"context"
	"testing"
)

// BenchmarkStatements is a statement from driver to store and back over a loopback socket, the store in
// memory: what the SQL layers cost. Client and server share the process, so the driver's work is in the
// figures.
func BenchmarkStatements(b *testing.B) {
	s := newDatabase(b).serve()
	c := s.conn("")
	run(b, c, "create database d", "use d", "create table t (id int primary key, n int, v varchar(20))",
		"insert into t values (1, 0, 'one'), (2, 0, 'two')")
	ctx := context.Background()
	read := func(query string, args ...any) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			var v string
			for b.Loop() {
				if err := c.QueryRowContext(ctx, query, args...).Scan(&v); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("ping", read("select 1"))
	b.Run("point-text", read("select v from t where id = 1"))
	prepared, err := c.PrepareContext(ctx, "select v from t where id = ?")
	if err != nil {
		b.Fatal(err)
	}
	defer prepared.Close()
	b.Run("point-prepared", func(b *testing.B) {
		b.ReportAllocs()
		var v string
		for b.Loop() {
			if err := prepared.QueryRowContext(ctx, 1).Scan(&v); err != nil {
				b.Fatal(err)
			}
		}
	})
	write := func(query string) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.ExecContext(ctx, query); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("update", write("update t set n = n + 1 where id = 1"))
	b.Run("upsert", write("insert into t values (1, 5, 'one') on duplicate key update n = n + values(n)"))
	b.Run("replace", write("replace into t values (3, 5, 'three')"))
}
