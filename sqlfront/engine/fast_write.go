package engine

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/eval"
	"moka/sqlfront/resultset"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

// write runs INSERT, UPDATE and DELETE. All that could send the statement to the library is done before the
// first write: the rows are read and the new ones computed. The writes themselves are the editor's, so a plan
// writes what the library would.
func (r *fastRun) write() (*resultset.Result, error) {
	result, err := r.change()
	if err == nil {
		err = r.done()
	}
	if err != nil {
		r.leave()
		return nil, err
	}
	return result, nil
}

func (r *fastRun) change() (*resultset.Result, error) {
	var rows []sql.Row
	alone := r.alone()
	p := r.plan
	if alone && p.kind != planInsert {
		row, found, err := r.readFirst()
		if err != nil {
			return nil, err
		}
		if r.have = found; row != nil {
			rows = append(rows, row)
		}
	}
	if !r.have {
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	if r.tx.readOnly {
		return nil, sqlerr.ReadOnlyTxn()
	}
	if r.session.inUse(p.table) {
		return nil, sql.ErrTriggerTableInUse.New(p.table.desc.Name)
	}
	if p.kind != planInsert && p.source != nil {
		if err := r.foundRows(); err != nil {
			return nil, err
		}
		rows = r.rows
	}
	if p.kind == planInsert {
		var err error
		r.ids.table = p.table.desc.ID
		if rows, err = r.newRows(); err != nil {
			return nil, r.left(err)
		}
		mode := insertPlain
		if p.taken == takenIgnored {
			mode = insertIgnore
		} else if p.taken != takenRefused {
			mode = insertUpsert
		} else if alone && r.session.implicit() && p.fires == nil && (p.keeps == nil || r.width > 0) &&
			p.source == nil {
			mode = insertBlind
		}
		if r.tx.modes == nil {
			r.tx.modes = map[uint32]insertMode{}
		}
		r.tx.modes[p.table.desc.ID] = mode
	}
	if err := r.takeBodies(); err != nil {
		return nil, err
	}
	e := p.table.editor(r.ctx, p.kind != planInsert)
	r.tx.begins(p.kind == planDelete)
	e.StatementBegin(r.ctx)
	outer := r.session.inserting
	r.session.inserting = &r.ids
	result, err := r.edit(e, rows)
	r.session.inserting = outer
	if err != nil {
		_ = e.DiscardChanges(r.ctx, err)
		_ = e.Close(r.ctx)
		return nil, r.left(err)
	}
	_ = e.StatementComplete(r.ctx)
	if err := e.Close(r.ctx); err != nil {
		return nil, err
	}
	r.firing.leave(r.eng)
	info := r.session.GetLastQueryInfo()
	info.RowCount.Store(int64(result.Affected))
	result.InsertID = r.ids.end(r.session)
	return result, nil
}

// left hands the AUTO_INCREMENT numbers that have been drawn to the library, if the statement is left to it.
func (r *fastRun) left(err error) error {
	if err != errFallback {
		return err
	}
	var drawn []uint64
	for _, n := range r.drawn {
		if n != 0 {
			drawn = append(drawn, uint64(n))
		}
	}
	if drawn != nil {
		r.session.undrawn = map[uint32][]uint64{r.plan.table.desc.ID: drawn}
	}
	return err
}

func (r *fastRun) edit(e *editor, rows []sql.Row) (*resultset.Result, error) {
	switch r.plan.kind {
	case planInsert:
		if r.plan.taken == takenIgnored {
			return r.ignoring(e, rows)
		}
		if r.plan.taken != takenRefused {
			return r.upsert(e, rows)
		}
		one := r.plan.numbersOneByOne()
		if (r.width > 0 || r.plan.source != nil && len(rows) > 0) && r.plan.fires == nil && !one {
			if err := r.keepMany(rows); err != nil {
				return nil, err
			}
			return &resultset.Result{Affected: uint64(len(rows))}, e.insertMany(r.ctx, rows, r.pending)
		}
		for i, row := range rows {
			if one {
				if err := r.number(row); err != nil {
					return nil, err
				}
			}
			row, err := r.before(nil, row)
			if err != nil {
				return nil, err
			}
			r.pending(i)
			if err := r.keep(nil, row); err != nil {
				return nil, err
			}
			if err := e.Insert(r.ctx, row); err != nil {
				return nil, err
			}
			if err := r.after(nil, row); err != nil {
				return nil, err
			}
			rows[i] = row
		}
		return &resultset.Result{Affected: uint64(len(rows))}, nil
	case planUpdate:
		return r.update(e, rows)
	}
	olds, err := r.existing(rows)
	if err != nil {
		return nil, err
	}
	for _, old := range olds {
		if _, err := r.before(old, nil); err != nil {
			return nil, err
		}
		if err := r.keep(old, nil); err != nil {
			return nil, err
		}
		if err := e.Delete(r.ctx, old); err != nil {
			return nil, err
		}
		if err := r.after(old, nil); err != nil {
			return nil, err
		}
	}
	return &resultset.Result{Affected: uint64(len(olds))}, nil
}

// pending notes the number that was drawn for the row that comes next.
func (r *fastRun) pending(row int) {
	if row < len(r.drawn) {
		r.ids.pending = r.drawn[row]
	}
}

// existing reads the rows that the statement is about, unless that has been done.
func (r *fastRun) existing(rows []sql.Row) (_ []sql.Row, err error) {
	if r.have {
		return rows, nil
	}
	if a := &r.plan.where; a.point && a.index.primary && r.tx.locks() && !r.plan.table.temporary {
		return r.lockExisting()
	}
	err = r.scan(r.plan.table, false, rangeBatch, func(row sql.Row) (bool, error) {
		ok, err := r.matches(row, nil)
		if err != nil || !ok {
			return err == nil, err
		}
		if len(rows) >= maxFastRows {
			return false, errFallback
		}
		rows = append(rows, row)
		return true, nil
	})
	return rows, err
}

// lockExisting locks the row of the statement's key, which it is about to write, and reads it. A row that is
// not written after all is one that the client has seen: nothing but what is written, or locked to be read,
// is proved by the commit.
func (r *fastRun) lockExisting() ([]sql.Row, error) {
	key, err := r.key()
	if err != nil {
		return nil, err
	}
	v, err := r.tx.lockRow(r.ctx, key)
	if err != nil || !v.OK {
		r.tx.used.Store(true)
		return nil, err
	}
	r.session.cost.examined.Add(1)
	row, err := r.plan.table.decode.Decode(v.Data)
	if err != nil {
		return nil, err
	}
	if ok, err := r.matches(row, nil); err != nil || !ok {
		r.tx.used.Store(true)
		return nil, err
	}
	return []sql.Row{row}, nil
}

func (r *fastRun) update(e *editor, rows []sql.Row) (*resultset.Result, error) {
	olds, err := r.existing(rows)
	if err != nil {
		return nil, err
	}
	news := make([]sql.Row, len(olds))
	for i, old := range olds {
		if news[i], err = r.changed(old, nil); err != nil {
			return nil, err
		}
	}
	changed := 0
	for i, old := range olds {
		row, err := r.before(old, news[i])
		if err != nil {
			return nil, err
		}
		same, err := sameRow(r.ctx, old, row, r.plan.table.pk.Schema)
		if err != nil {
			return nil, err
		}
		if same {
			r.tx.used.Store(true)
		} else {
			changed++
			if err := r.keep(old, row); err != nil {
				return nil, err
			}
			if err := e.Update(r.ctx, old, row); err != nil {
				return nil, err
			}
		}
		if err := r.after(old, row); err != nil {
			return nil, err
		}
	}
	r.session.GetLastQueryInfo().FoundRows.Store(int64(len(olds)))
	out := &resultset.Result{
		Affected: uint64(changed),
		Info:     plan.UpdateInfo{Matched: len(olds), Updated: changed}.String(),
	}
	if r.found {
		out.Affected = uint64(len(olds))
	}
	return out, nil
}

// changed is the row that an UPDATE makes of another one; see assigned for arriving.
func (r *fastRun) changed(old, arriving sql.Row) (sql.Row, error) {
	row, err := r.assigned(old, arriving)
	if err != nil {
		return nil, err
	}
	if err := r.stamp(old, row); err != nil {
		return nil, err
	}
	return row, r.generate(row)
}

// assigned computes the assignments from left to right, each of which sees those before it. arriving is the
// row that an upsert had to insert: VALUES(column).
func (r *fastRun) assigned(old, arriving sql.Row) (sql.Row, error) {
	row := make(sql.Row, len(old))
	copy(row, old)
	schema := r.plan.table.pk.Schema
	for i := range r.plan.set {
		a := &r.plan.set[i]
		t := schema[a.column].Type
		if a.moment != nil {
			v, err := r.at(a.moment)
			if err != nil {
				return nil, err
			}
			row[a.column] = v
			continue
		}
		if a.expr != nil {
			v, err := r.assign(a.expr, row, schema[a.column])
			if err != nil {
				return nil, err
			}
			row[a.column] = v
			continue
		}
		l, ok := r.valueOf(a, arriving)
		if !ok {
			return nil, errFallback
		}
		if a.from < 0 {
			if row[a.column], ok = l.Stored(r.ctx, t); !ok || row[a.column] == nil && !schema[a.column].Nullable {
				return nil, errFallback
			}
			continue
		}
		if row[a.from] == nil {
			if row[a.column] = nil; !schema[a.column].Nullable {
				return nil, errFallback
			}
			continue
		}
		if d, ok := row[a.from].(*apd.Decimal); ok {
			if row[a.column], ok = eval.AddDecimal(r.ctx, t, d, l, a.minus); !ok {
				return nil, errFallback
			}
			continue
		}
		// Integers far from the ends of int64: the sum is what it is in any type.
		n, ok := rowenc.Int64(row[a.from])
		v, ok2 := l.Integer()
		by, ok3 := v.(int64)
		if !ok || !ok2 || !ok3 || n > eval.ExactFloat || n < -eval.ExactFloat || by > eval.ExactFloat || by < -eval.ExactFloat {
			return nil, errFallback
		}
		if a.minus {
			by = -by
		}
		if sum := n + by; sum < 0 && sqltypes.IsUnsigned(schema[a.from].Type.Type()) {
			return nil, errFallback
		}
		if row[a.column], ok = eval.Narrow(t.Type(), n+by); !ok {
			return nil, errFallback
		}
	}
	return row, nil
}

// sameRow reports whether nothing changes.
func sameRow(ctx *sql.Context, old, row sql.Row, schema sql.Schema) (bool, error) {
	for i, c := range schema {
		switch {
		case old[i] == nil || row[i] == nil:
			if old[i] != nil || row[i] != nil {
				return false, nil
			}
		case sql.IsStringType(c.Type):
			if !sameText(old[i], row[i]) {
				return false, nil
			}
		default:
			n, err := c.Type.Compare(ctx, old[i], row[i])
			if err != nil || n != 0 {
				return false, err
			}
		}
	}
	return true, nil
}

// newRows computes the rows to insert.
func (r *fastRun) newRows() (rows []sql.Row, err error) {
	if r.plan.source != nil {
		return r.rowsFromQuery()
	}
	if r.width > 0 {
		return r.manyRows()
	}
	for _, sources := range r.plan.rows {
		row, err := r.newRow(sources, r.values)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, r.numbers(rows)
}

// manyRows computes the rows of a statement that was compiled for one.
func (r *fastRun) manyRows() (rows []sql.Row, err error) {
	t := r.plan.table
	sources := r.plan.rows[0]
	rows = make([]sql.Row, 0, len(r.values)/r.width)
	for at := 0; at < len(r.values); at += r.width {
		row, err := r.newRow(sources, r.values[at:at+r.width])
		if err != nil {
			return nil, err
		}
		if t.auto >= 0 && sources[t.auto].op != nil {
			// Which of several got the first number that was generated is more than this path wants to know.
			if n, ok := rowenc.Int64(row[t.auto]); !ok || n <= 0 {
				return nil, errFallback
			}
		}
		rows = append(rows, row)
	}
	return rows, r.numbers(rows)
}

// newRow computes a row to insert.
func (r *fastRun) newRow(sources []source, values []eval.Literal) (sql.Row, error) {
	t := r.plan.table
	schema := t.pk.Schema
	row := make(sql.Row, len(schema))
	for i := range sources {
		s := &sources[i]
		if s.op == nil {
			v, err := r.arrives(s, schema[i])
			if err != nil {
				return nil, err
			}
			row[i] = v
			continue
		}
		l, ok := s.op.value(values)
		if !ok {
			return nil, errFallback
		}
		if row[i], ok = l.Stored(r.ctx, schema[i].Type); !ok {
			return nil, errFallback
		}
	}
	if err := r.generate(row); err != nil {
		return nil, err
	}
	for i, c := range schema {
		if row[i] == nil && !c.Nullable && i != t.auto {
			return nil, errFallback // error 1048 or 1364
		}
	}
	return row, nil
}

// numbersOneByOne reports whether a row gets its number when its turn comes: one before may be refused.
func (p *fastPlan) numbersOneByOne() bool {
	return p.table.auto >= 0 && (p.fires != nil || p.source != nil)
}

// numbers gives rows their AUTO_INCREMENT numbers, last: what is left to the library after this takes those
// that are drawn. With triggers each row gets its own when its turn comes: one may refuse a row before.
func (r *fastRun) numbers(rows []sql.Row) error {
	if r.plan.source == nil {
		r.ids.numbers.Rows = uint64(len(rows))
	}
	if r.plan.table.auto < 0 || r.plan.numbersOneByOne() {
		return nil
	}
	outer := r.session.inserting
	r.session.inserting = &r.ids
	defer func() { r.session.inserting, r.ids.pending = outer, 0 }()
	for _, row := range rows {
		if err := r.number(row); err != nil {
			return err
		}
	}
	return nil
}

// number gives a row its AUTO_INCREMENT number, unless it has one.
func (r *fastRun) number(row sql.Row) error {
	t := r.plan.table
	if t.auto < 0 {
		return nil
	}
	if r.session.forced.next != 0 {
		return errFallback // SET insert_id
	}
	r.drawn = append(r.drawn, 0)
	n, ok := int64(0), true
	if row[t.auto] != nil {
		n, ok = rowenc.Int64(row[t.auto])
	}
	switch {
	case !ok:
		return errFallback
	case n < 0, n == 0 && row[t.auto] != nil && r.set.zeroIsZero:
		return nil
	}
	var given any
	if n != 0 {
		given = n
	}
	seq, err := t.GetNextAutoIncrementValue(r.ctx, given)
	if err != nil || given != nil {
		return err
	}
	r.drawn[len(r.drawn)-1] = int64(seq)
	v, ok := eval.Narrow(t.pk.Schema[t.auto].Type.Type(), int64(seq))
	if !ok || seq > 1<<62 {
		return errFallback
	}
	row[t.auto] = v
	return nil
}
