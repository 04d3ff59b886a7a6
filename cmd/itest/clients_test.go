package itest

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"moka/tpce/servertest"
)

// command runs a program to its end and fails the test, with what it printed, when it did not end well.
func command(t testing.TB, env []string, stdin *os.File, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	if stdin != nil {
		cmd.Stdin = stdin
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		t.Fatalf("%s is missing: run 'make packages', which says what to install and installs it when root",
			name)
	}
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestDrivers has each of the usual drivers write typed values and read them back, roll back and
// commit, and meet error
// 1062. The programs are in testdata/clients.
func TestDrivers(t *testing.T) {
	s := start(t, t.TempDir())
	for name, run := range map[string]func(t *testing.T){
		"PyMySQL": func(t *testing.T) {
			// Debian's Python has Debian's PyMySQL; another Python in the path would not.
			expect(t, command(t, nil, nil, "/usr/bin/python3", "testdata/clients/smoke.py", "127.0.0.1",
				s.sqlPort), "ok")
		},
		"ConnectorC": func(t *testing.T) { // the library is the mariadb client's own
			expect(t, command(t, nil, nil, "/usr/bin/python3", "testdata/clients/connector_c.py", "127.0.0.1",
				s.sqlPort), "ok")
		},
		"ConnectorJ": func(t *testing.T) {
			const driver = "/usr/share/java/mariadb-java-client.jar"
			dir := t.TempDir()
			if _, err := exec.LookPath("javac"); err == nil {
				command(t, nil, nil, "javac", "-d", dir, "testdata/clients/Smoke.java")
			} else { // a JRE and Eclipse's compiler are a fifth of a JDK
				command(t, nil, nil, "ecj", "-17", "-d", dir, "testdata/clients/Smoke.java")
			}
			expect(t, command(t, nil, nil, "java", "-cp", dir+":"+driver, "Smoke", "127.0.0.1",
				s.sqlPort), "ok")
		},
		"mysql2": func(t *testing.T) {
			modules := "NODE_PATH=" + filepath.Join(clientCache(t), "node_modules")
			expect(t, command(t, []string{modules}, nil, "node", "testdata/clients/mysql2/smoke.js",
				"127.0.0.1", s.sqlPort), "ok")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// clientCache is where .ci/packages puts what comes from the npm registry.
func clientCache(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "moka-test-clients", "mysql2-3.24.5")
}

// TestDumpAndRestore takes a database through mariadb-dump into a fresh Moka, and a TPC-E-like one into Moka
// and MariaDB: everywhere are the same rows.
func TestDumpAndRestore(t *testing.T) {
	from, to := start(t, t.TempDir()), start(t, t.TempDir())
	db := from.db("")
	db.SetMaxOpenConns(1)
	for _, q := range strings.Split(dumped, ";\n") {
		if q = strings.TrimSpace(q); q != "" {
			mustExec(t, db, q)
		}
	}
	file := dump(t, from, "shop", "--routines", "--triggers")
	mustExec(t, to.db(""), "CREATE DATABASE shop")
	restore(t, to.sqlPort, "shop", file)
	sameTables(t, from.db("shop"), to.db("shop"), 6)
	for _, what := range []string{"TABLE item", "TABLE made", "TABLE line", "VIEW dear", "TRIGGER item_note",
		"FUNCTION loud", "PROCEDURE shout", "TABLE clock"} {
		if a, b := showCreate(t, from.db("shop"), what), showCreate(t, to.db("shop"), what); a != b {
			t.Errorf("SHOW CREATE %s before:\n%s\nafter the restore:\n%s", what, a, b)
		}
	}
	// What was restored works: the trigger fires, the sequence goes on, the constraints hold.
	mustExec(t, to.db("shop"), "INSERT INTO item (name, price) VALUES ('added', 1)")
	if n := one[int](t, to.db("shop"), "SELECT COUNT(*) FROM note WHERE what = 'added'"); n != 1 {
		t.Errorf("the restored trigger wrote %d notes, want 1", n)
	}
	if got := one[string](t, to.db("shop"), "CALL shout('a')"); got != "A!" {
		t.Errorf("the restored routines answer %q, want A!", got)
	}
	if _, err := to.db("shop").Exec("INSERT INTO line VALUES (99, 12345, 1)"); err == nil ||
		!strings.Contains(err.Error(), "1452") {
		t.Errorf("a line without an item: got %v, want error 1452", err)
	}
}

const dumped = `CREATE DATABASE shop;
USE shop;
CREATE TABLE item (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL, price DECIMAL(10,2) NOT NULL DEFAULT 0.00, pic BLOB, seen DATETIME(6),
	tags SET('a','b','c'), kind ENUM('big','small'), doc JSON, f DOUBLE, bits BIT(9), t TIME, y YEAR, d DATE, flag TINYINT(1), u BIGINT UNSIGNED,
	UNIQUE KEY by_name (name), KEY by_price (price, id), CONSTRAINT cheap CHECK (price < 1000)) COMMENT='what we sell';
CREATE TABLE line (id INT NOT NULL, item INT NOT NULL, n INT, PRIMARY KEY (id), KEY of_item (item), CONSTRAINT line_item FOREIGN KEY (item) REFERENCES item (id));
CREATE TABLE note (id INT PRIMARY KEY AUTO_INCREMENT, what TEXT);
CREATE TABLE heap (a INT, b VARCHAR(10));
INSERT INTO item VALUES (1, 'It''s "quoted" \\ \n größer 😀', 999.99, x'00ff27225c0a', '2024-02-29 12:13:14.567891', 'a,c', 'small', '{"k": [1, 2.5, null]}', 0.1, b'101010101', '-34:05:06', 2024, '1999-12-31', 1, 18446744073709551615);
INSERT INTO item (name) VALUES ('second'), (''), ('4');
INSERT INTO line VALUES (1, 1, 10), (2, 4, NULL), (3, 2, -1);
INSERT INTO heap VALUES (1, 'twice'), (1, 'twice'), (NULL, NULL);
CREATE VIEW dear AS SELECT id, name FROM item WHERE price > 100;
CREATE TABLE clock (id INT PRIMARY KEY, a TIME, b TIME(3), f FLOAT(7,4));
INSERT INTO clock VALUES (1, '-10:11:12', '10:11:12.345', 1.5);
CREATE TABLE made (a INT PRIMARY KEY, v INT GENERATED ALWAYS AS (a * 2) VIRTUAL, b VARCHAR(10), s VARCHAR(20) GENERATED ALWAYS AS (UPPER(b)) STORED, c INT,
	n INT AS (a * c) VIRTUAL, KEY by_v (v), UNIQUE KEY by_s (s));
INSERT INTO made (a, b, c) VALUES (1, 'x', 5), (2, NULL, NULL), (3, 'größer', -1);
CREATE FUNCTION loud(s VARCHAR(40) CHARSET utf8mb4, n INT) RETURNS VARCHAR(60) CHARSET utf8mb4 DETERMINISTIC COMMENT 'it''s' BEGIN IF n = 1 AND s IS NOT NULL THEN RETURN CONCAT(UPPER(s), '!'); END IF; RETURN s; END;
CREATE PROCEDURE shout(s VARCHAR(40)) SELECT loud(s, 1);
CREATE TRIGGER item_note AFTER INSERT ON item FOR EACH ROW INSERT INTO note (what) VALUES (loud(NEW.name, 0));
INSERT INTO item (name) VALUES ('noted')`

// TestDumpOfTheWorkload does the same with the TPC-E-like schema and its initial data.
func TestDumpOfTheWorkload(t *testing.T) {
	from, to := start(t, t.TempDir()), start(t, t.TempDir())
	maria := servertest.StartMariaDB(t)
	command(t, nil, nil, mokaBinary, "tpce", "load", "--target",
		"mysql://root@127.0.0.1:"+from.sqlPort+"/tpce", "--preset", "demo")
	mustExec(t, from.db("tpce"), "CREATE OBSERVER `a */ DROP TABLE trade; '` AFTER DELETE ON status_type "+
		"FOR EACH ROW DELETE FROM trade WHERE t_st_id = OLD.st_id")
	file := dump(t, from, "tpce")
	// Observers are not in it, and it says so: in Moka and in MariaDB it restores all the same.
	if script, err := os.ReadFile(file); err != nil ||
		!bytes.Contains(script, []byte("/* observers of the table, not part of this and of no dump")) {
		t.Errorf("the dump does not say that an observer is not in it: %v", err)
	}
	mustExec(t, to.db(""), "CREATE DATABASE tpce")
	restore(t, to.sqlPort, "tpce", file)
	sameTables(t, from.db("tpce"), to.db("tpce"), 37)

	mdb, err := sql.Open("mysql", maria.DSN(""))
	if err != nil {
		t.Fatal(err)
	}
	defer mdb.Close()
	mustExec(t, mdb, "CREATE DATABASE tpce CHARACTER SET utf8mb4")
	_, port, err := net.SplitHostPort(maria.Addr)
	if err != nil {
		t.Fatal(err)
	}
	// The one thing in it that MariaDB before 11.4 does not know is MySQL 8's default collation.
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(text, []byte("utf8mb4_0900_ai_ci"),
		[]byte("utf8mb4_unicode_ci")), 0o600); err != nil {
		t.Fatal(err)
	}
	restore(t, port, "tpce", file)
	other, err := sql.Open("mysql", maria.DSN("tpce"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	sameTables(t, from.db("tpce"), other, 37)
}

func dump(t *testing.T, s *server, database string, options ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), database+".sql")
	command(t, nil, nil, "mariadb-dump",
		append(append([]string{"--no-defaults", "-h127.0.0.1", "-P" + s.sqlPort, "-uroot",
			"--single-transaction",
			"--result-file=" + file}, options...), database)...)
	return file
}

func restore(t *testing.T, port, database, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	command(t, nil, f, "mariadb", "--no-defaults", "-h127.0.0.1", "-P"+port, "-uroot", database)
}

func showCreate(t *testing.T, db *sql.DB, what string) string {
	t.Helper()
	rows, err := db.Query("SHOW CREATE " + what)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for _, r := range texts(t, rows) {
		out = append(out, r[:min(3, len(r))]...) // a trigger's later columns say when it was created
	}
	return strings.Join(out, "\n")
}

// sameTables compares all base tables of two databases, row by row in the order of their texts.
func sameTables(t *testing.T, a, b *sql.DB, want int) {
	t.Helper()
	names := tables(t, a)
	if len(names) != want {
		t.Fatalf("%d tables, want %d: %v", len(names), want, names)
	}
	for _, name := range names {
		na, ha := checksum(t, a, name)
		nb, hb := checksum(t, b, name)
		if na != nb || ha != hb {
			t.Errorf("table %s: %d rows with checksum %s, its copy has %d with %s", name, na, ha, nb, hb)
		}
	}
}

func tables(t *testing.T, db *sql.DB) (names []string) {
	t.Helper()
	rows, err := db.Query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for _, r := range texts(t, rows) {
		names = append(names, r[0])
	}
	return names
}

// checksum does not depend on the order of rows: it adds their hashes up.
func checksum(t *testing.T, db *sql.DB, table string) (rows int, sum string) {
	t.Helper()
	r, err := db.Query("SELECT * FROM `" + table + "`")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var total [sha256.Size]byte
	for _, row := range texts(t, r) {
		h := sha256.Sum256([]byte(fmt.Sprintf("%q", row)))
		carry := 0
		for i := range total {
			carry += int(total[i]) + int(h[i])
			total[i] = byte(carry)
			carry >>= 8
		}
		rows++
	}
	return rows, hex.EncodeToString(total[:8])
}

// texts reads all rows as the server wrote them.
func texts(t *testing.T, rows *sql.Rows) (all [][]string) {
	t.Helper()
	cols, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		vals := make([]sql.NullString, len(cols))
		ptrs := make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(cols))
		for i, v := range vals {
			if row[i] = v.String; !v.Valid {
				row[i] = "\x00NULL"
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
