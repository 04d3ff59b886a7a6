package itest

import (
	"context"
	"database/sql"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"moka/tpce/servertest"
)

// driverSample runs in 'make test': both protocols, types, transactions, errors, cancelling, large packets.
const driverSample = "^(TestEmptyQuery|TestCRUD|TestMultiQuery|TestInt|TestFloat32|TestFloat64|TestString|TestRawBytes|TestValuer|TestNULL|TestUint64|TestContext.*|" +
	"TestLoadData|TestFoundRows|TestRowsClose|TestCloseStmtBeforeRows|TestStmtMultiRows|TestMultiResultSet|TestInterruptBySignal|TestCollation|TestDateTime|TestRowsColumnTypes|TestRawBytesResultExceedsBuffer|" +
	"TestTimezoneConversion|TestUnixSocketAuthFail|TestQueryMultipleResults|TestColumnsReturnsError|TestPing.*|TestEmptyPassword|TestTransactionCommit.*|TestErrorInMultiResult)$"

// TestDriverSuite runs the tests of go-sql-driver/mysql itself, as they are in the module cache,
// against Moka. With MOKA_SOAK=1 ('make soak') it runs all of them, on MariaDB too: what fails on
// Moka fails there as well.
func TestDriverSuite(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "driver.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "github.com/go-sql-driver/mysql")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the driver's tests: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/go-sql-driver/mysql").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))

	s := start(t, t.TempDir())
	setup := s.db("")
	mustExec(t, setup, "CREATE DATABASE gotest")
	setup.Close() // one of the tests takes all connections that there are
	sample := driverSample
	if soak {
		sample = "."
	}
	failed, passed := driverSuite(t, binary, dir, "127.0.0.1:"+s.sqlPort, sample)
	t.Logf("on Moka %d tests pass, these do not: %v", passed, failed)
	if passed < 15 {
		t.Fatal("hardly any test ran")
	}
	var also []string
	if soak {
		m := servertest.StartMariaDB(t)
		db, err := sql.Open("mysql", m.DSN(""))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		mustExec(t, db, "CREATE DATABASE gotest")
		also, passed = driverSuite(t, binary, dir, m.Addr, sample)
		t.Logf("on MariaDB %d tests pass, these do not: %v", passed, also)
	}
	for _, name := range failed {
		if !slices.Contains(also, name) {
			t.Errorf("%s fails, and does not on MariaDB", name)
		}
	}
}

var topLevel = regexp.MustCompile(`(?m)^--- (FAIL|PASS): (\w+)`)

func driverSuite(t *testing.T, binary, dir, addr, sample string) (failed []string, passed int) {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	defer cancel()
	// The one that is left out needs the internet, to find nobody there.
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.run", sample, "-test.skip",
		"^TestConnectorReturnsTimeout$")
	cmd.Dir = dir // it reads files beside its source
	cmd.Env = append(os.Environ(), "MYSQL_TEST_USER=root", "MYSQL_TEST_PASS=",
		"MYSQL_TEST_ADDR="+net.JoinHostPort(host, port), "MYSQL_TEST_CONCURRENT=1")
	out, _ := cmd.CombinedOutput() // failures are in it
	if strings.Contains(string(out), "\npanic:") {
		t.Errorf("the driver's tests ended early on %s:\n%.4000s", addr,
			out[strings.Index(string(out), "\npanic:"):])
	}
	for _, m := range topLevel.FindAllStringSubmatch(string(out), -1) {
		if m[1] == "PASS" {
			passed++
		} else {
			failed = append(failed, m[2])
		}
	}
	return failed, passed
}
