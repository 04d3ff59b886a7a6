package engine

import (
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	gmserrors "gopkg.in/src-d/go-errors.v1"

	"moka/sqlfront/catalog"
	"moka/sqlfront/digest"
	"moka/sqlfront/eval"
	physical "moka/sqlfront/plan"
	"moka/sqlfront/resultset"
)

// Plans of INSERT. Those of REPLACE and of INSERT … ON DUPLICATE KEY UPDATE insert rows by the editor, which says which row has
// the key that is taken. Of these, tables with triggers are left to the library: which of them fire is known row
// by row.

// taken is what becomes of a row to insert when its key is.
type taken uint8

const (
	takenRefused taken = iota // 1062
	takenUpdates              // the row that is there is changed
	takenDeletes              // the rows that are there go
	takenIgnored              // a note
)

func takenBy(s *ast.Insert) taken {
	switch {
	case s.Action == ast.ReplaceStr:
		return takenDeletes
	case len(s.OnDup) > 0:
		return takenUpdates
	case s.Ignore != "":
		return takenIgnored
	}
	return takenRefused
}

// tuplesOf are the rows of an INSERT that has them, under no name of their own.
func tuplesOf(s *ast.Insert) ast.Values {
	switch r := s.Rows.(type) {
	case ast.Values:
		return r
	case *ast.AliasedValues:
		if r.As.IsEmpty() && len(r.Columns) == 0 {
			return r.Values
		}
	}
	return nil
}

func (c *compiler) inserts(ctx *sql.Context, v *view, s *ast.Insert) error {
	c.plan.taken = takenBy(s)
	if s.With != nil || s.Ignore != "" && c.plan.taken != takenIgnored || len(s.Partitions) > 0 ||
		len(s.Returning) > 0 {
		return unplanned(reasonShape)
	}
	c.plan.kind = planInsert
	if err := c.resolve(ctx, v, s.Table); err != nil {
		return err
	}
	rows := tuplesOf(s)
	if rows == nil {
		if err := c.insertsRows(ctx, v, s); err != nil {
			return err
		}
	}
	t := c.plan.table
	at := make([]int, len(t.pk.Schema)) // position of each column in VALUES, -1 if it is not named
	for i := range at {
		at[i] = -1
		if len(s.Columns) == 0 {
			at[i] = i
		}
	}
	width := len(at)
	if len(s.Columns) > 0 {
		width = len(s.Columns)
	}
	for i, name := range s.Columns {
		col := t.ordinal(name.String())
		if col < 0 || at[col] >= 0 {
			return unplanned(reasonShape)
		}
		at[col] = i
	}
	if q := c.plan.source; q != nil {
		if q.Result != width {
			return unplanned(reasonShape)
		}
		row, err := c.sourceRow(ctx, at)
		if err != nil {
			return err
		}
		c.plan.rows = [][]source{row}
	}
	// Which row of several got the first generated number is more than this path wants to know.
	if t.auto >= 0 && len(rows) > 1 && at[t.auto] >= 0 {
		return unplanned(reasonShape)
	}
	var exprs []place
	for n, tuple := range rows {
		if len(tuple) != width {
			return unplanned(reasonShape)
		}
		row := make([]source, len(at))
		for col := range at {
			var err error
			row[col], err = c.source(ctx, col, at[col], tuple)
			if err == errComputed {
				exprs = append(exprs, place{n, at[col], col})
			} else if err != nil {
				return err
			}
		}
		c.plan.rows = append(c.plan.rows, row)
	}
	if err := c.arriving(ctx, exprs); err != nil {
		return err
	}
	if err := c.upserts(ctx, v, s); err != nil {
		return err
	}
	return c.generates(ctx)
}

func (c *compiler) source(ctx *sql.Context, col, at int, tuple ast.ValTuple) (source, error) {
	t := c.plan.table
	s := source{auto: col == t.auto}
	column := t.pk.Schema[col]
	generated := t.desc.Columns[t.ordinals[col]].Generated != ""
	if at >= 0 && !isDefault(tuple[at]) {
		if generated {
			return s, unplanned(reasonTable) // 3105
		}
		if o, ok := c.operand(tuple[at]); ok {
			s.op = &o
			return s, nil
		}
		if s.moment = physical.StatementTimeOf(tuple[at]); s.moment != nil && s.moment.Fits(column.Type) {
			return s, nil
		}
		s.moment = nil
		return s, errComputed
	}
	text := t.desc.Columns[t.ordinals[col]].Default
	if m := physical.StatementTimeText(text); m != nil && m.Fits(column.Type) {
		s.moment = m
		return s, nil
	}
	switch {
	case s.auto, generated:
		return s, nil
	case text == "" && column.Nullable || strings.EqualFold(text, "NULL"):
		return s, nil
	case text == "":
		return s, unplanned(reasonShape) // error 1364
	}
	// Defaults that are one literal; expressions go the general way.
	var d digest.Digest
	sign := strings.HasPrefix(text, "-")
	if !d.Scan(strings.TrimPrefix(text, "-"), false) || string(d.Text) != "?" {
		return s, unplanned(reasonShape)
	}
	l, ok := (&operand{param: -1, negative: sign, fixed: d.Values[0]}).value(nil)
	if !ok {
		return s, unplanned(reasonShape)
	}
	if s.value, ok = l.Stored(ctx, column.Type); !ok || s.value == nil {
		return s, unplanned(reasonType)
	}
	return s, nil
}

// upserts compiles what becomes of a row whose key is taken, and what the statement's user has to be allowed.
func (c *compiler) upserts(ctx *sql.Context, v *view, s *ast.Insert) error {
	if q := c.plan.source; q != nil {
		defer func() { c.plan.allow = append(c.plan.allow, q.allow()...) }()
	}
	if c.plan.taken == takenRefused {
		c.permit(sql.PrivilegeType_Insert)
		return nil
	}
	d, ok := v.snap.Database(c.plan.db)
	if !ok || !c.eng.firesNothing(d, c.plan.table.desc.Name) {
		return unplanned(reasonTable)
	}
	if c.plan.taken == takenDeletes {
		c.permit(sql.PrivilegeType_Insert, sql.PrivilegeType_Delete)
		return nil
	}
	if c.plan.taken == takenIgnored {
		c.permit(sql.PrivilegeType_Insert)
		return nil
	}
	var exprs []int
	for n, e := range s.OnDup {
		simple, err := c.sets(e)
		if err != nil {
			return err
		}
		if !simple {
			exprs = append(exprs, n)
		}
	}
	if err := c.compute(ctx, exprs); err != nil {
		return err
	}
	if err := c.stamps(); err != nil {
		return err
	}
	c.permit(sql.PrivilegeType_Insert, sql.PrivilegeType_Update, sql.PrivilegeType_Select)
	return nil
}

// firesNothing reports whether no trigger waits for changes of a table.
func (e *Engine) firesNothing(d *catalog.Database, table string) bool {
	for _, event := range []string{ast.InsertStr, ast.UpdateStr, ast.DeleteStr} {
		if fires, ok := e.triggersOf(d, table, event); !ok || len(fires) > 0 {
			return false
		}
	}
	return true
}

// upsert counts as MySQL does: a row that was inserted is one, one that was changed or replaced is two.
func (r *fastRun) upsert(e *editor, rows []sql.Row) (*resultset.Result, error) {
	affected := 0
	for i, row := range rows {
		if r.plan.numbersOneByOne() {
			if err := r.number(row); err != nil {
				return nil, err
			}
		}
		r.pending(i)
		if err := r.keep(nil, row); err != nil {
			return nil, err
		}
		n, err := r.upsertRow(e, row)
		if err != nil {
			return nil, err
		}
		affected += n
	}
	return &resultset.Result{Affected: uint64(affected)}, nil
}

func (r *fastRun) upsertRow(e *editor, row sql.Row) (affected int, err error) {
	for affected = 1; ; affected++ {
		err := e.Insert(r.ctx, row)
		old := inTheWay(err)
		if old == nil {
			return affected, err
		}
		if r.plan.taken == takenUpdates {
			return r.updateTaken(e, old, row)
		}
		if err := r.keep(old, nil); err != nil {
			return 0, err
		}
		if err := e.Delete(r.ctx, old); err != nil {
			return 0, err
		}
	}
}

// inTheWay is the row that has a key of one that was to be inserted; nil if that is not what the error says.
func inTheWay(err error) sql.Row {
	if !sql.ErrPrimaryKeyViolation.Is(err) && !sql.ErrUniqueKeyViolation.Is(err) {
		return nil
	}
	var kind *gmserrors.Error
	if !errors.As(err, &kind) {
		return nil
	}
	key, _ := kind.Cause().(sql.UniqueKeyError)
	return key.Existing
}

// updateTaken changes the row that has the key.
func (r *fastRun) updateTaken(e *editor, old, arriving sql.Row) (affected int, err error) {
	row, err := r.changed(old, arriving)
	if err != nil {
		return 0, err
	}
	same, err := sameRow(r.ctx, old, row, r.plan.table.pk.Schema)
	if err != nil {
		return 0, err
	}
	if same {
		r.tx.used.Store(true)
		if r.found {
			return 1, nil
		}
		return 0, nil
	}
	if err := r.keep(old, row); err != nil {
		return 0, err
	}
	return 2, e.Update(r.ctx, old, row)
}

// valueOf is what an assignment takes, the column that it is added to aside.
func (r *fastRun) valueOf(a *assignment, arriving sql.Row) (eval.Literal, bool) {
	if a.arriving < 0 {
		return a.value.value(r.values)
	}
	return eval.LiteralOf(arriving[a.arriving], r.plan.table.pk.Schema[a.arriving].Type)
}
