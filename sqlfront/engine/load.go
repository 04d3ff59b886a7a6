package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/kv"
	"moka/sqlfront/assign"
	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/loaddata"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/textfile"
	"moka/txn"
)

// LOAD DATA in blocks. The general way takes each row through the library's expressions, looks whether its keys are free and
// puts it into the transaction's buffer. A plain load (fields into columns, no SET, no triggers, checks, foreign keys or generated
// columns) that is a transaction by itself goes from the file's fields to cells at once: a block of rows is sorted by key and
// committed as one blind transaction under "must not exist". The next block is made meanwhile.
//
// What a load means is still the library's word. A block in which anything is to be said about a row (a value that does not fit,
// a key that is taken) is undone by that very commit, and its records go through the library's INSERT, which gives the warnings
// of IGNORE, replaces, or fails, in the order of the rows.
//
//	file → records ─┬→ values → cells, sorted → commit     (the next block is read at the same time)
//	                └→ the library's rows → INSERT → commit      where something is to be said

// bulkLoad is the iterator of a plain LOAD DATA. Its result is the one row that the library makes of an INSERT.
//
// It is a sql.MutableRowIter because the library asks such iterators for the INSERT within, to know the result's form.
type bulkLoad struct {
	b      *execBuilder
	n      *plan.InsertInto
	load   *plan.LoadData
	insert sql.RowIter // of no rows
	table  *Table
	source []loadSource // for each column of the table
	list   []int        // the columns that fields go to, in the order of the fields
	auto   bool

	tx     *Tx
	reader *textfile.Reader
	closer io.Closer

	at        loadBlock
	next      loadBlock // being made while at is committed
	committed chan error
	going     bool // at is being committed

	rows    uint64
	seen    rowNumber // records before the block at hand
	firstID uint64    // the first row's AUTO_INCREMENT value
	done    bool
}

// loadSource is where a column's values come from.
type loadSource struct {
	field    int // of the file, -1 for none
	value    any // otherwise
	nullable bool
}

var _ sql.MutableRowIter = (*bulkLoad)(nil)

// bulkLoad returns the iterator of a load that can go in blocks, nil for one that cannot.
func (b *execBuilder) bulkLoad(ctx *sql.Context, n *plan.InsertInto) (sql.RowIter, error) {
	project, ok := n.Source.(*plan.Project)
	if !ok || n.HasAfterTrigger || len(n.Returning) > 0 || n.OnDupExprs.HasUpdates() || len(n.Checks()) > 0 {
		return nil, nil
	}
	load, ok := project.Child.(*plan.LoadData)
	if !ok {
		return nil, nil
	}
	list, ok := loaddata.Columns(load)
	format, ok2 := loadFormat(load)
	if !ok || !ok2 {
		return nil, nil
	}
	dest, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil, nil
	}
	table, ok := dest.(*Table)
	tx, err := txOf(ctx)
	if err != nil || !ok || table.temporary || len(table.texts) > 0 || table.desc.Copy != nil || tx.readOnly || tx.session == nil || !tx.session.implicit() || tx.session.calls > 0 || tx.dirty() ||
		tx.isolation == serializable {
		return nil, nil
	}
	l := &bulkLoad{b: b, n: n, load: load, table: table.base(), list: list, tx: tx, committed: make(chan error, 1)}
	if ok, err := l.columns(ctx, project); err != nil || !ok {
		return nil, err
	}
	if l.insert, err = b.base.Build(ctx, n.WithSource(plan.NewEmptyTableWithSchema(n.Source.Schema(ctx))), nil); err != nil {
		return nil, err
	}
	file, err := b.openLoad(ctx, load)
	if err != nil {
		return nil, err
	}
	l.reader, l.closer = textfile.NewReader(file, format), file
	return l, nil
}

// openLoad opens the file. Whether the server's settings allow a file of the server's is for the library to say.
func (b *execBuilder) openLoad(ctx *sql.Context, n *plan.LoadData) (io.ReadCloser, error) {
	if !n.Local {
		library := *n
		library.SetExprs = make([]sql.Expression, len(n.DestSch)) // which is the library's: loadRows
		checked, err := b.base.Build(ctx, &library, nil)
		if err != nil {
			return nil, err
		}
		if err := checked.Close(ctx); err != nil {
			return nil, err
		}
		return openFile(n.File)
	}
	if _, on, ok := sql.SystemVariables.GetGlobal("local_infile"); !ok || on == int8(0) {
		return nil, sqlerr.New(sqlerr.LocalInfileOff, "Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	return ctx.LoadInfile(n.File)
}

// columns finds out where the values of each column come from; false if that takes an expression for each row.
func (l *bulkLoad) columns(ctx *sql.Context, project *plan.Project) (bool, error) {
	schema := l.load.DestSch
	if len(project.Projections) != len(schema) || len(schema) != len(l.table.pk.Schema) {
		return false, nil
	}
	for i, c := range schema {
		if c.Generated != nil || c.Virtual || c.Type.Type() == sqltypes.Geometry {
			return false, nil
		}
		e := project.Projections[i]
		if auto, ok := e.(*expression.AutoIncrement); ok {
			l.auto, e = true, auto.Child
			if f, ok := e.(*fitted); ok {
				e = f.child
			}
		}
		s := loadSource{field: -1, nullable: c.Nullable}
		switch e := e.(type) {
		case nil:
		case *expression.GetField:
			if s.field = slices.Index(l.list, i); s.field < 0 {
				return false, nil
			}
		case *sql.ColumnDefaultValue:
			switch {
			case e == nil:
			case !e.IsLiteral():
				return false, nil
			default:
				var lost bool
				var err error
				if s.value, lost, err = l.constant(ctx, c); err != nil || lost {
					return false, err
				}
			}
		default:
			return false, nil
		}
		if s.field < 0 && s.value == nil && !c.Nullable && i != l.table.auto {
			return false, nil // error 1364, or what IGNORE makes of it
		}
		l.source = append(l.source, s)
	}
	return true, nil
}

// constant is a column's literal default; lost if it does not fit.
func (l *bulkLoad) constant(ctx *sql.Context, c *sql.Column) (v any, lost bool, err error) {
	if v, err = c.Default.Eval(ctx, nil); err != nil || v == nil {
		return nil, false, err
	}
	v, in, err := expr.Held(ctx, c.Type, v)
	return v, err != nil || in != sql.InRange, nil
}

// GetChildIter implements sql.MutableRowIter.
func (l *bulkLoad) GetChildIter() sql.RowIter { return l.insert }

// WithChildIter implements sql.MutableRowIter.
func (l *bulkLoad) WithChildIter(child sql.RowIter) sql.RowIter {
	l.insert = child
	return l
}

// Next implements sql.RowIter: it does all of the work.
func (l *bulkLoad) Next(ctx *sql.Context) (sql.Row, error) {
	if l.done {
		return nil, io.EOF
	}
	l.done = true
	err := l.run(ctx)
	if l.going { // nobody may be left behind who still commits
		if e := l.join(ctx); err == nil {
			err = e
		}
	}
	// The client sends until its file ends, whatever we say meanwhile: its answer must not come before.
	if e := l.closer.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	info := ctx.GetLastQueryInfo()
	info.RowCount.Store(int64(l.rows))
	if l.n.IsReplace {
		l.firstID = uint64(info.LastInsertId.Load()) // as the library has it
	}
	return sql.NewRow(types.OkResult{RowsAffected: l.rows, InsertID: l.firstID}), nil
}

// Close implements sql.RowIter.
func (l *bulkLoad) Close(ctx *sql.Context) error {
	err := l.insert.Close(ctx)
	if !l.done {
		l.done = true
		if e := l.closer.Close(); err == nil {
			err = e
		}
	}
	return err
}

func (l *bulkLoad) run(ctx *sql.Context) error {
	if err := l.reader.Skip(l.load.IgnoreNum); err != nil {
		return err
	}
	for {
		more, err := l.fill(ctx)
		if err != nil {
			return err
		}
		// In the order of the file: of two rows with the same key the first stays, and nothing behind a failure is there.
		if l.going {
			if err := l.join(ctx); err != nil {
				return err
			}
		}
		l.seen += rowNumber(len(l.at.Ends))
		l.at, l.next = l.next, l.at
		if len(l.at.Ends) > 0 {
			if err := l.put(ctx); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// put commits a block, or begins to.
func (l *bulkLoad) put(ctx *sql.Context) error {
	if l.at.odd {
		return l.general(ctx)
	}
	notify, err := l.tx.observers(ctx, l.table, ChangeInsert, nil)
	if err != nil {
		return err
	}
	writes, ok := l.at.sorted(notify)
	if !ok {
		return l.general(ctx)
	}
	t := l.tx.eng.client.Begin(txn.TxnOptions{Autocommit: true, LockWait: l.tx.rowLockWait()})
	t.SetAdds(true)
	l.tx.eng.catalog.Fence(t, l.table.desc)
	t.PutAll(writes)
	l.going = true
	go func() {
		_, err := t.Commit(ctx)
		l.committed <- err
	}()
	return nil
}

// join waits for the block that is being committed. If one of its keys is taken it goes the general way instead.
func (l *bulkLoad) join(ctx *sql.Context) error {
	err := <-l.committed
	l.going = false
	switch {
	case errors.Is(err, txn.ErrAlreadyExists):
		return l.general(ctx)
	case err != nil:
		l.tx.awaitFence(ctx, err)
		l.tx.ended = l.tx.translate(ctx, err)
		return l.tx.ended
	}
	n := len(l.at.Ends)
	if l.auto && l.rows == 0 && n > 0 {
		l.firstID = l.at.firstID
		if l.n.FirstGeneratedAutoIncRowIdx == 0 {
			ctx.GetLastQueryInfo().LastInsertId.Store(int64(l.firstID))
		}
	}
	l.rows += uint64(n)
	l.tx.eng.stats.Added(l.table.desc.ID, int64(n))
	return nil
}

// general takes the block's records through the library's INSERT, as a transaction of their own.
func (l *bulkLoad) general(ctx *sql.Context) error {
	project := l.n.Source.(*plan.Project)
	source, err := project.WithChildren(ctx, &loadRows{LoadData: l.load, records: &l.at.Records, before: l.seen})
	if err != nil {
		return err
	}
	insert, err := l.b.base.Build(ctx, l.n.WithSource(source), nil)
	if err != nil {
		return err
	}
	if id := l.table.desc.ID; l.tx.modes[id] == insertBlind {
		l.tx.modes[id] = insertPlain // of two errors, the one of the earlier row
	}
	it, _ := rowexec.AddAccumulatorIter(ctx, insert)
	d, s := &insertID{table: l.table.desc.ID}, l.tx.session
	s.inserting = d
	row, err := it.Next(ctx) // closes insert
	s.inserting = nil
	if err != nil {
		return err
	}
	result, ok := row[0].(types.OkResult)
	if !ok {
		return fmt.Errorf("engine: LOAD DATA: the library's INSERT returned a %T", row[0])
	}
	if id := d.end(s); l.rows == 0 {
		l.firstID = id
	}
	l.rows += result.RowsAffected
	return l.tx.commitAll(ctx)
}

// commitAll ends a part of a load: the next one has a snapshot of its own.
func (tx *Tx) commitAll(ctx *sql.Context) error {
	if tx.t == nil {
		return nil
	}
	if err := tx.commitStore(ctx); err != nil {
		tx.awaitFence(ctx, err)
		tx.ended = tx.translate(ctx, err)
		return tx.ended
	}
	tx.t, tx.start = nil, nil
	tx.fenced, tx.inserted, tx.locked = nil, nil, nil
	return nil
}

// loadRows is the source of the library's INSERT for the records of a block.
type loadRows struct {
	*plan.LoadData
	records *textfile.Records
	before  rowNumber
}

// WithChildren implements sql.Node.
func (r *loadRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) > 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(r, len(children), 0)
	}
	return r, nil
}

// loadRows returns the iterator of a LOAD DATA, nil for what only the library's can do.
func (b *execBuilder) loadRows(ctx *sql.Context, n *plan.LoadData) (sql.RowIter, error) {
	format, ok := loadFormat(n)
	some := func(e sql.Expression) bool { return e != nil }
	if !ok || n.SetExprs != nil && !slices.ContainsFunc(n.SetExprs, some) {
		return nil, nil // see openLoad
	}
	meant := *n
	meant.SetExprs = slices.Clone(n.SetExprs)
	for i, e := range meant.SetExprs {
		meant.SetExprs[i] = assign.Expression(ctx, e, n.DestSch[i].Type)
	}
	rows, err := loaddata.New(&meant, n.IsIgnore || !strict(ctx))
	if err != nil {
		return nil, err
	}
	file, err := b.openLoad(ctx, n)
	if err != nil {
		return nil, err
	}
	return rows.Read(textfile.NewReader(file, format), n.IgnoreNum, file), nil
}

// loadBlock is a number of rows: their records, and the cells that are made of them.
type loadBlock struct {
	textfile.Records
	odd     bool // the library has to look at it
	firstID uint64
	cells   [][]loadCell // by index, as in Table.keys; the rows of a keyless table come first
	bytes   int
	chunk   []byte // memory of keys and values, a piece at a time
	row     sql.Row
}

// loadCell is a cell to be written; order is the beginning of its key behind the prefix, as a number.
type loadCell struct {
	order      uint64
	key, value []byte
	unique     bool
}

func (b *loadBlock) reset(tables int) {
	b.Records.Reset()
	if len(b.cells) != tables {
		b.cells = make([][]loadCell, tables)
	}
	for i := range b.cells {
		clear(b.cells[i])
		b.cells[i] = b.cells[i][:0]
	}
	b.odd, b.bytes, b.firstID, b.chunk = false, 0, 0, nil
}

// chunkBytes is how much memory is taken at a time. The store keeps what it was given until the commit is over, so that it is not used again.
const chunkBytes = 64 << 10

// room makes sure that what is appended next will rarely need other memory.
func (b *loadBlock) room() []byte {
	if cap(b.chunk)-len(b.chunk) < 256 {
		b.chunk = make([]byte, 0, chunkBytes)
	}
	return b.chunk[len(b.chunk):len(b.chunk):cap(b.chunk)]
}

// keep makes what was appended to room the block's.
func (b *loadBlock) keep(p []byte) []byte {
	if cap(p) > 0 && cap(b.chunk) > len(b.chunk) && &p[:1][0] == &b.chunk[:len(b.chunk)+1][len(b.chunk)] {
		b.chunk = b.chunk[:len(b.chunk)+len(p)]
	}
	b.bytes += len(p)
	return p[:len(p):len(p)]
}

// cellBytes is what a cell takes in a request besides its key and its value.
const cellBytes = 32

// fill reads a block from the file; more is false if it is the last one.
func (l *bulkLoad) fill(ctx *sql.Context) (more bool, err error) {
	b := &l.next
	t := l.table
	tables := len(t.keys)
	if t.primary == nil {
		tables++
	}
	b.reset(tables)
	for b.bytes < bulkBytes {
		text := len(b.Text)
		if len(b.Ends)&255 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		ok, err := l.reader.Next(&b.Records)
		if err != nil || !ok {
			return false, err
		}
		if b.odd {
			b.bytes += cellBytes + len(b.Text) - text
			continue
		}
		ok, err = l.values(ctx, b)
		if err == nil && ok {
			err = l.cells(ctx, b)
		}
		if err != nil {
			return false, err
		}
		b.odd = !ok
	}
	return true, nil
}

// values converts the last record into the block's row; false if something is to be said about it.
func (l *bulkLoad) values(ctx *sql.Context, b *loadBlock) (bool, error) {
	fields := b.Record(len(b.Ends) - 1)
	schema := l.table.pk.Schema
	if len(fields) != len(l.list) {
		return false, nil
	}
	if b.row == nil {
		b.row = make(sql.Row, len(schema))
	}
	for i := range l.source {
		s := &l.source[i]
		switch {
		case s.field < 0:
			b.row[i] = s.value
		default:
			f := fields[s.field]
			if f.Null {
				b.row[i] = nil
				break
			}
			v, ok := loadValue(ctx, schema[i].Type, b.TextOf(f))
			if !ok {
				return false, nil
			}
			b.row[i] = v
		}
		if b.row[i] == nil && !s.nullable && i != l.table.auto {
			return false, nil
		}
	}
	for _, i := range l.table.stamps {
		if _, _, ok := l.table.stampFits(b.row, i); !ok {
			return false, nil
		}
	}
	if l.auto {
		return l.number(ctx, b)
	}
	return true, nil
}

// number gives the row its AUTO_INCREMENT value, or notes the one that it has.
func (l *bulkLoad) number(ctx *sql.Context, b *loadBlock) (bool, error) {
	auto := l.table.auto
	n, ok := int64(0), true
	if b.row[auto] != nil {
		n, ok = rowenc.Int64(b.row[auto])
	}
	var given any
	switch {
	case !ok:
		return false, nil
	case n < 0, n == 0 && b.row[auto] != nil && l.tx.session.settings(ctx).zeroIsZero:
		return true, nil
	case n > 0:
		given = n
	}
	seq, err := l.table.GetNextAutoIncrementValue(ctx, given)
	if err != nil {
		return false, err
	}
	if given == nil {
		if b.row[auto], ok = eval.Narrow(l.table.pk.Schema[auto].Type.Type(), int64(seq)); !ok || seq > 1<<62 {
			return false, nil
		}
	}
	if len(b.Ends) == 1 {
		b.firstID = seq
	}
	return true, nil
}

// loadValue converts a field as INSERT converts a string; false if there is an error or a warning to give.
func loadValue(ctx *sql.Context, t sql.Type, text string) (any, bool) {
	switch base := t.Type(); base {
	case sqltypes.Int8, sqltypes.Int16, sqltypes.Int24, sqltypes.Int32, sqltypes.Int64,
		sqltypes.Uint8, sqltypes.Uint16, sqltypes.Uint24, sqltypes.Uint32, sqltypes.Uint64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && text[0] != '+' {
			if v, ok := eval.Narrow(base, n); ok {
				return v, true
			}
		}
	case sqltypes.Char, sqltypes.VarChar, sqltypes.Text, sqltypes.Date, sqltypes.Datetime, sqltypes.Decimal:
		if v, ok := (eval.Literal{Kind: eval.LiteralString, Text: text}).Stored(ctx, t); ok {
			return v, true
		}
	}
	if assign.Blank(t, text) {
		return nil, false
	}
	v, in, err := expr.Held(ctx, t, text)
	if at, ok := v.(time.Time); ok && at.Equal(types.ZeroTime) {
		return nil, false // the mode may have something against it
	}
	return v, err == nil && in == sql.InRange && v != nil
}

// cells makes the cells of the block's row.
func (l *bulkLoad) cells(ctx *sql.Context, b *loadBlock) error {
	t := l.table
	b.row = t.fit(b.row)
	if len(t.narrow) > 0 {
		row, err := t.fitCharsets(ctx, b.row, false)
		if err != nil {
			return err
		}
		b.row = row
	}
	value, err := t.rows.Encode(ctx, b.room(), b.row)
	if err != nil {
		return err
	}
	value = b.keep(value)
	var pk []byte
	at := 0
	if t.primary == nil {
		id, err := t.eng.catalog.NextID(ctx, t.desc.RowIDs)
		if err != nil {
			return l.tx.fail(ctx, err)
		}
		key := append(b.room(), indexPrefix(t.desc.ID, t.desc.RowIndex)...)
		key = b.keep(binary.BigEndian.AppendUint64(key, id))
		pk = key[len(key)-8:]
		b.add(0, len(key)-8, key, value, false)
		at = 1
	}
	for i, x := range t.keys {
		key, err := x.codec.EncodeRow(ctx, append(b.room(), x.prefix...), b.row, x.cols)
		if err != nil {
			return err
		}
		if x.primary {
			key = b.keep(key)
			pk = key[len(x.prefix):]
			b.add(at+i, len(x.prefix), key, value, true)
			continue
		}
		unique := x.unique && !x.hasNull(b.row)
		if !unique {
			key = append(key, pk...)
		}
		key = b.keep(key)
		entry := append(b.room(), entryVersion)
		if x.unique {
			entry = append(entry, pk...)
		}
		b.add(at+i, len(x.prefix), key, b.keep(entry), unique)
	}
	return nil
}

func (b *loadBlock) add(table, prefix int, key, value []byte, unique bool) {
	var order [8]byte
	copy(order[:], key[prefix:])
	b.cells[table] = append(b.cells[table], loadCell{binary.BigEndian.Uint64(order[:]), key, value, unique})
	b.bytes += cellBytes
}

// sorted lists the block's cells in the order of their keys; false if two of them are the same.
func (b *loadBlock) sorted(notify []uint32) ([]txn.Write, bool) {
	n := 0
	for _, cells := range b.cells {
		n += len(cells)
		compare := func(x, y loadCell) int {
			return cmp.Or(cmp.Compare(x.order, y.order), bytes.Compare(x.key, y.key))
		}
		if !slices.IsSortedFunc(cells, compare) {
			slices.SortFunc(cells, compare)
		}
		for i := 1; i < len(cells); i++ {
			if bytes.Equal(cells[i-1].key, cells[i].key) {
				return nil, false
			}
		}
	}
	tables := slices.Clone(b.cells)
	slices.SortFunc(tables, func(x, y []loadCell) int { return bytes.Compare(x[0].key, y[0].key) })
	writes := make([]txn.Write, 0, n)
	rows := b.cells[0]
	for _, cells := range tables {
		for i := range cells {
			w := txn.Write{Column: cell(kv.RowKey(cells[i].key)), Value: cells[i].value}
			w.MustNotExist = cells[i].unique
			if &cells[0] == &rows[0] {
				w.Observers = notify
			}
			writes = append(writes, w)
		}
	}
	return writes, true
}
