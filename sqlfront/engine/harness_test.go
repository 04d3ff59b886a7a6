package engine_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv/kvtest"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/sqlerr"
	"moka/txn"
	"moka/txn/txntest"
)

// server is an engine over a store in memory, with sessions that are driven as the wire layer drives them.
type server struct {
	t      testing.TB
	client *txn.Client
	store  *kvtest.Mem
	eng    *engine.Engine
}

func newServer(t testing.TB, opts ...func(*engine.Options)) *server {
	t.Helper()
	client, store := txntest.NewStoreWith(t, kvtest.Options{}, txn.Options{}, txn.CoprocessorOptions{Programs: pushdown.Load})
	s := &server{t: t, client: client, store: store}
	s.start(opts...)
	return s
}

// start makes an engine over the store; called again, it is a restart.
func (s *server) start(opts ...func(*engine.Options)) {
	s.t.Helper()
	ctx := context.Background()
	cat, err := catalog.Open(ctx, s.client, catalog.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	o := engine.Options{Client: s.client, Catalog: cat}
	for _, f := range opts {
		f(&o)
	}
	eng, err := engine.New(ctx, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.eng = eng
	s.t.Cleanup(func() { _ = eng.Close() })
}

var connections atomic.Uint32

type session struct {
	t    testing.TB
	eng  *engine.Engine
	sess *engine.Session
}

func (s *server) session(db string) *session {
	id := connections.Add(1)
	base := sql.NewBaseSessionWithClientServer("test", sql.Client{User: "root", Address: "localhost"}, id)
	sess := s.eng.NewSession(base)
	sess.SetCurrentDatabase(db)
	s.t.Cleanup(sess.SessionEnd)
	return &session{s.t, s.eng, sess}
}

func (c *session) context() *sql.Context {
	return sql.NewContext(c.sess.Measure(context.Background()), sql.WithSession(c.sess),
		sql.WithPid(uint64(c.sess.ID())),
		sql.WithProcessList(c.eng.SQL().ProcessList))
}

// run executes a statement, in autocommit again if it lost a race, as the wire layer does: what an earlier statement commits in the
// background may still be under way.
func (c *session) run(query string) (schema sql.Schema, rows []sql.Row, err error) {
	for range 20 {
		alone := c.sess.GetTransaction() == nil && !c.sess.GetIgnoreAutoCommit()
		schema, rows, err = c.once(query)
		if !alone || !engine.IsRetryable(err) {
			break
		}
	}
	return schema, rows, err
}

// once executes a statement between CommandBegin and CommandEnd.
func (c *session) once(query string) (sql.Schema, []sql.Row, error) {
	if err := c.sess.CommandBegin(); err != nil {
		return nil, nil, err
	}
	defer c.sess.CommandEnd()
	ctx := c.context()
	ctx = ctx.WithQuery(query)
	schema, iter, _, err := c.eng.SQL().Query(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	var rows []sql.Row
	for {
		row, err := iter.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			_ = iter.Close(ctx)
			return schema, rows, err
		}
		rows = append(rows, row)
	}
	return schema, rows, iter.Close(ctx)
}

// exec fails the test if the statement does.
func (c *session) exec(query string, args ...any) {
	c.t.Helper()
	if len(args) > 0 {
		query = fmt.Sprintf(query, args...)
	}
	if _, _, err := c.run(query); err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
}

// code runs a statement and returns the number of its error, 0 for none.
func (c *session) code(query string) int {
	_, _, err := c.run(query)
	return sqlerr.Code(err)
}

// text prints a result as one line for each row.
func (c *session) text(query string) string {
	schema, rows, err := c.run(query)
	if err != nil {
		e := sqlerr.Final(err, sqlerr.Statement{Query: query, Database: c.sess.GetCurrentDatabase()})
		return fmt.Sprintf("error %d (%s): %s\n", e.Num, e.State, e.Message)
	}
	var b strings.Builder
	ctx := c.context()
	for _, r := range rows {
		if types.IsOkResultSchema(schema) {
			ok := r[0].(types.OkResult)
			fmt.Fprintf(&b, "ok, %d rows\n", ok.RowsAffected)
			continue
		}
		for i, v := range r {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(printValue(ctx, schema[i].Type, v))
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "ok\n"
	}
	return b.String()
}

func printValue(ctx *sql.Context, t sql.Type, v any) string {
	if v == nil {
		return "NULL"
	}
	out, err := t.SQL(ctx, nil, v)
	if err != nil {
		return fmt.Sprintf("%v!%v", v, err)
	}
	return out.ToString()
}

// want compares a result, trimmed, with the lines.
func (c *session) want(query string, lines ...string) {
	c.t.Helper()
	got := strings.TrimSpace(c.text(query))
	if want := strings.Join(lines, "\n"); got != want {
		c.t.Fatalf("%s\ngot:\n%s\nwant:\n%s", query, got, want)
	}
}
