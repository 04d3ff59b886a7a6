package engine_test

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/engine"
)

// BenchmarkBody is one run of a compiled body, as an observer runs it; "plain" is the same statement by its plan without a body.
func BenchmarkBody(b *testing.B) {
	s := newServer(b)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	c.exec("CREATE TABLE ev (id INT PRIMARY KEY, a INT, v DECIMAL(10,2))")
	c.exec("CREATE TABLE agg (id INT PRIMARY KEY, n INT, total DECIMAL(20,2))")
	c.exec("CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, a INT, v DECIMAL(10,2))")
	c.exec("INSERT INTO agg VALUES (1, 0, 0)")
	c.exec("INSERT INTO ev VALUES (1, 1, 2.5)")
	_, rows, err := c.run("SELECT * FROM ev")
	if err != nil {
		b.Fatal(err)
	}
	for _, body := range []struct{ name, text, plain string }{
		{"update", "UPDATE agg SET n = n + 1, total = total + NEW.v WHERE id = NEW.a", "UPDATE agg SET n = n + 1, total = total + 2.5 WHERE id = 1"},
		{"insert", "INSERT INTO log (a, v) VALUES (NEW.a, NEW.v)", "INSERT INTO log (a, v) VALUES (1, 2.5)"},
		{"select", "BEGIN DECLARE x INT; SELECT n INTO x FROM agg WHERE id = NEW.a; END", ""},
		{"if", "BEGIN IF NEW.a > 7 THEN DELETE FROM log; END IF; END", ""},
		{"update and if", "BEGIN IF NEW.a < 7 THEN UPDATE agg SET n = n + 1, total = total + NEW.v WHERE id = NEW.a; END IF; END", ""},
		{"join", "INSERT INTO log (a, v) SELECT agg.n, ev.v FROM agg JOIN ev ON ev.a = agg.id WHERE agg.id = NEW.a", ""},
	} {
		b.Run(body.name, func(b *testing.B) {
			c.exec("BEGIN")
			defer c.exec("ROLLBACK")
			c.exec("SELECT 1 FROM agg")
			ctx := c.context()
			x, err := s.eng.CompileBody(ctx, "d", "CREATE TRIGGER x AFTER INSERT ON ev FOR EACH ROW "+body.text, sql.LoadSqlMode(ctx).String(), engine.BodyOf{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Run(ctx, nil, rows[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
		if body.plain == "" {
			continue
		}
		b.Run(body.name+" plain", func(b *testing.B) {
			c.exec("BEGIN")
			defer c.exec("ROLLBACK")
			c.exec("SELECT 1 FROM agg")
			ctx := c.context()
			ran := false
			for range 3 {
				ran, err = c.sess.RunPlan(ctx, body.plain)
			}
			if !ran || err != nil {
				b.Fatal("there is no plan", err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.sess.RunPlan(ctx, body.plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
