package itest

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// cli runs statements through the MariaDB command-line client and returns what it printed, errors included.
func (s *server) cli(statements string, options ...string) string {
	s.t.Helper()
	path, err := exec.LookPath("mariadb")
	if err != nil {
		s.t.Fatal("the MariaDB command-line client is missing: install the package mariadb-client ('make " +
			"test' does so when root)")
	}
	args := append([]string{"--no-defaults", "-h", "127.0.0.1", "-P", s.sqlPort, "-u", "root", "--batch",
		"--force"}, options...)
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(statements)
	out, _ := cmd.CombinedOutput() // with --force, errors are part of the output
	return string(out)
}

func expect(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("the client's output lacks %q:\n%s", w, got)
		}
	}
}

// TestOrdinaryClient is a newcomer's first quarter of an hour with the MariaDB client.
func TestOrdinaryClient(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	expect(t, s.cli(`
		CREATE DATABASE shop; USE shop;
		CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL);
		CREATE TABLE purchase (id INT AUTO_INCREMENT PRIMARY KEY, customer_id INT NOT NULL,
			cents BIGINT NOT NULL, KEY (customer_id));
		INSERT INTO customer VALUES (1, 'Ada'), (2, 'Grace');
		INSERT INTO purchase (customer_id, cents) VALUES (1, 250), (1, 750), (2, 100);
		SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer_id = customer.id GROUP BY name ORDER BY name;
	`), "Ada\t1000", "Grace\t100")
	expect(t, s.cli(`
		USE shop;
		BEGIN; UPDATE customer SET name = 'Nobody'; SELECT name FROM customer WHERE id = 1; ROLLBACK;
		SELECT CONCAT('back to ', name) FROM customer WHERE id = 1;
	`), "Nobody", "back to Ada")
	expect(t, s.cli("INSERT INTO shop.customer VALUES (1, 'Eve')"), "ERROR 1062 (23000)",
		"Duplicate entry '1' for key")
	expect(t, s.cli("SELECT name FRM shop.customer"), "ERROR 1064 (42000)", "near")
	expect(t, s.cli("SELECT * FROM shop.nothing"), "ERROR 1146 (42S02)")
	expect(t, s.cli("SELECT nothing FROM shop.customer"), "ERROR 1054 (42S22)")

	// The same over a compressed connection, with statements and results that take several frames.
	long := strings.Repeat("0123456789abcdef", 100_000)
	expect(t, s.cli("SELECT MD5('"+long+"') = MD5(REPEAT('0123456789abcdef', 100000)) AS same; "+
		"SELECT REPEAT('0123456789abcdef', 100000)", "--compress"), "same\n1\n", long)

	s.conflict(t)

	// An observer keeps a total, and its effect is there within milliseconds.
	expect(t, s.cli(`
		USE shop;
		CREATE TABLE total (customer_id INT PRIMARY KEY, cents BIGINT NOT NULL);
		INSERT INTO total VALUES (1, 0), (2, 0);
		CREATE OBSERVER totals AFTER INSERT ON purchase FOR EACH ROW UPDATE total SET cents = cents +
			NEW.cents WHERE customer_id = NEW.customer_id;
		SHOW OBSERVERS;
	`), "totals", "purchase")
	db := s.db("shop")
	mustExec(t, db, "INSERT INTO purchase (customer_id, cents) VALUES (2, 42)")
	began := time.Now()
	eventually(t, "the observer adds the purchase up", 10*time.Second, func() bool {
		return one[int](t, db, "SELECT cents FROM total WHERE customer_id = 2") == 42
	})
	t.Logf("the observer's effect was seen after %v", time.Since(began))

	// Killed while observers are at work: everything acknowledged is there, and they catch up.
	for range 200 {
		mustExec(t, db, "INSERT INTO purchase (customer_id, cents) VALUES (2, 1)")
	}
	s.kill()
	s = start(t, dir)
	db = s.db("shop")
	if n := one[int](t, db, "SELECT COUNT(*) FROM purchase WHERE customer_id = 2 AND cents = 1"); n != 200 {
		t.Fatalf("%d purchases after kill -9, want 200", n)
	}
	eventually(t, "the observer has run for every change", 30*time.Second, func() bool {
		return one[int](t, db, "SELECT cents FROM total WHERE customer_id = 2") == 242
	})
	expect(t, s.cli("USE shop; SHOW OBSERVERS; SHOW CREATE OBSERVER totals; DROP OBSERVER totals; SHOW "+
		"OBSERVERS"), "totals", "AFTER INSERT ON")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
}

// conflict lets two sessions change one row; snapshot isolation refuses the second with 1213,
// whichever way it waits.
func (s *server) conflict(t *testing.T) {
	t.Helper()
	db := s.db("shop")
	a, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Rollback()
	b, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Rollback()
	var name string
	if err := a.QueryRow("SELECT name FROM customer WHERE id = 2").Scan(&name); err != nil {
		t.Fatal(err)
	}
	if err := b.QueryRow("SELECT name FROM customer WHERE id = 2").Scan(&name); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Exec("UPDATE customer SET name = 'Grace A' WHERE id = 2"); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(); err != nil {
		t.Fatal(err)
	}
	_, err = b.Exec("UPDATE customer SET name = 'Grace B' WHERE id = 2")
	if err == nil {
		err = b.Commit()
	}
	if err == nil || !strings.Contains(err.Error(), "1213") {
		t.Fatalf("the second writer got %v, want error 1213", err)
	}
	if got := one[string](t, db, "SELECT name FROM customer WHERE id = 2"); got != "Grace A" {
		t.Fatalf("the row is %q, want the first committer's", got)
	}
}
