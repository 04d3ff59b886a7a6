package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"moka/sqlfront/catalog"
	"moka/txn"
)

// paddedRows are texts of which many are equal under a collation that pads.
var paddedRows = []string{"a", "b ", "a  ", "", " ", "ab", "a b", "a\t", "A ", "a\x01c", "z", "b", "a !", "B  ", "a \t"}

const (
	paddedTable = "id INT PRIMARY KEY, v VARCHAR(20) COLLATE utf8mb4_general_ci, w VARCHAR(20) COLLATE utf8mb4_bin, n INT, KEY v (v, n), KEY w (w), KEY p (v(2))"
	plainTable  = "id INT PRIMARY KEY, v VARCHAR(20) COLLATE utf8mb4_general_ci, w VARCHAR(20) COLLATE utf8mb4_bin, n INT"
)

// loosen makes a table's keys those of a release before there was padding. The table has to be empty.
func (s *server) loosen(name string) {
	s.t.Helper()
	ctx := context.Background()
	t := s.client.Begin(txn.TxnOptions{})
	defer t.Rollback()
	cat := s.eng.Catalog()
	snap, err := cat.Snapshot(ctx, t)
	if err != nil {
		s.t.Fatal(err)
	}
	d, _ := snap.Database("db")
	table, ok := d.Table(name)
	if !ok {
		s.t.Fatalf("no table %s", name)
	}
	old := table.Clone()
	old.PadSpace = false
	for i := range old.Indexes {
		old.Indexes[i].PadSpace = false
	}
	if _, err := cat.UpdateTable(ctx, t, old); err != nil {
		s.t.Fatal(err)
	}
	if _, err := t.Commit(ctx); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) descriptor(name string) *catalog.Table {
	s.t.Helper()
	d, _ := s.eng.Catalog().Latest().Database("db")
	table, ok := d.Table(name)
	if !ok {
		s.t.Fatalf("no table %s", name)
	}
	return table
}

func (c *session) fillPadded(table string) {
	c.t.Helper()
	for i, v := range paddedRows {
		v = strings.NewReplacer("\t", `\t`, "\x01", "\x01").Replace(v)
		c.exec("INSERT INTO %s VALUES (%d, '%s', '%s', %d)", table, i, v, v, i%3)
	}
	c.exec("INSERT INTO %s VALUES (99, NULL, NULL, 1)", table)
}

// A table whose keys are older than padding is read by them, and answers as one without keys does and as one with new keys does.
func TestKeysFromBeforePadding(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE db")
	c.exec("USE db")
	c.exec("CREATE TABLE old (%s)", paddedTable)
	c.exec("CREATE TABLE new (%s)", paddedTable)
	c.exec("CREATE TABLE plain (%s)", plainTable)
	s.loosen("old")
	c = s.session("db")
	for _, table := range []string{"old", "new", "plain"} {
		c.fillPadded(table)
	}
	if d := s.descriptor("old"); d.Indexes[0].PadSpace || !s.descriptor("new").Indexes[0].PadSpace {
		t.Fatalf("descriptors: %+v", d.Indexes)
	}
	for _, col := range []string{"v", "w"} {
		var conditions []string
		for _, v := range paddedRows {
			v = strings.ReplaceAll(v, "\t", `\t`)
			for _, op := range []string{"=", "<", "<=", ">", ">=", "<>", "<=>"} {
				conditions = append(conditions, fmt.Sprintf("%s %s '%s'", col, op, v))
			}
			conditions = append(conditions, fmt.Sprintf("%s IN ('%s', 'q')", col, v), fmt.Sprintf("%s = '%s' AND n = 1", col, v),
				fmt.Sprintf("%s BETWEEN '%s' AND 'a b'", col, v), fmt.Sprintf("%s = '%s' OR n = 2", col, v))
		}
		conditions = append(conditions, col+" LIKE 'a%'", col+" LIKE 'a %'", col+" IS NULL", "NOT ("+col+" > 'a')")
		for _, where := range conditions {
			q := "SELECT id FROM %s WHERE " + where + " ORDER BY id"
			want := c.text(strings.Replace(q, "%s", "plain", 1))
			for _, table := range []string{"old", "new"} {
				if got := c.text(strings.Replace(q, "%s", table, 1)); got != want {
					t.Errorf("%s, %s:\n%swithout an index:\n%s", table, where, got, want)
				}
			}
		}
		for _, q := range []string{
			"SELECT id FROM %s ORDER BY " + col + ", id", "SELECT id FROM %s ORDER BY " + col + " DESC, id LIMIT 4", "SELECT COUNT(DISTINCT " + col + ") FROM %s",
			"SELECT LOWER(TRIM(MIN(" + col + "))), LOWER(TRIM(MAX(" + col + "))) FROM %s", "SELECT a.id, b.id FROM %s a JOIN plain b ON a." + col + " = b." + col + " ORDER BY 1, 2",
			"SELECT a.id FROM plain a JOIN %s b ON a." + col + " = b." + col + " AND b.n = 1 ORDER BY 1", "SELECT COUNT(*), MIN(id) FROM %s GROUP BY " + col + " ORDER BY 2",
		} {
			want := c.text(strings.Replace(q, "%s", "plain", 1))
			for _, table := range []string{"old", "new"} {
				if got := c.text(strings.Replace(q, "%s", table, 1)); got != want {
					t.Errorf("%s, %s:\n%swithout an index:\n%s", table, q, got, want)
				}
			}
		}
	}
	// Writers keep the old keys up; making an index anew gives it the new ones.
	c.exec("UPDATE old SET v = 'a ' WHERE v = 'b'")
	c.exec("DELETE FROM old WHERE w = 'z '")
	c.want("SELECT COUNT(*) FROM old WHERE v = 'a'", "6")
	c.exec("ALTER TABLE old DROP INDEX v")
	c.exec("ALTER TABLE old ADD INDEX v2 (v, n)")
	d := s.descriptor("old")
	for _, x := range d.Indexes {
		if x.PadSpace != (x.Name == "v2") {
			t.Errorf("index %s: padded %v", x.Name, x.PadSpace)
		}
	}
	c.want("SELECT COUNT(*) FROM old WHERE v = 'a'", "6")
	for _, table := range []string{"old", "new"} {
		if got := c.text("CHECK TABLE " + table); !strings.Contains(got, "OK") && !strings.Contains(got, "error") {
			t.Errorf("CHECK TABLE %s: %s", table, got)
		}
	}
}

// Unique keys are unique without the spaces at the end, those from before with them.
func TestPaddedKeysAreUnique(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE db")
	c.exec("USE db")
	for _, table := range []string{"old", "new"} {
		c.exec("CREATE TABLE %s (name VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, u VARCHAR(9) COLLATE utf8mb4_bin UNIQUE)", table)
	}
	s.loosen("old")
	c = s.session("db")
	c.exec("INSERT INTO new VALUES ('a ', 'x'), ('b', NULL)")
	for _, v := range []string{"('A', 'y')", "('c', 'x  ')", "('b   ', 'z')"} {
		if code := c.code("INSERT INTO new VALUES " + v); code != 1062 {
			t.Errorf("%s: error %d", v, code)
		}
	}
	c.exec("UPDATE new SET name = 'a' WHERE name = 'a   '")
	c.want("SELECT CONCAT('[', name, ']'), u FROM new ORDER BY name", "[a] | x", "[b] | NULL")
	c.exec("INSERT INTO old VALUES ('a ', 'x'), ('a', 'x ')")
	c.want("SELECT COUNT(*) FROM old WHERE name = 'A'", "2")
	c.want("SELECT COUNT(*) FROM old WHERE u = 'x'", "2")
	c.exec("DELETE FROM old WHERE u = 'x  '")
	c.want("SELECT COUNT(*) FROM old", "0")
	c.exec("INSERT INTO old VALUES ('a ', 'x'), ('a', 'y')")
	if code := c.code("ALTER TABLE old MODIFY name VARCHAR(20) COLLATE utf8mb4_unicode_ci"); code != 1062 {
		t.Errorf("a table with 'a' and 'a ' got new keys: error %d", code)
	}
	c.exec("DELETE FROM old WHERE u = 'y'")
	c.exec("ALTER TABLE old MODIFY name VARCHAR(20) COLLATE utf8mb4_unicode_ci")
	if d := s.descriptor("old"); !d.PadSpace || !d.Indexes[0].PadSpace {
		t.Errorf("a table that was made anew has keys of before: %+v", d)
	}
	if code := c.code("INSERT INTO old VALUES ('A', 'q')"); code != 1062 {
		t.Errorf("error %d", code)
	}
}
