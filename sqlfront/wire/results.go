package wire

import (
	"io"
	_ "unsafe" // linkname

	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/routine"
)

// A procedure has as many results as it likes, and its OK follows them. The library has one result for each statement, so the others
// go out while the statement runs, by what the library writes its own with: packets are numbered as one answer. Its
// functions are not exported, and are linked by name; a version that does not have them does not link.

//go:linkname writeFields github.com/dolthub/vitess/go/mysql.(*Conn).writeFields
func writeFields(c *mysql.Conn, r *sqltypes.Result) error

//go:linkname writeRows github.com/dolthub/vitess/go/mysql.(*Conn).writeRows
func writeRows(c *mysql.Conn, r *sqltypes.Result) error

//go:linkname writeBinaryRows github.com/dolthub/vitess/go/mysql.(*Conn).writeBinaryRows
func writeBinaryRows(c *mysql.Conn, r *sqltypes.Result) error

//go:linkname writeEndResult github.com/dolthub/vitess/go/mysql.(*Conn).writeEndResult
func writeEndResult(c *mysql.Conn, more bool, affectedRows, lastInsertID uint64, warnings uint16) error

//go:linkname parseStmtArgs github.com/dolthub/vitess/go/mysql.(*Conn).parseStmtArgs
func parseStmtArgs(c *mysql.Conn, data []byte, typ querypb.Type, pos int) (sqltypes.Value, int, bool)

//go:linkname schemaToFields github.com/dolthub/go-mysql-server/server.schemaToFields
func schemaToFields(ctx *sql.Context, s sql.Schema) []*querypb.Field

// resulting is a session whose statements may have results before their last.
type resulting interface {
	Results(to func(ctx *sql.Context, schema sql.Schema, rows sql.RowIter) error)
}

// resultBatch is how many rows are encoded before they are written; memory is that of a batch, whatever the result's size.
const resultBatch = 128

// serverOutParams says that the result at hand is of OUT parameters.
const serverOutParams = 0x1000

// sendResult writes a result set that is followed by another, or by the OK of the statement. Whether the client has asked for several
// (CLIENT_MULTI_RESULTS) the library does not keep; there has been no client that has not since MySQL 4.1.
func (c *connection) sendResult(ctx *sql.Context, schema sql.Schema, rows sql.RowIter) (err error) {
	defer func() {
		if cerr := rows.Close(ctx); err == nil {
			err = cerr
		}
	}()
	if routine.OutParams(ctx) {
		if !c.binary {
			return nil
		}
		c.conn.StatusFlags |= serverOutParams
		defer func() { c.conn.StatusFlags &^= serverOutParams }()
	}
	r := &sqltypes.Result{Fields: schemaToFields(ctx, schema)}
	c.srv.fixFields(r.Fields)
	results := c.limit().results
	write, begun := writeRows, false
	if c.binary {
		write = writeBinaryRows
	}
	for done := false; !done; {
		r.Rows = r.Rows[:0]
		for len(r.Rows) < resultBatch && !done {
			row, err := rows.Next(ctx)
			if err == io.EOF {
				done = true
				break
			}
			if err != nil {
				return err
			}
			values, err := server.RowToSQL(ctx, schema, row, nil, nil)
			if err != nil {
				return err
			}
			r.Rows = append(r.Rows, values)
		}
		fixRows(r, c.binary)
		c.rows.add(r)
		if results != nil {
			c.encode(results, r, !begun)
		}
		if !begun {
			// Not before there are rows: what fails earlier is an ordinary error.
			begun, c.begun = true, true
			if err := writeFields(c.conn, r); err != nil {
				return err
			}
		}
		if err := write(c.conn, r); err != nil {
			return err
		}
	}
	if err := writeEndResult(c.conn, true, 0, 0, c.handler.WarningCount(c.conn)); err != nil {
		return err
	}
	c.begun = false // an error from here on is one in the place of the next result
	return c.conn.FlushBuffer()
}
