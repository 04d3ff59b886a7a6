package engine

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/eval"
	"moka/sqlfront/operator"
	"moka/sqlfront/resultset"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

var (
	// errFallback leaves the statement to the library; nothing has been written.
	errFallback = errors.New("engine: the plan leaves this statement to the library")
	// errTooLarge is errFallback for a query with more rows than a plan keeps.
	errTooLarge = errors.New("engine: the plan leaves a query with many rows to the library")
	// errStalePlan says that the table has changed since the plan was made.
	errStalePlan = errors.New("engine: the plan is of another version of the table")
)

// fastRun is one execution of a plan.
type fastRun struct {
	eng     *Engine
	ctx     *sql.Context
	session *Session
	set     *settings
	plan    *fastPlan
	values  []eval.Literal
	width   int     // of a row, if the values are those of many
	params  sql.Row // the values, for expressions
	wide    sql.Row // a row and the values
	found   bool    // CLIENT_FOUND_ROWS

	accounts uint64 // their version when it was asked whether the user may

	tx    *Tx
	began bool // tx was begun for this statement
	have  bool // the rows to write to have been read; see readFirst and foundRows
	rows  []sql.Row

	nested bool // a statement of a routine, in its transaction
	inner  bool // of a trigger or an observer

	drawn  []int64 // AUTO_INCREMENT numbers, one for each row, 0 for one that has its own
	ids    insertID
	firing *firing // the triggers; nil if there are none
}

func (r *fastRun) run() (*resultset.Result, error) {
	r.session.ClearWarnings()
	switch r.plan.kind {
	case planSelect:
		return r.read()
	case planQuery:
		return r.queryRows()
	}
	return r.write()
}

// enter takes the session's transaction, or begins the statement's own.
func (r *fastRun) enter() error {
	if r.tx != nil {
		return nil
	}
	if r.tx = r.session.tx(); r.tx != nil {
		return nil
	}
	t, err := r.session.StartTransaction(r.ctx, sql.ReadWrite)
	if err != nil {
		return err
	}
	r.session.SetTransaction(t)
	r.tx, r.began = r.session.tx(), true
	return nil
}

// leave forgets a transaction that was begun for a statement that goes on elsewhere or has failed. With
// autocommit off the transaction stays, as the library would have begun it.
func (r *fastRun) leave() {
	if r.began && r.set.autocommit && r.tx != nil && r.tx.lost == nil { // see Session.Again
		r.tx.rollback()
		r.session.SetTransaction(nil)
	}
	r.tx, r.began = nil, false
}

// done ends a successful statement: what was begun for it is committed.
func (r *fastRun) done() error {
	if r.tx == nil || !r.set.autocommit || r.session.GetIgnoreAutoCommit() {
		return nil
	}
	err := r.session.CommitTransaction(r.ctx, r.tx)
	r.session.SetTransaction(nil)
	return err
}

// alone reports whether the statement is a transaction by itself.
func (r *fastRun) alone() bool {
	return !r.nested && r.session.tx() == nil && r.set.autocommit && !r.session.GetIgnoreAutoCommit()
}

// view is the catalog that the statement sees.
func (r *fastRun) view() (*view, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	return r.eng.viewOf(r.ctx)
}

// check makes sure that the plan is right in the statement's snapshot.
func (r *fastRun) check() error {
	v, err := r.view()
	if err != nil {
		return errFallback
	}
	if !r.plan.current(v.snap) {
		return errStalePlan
	}
	return r.allowed(v.snap)
}

// allowed asks once more whether the user may do what the plan does if accounts may have changed since that
// was asked: the table has not, so the plan still is right.
//
// In a transaction that is older than the rights the plan may be of what had the name before: the general way
// asks that, see Session.Past.
func (r *fastRun) allowed(snap *catalog.Snapshot) error {
	if r.tx != nil && r.tx.outdated() {
		return errFallback
	}
	if r.nested || r.tx != nil && r.tx.ddl {
		return nil
	}
	// Another statement may have read them meanwhile: then it is that one who saw, and what was asked is old.
	if !r.eng.saw(r.ctx, snap) && r.accounts == r.eng.directory.Version() ||
		r.eng.accounts().UserHasPrivileges(r.ctx, r.plan.allow...) {
		return nil
	}
	return errFallback
}

func (r *fastRun) read() (*resultset.Result, error) {
	sel := r.plan.sel
	limit, offset, err := r.limits()
	if err != nil {
		return nil, err
	}
	var rows []sql.Row
	if a := &r.plan.where; a.point && sel.lock == nil && r.alone() {
		rows, err = r.readAlone()
	} else {
		rows, err = r.readRows(limit, offset)
	}
	if err != nil {
		r.leave()
		return nil, err
	}
	result, err := r.finish(rows, limit, offset)
	if err == nil {
		err = r.done()
	}
	if err != nil {
		r.leave()
		return nil, err
	}
	result.Head = sel.head.Load()
	info := r.session.GetLastQueryInfo()
	info.RowCount.Store(-1)
	info.FoundRows.Store(int64(len(result.Rows)))
	return result, nil
}

func (r *fastRun) limits() (limit, offset int64, err error) {
	limit = math.MaxInt64
	read := func(o *operand, into *int64) error {
		if o == nil {
			return nil
		}
		l, ok := o.value(r.values)
		if !ok {
			return errFallback
		}
		n, ok := l.Integer()
		i, signed := n.(int64)
		if !ok || !signed || i < 0 {
			return errFallback
		}
		*into = i
		return nil
	}
	if err := read(r.plan.sel.limit, &limit); err != nil {
		return 0, 0, err
	}
	return limit, offset, read(r.plan.sel.offset, &offset)
}

// key makes the row key of a point access.
func (r *fastRun) key() (kv.RowKey, error) {
	a := &r.plan.where
	x := a.index
	key := make([]byte, len(x.prefix), len(x.prefix)+16*len(x.cols))
	copy(key, x.prefix)
	var values [8]any
	vs := values[:0]
	for i := range a.equal {
		v, err := r.keyValue(&a.equal[i], x.table.pk.Schema[x.cols[i]].Type)
		if err != nil {
			return nil, err
		}
		vs = append(vs, v)
	}
	out, err := x.codec.Encode(r.ctx, key, vs...)
	if err != nil {
		return nil, errFallback
	}
	return out, nil
}

func (r *fastRun) keyValue(o *operand, t sql.Type) (any, error) {
	l, ok := o.value(r.values)
	if !ok {
		return nil, errFallback
	}
	v, ok := l.Key(t)
	if !ok {
		return nil, errFallback
	}
	return v, nil
}

// readAlone reads one row in a transaction of its own: the catalog's version and the row in one request. The
// plan is taken to be right, and the version, read in the same snapshot, says whether it was.
func (r *fastRun) readAlone() ([]sql.Row, error) {
	p := r.plan
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	snap := r.eng.catalog.Latest()
	if snap == nil || !p.current(snap) {
		return nil, errStalePlan
	}
	cells := [2]kv.Column{r.eng.catalog.VersionCell(), cell(key)}
	var t *txn.Txn
	var vs []txn.Value
	if p.where.index.primary {
		vs, err = r.eng.client.Latest(r.ctx, cells[:]) // one read at one moment needs no snapshot
	} else {
		t = r.eng.client.Begin(txn.TxnOptions{ReadOnly: true, Autocommit: true})
		defer t.Rollback()
		vs, err = t.BatchGet(r.ctx, cells[:])
	}
	if err != nil {
		return nil, catalogError(sqlerr.From(err))
	}
	if !vs[0].OK || !snap.IsCurrent(vs[0].Data) {
		return nil, errStalePlan
	}
	if err := r.allowed(snap); err != nil {
		return nil, err
	}
	r.session.spent = r.session.upcoming // it was the next transaction
	if !vs[1].OK {
		return nil, nil
	}
	value := vs[1].Data
	if x := p.where.index; !x.primary {
		pk, err := x.pkOf(key, value)
		if err != nil {
			return nil, err
		}
		var ok bool
		if value, ok, err = t.Get(r.ctx, cell(append(indexPrefix(p.table.desc.ID, p.table.desc.RowIndex), pk...))); err != nil {
			return nil, catalogError(sqlerr.From(err))
		}
		if !ok {
			return nil, errFallback // an entry without a row: the general way says so
		}
	}
	r.session.cost.examined.Add(1)
	row, err := p.sel.table.projected.decode.Decode(value)
	if err != nil {
		return nil, err
	}
	ok, err := r.matches(row, p.sel.where)
	if err != nil || !ok {
		return nil, err
	}
	return []sql.Row{row}, nil
}

// readFirst reads what an UPDATE or DELETE of one row that is a transaction by itself begins with, in one
// request: the catalog's version and the row. found is false if the general course has to be taken.
func (r *fastRun) readFirst() (row sql.Row, found bool, err error) {
	p := r.plan
	if !p.where.point || !p.where.index.primary {
		return nil, false, nil
	}
	key, err := r.key()
	if err != nil {
		return nil, false, err
	}
	snap := r.eng.catalog.Latest()
	if snap == nil || !p.current(snap) {
		return nil, false, errStalePlan
	}
	if err := r.enter(); err != nil {
		return nil, false, err
	}
	cells := [2]kv.Column{r.eng.catalog.VersionCell(), cell(key)}
	vs, err := r.tx.store().BatchGet(r.ctx, cells[:])
	if err != nil {
		return nil, false, r.tx.fail(r.ctx, err)
	}
	if !vs[0].OK || !snap.IsCurrent(vs[0].Data) {
		return nil, false, errStalePlan
	}
	if err := r.allowed(snap); err != nil {
		return nil, false, err
	}
	r.tx.view = r.eng.views.get(snap)
	if !vs[1].OK {
		return nil, true, nil
	}
	r.session.cost.examined.Add(1)
	row, err = p.table.decode.Decode(vs[1].Data)
	if err != nil {
		return nil, false, err
	}
	ok, err := r.matches(row, nil)
	if err != nil || !ok {
		return nil, true, err
	}
	return row, true, nil
}

// matches looks at the conditions that the index does not answer; at says where each one's column is in the
// row.
func (r *fastRun) matches(row sql.Row, at []int) (bool, error) {
	for i := range r.plan.where.rest {
		c := &r.plan.where.rest[i]
		pos := c.column
		if at != nil {
			pos = at[i]
		}
		t := r.plan.table.pk.Schema[c.column].Type
		want, err := r.keyValue(&c.value, t)
		if err != nil {
			return false, err
		}
		if row[pos] == nil {
			return false, nil
		}
		n, err := compare(r.ctx, t, row[pos], want)
		if err != nil {
			return false, errFallback
		}
		ok := false
		switch c.op {
		case ast.EqualStr:
			ok = n == 0
		case ast.LessThanStr:
			ok = n < 0
		case ast.LessEqualStr:
			ok = n <= 0
		case ast.GreaterThanStr:
			ok = n > 0
		case ast.GreaterEqualStr:
			ok = n >= 0
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

// spans are the key spans of the access.
func (r *fastRun) spans() ([]rowenc.Span, error) {
	a := &r.plan.where
	x := a.index
	typ := func(i int) sql.Type { return x.table.pk.Schema[x.cols[i]].Type }
	var ranges sql.MySQLRangeCollection
	if a.in != nil {
		for i := range a.in {
			v, err := r.keyValue(&a.in[i], typ(0))
			if err != nil {
				return nil, err
			}
			ranges = append(ranges, sql.MySQLRange{equalTo(v, typ(0))})
		}
	} else {
		rng := make(sql.MySQLRange, 0, len(a.equal)+1)
		for i := range a.equal {
			v, err := r.keyValue(&a.equal[i], typ(i))
			if err != nil {
				return nil, err
			}
			rng = append(rng, equalTo(v, typ(i)))
		}
		if a.lower != nil || a.upper != nil {
			t := typ(len(a.equal))
			e := sql.MySQLRangeColumnExpr{LowerBound: sql.AboveNull{}, UpperBound: sql.AboveAll{}, Typ: t}
			if a.lower != nil {
				v, err := r.keyValue(&a.lower.op, t)
				if err != nil {
					return nil, err
				}
				if a.lower.inner {
					e.LowerBound = sql.Below{Key: v}
				} else {
					e.LowerBound = sql.Above{Key: v}
				}
			}
			if a.upper != nil {
				v, err := r.keyValue(&a.upper.op, t)
				if err != nil {
					return nil, err
				}
				if a.upper.inner {
					e.UpperBound = sql.Above{Key: v}
				} else {
					e.UpperBound = sql.Below{Key: v}
				}
			}
			rng = append(rng, e)
		}
		ranges = sql.MySQLRangeCollection{rng}
	}
	spans, err := x.codec.Spans(r.ctx, x.prefix, ranges)
	if err != nil {
		return nil, errFallback
	}
	for i := range spans {
		if !spans[i].Exact {
			return nil, errFallback
		}
	}
	return spans, nil
}

func equalTo(v any, t sql.Type) sql.MySQLRangeColumnExpr {
	return sql.MySQLRangeColumnExpr{LowerBound: sql.Below{Key: v}, UpperBound: sql.Above{Key: v}, Typ: t}
}

// rangeBatch is the size of the first request of a range that is read whole.
const rangeBatch = 128

// scan reads the rows of the access from the table, which may be a projection, until take says stop.
func (r *fastRun) scan(t *Table, reverse bool, batch int, take func(sql.Row) (bool, error)) error {
	spans, err := r.spans()
	if err != nil {
		return err
	}
	it, err := t.PartitionRows(r.ctx, &partition{index: r.plan.where.index, spans: spans, reverse: reverse, batch: batch})
	if err != nil {
		return err
	}
	return drain(r.ctx, it, take)
}

// drain reads rows until take says stop.
func drain(ctx *sql.Context, it sql.RowIter, take func(sql.Row) (bool, error)) error {
	defer it.Close(ctx)
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if more, err := take(row); err != nil || !more {
			return err
		}
	}
}

// readRows reads the rows of a SELECT in the session's transaction.
func (r *fastRun) readRows(limit, offset int64) ([]sql.Row, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	sel := r.plan.sel
	// All rows that are not to be sorted or thinned out can be cut off as they come.
	most := int64(math.MaxInt64)
	if len(sel.orderBy) == 0 && sel.distinct == nil && limit < maxFastRows && offset < maxFastRows {
		most = limit + offset
	}
	var rows []sql.Row
	if most == 0 {
		return nil, nil
	}
	batch := int(min(most, rangeBatch))
	bytes := int64(0)
	err := r.scan(sel.table, sel.reverse, batch, func(row sql.Row) (bool, error) {
		ok, err := r.matches(row, sel.where)
		if err != nil || !ok {
			return err == nil, err
		}
		if len(rows) >= maxFastRows {
			return false, errFallback
		}
		if sel.long {
			if bytes += operator.RowBytes(row); bytes > maxFastBytes && len(rows) > 0 {
				return false, errTooLarge // the general way has one row at a time
			}
		}
		rows = append(rows, row)
		return int64(len(rows)) < most, nil
	})
	return rows, err
}

// finish sorts, thins out, cuts and adds up the rows.
func (r *fastRun) finish(rows []sql.Row, limit, offset int64) (*resultset.Result, error) {
	sel := r.plan.sel
	if len(sel.aggregates) > 0 {
		return r.aggregate(rows)
	}
	var err error
	if rows, err = r.arrange(rows); err != nil {
		return nil, err
	}
	rows = rows[min(offset, int64(len(rows))):]
	rows = rows[:min(limit, int64(len(rows)))]
	return &resultset.Result{Affected: uint64(len(rows)), Rows: rows}, nil
}

// arrange does DISTINCT and ORDER BY, by keys that have the collation's equality and order.
func (r *fastRun) arrange(rows []sql.Row) ([]sql.Row, error) {
	sel := r.plan.sel
	sorted := len(sel.orderBy) > 0
	if sel.distinct == nil && !sorted || len(rows) < 2 {
		return rows, nil
	}
	keys, at := sel.distinct, seq(sel.width)
	if sel.distinct == nil || sorted && slices.Equal(sel.orderBy, at) {
		keys, at = sel.order, sel.orderBy // one key tells rows apart and puts them in order
	}
	all := make([]keyedRow, len(rows))
	for i, row := range rows {
		k, err := keys.EncodeRow(r.ctx, nil, row, at)
		if err != nil {
			return nil, errFallback
		}
		all[i] = keyedRow{k, i, row}
	}
	if sel.distinct != nil {
		// Of equal rows the first that was read stays, as in the library.
		slices.SortFunc(all, compareRows)
		all = slices.CompactFunc(all, func(a, b keyedRow) bool { return bytes.Equal(a.key, b.key) })
		if !sorted {
			slices.SortFunc(all, func(a, b keyedRow) int { return cmp.Compare(a.at, b.at) })
		} else if keys != sel.order {
			for i := range all {
				var err error
				if all[i].key, err = sel.order.EncodeRow(r.ctx, nil, all[i].row, sel.orderBy); err != nil {
					return nil, errFallback
				}
			}
		}
	}
	if sorted && sel.descending {
		slices.SortFunc(all, func(a, b keyedRow) int {
			return cmp.Or(bytes.Compare(b.key, a.key), cmp.Compare(a.at, b.at))
		})
	} else if sorted && (sel.distinct == nil || keys != sel.order) {
		slices.SortFunc(all, compareRows)
	}
	rows = rows[:0]
	for _, k := range all {
		rows = append(rows, k.row)
	}
	return rows, nil
}

// keyedRow is a row with its sort key; at is its place among the rows as they were read, which decides
// between equal keys.
type keyedRow struct {
	key []byte
	at  int
	row sql.Row
}

func compareRows(a, b keyedRow) int {
	return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.at, b.at))
}

func (r *fastRun) aggregate(rows []sql.Row) (*resultset.Result, error) {
	sel := r.plan.sel
	fields := sel.head.Load().Fields
	line := make(sql.Row, len(sel.aggregates))
	for i, a := range sel.aggregates {
		if a.count {
			line[i] = resultset.Worded(strconv.AppendInt(nil, int64(len(rows)), 10))
			continue
		}
		sum, none, ok := sumOf(rows, a.column)
		if !ok {
			return nil, errFallback
		}
		switch {
		case none:
		case fields[i].Type == sqltypes.Float64:
			line[i] = float64(sum)
		case fields[i].Type == sqltypes.Decimal && fields[i].Decimals == 0:
			line[i] = resultset.Worded(strconv.AppendInt(nil, sum, 10))
		default:
			return nil, errFallback
		}
	}
	return &resultset.Result{Affected: 1, Rows: []sql.Row{line}}, nil
}

// sumOf adds up a column; ok is false if the sum would not be exact in float64.
func sumOf(rows []sql.Row, column int) (sum int64, none, ok bool) {
	none = true
	for _, row := range rows {
		if row[column] == nil {
			continue
		}
		n, ok := rowenc.Int64(row[column])
		if !ok || n > eval.ExactFloat || n < -eval.ExactFloat {
			return 0, false, false
		}
		if sum += n; sum > eval.ExactFloat || sum < -eval.ExactFloat {
			return 0, false, false
		}
		none = false
	}
	return sum, none, true
}
