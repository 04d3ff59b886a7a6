package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/moment"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
)

// maxFastRows bounds what a plan keeps in memory. A statement with more rows goes the general way, which
// streams.
const maxFastRows = 4096

const (
	// shortRow is how long a row may be that is not measured, for maxFastRows alone bound what a plan keeps.
	shortRow = 2 << 10
	// maxFastBytes bounds rows that may be longer.
	maxFastBytes = 512 << 10
)

// longest is how many bytes the values of a row may have, as far as they are of no fixed size.
func longest(all []sql.Type) (n int64) {
	for _, t := range all {
		switch t := t.(type) {
		case sql.StringType:
			n += t.MaxByteLength()
		case sql.NumberType, sql.DatetimeType, sql.DecimalType, sql.EnumType, sql.SetType,
			types.TimespanType_, moment.TimeType, types.BitType_:
		default:
			n += shortRow + 1
		}
	}
	return n
}

func (c *compiler) selects(ctx *sql.Context, v *view, s *ast.Select) error {
	if s.Into != nil || s.With != nil || s.Having != nil || len(s.GroupBy) > 0 || len(s.Window) > 0 || len(s.Comments) > 0 ||
		s.QueryOpts.All || s.QueryOpts.StraightJoinHint || s.QueryOpts.SQLCalcFoundRows || len(s.QueryOpts.DistinctOn) > 0 {
		return unplanned(reasonShape)
	}
	c.plan.kind = planSelect
	if err := c.from(ctx, v, s.From); err != nil {
		return err
	}
	if err := c.find(s.Where); err != nil {
		return err
	}
	p := &selectPlan{}
	c.plan.sel = p
	if s.Lock != nil && s.Lock.Type != "" {
		lock, ok := rowLocks[s.Lock.Type]
		if !ok || len(s.Lock.Tables) > 0 {
			return unplanned(reasonShape)
		}
		p.lock = &lock
	}
	c.pos = map[int]int{}
	if err := c.results(p, s.SelectExprs); err != nil {
		return err
	}
	if len(p.aggregates) > 0 && (s.QueryOpts.Distinct || len(s.OrderBy) > 0 || s.Limit != nil) {
		return unplanned(reasonShape)
	}
	if s.Limit != nil {
		n, ok := c.operand(s.Limit.Rowcount)
		if !ok {
			return unplanned(reasonShape)
		}
		p.limit = &n
		if s.Limit.Offset != nil {
			o, ok := c.operand(s.Limit.Offset)
			if !ok {
				return unplanned(reasonShape)
			}
			p.offset = &o
		}
	}
	if len(s.OrderBy) > 0 {
		// A new name in the select list goes before a column of that name.
		for _, e := range s.SelectExprs {
			if a, ok := e.(*ast.AliasedExpr); ok && !a.As.IsEmpty() {
				return unplanned(reasonShape)
			}
		}
	}
	if err := c.orders(p, s.OrderBy, s.QueryOpts.Distinct); err != nil {
		return err
	}
	for _, cond := range c.plan.where.rest {
		p.where = append(p.where, c.needs(cond.column))
	}
	if err := c.project(p); err != nil {
		return err
	}
	if s.QueryOpts.Distinct {
		var err error
		if p.distinct, err = p.codec(seq(p.width)); err != nil {
			return err
		}
	}
	c.permit(sql.PrivilegeType_Select)
	if p.lock != nil && p.lock.Exclusive { // who may lock by other rights goes the general way
		c.permit(sql.PrivilegeType_Select, sql.PrivilegeType_Update)
	}
	return nil
}

// rowLocks are the clauses by what the parser makes of them.
var rowLocks = map[string]parse.Lock{
	ast.ForUpdateStr:           {Exclusive: true},
	ast.ForUpdateNowaitStr:     {Exclusive: true, Nowait: true},
	ast.ForUpdateSkipLockedStr: {Exclusive: true, SkipLocked: true},
	ast.ShareModeStr:           {},
}

// results reads the select list: columns, or aggregates, not both.
func (c *compiler) results(p *selectPlan, exprs ast.SelectExprs) error {
	t := c.plan.table
	for _, e := range exprs {
		switch e := e.(type) {
		case *ast.StarExpr:
			if !e.TableName.IsEmpty() && (!e.TableName.DbQualifier.IsEmpty() || !strings.EqualFold(e.TableName.Name.String(), c.alias)) {
				return unplanned(reasonShape)
			}
			for i := range t.pk.Schema {
				if err := c.result(p, i); err != nil {
					return err
				}
			}
		case *ast.AliasedExpr:
			if f, ok := e.Expr.(*ast.FuncExpr); ok {
				if err := c.aggregate(p, f); err != nil {
					return err
				}
				continue
			}
			col := c.column(e.Expr)
			if col < 0 {
				return unplanned(reasonShape)
			}
			if err := c.result(p, col); err != nil {
				return err
			}
		default:
			return unplanned(reasonShape)
		}
	}
	if len(p.aggregates) > 0 && p.width > 0 {
		return unplanned(reasonShape)
	}
	return nil
}

func (c *compiler) result(p *selectPlan, col int) error {
	if len(c.need) != p.width {
		return unplanned(reasonShape)
	}
	switch c.plan.table.pk.Schema[col].Type.Type() {
	case sqltypes.TypeJSON, sqltypes.Vector, sqltypes.Geometry:
		return unplanned(reasonType)
	}
	if _, ok := c.pos[col]; !ok {
		c.pos[col] = len(c.need)
	}
	c.need = append(c.need, c.plan.table.pk.Schema[col].Name)
	p.width++
	return nil
}

func (c *compiler) aggregate(p *selectPlan, f *ast.FuncExpr) error {
	if f.Over != nil || f.Distinct || !f.Qualifier.IsEmpty() || len(f.Exprs) != 1 {
		return unplanned(reasonShape)
	}
	switch f.Name.Lowered() {
	case "count":
		star, ok := f.Exprs[0].(*ast.StarExpr)
		if !ok || !star.TableName.IsEmpty() {
			return unplanned(reasonShape)
		}
		p.aggregates = append(p.aggregates, aggregate{count: true})
		return nil
	case "sum":
		a, ok := f.Exprs[0].(*ast.AliasedExpr)
		if !ok {
			return unplanned(reasonShape)
		}
		col := c.column(a.Expr)
		if col < 0 || !sqltypes.IsIntegral(c.plan.table.pk.Schema[col].Type.Type()) {
			return unplanned(reasonShape)
		}
		p.aggregates = append(p.aggregates, aggregate{column: c.needs(col)})
		return nil
	}
	return unplanned(reasonShape)
}

// needs returns the position of a column in the projection, which it joins if it is not there.
func (c *compiler) needs(col int) int {
	if p, ok := c.pos[col]; ok {
		return p
	}
	p := len(c.need)
	c.pos[col] = p
	c.need = append(c.need, c.plan.table.pk.Schema[col].Name)
	return p
}

// orders reads ORDER BY: one direction for all columns. Where the index has the rows in that order they are
// not sorted.
func (c *compiler) orders(p *selectPlan, by ast.OrderBy, distinct bool) error {
	if len(by) == 0 {
		return nil
	}
	cols := make([]int, len(by))
	for i, o := range by {
		col := c.column(o.Expr)
		if col < 0 || (o.Direction == ast.DescScr) != (by[0].Direction == ast.DescScr) {
			return unplanned(reasonShape)
		}
		cols[i] = col
		if distinct {
			if at, ok := c.pos[col]; !ok || at >= p.width {
				return unplanned(reasonShape)
			}
		}
	}
	p.descending = by[0].Direction == ast.DescScr
	a := &c.plan.where
	if a.point {
		return nil
	}
	if a.in == nil {
		for skip := range len(a.equal) + 1 {
			if len(a.index.cols)-skip >= len(cols) && samePositions(a.index.cols[skip:skip+len(cols)], cols) {
				p.inOrder, p.reverse = true, p.descending
				return nil
			}
		}
	}
	for _, col := range cols {
		p.orderBy = append(p.orderBy, c.needs(col))
	}
	return nil
}

func samePositions(a, b []int) bool {
	for i := range b {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// project makes the table with the needed columns only, and the codec of the sort key.
func (c *compiler) project(p *selectPlan) error {
	if c.need == nil {
		c.need = []string{}
	}
	t, err := c.plan.table.WithProjections(nil, c.need)
	if err != nil {
		return unplanned(reasonShape)
	}
	p.table = t.(*Table)
	p.table.lock = p.lock
	for _, col := range p.table.projected.schema {
		p.types = append(p.types, col.Type)
	}
	p.long = longest(p.types) > shortRow
	if len(p.orderBy) > 0 {
		if p.order, err = p.codec(p.orderBy); err != nil {
			return err
		}
	}
	return nil
}

// codec makes keys of the columns at those positions, which have the order and the equality of the columns'
// types.
func (p *selectPlan) codec(at []int) (*rowenc.KeyCodec, error) {
	parts := make([]rowenc.KeyPart, len(at))
	for i, a := range at {
		parts[i] = rowenc.KeyPart{Type: p.types[a], PadSpace: true}
	}
	k, err := rowenc.NewKeyCodec(parts)
	if err != nil {
		return nil, unplanned(reasonType)
	}
	return k, nil
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
