package itest

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestMemoryBombs has a user who may read one table ask for more memory than there is, on several connections
// at a time: the process stays below its limit, others go on, and what is killed ends (S4).
func TestMemoryBombs(t *testing.T) {
	s := start(t, t.TempDir(), "--memory-limit-mib", "2048")
	root := s.db("")
	mustExec(t, root, "CREATE DATABASE d")
	mustExec(t, root, "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(100))")
	mustExec(t, root, "INSERT INTO d.t VALUES (1, 'one')")
	mustExec(t, root, "CREATE USER poor")
	mustExec(t, root, "GRANT SELECT ON d.* TO poor")
	poor, err := sql.Open("mysql", "poor@tcp(127.0.0.1:"+s.sqlPort+")/d?maxAllowedPacket=0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = poor.Close() })
	var rows []string
	for i := range 900 {
		rows = append(rows, fmt.Sprintf("(%d, '%s')", i+2, strings.Repeat("x", 100)))
	}
	mustExec(t, root, "INSERT INTO d.t VALUES "+strings.Join(rows, ", "))
	bombs := []string{
		"SELECT LENGTH(CONCAT(" + strings.TrimSuffix(strings.Repeat("REPEAT('a', 60000000),", 40),
			",") + "))",
		"SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 1000000), 'a', REPEAT('b', 10000)))",
		"SELECT REGEXP_LIKE('aaa', REPEAT('(a|b)*', 200000))",
		"SELECT JSON_LENGTH(JSON_ARRAYAGG(REPEAT(s, 20000))) FROM t",
		"SELECT LENGTH(GROUP_CONCAT(REPEAT(s, 20000))) FROM t",
		"SELECT LENGTH(?)", // of LONG_DATA
		"variables",
	}
	allowed := map[uint16]bool{1038: true, 1153: true, 3170: true, 3700: true}
	bomb := func(q string) error {
		c, err := poor.Conn(context.Background())
		if err != nil {
			return err
		}
		defer c.Close()
		switch q {
		case "variables":
			for i := range 12 {
				if _, err = c.ExecContext(context.Background(),
					fmt.Sprintf("SET @v%d = REPEAT('x', 60000000)", i)); err != nil {
					return err
				}
			}
			return errors.New("a session keeps 720 MB")
		case "SELECT LENGTH(?)":
			_, err = c.ExecContext(context.Background(), q, bytes.Repeat([]byte{'x'}, 65<<20))
			return err
		}
		_, err = c.ExecContext(context.Background(), q)
		return err
	}
	var all sync.WaitGroup
	for _, q := range bombs {
		for range 2 {
			all.Go(func() {
				var me *mysql.MySQLError
				if err := bomb(q); err != nil && (!errors.As(err, &me) || !allowed[me.Number]) {
					t.Errorf("%.60s: %v", q, err)
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for n := 0; ; n++ { // others go on
		if got := one[string](t, root, "SELECT s FROM d.t WHERE id = 1"); got != "one" {
			t.Fatalf("a point select: %q", got)
		}
		select {
		case <-done:
		default:
			continue
		}
		break
	}
	s.stayedBelow(2 << 20)

	// A search that would take minutes ends when it is killed.
	c, err := poor.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var id int
	if err := c.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.ExecContext(context.Background(),
			"SELECT REGEXP_LIKE(REPEAT('a', 30000000), CONCAT(REPEAT('(a*b*)*', 20), 'c'))")
		ended <- err
	}()
	eventually(t, "the search runs", time.Minute, func() bool {
		return one[int](t, root, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND "+
			"info LIKE '%REGEXP_LIKE%'", id) == 1
	})
	mustExec(t, root, fmt.Sprintf("KILL QUERY %d", id))
	var me *mysql.MySQLError
	if err := <-ended; !errors.As(err, &me) || me.Number != 1317 {
		t.Errorf("killed: %v, want 1317", err)
	}
}

// stayedBelow fails the test if the process has ever been larger than most KiB.
func (s *server) stayedBelow(most int) {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	peak, _ := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s+(\d+)`).FindSubmatch(status)[1]))
	if peak == 0 || peak > most {
		s.t.Errorf("the process had %d KiB at its peak, the most are %d", peak, most)
	}
}

// TestMemoryOfASQLProcess: one without storage had no soft limit of the runtime's, so that garbage grew to as
// much as lived and more: values of megabytes, which 30 connections write and assign, and the texts of
// PREPARE from a variable, which were charged to nobody, took one with a limit of a GiB to 6.
func TestMemoryOfASQLProcess(t *testing.T) {
	storage := start(t, t.TempDir(), "--node-addr", "127.0.0.1:0")
	s := join(t, storage.nodeAddr(), "--memory-limit-mib", "1024", "--cache-mib", "64")
	root := s.db("")
	mustExec(t, root, "CREATE DATABASE d")
	mustExec(t, root, "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT)")
	mustExec(t, root, "CREATE USER poor")
	mustExec(t, root, "GRANT ALL ON d.* TO poor")
	poor, err := sql.Open("mysql", "poor@tcp(127.0.0.1:"+s.sqlPort+")/d")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = poor.Close() })
	bombs := [][]string{
		{"BEGIN", "INSERT INTO t (v) VALUES (REPEAT('a', 9000000))",
			"INSERT INTO t (v) VALUES (REPEAT('b', 9000000))"},
		{"SET @a = REPEAT('a', 30000000)", "SET @b = REPEAT('b', 30000000)",
			"SET @c = REPEAT('c', 30000000)"},
		{"SET @s = CONCAT('SELECT 1 IN (', REPEAT('1,', 500000), '1)')", "PREPARE p FROM @s", "EXECUTE p"},
	}
	bomb := func(statements []string) error {
		c, err := poor.Conn(t.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.Raw(func(any) error { return driver.ErrBadConn }) }() // with what it keeps
		for _, q := range statements {
			if _, err := c.ExecContext(t.Context(), q); err != nil {
				return fmt.Errorf("%.40s: %w", q, err)
			}
		}
		return nil
	}
	allowed := map[uint16]bool{3170: true, 1243: true}
	for _, statements := range bombs {
		var all sync.WaitGroup
		for range 30 {
			all.Go(func() {
				var me *mysql.MySQLError
				if err := bomb(statements); err != nil && !(errors.As(err, &me) && allowed[me.Number]) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		one[int](t, root, "SELECT COUNT(*) FROM d.t") // others go on
	}
	s.stayedBelow(1 << 20)
}
