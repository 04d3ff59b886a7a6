package engine_test

import (
	"strings"
	"testing"
	"time"
)

// Conditions on the names of database and table are asked before tables are opened; what is answered is the same.
func TestInformationOfOneTable(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	for _, d := range []string{"d", "other"} {
		c.exec("CREATE DATABASE %s", d)
		c.sess.SetCurrentDatabase(d)
		c.exec("CREATE TABLE parent (id INT PRIMARY KEY, name VARCHAR(10) DEFAULT 'x', KEY named (name))")
		c.exec("CREATE TABLE child (id INT, born DATE DEFAULT (CURDATE()), FOREIGN KEY (id) REFERENCES parent (id), CHECK (id > 0))")
		c.exec("CREATE VIEW both_of AS SELECT parent.id, born FROM parent JOIN child ON child.id = parent.id")
	}
	c.sess.SetCurrentDatabase("d")
	for _, q := range []struct{ table, columns string }{
		{"tables", "table_schema, table_name, table_type"},
		{"columns", "table_schema, table_name, ordinal_position, column_name, column_default, column_key"},
		{"statistics", "table_schema, table_name, index_name, column_name"},
		{"key_column_usage", "table_schema, table_name, constraint_name, column_name, referenced_table_name"},
		{"table_constraints", "table_schema, table_name, constraint_name, constraint_type"},
		{"views", "table_schema, table_name, is_updatable"},
	} {
		for _, condition := range []string{
			"table_schema = SCHEMA AND table_name = TABLE", "table_name IN (TABLE, 'child') AND table_schema LIKE 'd%'", "table_name = CONCAT('par', 'ent')",
			"table_schema = DATABASE()", "UPPER(table_name) = 'BOTH_OF' AND SCHEMA = table_schema", "table_schema = 'd' OR table_name = 'child'", "table_schema = 'none'",
		} {
			order := " ORDER BY " + q.columns
			narrow := strings.NewReplacer("SCHEMA", "'d'", "TABLE", "'parent'").Replace(condition)
			got := c.text("SELECT " + q.columns + " FROM information_schema." + q.table + " WHERE " + narrow + order)
			// A subquery keeps the condition from being looked at.
			want := c.text("SELECT " + q.columns + " FROM information_schema." + q.table + " WHERE (SELECT 1) = 1 AND IF((SELECT 1) = 1, " + narrow + ", NULL)" + order)
			if got != want {
				t.Errorf("%s where %s: got\n%swant\n%s", q.table, narrow, got, want)
			}
			if got == "" && condition != "table_schema = 'none'" && (q.table == "tables" || q.table == "columns") {
				t.Errorf("%s where %s: nothing", q.table, narrow)
			}
		}
	}
	c.want("SELECT s.index_name FROM information_schema.statistics s WHERE s.table_schema = 'd' AND s.table_name = 'parent' AND EXISTS (SELECT * FROM information_schema.tables t WHERE t.table_name = s.table_name) ORDER BY 1", "named\nPRIMARY")
	c.want("SELECT t.table_name, (SELECT COUNT(*) FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name) FROM information_schema.tables t WHERE t.table_schema = 'd' ORDER BY 1", "both_of | 2\nchild | 2\nparent | 2")
}

// With a thousand tables a question about the columns of one opens one, and the columns of all are listed in one pass.
func BenchmarkInformationOfOneTable(b *testing.B) {
	s := newServer(b)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	for i := range 1000 {
		c.exec("CREATE TABLE t%d (id INT PRIMARY KEY, a INT DEFAULT 1, b VARCHAR(10) DEFAULT 'x', c DATETIME DEFAULT CURRENT_TIMESTAMP)", i)
	}
	for _, q := range []string{"table_schema = 'd' AND table_name = 't7'", "table_schema = 'd'"} {
		b.Run(q, func(b *testing.B) {
			begun := time.Now()
			for b.Loop() {
				c.text("SELECT * FROM information_schema.columns WHERE " + q)
			}
			b.ReportMetric(float64(time.Since(begun).Milliseconds())/float64(b.N), "ms/op")
		})
	}
}
