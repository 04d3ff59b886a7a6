package wire

import (
	"math"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/sqlerr"
)

// keeper is a session that answers for the memory that its client makes it keep.
type keeper interface {
	// Keep charges for n more bytes between statements, or fewer.
	Keep(n int64, what string) error
	// Reads charges for the reading of a statement of n bytes, until it is told 0.
	Reads(n int) error
}

func (c *connection) keep(n int64, what string) error {
	if k, ok := c.session.(keeper); ok {
		return k.Keep(n, what)
	}
	return nil
}

// longText is from where on the reading of a statement is charged for.
const longText = 64 << 10

// reads charges for the tree of a long statement; done gives that back.
func (c *connection) reads(query string) (done func(), err error) {
	k, ok := c.session.(keeper)
	if !ok || len(query) < longText {
		return func() {}, nil
	}
	if err := k.Reads(len(query)); err != nil {
		return nil, err
	}
	return func() { _ = k.Reads(0) }, nil // giving back does not fail
}

// Interrupt ends the statement under way with an error, if there is one: what MySQL's KILL QUERY does, with words of its own.
func (c *connection) Interrupt(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		c.cancel(err)
	}
	return c.busy
}

// maxPrepared is how many prepared statements all connections may have together.
func maxPrepared() int64 {
	if _, v, ok := sql.SystemVariables.GetGlobal("max_prepared_stmt_count"); ok {
		if n, ok := v.(int64); ok {
			return n
		}
	}
	return math.MaxInt64
}

// preparedBytes is about what a prepared statement takes.
func preparedBytes(text string) int64 { return 1<<10 + 2*int64(len(text)) }

// mayPrepare refuses a statement more than there may be.
func (c *connection) mayPrepare() error {
	if most := maxPrepared(); c.srv.prepared.Load() >= most {
		return sqlerr.New(sqlerr.TooManyPrepared, "Can't create more than max_prepared_stmt_count statements (current value: %d)", most)
	}
	return nil
}

// prepared counts a statement that was prepared, or forgets it if the session may not keep it.
func (c *connection) prepared(p *mysql.PrepareData) error {
	if err := c.keep(preparedBytes(p.PrepareStmt), "prepared statements"); err != nil {
		delete(c.conn.PrepareData, p.StatementID)
		return err
	}
	c.srv.prepared.Add(1)
	return nil
}

// unprepare forgets a prepared statement.
func (c *connection) unprepare(id uint32) {
	p := c.conn.PrepareData[id]
	if p == nil {
		return
	}
	delete(c.conn.PrepareData, id)
	_ = c.keep(-preparedBytes(p.PrepareStmt), "") // giving back does not fail
	c.srv.prepared.Add(-1)
}

// unprepareAll forgets all of them.
func (c *connection) unprepareAll() {
	for id := range c.conn.PrepareData {
		c.unprepare(id)
	}
}

// checkParams refuses numbers that SQL does not have. The library makes a text of them that it cannot read.
func checkParams(p *mysql.PrepareData) error {
	for i, t := range p.ParamsType {
		if sqltypes.IsFloat(querypb.Type(t)) {
			v := p.BindVars[paramName(i)]
			if v == nil {
				continue
			}
			if f, err := strconv.ParseFloat(string(v.Value), 64); err == nil && (math.IsNaN(f) || math.IsInf(f, 0)) {
				return sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to mysqld_stmt_execute")
			}
		}
	}
	return nil
}
