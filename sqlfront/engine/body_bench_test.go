package engine_test

import (
	"testing"

	"moka/sqlfront/engine"
)

// BenchmarkBody is one run of a compiled body of two statements of a row, as an observer runs it.
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
	for _, body := range []struct{ name, text string }{
		{"update", "UPDATE agg SET n = n + 1, total = total + NEW.v WHERE id = NEW.a"},
		{"insert", "INSERT INTO log (a, v) VALUES (NEW.a, NEW.v)"},
		{"select", "BEGIN DECLARE x INT; SELECT n INTO x FROM agg WHERE id = NEW.a; END"},
		{"if", "BEGIN IF NEW.a > 7 THEN DELETE FROM log; END IF; END"},
	} {
		b.Run(body.name, func(b *testing.B) {
			c.exec("BEGIN")
			defer c.exec("ROLLBACK")
			c.exec("SELECT 1 FROM agg")
			ctx := c.context()
			x, err := s.eng.CompileBody(ctx, "d", "CREATE TRIGGER x AFTER INSERT ON ev FOR EACH ROW "+body.text, "", engine.BodyOf{})
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
	}
}
