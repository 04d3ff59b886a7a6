package conn

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/resultset"
	"moka/sqlfront/sqlerr"
)

var errMixed = errors.New("conn: a statement answered with rows and with an OK")

// reply is the answer to a statement: results with rows, or an OK, or an error.
type reply struct {
	c      *Connection
	binary bool // in the binary protocol
	more   bool // another statement follows in the text

	from    mysqlproto.Mark
	rows    tally
	begun   bool // the columns of a result are there, its end is not
	encoder resultset.Encoder

	into   *prepared // rows are kept for COM_STMT_FETCH
	cursor *cursor

	onlyColumns bool   // COM_FIELD_LIST
	like        string // which columns
}

func (c *Connection) newReply(binary bool) *reply {
	r := &c.reply
	*r = reply{c: c, binary: binary, from: c.out.Mark(), encoder: r.encoder}
	if r.encoder.Widen == nil {
		r.encoder.Widen = c.widen
	}
	return r
}

// forget lets go of what the answer was made of: an idle connection keeps nothing of its last statement.
func (r *reply) forget() {
	r.encoder.Head = nil
	r.into, r.cursor = nil, nil
}

// takeBack forgets what has been said, if nothing of it has left the server, and reports whether that is so.
func (r *reply) takeBack() bool {
	if !r.c.out.Rewind(r.from) {
		return false
	}
	r.begun, r.rows = false, tally{}
	r.dropCursor()
	return true
}

// dropCursor forgets the rows that were kept so far.
func (r *reply) dropCursor() {
	if r.cursor != nil {
		r.cursor.close()
		r.cursor = nil
	}
}

// begin begins a result.
func (r *reply) begin(h *resultset.Head) {
	c := r.c
	r.encoder.Head = h
	r.begun = true
	if r.onlyColumns {
		for i := range h.Fields {
			if column := h.Column(i); likeName(column.Name, r.like) {
				c.out.End(column.Append(c.out.Begin(), true))
			}
		}
		return
	}
	c.out.Packets(h.Packed())
	if r.into != nil {
		r.cursor = &cursor{srv: c.srv, keep: c.keep} // its columns end when the rows are known to be there
		return
	}
	c.endColumns()
}

// row sends a row.
func (r *reply) row(ctx *sql.Context, row sql.Row) (err error) {
	r.rows.sent++
	out := r.c.out
	b := out.Begin()
	at := len(b)
	if r.binary {
		b, err = r.encoder.Binary(ctx, b, row)
	} else {
		b, err = r.encoder.Text(ctx, b, row)
	}
	if err != nil {
		r.c.sent()
		return err
	}
	if r.cursor != nil {
		r.cursor.add(b[at:])
		out.Keep(b)
	} else {
		out.End(b)
	}
	r.c.sent()
	return out.Err()
}

// end ends the rows of the last result.
func (r *reply) end() error {
	c := r.c
	flags := uint16(0)
	if r.more {
		flags |= mysqlproto.StatusMoreResults
	}
	if r.cursor != nil {
		if e := r.cursor.complete(); e != nil {
			return e
		}
		r.into.cursor, r.cursor = r.cursor, nil
		c.cursors++
		flags |= mysqlproto.StatusCursorExists
	}
	r.begun = false
	c.endRows(flags, c.warnings())
	return nil
}

// inner ends a result that another one, or an OK, follows.
func (r *reply) inner(flags uint16) {
	r.begun = false
	r.c.endRows(flags, r.c.warnings())
}

// result sends a result whose rows are there.
func (r *reply) result(result *resultset.Result) error {
	r.c.settle()
	if result.Head == nil {
		r.ok(result.Affected, result.InsertID, result.Info)
		return nil
	}
	var ctx *sql.Context
	if err := r.c.holdRows(result.Rows); err != nil {
		return err
	}
	defer r.c.dropRows()
	r.begin(result.Head)
	for _, row := range result.Rows {
		if ctx == nil {
			ctx = r.c.rowContext()
		}
		if err := r.row(ctx, row); err != nil {
			return err
		}
	}
	return r.end()
}

// rowContext is for the conversions of values that are not of their column's Go type.
func (c *Connection) rowContext() *sql.Context {
	if c.converting == nil || c.converting.Session != c.session {
		c.converting = sql.NewContext(context.Background(), sql.WithSession(c.session))
	}
	return c.converting
}

func (r *reply) okResult(ok types.OkResult) {
	info := ""
	if ok.Info != nil {
		info = ok.Info.String()
	}
	r.ok(ok.RowsAffected, ok.InsertID, info)
}

// ok answers a statement that has no rows.
func (r *reply) ok(affected, insertID uint64, info string) {
	c := r.c
	r.rows.affected += int64(affected)
	c.settle()
	status, n := c.status, c.warnings()
	if r.more {
		status |= mysqlproto.StatusMoreResults
	}
	if head, ok := strings.CutSuffix(info, "Warnings: 0"); ok && n > 0 {
		info = head + "Warnings: " + strconv.Itoa(int(n))
	}
	o := mysqlproto.OK{Affected: affected, InsertID: insertID, Status: status, Warnings: n, Info: info,
		Changes: c.changes()}
	c.out.End(o.Append(c.out.Begin(), c.capabilities))
}

// fail ends the answer with an error, wherever it is.
func (r *reply) fail(e *sqlerr.Error) {
	r.dropCursor()
	r.c.fail(e)
}

// likeName reports whether a name is like a pattern of COM_FIELD_LIST: '%', '_' and, if it is empty, any.
func likeName(name, pattern string) bool {
	if pattern == "" {
		return true
	}
	n, p := strings.ToLower(name), strings.ToLower(pattern)
	at, star, back := 0, -1, 0
	for i := 0; i < len(n); {
		switch {
		case at < len(p) && p[at] == '%':
			star, back = at, i
			at++
		case at < len(p) && (p[at] == '_' || p[at] == n[i]):
			at, i = at+1, i+1
		case star >= 0:
			back++
			at, i = star+1, back
		default:
			return false
		}
	}
	return strings.Trim(p[at:], "%") == ""
}
