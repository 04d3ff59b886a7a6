package itest

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What the page shows is read by a browser, of a server on which something goes on: a workload, a
// transaction that waits for another, an observer whose change is parked, a tablet that was split. There was
// one table of counters before, which did not change by itself and had no button.
func TestPage(t *testing.T) {
	b := openBrowser(t)
	dir := t.TempDir()
	s := start(t, dir, "--shards", "2")
	db := s.db("")
	for _, q := range []string{"CREATE DATABASE shop",
		"CREATE TABLE shop.purchase (id INT PRIMARY KEY, customer INT NOT NULL, cents BIGINT NOT NULL)",
		"CREATE TABLE shop.total (customer INT PRIMARY KEY, cents BIGINT NOT NULL)",
		"CREATE TABLE shop.audit (customer INT PRIMARY KEY, n INT NOT NULL)",
		"CREATE TABLE shop.door (id INT PRIMARY KEY, shut INT NOT NULL)",
		"INSERT INTO shop.total VALUES (1, 0), (2, 0)", "INSERT INTO shop.audit VALUES (1, 0), (2, 0)",
		"INSERT INTO shop.door VALUES (1, 1)",
		`CREATE OBSERVER shop.totals AFTER INSERT ON shop.purchase FOR EACH ROW
			UPDATE shop.total SET cents = cents + NEW.cents WHERE customer = NEW.customer`,
		`CREATE OBSERVER shop.auditing AFTER UPDATE ON shop.total FOR EACH ROW
			UPDATE shop.audit SET n = LEAST(n + 1, 3) WHERE customer = NEW.customer`,
		`CREATE OBSERVER shop.again AFTER UPDATE ON shop.audit FOR EACH ROW
			UPDATE shop.total SET cents = cents + 1 WHERE customer = NEW.customer AND NEW.n < 3`,
		`CREATE OBSERVER shop.fussy AFTER INSERT ON shop.purchase FOR EACH ROW WITH (attempts = 1)
			IF (SELECT shut FROM shop.door WHERE id = 1) = 1 THEN
				SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the door is shut';
			END IF`,
		"INSERT INTO shop.purchase VALUES (1, 1, 250), (2, 2, 100)"} {
		mustExec(t, db, q)
	}
	s.ctl("split", "shop.purchase", "100")
	stopMix := runMix(t, s)
	defer stopMix()
	waiter, blocked := block(t, db)

	b.open(fmt.Sprintf("http://%s/observers", s.http))
	if text := b.eval("document.body.innerText"); strings.Contains(text, "shop.") ||
		!strings.Contains(text, "Sign in to see more") {
		t.Errorf("without the token:\n%s", text)
	}
	token, err := os.ReadFile(filepath.Join(dir, "http.token"))
	if err != nil {
		t.Fatal(err)
	}
	b.errors = nil
	b.open(fmt.Sprintf("http://:%s@%s/?signin=1", strings.TrimSpace(string(token)), s.http))
	b.await("now", "commits")
	eventually(t, "the charts have lines", readyWithin, func() bool {
		return b.eval(`document.querySelectorAll("#commits path.line[d*=L]").length > 0`) == "true"
	})
	first := b.text("now")
	eventually(t, "figures change by themselves", readyWithin, func() bool { return b.text("now") != first })
	b.await("replicas", "one replica")
	b.shot("overview", 1250)

	b.open("http://" + s.http + "/tablets")
	b.await("tablets", "shop.purchase(100)")
	b.shot("tablets", 800)
	b.open("http://" + s.http + "/mix")
	b.await("mix", "Trade-Result")
	b.shot("mix", 760)

	b.open("http://" + s.http + "/transactions")
	b.await("waits", "shop.audit(2)")
	b.await("waits", fmt.Sprintf("connection %d", waiter))
	b.shot("transactions", 1100)
	b.press(fmt.Sprintf("End the statement of connection %d", waiter))
	b.await("main", fmt.Sprintf("The statement of connection %d was ended", waiter))
	if err := <-blocked; err == nil || !strings.Contains(err.Error(), "1317") {
		t.Errorf("the statement that was ended: %v", err)
	}
	b.await("waits", "Nobody waits")

	b.open("http://" + s.http + "/observers")
	b.await("parked", "the door is shut")
	b.await("graph", "There are cycles")
	if n := b.eval(`document.querySelectorAll("#graph .edge.cycle").length`); n != "4" {
		t.Errorf("%s red edges, not the 4 of total, auditing, audit and again", n)
	}
	b.shot("observers", 1250)
	mustExec(t, db, "UPDATE shop.door SET shut = 0")
	b.press("Retry what fussy has parked")
	b.await("parked", "No run has failed")
	b.press("Pause totals")
	b.await("observers", "PAUSED")
	mustExec(t, db, "INSERT INTO shop.purchase VALUES (3, 1, 1)")
	b.press("Resume totals")
	eventually(t, "the observer goes on", readyWithin, func() bool {
		return one[int](t, db, "SELECT cents FROM shop.total WHERE customer = 1") >= 251
	})

	b.open("http://" + s.http + "/statements?filter=shop.door&sort=executions")
	b.await("statements", "shop.door")
	if text := b.text("statements"); strings.Contains(strings.ToLower(text), "trade") {
		t.Errorf("the filter has let through\n%s", text)
	}
	b.eval(`document.querySelector("#statements td a").click()`)
	b.await("plan", "door")
	b.shot("statements", 800)
	b.open("http://" + s.http + "/settings")
	b.await("settings", "command line")
	for _, e := range b.errors {
		t.Errorf("the browser reports %s", e)
	}
}

// runMix loads the smallest brokerage house and runs the mix until stop is called.
func runMix(t *testing.T, s *server) (stop func()) {
	t.Helper()
	target := "mysql://root@127.0.0.1:" + s.sqlPort + "/tpce"
	if out, err := exec.Command(mokaBinary, "tpce", "load", "--target", target, "--preset", "demo").
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(mokaBinary, "tpce", "run", "--target", target, "--connections", "2",
		"--duration", "10m", "--show-on", s.http, "--broker-totals", "observer")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
}

// block has one connection wait for another's row lock, and returns the waiter's number and what becomes of
// its statement.
func block(t *testing.T, db *sql.DB) (waiter int, done <-chan error) {
	t.Helper()
	ctx := context.Background()
	conn := func() *sql.Conn {
		c, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	holder, second := conn(), conn()
	exec := func(c *sql.Conn, q string) {
		if _, err := c.ExecContext(ctx, q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec(holder, "BEGIN")
	exec(holder, "UPDATE shop.audit SET n = n + 50 WHERE customer = 2")
	exec(second, "SET innodb_lock_wait_timeout = 3600")
	if err := second.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&waiter); err != nil {
		t.Fatal(err)
	}
	exec(second, "BEGIN")
	ended := make(chan error, 1)
	go func() {
		_, err := second.ExecContext(ctx, "UPDATE shop.audit SET n = n + 50 WHERE customer = 2")
		ended <- err
	}()
	return waiter, ended
}

// A button that is pressed from elsewhere, or without the token, does nothing.
func TestPageActionsAreGuarded(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	token, err := os.ReadFile(filepath.Join(dir, "http.token"))
	if err != nil {
		t.Fatal(err)
	}
	press := func(change func(*http.Request)) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.http+"/action/kill",
			strings.NewReader("id=1&what=query"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.SetBasicAuth("", strings.TrimSpace(string(token)))
		change(req)
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"with the token", func(*http.Request) {}, http.StatusSeeOther},
		{"without", func(r *http.Request) { r.Header.Del("Authorization") }, http.StatusUnauthorized},
		{"with another", func(r *http.Request) { r.SetBasicAuth("", "guess") }, http.StatusUnauthorized},
		{"from another site", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
			http.StatusForbidden},
		{"across sites", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
			http.StatusForbidden},
	} {
		if got := press(c.change); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for _, path := range []string{"/statements.csv", "/?signin=1"} {
		if code := ask(t, s, "GET", path, ""); code != http.StatusUnauthorized {
			t.Errorf("%s without the token: %d", path, code)
		}
	}
}
