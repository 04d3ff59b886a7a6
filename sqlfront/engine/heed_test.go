package engine_test

import (
	"context"
	"io"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
)

// askedContext counts how often it is asked whether the statement is to end.
type askedContext struct {
	context.Context
	asked int
}

func (c *askedContext) Err() error {
	c.asked++
	return c.Context.Err()
}

// TestJoinsOfInformationAsk: of a join of tables of information_schema, which are in memory, nothing asked
// whether the statement is to end or to step back.
func TestJoinsOfInformationAsk(t *testing.T) {
	c := newServer(t).session("")
	if err := c.sess.CommandBegin(); err != nil {
		t.Fatal(err)
	}
	defer c.sess.CommandEnd()
	const query = "SELECT COUNT(*) FROM information_schema.collations a, information_schema.character_sets b"
	asked := &askedContext{Context: c.sess.Measure(t.Context())}
	ctx := sql.NewContext(asked, sql.WithSession(c.sess), sql.WithPid(uint64(c.sess.ID())),
		sql.WithProcessList(c.eng.SQL().ProcessList)).WithQuery(query)
	_, rows, _, err := c.eng.SQL().Query(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	asked.asked = 0
	row, err := rows.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := row[0].(int64); n < 1000 || int64(asked.asked) < n {
		t.Errorf("of %d rows it asked %d times", n, asked.asked)
	}
	if _, err := rows.Next(ctx); err != io.EOF {
		t.Error(err)
	}
	if err := rows.Close(ctx); err != nil {
		t.Error(err)
	}
}
