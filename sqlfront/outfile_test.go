package sqlfront_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"

	"moka/sqlfront"
)

// TestIntoOutfile writes files of the server, and reads them back.
func TestIntoOutfile(t *testing.T) {
	dir := t.TempDir()
	c := newDatabase(t).serve(func(o *sqlfront.Options) { o.FileDir = dir }).conn("")
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), d DECIMAL(5,2))", "CREATE TABLE back LIKE t",
		"INSERT INTO t VALUES (1, 'plain', 1.50), (2, 'tab\there', NULL), (3, NULL, -2), (4, 'quote\"and,comma', 0), (5, 'größe', 9.99)")
	file := func(name string) string { return filepath.Join(dir, name) }
	read := func(name string) string {
		b, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	run(t, c, fmt.Sprintf("SELECT * FROM t ORDER BY id INTO OUTFILE '%s'", file("tabs")))
	if got, want := read("tabs"), "1\tplain\t1.50\n2\ttab\\\there\t\\N\n3\t\\N\t-2.00\n4\tquote\"and,comma\t0.00\n5\tgröße\t9.99\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run(t, c, fmt.Sprintf("SELECT id, a FROM t WHERE id IN (1, 4) ORDER BY id INTO OUTFILE '%s' FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'", file("csv")))
	if got, want := read("csv"), "1,\"plain\"\r\n4,\"quote\\\"and,comma\"\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	run(t, c, fmt.Sprintf("LOAD DATA INFILE '%s' INTO TABLE back", file("tabs")))
	if got := text(t, c, "SELECT COUNT(*) FROM t JOIN back USING (id) WHERE t.a <=> back.a AND t.d <=> back.d"); got != "5" {
		t.Errorf("%s of 5 rows came back as they were", got)
	}
	// As MariaDB writes the same rows.
	run(t, c, "CREATE TABLE o (id INT PRIMARY KEY, a VARCHAR(20), d DECIMAL(5,2), dt DATETIME(3), e ENUM('x','y'), b VARBINARY(10), j DOUBLE, n INT)",
		`INSERT INTO o VALUES (1,'plain',1.50,'2020-01-02 03:04:05.678','x',x'0041',0.5,NULL),(2,'tab\there\nnl',NULL,NULL,NULL,NULL,1e30,3),(3,'q"and,c\\b',0,'2020-01-02','y',x'5c22',-1,4)`)
	for clauses, want := range map[string]string{
		"": "1\tplain\t1.50\t2020-01-02 03:04:05.678\tx\t\\0A\t0.5\t\\N\n2\ttab\\\there\\\nnl\t\\N\t\\N\t\\N\t\\N\t1e30\t3\n3\tq\"and,c\\\\b\t0.00\t2020-01-02 00:00:00.000\ty\t\\\\\"\t-1\t4\n",
		`FIELDS TERMINATED BY ',' ENCLOSED BY '"' LINES TERMINATED BY '\r\n'`:                     "\"1\",\"plain\",\"1.50\",\"2020-01-02 03:04:05.678\",\"x\",\"\\0A\",\"0.5\",\\N\r\n\"2\",\"tab\there\nnl\",\\N,\\N,\\N,\\N,\"1e30\",\"3\"\r\n\"3\",\"q\\\"and,c\\\\b\",\"0.00\",\"2020-01-02 00:00:00.000\",\"y\",\"\\\\\\\"\",\"-1\",\"4\"\r\n",
		`FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY '' LINES STARTING BY '>'`: ">1,\"plain\",1.50,\"2020-01-02 03:04:05.678\",\"x\",\"\x00A\",0.5,NULL\n>2,\"tab\there\nnl\",NULL,NULL,NULL,NULL,1e30,3\n>3,\"q\"and,c\\b\",0.00,\"2020-01-02 00:00:00.000\",\"y\",\"\\\"\",-1,4\n",
	} {
		name := file("o")
		_ = os.Remove(name)
		run(t, c, fmt.Sprintf("SELECT * FROM o ORDER BY id INTO OUTFILE '%s' %s", name, clauses))
		if got := read("o"); got != want {
			t.Errorf("%s:\n%q\nwant\n%q", clauses, got, want)
		}
	}
	run(t, c, fmt.Sprintf("SELECT b FROM o WHERE id = 1 INTO DUMPFILE '%s'", file("raw")))
	if got := read("raw"); got != "\x00A" {
		t.Errorf("DUMPFILE: %q", got)
	}
	if err := os.Symlink(filepath.Dir(dir), file("out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"-of-others", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir+"-of-others", "secret"), []byte("9\tx\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for query, code := range map[string]uint16{
		fmt.Sprintf("SELECT 1 INTO OUTFILE '%s'", file("tabs")):                                1086, // never over what is there
		fmt.Sprintf("SELECT 1 INTO OUTFILE '%s'", filepath.Join(filepath.Dir(dir), "outside")): 1290,
		fmt.Sprintf("SELECT 1 INTO OUTFILE '%s-of-others/outside'", dir):                       1290,
		fmt.Sprintf("LOAD DATA INFILE '%s-of-others/secret' INTO TABLE back", dir):             1290,
		fmt.Sprintf("SELECT 1 INTO OUTFILE '%s/out/outside'", dir):                             1,
		fmt.Sprintf("SELECT * FROM o INTO DUMPFILE '%s'", file("two")):                         1172,
		fmt.Sprintf("SELECT 1 INTO OUTFILE '%s/../outside'", dir):                              1290,
	} {
		_, err := c.ExecContext(context.Background(), query)
		var my *mysql.MySQLError
		if !errors.As(err, &my) || my.Number != code {
			t.Errorf("%s: %v, want %d", query, err, code)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "outside")); err == nil {
		t.Error("a file outside of the directory was written")
	}
	if _, err := os.Stat(file("two")); err == nil {
		t.Error("a statement that failed has left a file")
	}
	// S18: links are resolved before they are compared with the directory, for what is read as well.
	link := func(to, name string) {
		if err := os.Symlink(to, file(name)); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(dir+"-of-others", "secret"), "secret")
	link(dir+"-of-others", "others")
	link("tabs", "inside")
	if got := text(t, c, fmt.Sprintf("SELECT LOAD_FILE('%s') IS NULL, LOAD_FILE('%s') IS NULL, LOAD_FILE('%s') = LOAD_FILE('%s')", file("secret"), file("others/secret"), file("inside"), file("tabs"))); got != "1 1 1" {
		t.Errorf("LOAD_FILE through links out, out and inside: %s, want 1 1 1", got)
	}
	for _, name := range []string{"secret", "others/secret", "others"} {
		if _, err := c.ExecContext(context.Background(), fmt.Sprintf("LOAD DATA INFILE '%s' INTO TABLE back", file(name))); err == nil {
			t.Errorf("LOAD DATA reads %s, which leads out of the directory", name)
		}
	}
	if got := text(t, c, "SELECT COUNT(*) FROM back WHERE id = 9"); got != "0" {
		t.Error("a row of another directory's file came in")
	}
	run(t, c, "DELETE FROM back", fmt.Sprintf("LOAD DATA INFILE '%s' INTO TABLE back", file("inside")))
}
