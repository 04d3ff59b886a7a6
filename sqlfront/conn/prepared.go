package conn

import (
	"context"
	"errors"
	"strings"
	"unsafe"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/mysqlproto"
	"moka/sqlfront/parse"
	"moka/sqlfront/resultset"
	"moka/sqlfront/sqlerr"
)

// prepared is a statement of COM_STMT_PREPARE.
type prepared struct {
	id     uint32
	text   string
	params int
	types  []mysqlproto.ParamType // of the last EXECUTE

	long   map[uint16]*longParam // parameters that were sent in pieces
	wrong  *sqlerr.Error         // what is wrong with one of them, to be told at EXECUTE
	cursor *cursor
}

type longParam struct{ pieces []byte }

// prepare is COM_STMT_PREPARE.
func (c *Connection) prepare(text string) *sqlerr.Error {
	l := c.limit()
	if l.client != nil {
		text = l.client.Decode(text)
	}
	text = parse.Unwrap(text, l.ansiQuotes)
	if strings.TrimSpace(text) == "" {
		return sqlerr.New(sqlerr.EmptyQuery, "Query was empty")
	}
	if err := c.mayPrepare(); err != nil {
		return asSQLError(err)
	}
	if at, more := parse.Second(text, l.ansiQuotes); more {
		return sqlerr.Syntax(text, at)
	}
	p := &prepared{text: text, params: parse.Params(text, l.ansiQuotes)}
	if p.params > mysqlproto.MaxParams {
		return sqlerr.New(sqlerr.TooManyParameters, "Prepared statement contains too many placeholders")
	}
	head, err := c.prepareStatement(p)
	if err != nil {
		return c.final(err, text)
	}
	c.lastID++
	p.id = c.lastID
	c.statements[p.id] = p
	c.writePrepared(p, head)
	return nil
}

// prepareStatement has the engine look at a statement. The head is that of its result, nil if it has none.
func (c *Connection) prepareStatement(p *prepared) (head *resultset.Head, err error) {
	ctx, err := c.begin(context.Background())
	if err != nil {
		return nil, err
	}
	defer c.end()
	if err := c.mustChange(p.text); err != nil {
		return nil, err
	}
	done, err := c.grows(p.text, false)
	if err != nil {
		return nil, err
	}
	defer done()
	err = c.guard("ComPrepare", func() error {
		return c.operation(ctx, p.text, func(ctx *sql.Context) error {
			node, err := c.srv.opts.Engine.PrepareQuery(ctx, p.text)
			if err != nil {
				return sql.CastSQLError(err)
			}
			switch node.(type) {
			case *plan.PrepareQuery, *plan.ExecuteQuery, *plan.DeallocateQuery:
				return sqlerr.NotPreparable()
			}
			if schema := answered(ctx, node); !answersOK(node) && !types.IsOkResultSchema(schema) &&
				len(schema) > 0 {
				head = c.srv.columns.Describe(ctx, schema, "", c.limit().results)
			}
			return nil
		})
	})
	if err == nil {
		err = c.count(p)
	}
	if err != nil {
		c.forgetTree(p.text)
	}
	return head, err
}

// answered are the columns of a statement's answer. Those of REPLACE … RETURNING the library knows when it
// runs.
func answered(ctx *sql.Context, n sql.Node) sql.Schema {
	if i, ok := n.(*plan.InsertInto); ok && i.Returning != nil {
		inserts := *i
		inserts.IsReplace = false
		n = &inserts
	}
	return n.Schema(ctx)
}

// answersOK is of statements whose trees have a schema before they run, and answer with an OK then.
func answersOK(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.InsertInto:
		return n.Returning == nil
	case *plan.Update, *plan.UpdateJoin, *plan.DeleteFrom:
		return true
	}
	return false
}

// writePrepared answers COM_STMT_PREPARE.
func (c *Connection) writePrepared(p *prepared, head *resultset.Head) {
	columns := 0
	if head != nil {
		columns = len(head.Fields)
	}
	c.out.End(mysqlproto.AppendPrepared(c.out.Begin(), p.id, columns, p.params, c.warnings()))
	if p.params > 0 {
		param := mysqlproto.Column{Name: "?", Type: mysqlproto.TypeVarString, Charset: binaryCharset,
			Flags: binaryFlag}
		for range p.params {
			c.out.End(param.Append(c.out.Begin(), false))
		}
		c.endColumns()
	}
	if columns > 0 {
		for i := range columns {
			column := head.Column(i)
			column.Name = strings.ReplaceAll(column.Name, "'?'", "?")
			c.out.End(column.Append(c.out.Begin(), false))
		}
		c.endColumns()
	}
}

const (
	binaryCharset = 63
	binaryFlag    = 128
)

// endColumns is what stands between columns and rows, for clients that want something there.
func (c *Connection) endColumns() {
	if !c.has(mysqlproto.ClientDeprecateEOF) {
		c.out.End(mysqlproto.AppendEOF(c.out.Begin(), 0, c.status))
	}
}

func unknownStatement(id uint32, in string) *sqlerr.Error {
	return sqlerr.New(sqlerr.UnknownStmtHandler, "Unknown prepared statement handler (%d) given to %s", id,
		in)
}

func wrongArguments() *sqlerr.Error {
	return sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to mysqld_stmt_execute")
}

// execute is COM_STMT_EXECUTE.
func (c *Connection) execute(arg []byte) {
	e, err := mysqlproto.ParseExecute(arg)
	if err != nil {
		c.fail(wrongArguments())
		return
	}
	p := c.statements[e.Statement]
	if p == nil {
		c.fail(unknownStatement(e.Statement, "mysqld_stmt_execute"))
		return
	}
	if wrong := c.bind(&e, p); wrong != nil {
		c.fail(wrong)
		return
	}
	c.closeCursor(p)
	r := c.newReply(true)
	if e.Flags&mysqlproto.CursorReadOnly != 0 && !isCall(p.text) {
		if c.cursors >= maxCursors {
			c.fail(sqlerr.New(sqlerr.OutOfMemory,
				"Too many open cursors: %d; close a statement, or fetch one to its end", maxCursors))
			return
		}
		r.into = p
	}
	if _, se := c.run(p.text, p, e.Params, false, r); se != nil {
		r.fail(se)
	}
	if cap(c.params) > keptParams {
		c.params = nil
	}
	clear(c.params[:cap(c.params)])
}

// isCall reports whether a statement may have several results, of which none is kept for a cursor.
func isCall(text string) bool {
	verb, _ := firstWord(text)
	return strings.EqualFold(verb, "call")
}

// keptParams is how many parameters are made room for between statements.
const keptParams = 256

// bind takes the values of an EXECUTE. Those that were sent in pieces are used up by it, whatever comes of
// it.
func (c *Connection) bind(e *mysqlproto.Execute, p *prepared) *sqlerr.Error {
	defer c.forgetLong(p)
	if p.wrong != nil {
		return p.wrong
	}
	known, err := e.Bind(p.params, p.types, func(i int) bool { return p.long[uint16(i)] != nil },
		c.capabilities, c.params[:0])
	p.types, c.params = known, e.Params
	switch {
	case errors.Is(err, mysqlproto.ErrArguments):
		return wrongArguments()
	case err != nil:
		return malformed()
	}
	client := c.limit().client
	if err := c.unpacks(p); err != nil {
		return asSQLError(err)
	}
	for i := range e.Params {
		v := &e.Params[i]
		if l := p.long[uint16(i)]; l != nil {
			// The pieces are forgotten by the statement, and nobody else has them.
			text := unsafe.String(unsafe.SliceData(l.pieces), len(l.pieces))
			*v = mysqlproto.Param{Kind: mysqlproto.KindBytes, Text: text}
			if i < len(p.types) && isCharacters(p.types[i].Type) {
				v.Kind = mysqlproto.KindText
			}
		}
		switch {
		case v.Kind == mysqlproto.KindFloat && v.Text == "": // SQL has no such number
			return wrongArguments()
		case v.Kind == mysqlproto.KindText && client != nil:
			v.Text = client.Decode(v.Text)
		}
	}
	return nil
}

// unpacks charges for the copies that are made of what was sent in pieces: what the planner makes of it,
// and its text in UTF-8. Values that are in the command are charged for with it.
func (c *Connection) unpacks(p *prepared) error {
	n, times := int64(0), int64(bindCopies)
	for _, l := range p.long {
		n += int64(len(l.pieces))
	}
	if n <= longText {
		return nil
	}
	if c.limit().client != nil {
		times += decodedBytes
	}
	return c.charge(&c.inbound, c.inbound+times*n)
}

const (
	// bindCopies is how often the value of a parameter is there while its statement runs: in the tree, in the
	// literal, and in what that is converted to.
	bindCopies = 4
	// decodedBytes is how long a byte of a client's character set is in UTF-8, at most.
	decodedBytes = 3
)

func isCharacters(t mysqlproto.Type) bool {
	return t == mysqlproto.TypeString || t == mysqlproto.TypeVarString || t == mysqlproto.TypeVarchar
}

// longData is COM_STMT_SEND_LONG_DATA. What is wrong is told at EXECUTE.
func (c *Connection) longData(arg []byte) {
	l, err := mysqlproto.ParseLongData(arg)
	if err != nil {
		return
	}
	p := c.statements[l.Statement]
	if p == nil || int(l.Param) >= p.params || p.wrong != nil {
		return
	}
	var had []byte
	if known := p.long[l.Param]; known != nil {
		had = known.pieces
	}
	switch {
	case len(had)+len(l.Piece) > c.limit().packet:
		p.wrong = sqlerr.New(sqlerr.PacketTooLarge,
			"Parameter of prepared statement which is set through mysql_send_long_data() is longer than "+
				"'max_allowed_packet' bytes")
	default:
		if err := c.keep(int64(len(l.Piece)), "parameters sent in pieces"); err != nil {
			p.wrong = asSQLError(err)
		}
	}
	if p.wrong != nil {
		wrong := p.wrong
		c.forgetLong(p)
		p.wrong = wrong
		return
	}
	if p.long == nil {
		p.long = map[uint16]*longParam{}
	}
	if p.long[l.Param] == nil {
		p.long[l.Param] = &longParam{pieces: []byte{}}
	}
	p.long[l.Param].pieces = append(had, l.Piece...)
}

// forgetLong drops what was sent in pieces.
func (c *Connection) forgetLong(p *prepared) {
	for _, l := range p.long {
		_ = c.keep(-int64(len(l.pieces)), "") // giving back does not fail
	}
	p.long, p.wrong = nil, nil
}

// resetStatement is COM_STMT_RESET.
func (c *Connection) resetStatement(arg []byte) *sqlerr.Error {
	id, err := mysqlproto.ParseStatement(arg)
	p := c.statements[id]
	if err != nil || p == nil {
		return unknownStatement(id, "mysqld_stmt_reset")
	}
	c.forgetLong(p)
	c.closeCursor(p)
	c.ok()
	return nil
}

// mayPrepare refuses a statement more than there may be.
func (c *Connection) mayPrepare() error {
	if most := variable("max_prepared_stmt_count"); c.srv.prepared.Load() >= most {
		return sqlerr.New(sqlerr.TooManyPrepared,
			"Can't create more than max_prepared_stmt_count statements (current value: %d)", most)
	}
	return nil
}

// count counts a statement that was prepared, unless the session may not keep it.
func (c *Connection) count(p *prepared) error {
	if err := c.keep(preparedBytes(p.text), "prepared statements"); err != nil {
		return err
	}
	c.srv.prepared.Add(1)
	c.texts[engineKey(p.text)]++
	return nil
}

// engineKey is under which name the engine keeps the tree of a statement that was prepared.
func engineKey(text string) string { return sql.RemoveSpaceAndDelimiter(text, ';') }

// forgetTree has the session let go of a text's tree if no statement has that text any more.
func (c *Connection) forgetTree(text string) {
	if key := engineKey(text); c.texts[key] == 0 && c.session != nil {
		c.session.UnprepareQuery(key)
	}
}

// unprepare forgets a prepared statement.
func (c *Connection) unprepare(id uint32) {
	p := c.statements[id]
	if p == nil {
		return
	}
	delete(c.statements, id)
	c.forgetLong(p)
	c.closeCursor(p)
	key := engineKey(p.text)
	if c.texts[key]--; c.texts[key] == 0 {
		delete(c.texts, key)
		c.forgetTree(p.text)
	}
	_ = c.keep(-preparedBytes(p.text), "") // giving back does not fail
	c.srv.prepared.Add(-1)
}

// unprepareAll forgets all of them.
func (c *Connection) unprepareAll() {
	for id := range c.statements {
		c.unprepare(id)
	}
}
