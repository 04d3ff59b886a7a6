package conn

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/parse"
	"moka/sqlfront/resultset"
	"moka/sqlfront/sqlerr"
)

// query is COM_QUERY: one statement, or several if the client has said that there may be. goOn is false if
// the connection cannot go on.
func (c *Connection) query(arg []byte) (goOn bool) {
	q, err := mysqlproto.ParseQuery(arg, c.capabilities)
	if err != nil {
		c.fail(malformed())
		return true
	}
	c.statement = ""
	defer func() { c.statement = "" }()
	for text, first := q.Text, true; first || text != ""; first = false {
		r := c.newReply(false)
		rest, se := c.run(c.decode(text), nil, nil, c.has(mysqlproto.ClientMultiStatements), r)
		if se != nil {
			r.fail(se)
			return true // nothing that follows in a multi-statement is run
		}
		if c.out.Err() != nil {
			return false
		}
		text, c.statement = rest, rest
	}
	return true
}

// failing is a session that is told of the error that a statement ends with.
type failing interface{ Failed(*sqlerr.Error) }

// run is the life of one statement, up to its last packet; what it returns as an error is not written yet.
// rest is what follows it in a text of several.
func (c *Connection) run(text string, p *prepared, params []mysqlproto.Param, multi bool,
	r *reply) (rest string, failed *sqlerr.Error) {
	began := time.Now()
	ctx := context.Background()
	if m, ok := c.session.(measured); ok {
		ctx = m.Measure(ctx)
	}
	ctx, err := c.begin(ctx)
	if err != nil {
		return "", c.final(err, "")
	}
	defer c.end()
	defer func() { c.record(text[:len(text)-len(rest)], r.rows, began, failed) }()
	done, err := c.reads(text)
	if err != nil {
		return "", c.final(err, text)
	}
	defer done()
	text = parse.Unwrap(text, c.limit().ansiQuotes)
	if err := c.mustChange(text); err != nil {
		return "", c.final(err, text)
	}
	st := classify(text)
	c.srv.counts.statement(st.verb)
	if st.ping && c.session != nil {
		return "", c.final(c.selectOne(r), text)
	}
	if st.reads {
		if d := c.deadline(text); d > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeoutCause(ctx, d, sqlerr.ErrTimeout)
			defer stop()
		}
	}
	if st.verb != verbTransaction && st.verb != verbDDL { // the locks of those keep many others waiting
		var end func()
		ctx, end = c.srv.opts.Pacer.Pace(ctx)
		defer end()
	}
	c.expectsFile = st.loads
	defer func() { c.expectsFile = false }()
	rest, err = c.attempts(ctx, &execution{c: c, st: st, text: text, prepared: p != nil, params: params,
		multi: multi, r: r})
	if err == nil {
		return rest, nil
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause // the deadline or the shutdown, whatever the statement made of it
	}
	se := c.worded(err, text)
	if s, ok := c.session.(failing); ok {
		s.Failed(se)
	}
	return "", c.encodeError(se)
}

// rerunner is a session whose statements can be run again within their transaction.
type rerunner interface {
	// ReRunsStatements says that Again will be asked.
	ReRunsStatements()
	// Again is asked after each failed statement, with whether it may be run again.
	Again(may bool) bool
	// Contended says that the next attempt follows a conflict in autocommit: it should stand in line.
	Contended(yes bool)
}

// attempts runs a statement, and runs it again after a conflict if the client cannot have seen anything of
// it: it is in autocommit (or is the first of its transaction), and nothing of its answer has left the
// server.
func (c *Connection) attempts(ctx context.Context, x *execution) (rest string, err error) {
	again := x.st.again && !c.inTransaction()
	pause := firstPause
	session, _ := c.session.(rerunner)
	if session != nil {
		session.ReRunsStatements()
		defer session.Contended(false)
	}
	most := c.srv.opts.MaxRetries
	defer func() { x.turn.End() }()
	for n := 0; ; n++ {
		err = c.guard("statement", func() error {
			rest, err = x.run(ctx)
			return err
		})
		if err == nil {
			return rest, nil
		}
		unseen := x.r.takeBack()
		if session != nil && session.Again(unseen && x.st.again && n < most && !c.poisoned &&
			ctx.Err() == nil) {
			c.srv.counts.retries.Add(1)
			continue // at once: the row that it lost a race for is locked now
		}
		if !unseen || !again || n >= most || c.poisoned || c.inTransaction() || !c.srv.opts.Retryable(err) {
			if n > 0 {
				c.srv.counts.gaveUp.Add(1)
			}
			return rest, err
		}
		c.srv.counts.retries.Add(1)
		select {
		case <-time.After(pause/2 + rand.N(pause/2)):
		case <-ctx.Done():
			return rest, err
		}
		pause = min(2*pause, lastPause)
		if session != nil {
			session.Contended(true)
		}
	}
}

// oneHead is the head of SELECT 1.
var oneHead = resultset.NewHead(sql.NewEmptyContext(), []*querypb.Field{{
	Name: "1", Type: sqltypes.Int64, ColumnLength: 2, Charset: binaryCharset,
	Flags: uint32(querypb.MySqlFlag_NOT_NULL_FLAG | querypb.MySqlFlag_BINARY_FLAG |
		querypb.MySqlFlag_NUM_FLAG),
}}, []sql.Type{types.Int64})

var oneRow = []sql.Row{{int64(1)}}

// selectOne answers SELECT 1, with which pools ask whether a connection lives. The planner spends a
// quarter of a millisecond on it, most of it for a session that it builds to find out that there is no
// table.
func (c *Connection) selectOne(r *reply) error {
	c.session.ClearWarnings()
	for _, name := range []string{"Questions", "Com_select"} {
		sql.StatusVariables.IncrementGlobal(name, 1)
		c.session.IncrementStatusVariable(nil, name, 1)
	}
	return r.result(&resultset.Result{Head: oneHead, Rows: oneRow})
}
