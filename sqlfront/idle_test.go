package sqlfront_test

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"moka/sqlfront/sqlerr"
)

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what sync.Pools hold
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestIdleConnectionsKeepNothing: a connection that has run its statement keeps no tree of it, no names of
// columns and no rest of its text: 37 MB for a text of 7.5 MB, charged to nobody, for as long as it is open
// (usage-3).
func TestIdleConnectionsKeepNothing(t *testing.T) {
	s := newDatabase(t).serve()
	pool := s.open("root", "", "?multiStatements=true&maxAllowedPacket=0")
	conn := func() *sql.Conn {
		c, err := pool.Conn(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		run(t, c, "select 1, 2")
		return c
	}
	const long = 4 << 20
	for _, q := range []string{
		"select '" + strings.Repeat("x", long) + "'",
		"select 1 in (1" + strings.Repeat(",1", long/32) + ")",
		"do '" + strings.Repeat("x", long) + "'",
		"select 1; selec 1; /* " + strings.Repeat("x", long) + " */",
		"select `" + strings.Repeat("x", long) + "`",
	} {
		c := conn()
		before := heapInUse()
		_, _ = c.ExecContext(context.Background(), q)
		_ = c.PingContext(context.Background()) // the driver keeps the last packet until then
		if kept := heapInUse() - before; kept > long/2 {
			t.Errorf("%.40s…: %d bytes are kept", q, kept)
		}
		runtime.KeepAlive(q)
	}
}

// TestLongColumnNames: the name of a column is 256 characters at most, as of MySQL. One that does not fit a
// packet was a panic (beside usage-3).
func TestLongColumnNames(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	for _, q := range []string{"select '%s'", "select 1 as `%s`", "select 1<%s2",
		"select 1 from (select 1) as `%s`"} {
		filler := "ä"
		if strings.Contains(q, "<") {
			filler = " "
		}
		long := strings.Repeat(filler, 17<<20/len(filler))
		rows, err := c.QueryContext(context.Background(), fmt.Sprintf(q, long))
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		names, err := rows.Columns()
		if err != nil || len(names) != 1 || len([]rune(names[0])) > 256 {
			t.Errorf("%s: %.80q, %v", q, names, err)
		}
		_ = rows.Close()
	}
	want(t, c, "select 1", "1")
}

// TestClosedStatementsAreForgotten: COM_STMT_CLOSE frees the tree of a statement. It stayed with the
// session, charged to nobody (usage-2); those that are open, and those of PREPARE, are charged.
func TestClosedStatementsAreForgotten(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	list := func(i int) string { return fmt.Sprintf("select %d in (1%s)", i, strings.Repeat(",1", 30_000)) }
	prepare := func(i int) *sql.Stmt {
		t.Helper()
		stmt, err := c.PrepareContext(context.Background(), list(i))
		if err != nil {
			t.Fatal(err)
		}
		return stmt
	}
	_ = prepare(0).Close()
	before := heapInUse()
	for i := range 20 {
		_ = prepare(i).Close()
	}
	run(t, c, "do 1")
	if kept := heapInUse() - before; kept > 10<<20 {
		t.Errorf("%d bytes are kept of closed statements", kept)
	}
	// Two of the same text: the second lives on.
	one, two := prepare(1), prepare(1)
	_ = one.Close()
	if rows, err := two.QueryContext(context.Background()); err != nil {
		t.Error(err)
	} else {
		_ = rows.Close()
	}
	_ = two.Close()
	run(t, c, "set global moka_session_memory = 10000000")
	defer run(t, c, "set global moka_session_memory = default")
	var open []*sql.Stmt
	for i := range 10 {
		stmt, err := c.PrepareContext(context.Background(), list(i))
		if err != nil {
			wantNumber(t, "one more statement", err, sqlerr.CapacityExceeded)
			break
		}
		open = append(open, stmt)
	}
	if len(open) != 5 {
		t.Errorf("%d statements of 60 KB in 10 MB", len(open))
	}
	for _, stmt := range open {
		_ = stmt.Close()
	}
	for i := range 10 {
		_, err := c.ExecContext(context.Background(), fmt.Sprintf("prepare s%d from '%s'", i, list(i)))
		if i == 5 {
			wantNumber(t, "one more PREPARE", err, sqlerr.CapacityExceeded)
			break
		}
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	_, err := c.ExecContext(context.Background(), "execute s5")
	wantNumber(t, "what was not prepared", err, 1243)
	run(t, c, "execute s4", "prepare s4 from '"+list(5)+"'", "deallocate prepare s4", "deallocate prepare s3",
		"set @q = '"+list(9)+"'", "prepare s5 from @q", "prepare s6 from @q")
	_, err = c.ExecContext(context.Background(), "prepare s7 from @q")
	wantNumber(t, "one more PREPARE from a variable", err, sqlerr.CapacityExceeded)
}

// TestGeometriesAreCharged: a geometry was charged 256 bytes, whatever its size (usage-5).
func TestGeometriesAreCharged(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "set global moka_session_memory = 1048576")
	defer run(t, c, "set global moka_session_memory = default")
	run(t, c, "set @p = point(1, 1)", "set @l = st_geomfromtext('linestring(1 1, 2 2)')")
	points := "repeat('1 1,', 50000), '1 1'"
	for _, g := range []string{
		"concat('linestring(', " + points + ", ')')",
		"concat('multipoint(', " + points + ", ')')",
		"concat('polygon((', " + points + ", '))')",
		"concat('multilinestring((', " + points + ", '))')",
		"concat('multipolygon(((', " + points + ", ')))')",
		"concat('geometrycollection(linestring(', " + points + ", '))')",
	} {
		run(t, c, "do st_geomfromtext("+g+")")
		_, err := c.ExecContext(context.Background(), "set @g = st_geomfromtext("+g+")")
		wantNumber(t, g, err, sqlerr.CapacityExceeded)
	}
}
