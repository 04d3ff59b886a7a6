package engine_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql/types"
)

// at runs a statement that begins at a moment.
func (c *session) at(when time.Time, query string) (rows []string) {
	c.t.Helper()
	if err := c.sess.CommandBegin(); err != nil {
		c.t.Fatal(err)
	}
	defer c.sess.CommandEnd()
	ctx := c.context().WithQuery(query)
	ctx.SetQueryTime(when)
	schema, it, _, err := c.eng.SQL().Query(ctx, query)
	if err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			c.t.Fatalf("%s: %v", query, err)
		}
		text := ""
		for i, v := range row {
			if _, ok := v.(types.OkResult); !ok && i < len(schema) && v != nil {
				s, err := schema[i].Type.SQL(ctx, nil, v)
				if err != nil {
					c.t.Fatal(err)
				}
				v = s.ToString()
			}
			text += fmt.Sprint(v, ";")
		}
		rows = append(rows, text)
	}
	if err := it.Close(ctx); err != nil {
		c.t.Fatal(err)
	}
	return rows
}

// What NOW() and the defaults of columns store is the moment, in the hours around a turn of the clock as well, and in both of two hours that have
// the same times.
func TestNowWhereClocksAreTurned(t *testing.T) {
	s := newServer(t)
	c := s.session("")
	c.exec("CREATE DATABASE d")
	c.sess.SetCurrentDatabase("d")
	for i, x := range []struct {
		zone, local string
		at          int64
	}{
		{"Europe/Berlin", "2018-10-28 02:30:00", 1540686600},
		{"Europe/Berlin", "2018-10-28 02:30:00", 1540690200},
		{"Europe/Berlin", "2018-03-25 03:15:00", 1521940500},
		{"Europe/Berlin", "2018-03-25 01:59:59", 1521939599},
		{"America/New_York", "2018-03-11 01:30:00", 1520749800},
		{"America/New_York", "2018-03-11 03:30:00", 1520753400},
		{"America/New_York", "2018-11-04 01:30:00", 1541309400},
		{"America/New_York", "2018-11-04 01:30:00", 1541313000},
		{"+05:30", "2018-11-04 12:00:00", 1541313000},
	} {
		when := time.Unix(x.at, 0)
		c.exec("SET time_zone = '%s'", x.zone)
		if got := c.at(when, "SELECT NOW(), CURRENT_TIMESTAMP(3), FROM_UNIXTIME("+fmt.Sprint(x.at)+")"); len(got) != 1 || got[0] != x.local+";"+x.local+".000000;"+x.local+";" && got[0] != x.local+";"+x.local+".000;"+x.local+";" {
			t.Errorf("%s at %d: %v", x.zone, x.at, got)
		}
		c.exec("CREATE TABLE t%d (id INT PRIMARY KEY, a TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, b TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, c TIMESTAMP NULL, n INT, KEY (a, b))", i)
		c.at(when.Add(-time.Second), fmt.Sprintf("INSERT INTO t%d (id, c) VALUES (1, NOW())", i))
		c.at(when, fmt.Sprintf("UPDATE t%d SET n = 1 WHERE id = 1", i))
		want := fmt.Sprintf("%d | %d | %d", x.at-1, x.at, x.at-1)
		c.want(fmt.Sprintf("SELECT UNIX_TIMESTAMP(a), UNIX_TIMESTAMP(b), UNIX_TIMESTAMP(c) FROM t%d", i), want)
		c.exec("SET time_zone = '+00:00'")
		c.want(fmt.Sprintf("SELECT UNIX_TIMESTAMP(a), UNIX_TIMESTAMP(b), UNIX_TIMESTAMP(c) FROM t%d", i), want)
	}
}
