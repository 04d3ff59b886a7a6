package engine

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
	physical "moka/sqlfront/plan"
	"moka/sqlfront/resultset"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/syntax"
)

type planKind uint8

const (
	planSelect planKind = iota
	planInsert
	planUpdate
	planDelete
	planQuery // more than rows of one table; see query.go
)

// event is what the triggers fire at that the plan sets off.
func (k planKind) event() string {
	switch k {
	case planInsert:
		return ast.InsertStr
	case planUpdate:
		return ast.UpdateStr
	case planDelete:
		return ast.DeleteStr
	}
	return ""
}

// fastPlan is a statement of a known shape, compiled for one version of its table. It is immutable but for
// the two atomics.
type fastPlan struct {
	kind  planKind
	db    string
	table *Table
	// snap is a catalog in which the plan is right; see current.
	snap atomic.Pointer[catalog.Snapshot]
	// allow is what a user must be allowed to do. Who is not goes the general way, to be told so there.
	allow []sql.PrivilegedOperation

	fires []*catalog.Trigger // by a write

	where access
	sel   *selectPlan
	query *queryPlan
	// source is the query whose rows a write is about, in the place of where; of an INSERT, those it inserts.
	source *queryPlan
	keeps  *constraints // of a write; nil for none
	rows   [][]source   // INSERT: for each row a source for each column of the table
	set    []assignment
	taken  taken // INSERT: what becomes of a row whose key is taken
	// stamps and generated are what a write adds to a row; see fast_arriving.go.
	stamps    []stampedColumn
	generated []generatedColumn
}

// access is how the rows of a WHERE clause are found: the leading columns of an index with one value each,
// then perhaps one with a list or a range; what is left is looked at row by row.
type access struct {
	index *index
	equal []operand // values of the leading columns
	in    []operand // or: a list of values of the only column of a unique key
	lower *bound
	upper *bound
	rest  []condition
	point bool // at most one row: all columns of a unique key have a value
}

type bound struct {
	op    operand
	inner bool // >= or <=
}

type condition struct {
	column int // position in the table's schema
	op     string
	value  operand
}

// selectPlan is what becomes of the rows.
type selectPlan struct {
	// table is the projection of the table to the columns that are needed: first those of the result, then
	// those that are only sorted by or looked at.
	table      *Table
	types      []sql.Type // of the columns of table
	width      int        // columns of the result
	long       bool       // a row may be long
	aggregates []aggregate
	distinct   *rowenc.KeyCodec
	order      *rowenc.KeyCodec
	orderBy    []int // positions in table
	descending bool
	inOrder    bool // the index delivers the rows as wanted
	reverse    bool
	limit      *operand
	offset     *operand
	lock       *parse.Lock
	where      []int // for each condition of access.rest, the position in table
	// head is that of the result, as the general way made it when it ran the statement. A plan without
	// it is not run yet.
	head atomic.Pointer[resultset.Head]
}

type aggregate struct {
	count  bool // COUNT(*); else SUM of an integer column
	column int  // position in table
}

// source is where INSERT takes a column's value from: the first of these that is set, or value, the default.
type source struct {
	op     *operand
	moment *physical.StatementTime
	expr   *rowValue
	value  any
	auto   bool // AUTO_INCREMENT
}

// assignment is column = value, or column = from + value, or column = expr, or column = NOW().
type assignment struct {
	column int
	from   int // -1: no arithmetic
	minus  bool
	value  operand
	expr   *rowValue
	moment *physical.StatementTime
	// arriving is the column of VALUES(column), in the place of value; -1 for none.
	arriving int
}

// Reasons why a statement has no plan, for the counters.
const (
	reasonText      = "text"      // not scanned: comments, variables, several statements, too long
	reasonShape     = "shape"     // a statement of another shape
	reasonTable     = "table"     // generated columns, no primary key, a view, a check or foreign key that is not understood
	reasonIndex     = "index"     // no index for the condition
	reasonType      = "type"      // a value of a type that takes a conversion
	reasonValue     = "value"     // as above, found when the statement ran
	reasonSettings  = "settings"  // moka_plan_cache = 0, a character set, sql_select_limit, temporary tables
	reasonPrivilege = "privilege" //
)

// unplanned is the answer of the compiler to a statement for which it makes no plan.
type unplanned string

func (u unplanned) Error() string { return string(u) }

// compiler makes a plan of one statement.
type compiler struct {
	eng   *Engine
	snap  *catalog.Snapshot
	db    string // the session's
	alias string
	plan  *fastPlan
	pos   map[int]int // positions of the table's columns in the projection
	need  []string
	// bind makes a parameter of an expression that is not a column, in the body of a routine; nil elsewhere.
	bind   func(ast.Expr) (sql.Expression, bool)
	params []sql.Expression
	// text is a client's statement, and kinds are those of its values.
	text  string
	opts  ast.ParserOptions
	kinds []eval.LiteralKind
	typed bool // the plan, or that there is none, is for values of these kinds
}

func (e *Engine) compile(
	ctx *sql.Context, v *view, db, text string, values []eval.Literal, opts ast.ParserOptions,
) (p *fastPlan, typed bool, err error) {
	stmt, _, err := ast.ParseOneWithOptions(ctx, text, opts)
	if err != nil {
		return nil, false, unplanned(reasonShape)
	}
	c := &compiler{eng: e, snap: v.snap, db: db, plan: &fastPlan{}, text: text, opts: opts}
	for _, l := range values {
		c.kinds = append(c.kinds, l.Kind)
	}
	if _, ok := stmt.(*ast.SetOp); ok {
		c.plan.snap.Store(v.snap)
		return c.plan, false, c.union(ctx, v)
	}
	err = c.statement(ctx, v, stmt)
	if _, ok := stmt.(*ast.Select); ok && err != nil {
		c.plan = &fastPlan{}
		c.plan.snap.Store(v.snap)
		err = c.query(ctx, v)
	}
	return c.plan, c.typed, err
}

func (c *compiler) statement(ctx *sql.Context, v *view, stmt ast.Statement) error {
	c.plan.snap.Store(v.snap)
	switch s := stmt.(type) {
	case *ast.Select:
		return c.selects(ctx, v, s)
	case *ast.Insert:
		return c.inserts(ctx, v, s)
	case *ast.Update:
		return c.updates(ctx, v, s)
	case *ast.Delete:
		return c.deletes(ctx, v, s)
	}
	return unplanned(reasonShape)
}

// withoutOurs is the operator that the parser has put an expression of ours in the place of, and what
// parentheses are around.
func withoutOurs(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.Expr
			continue
		case ast.InjectedExpr:
			o, ok := x.Expression.(*expr.Operator)
			if !ok || len(x.Children) != 2 || o.Name() != ast.PlusStr && o.Name() != ast.MinusStr {
				return e
			}
			left, ok1 := x.Children[0].(ast.Expr)
			right, ok2 := x.Children[1].(ast.Expr)
			if ok1 && ok2 {
				return &ast.BinaryExpr{Operator: o.Name(), Left: left, Right: right}
			}
		}
		return e
	}
}

// from resolves the one table of a FROM clause.
func (c *compiler) from(ctx *sql.Context, v *view, from ast.TableExprs) error {
	if len(from) != 1 {
		return unplanned(reasonShape)
	}
	t, ok := from[0].(*ast.AliasedTableExpr)
	if !ok || t.Hints != nil || t.AsOf != nil || len(t.Partitions) > 0 || t.Lateral {
		return unplanned(reasonShape)
	}
	name, ok := t.Expr.(ast.TableName)
	if !ok {
		return unplanned(reasonShape)
	}
	c.alias = t.As.String()
	return c.resolve(ctx, v, name)
}

func (c *compiler) resolve(ctx *sql.Context, v *view, name ast.TableName) error {
	if !name.SchemaQualifier.IsEmpty() {
		return unplanned(reasonShape)
	}
	db := c.db
	if q := name.DbQualifier.String(); q != "" {
		db = q
	}
	d, ok := v.snap.Database(db)
	if !ok {
		return unplanned(reasonTable)
	}
	desc, ok := d.Table(name.Name.String())
	if !ok || !readable(desc) || c.plan.kind != planSelect && !writable(desc) {
		return unplanned(reasonTable)
	}
	if event := c.plan.kind.event(); event != "" {
		fires, ok := c.eng.triggersOf(d, desc.Name, event)
		if !ok {
			return unplanned(reasonTable)
		}
		c.plan.fires = fires
	}
	t, err := v.table(c.eng, d, desc)
	if err != nil || t.primary == nil {
		return unplanned(reasonTable)
	}
	if c.alias == "" {
		c.alias = desc.Name
	}
	c.plan.db, c.plan.table = d.Name, t
	if c.plan.kind == planSelect {
		return nil
	}
	c.plan.keeps, err = c.constraints(ctx, v, d, t)
	return err
}

// readable reports whether all columns of a table are in its rows.
func readable(desc *catalog.Table) bool {
	for i := range desc.Columns {
		if c := &desc.Columns[i]; c.Hidden || c.HiddenSystem || c.Virtual {
			return false
		}
	}
	return true
}

// current reports whether the plan is right in the catalog that the statement sees. It is while the table's
// descriptor is the same object and nothing has come up around it.
func (p *fastPlan) current(snap *catalog.Snapshot) bool {
	if p.snap.Load() == snap {
		return true
	}
	if p.query != nil {
		if !p.query.current(snap) {
			return false
		}
		p.snap.Store(snap)
		return true
	}
	if p.source != nil && !p.source.current(snap) {
		return false
	}
	d, ok := snap.Database(p.db)
	if !ok {
		return false
	}
	desc, ok := d.Table(p.table.desc.Name)
	if !ok || desc != p.table.desc || p.keeps != nil && !p.keeps.current(snap) {
		return false
	}
	if event := p.kind.event(); event != "" {
		if fires, ok := p.table.eng.triggersOf(d, desc.Name, event); !ok || !slices.Equal(fires, p.fires) {
			return false
		}
	}
	if p.taken != takenRefused && !p.table.eng.firesNothing(d, desc.Name) {
		return false
	}
	p.snap.Store(snap)
	return true
}

// column resolves a column's name; -1 if it is not one of the table's.
func (c *compiler) column(e ast.Expr) int {
	n, ok := e.(*ast.ColName)
	if !ok || n.StoredProcVal != nil {
		return -1
	}
	if q := n.Qualifier; !q.IsEmpty() {
		if !q.SchemaQualifier.IsEmpty() || !strings.EqualFold(q.Name.String(), c.alias) ||
			!q.DbQualifier.IsEmpty() && !strings.EqualFold(q.DbQualifier.String(), c.plan.db) {
			return -1
		}
	}
	return c.plan.table.ordinal(n.Name.String())
}

// operand reads a parameter or a literal, perhaps with a minus sign.
func (c *compiler) operand(e ast.Expr) (operand, bool) {
	switch e := e.(type) {
	case *ast.NullVal:
		return operand{param: -1, fixed: eval.Literal{Kind: eval.LiteralNull}}, true
	case *ast.UnaryExpr:
		if e.Operator != ast.UMinusStr {
			return operand{}, false
		}
		o, ok := c.operand(e.Expr)
		if !ok || o.negative {
			return operand{}, false
		}
		o.negative = true
		return o, true
	case *ast.ParenExpr:
		return c.operand(e.Expr)
	case ast.InjectedExpr, *ast.FuncExpr, *ast.CaseExpr, *ast.TimestampFuncExpr, *ast.ConvertExpr:
		return c.parameter(e)
	case *ast.SQLVal:
		o := operand{param: -1, fixed: eval.Literal{Text: string(e.Val)}}
		switch e.Type {
		case ast.ValArg:
			n, err := strconv.Atoi(strings.TrimPrefix(string(e.Val), ":v"))
			if err != nil || n < 1 {
				return operand{}, false
			}
			return operand{param: n - 1}, true
		case ast.IntVal:
			o.fixed.Kind = eval.LiteralInt
		case ast.StrVal:
			o.fixed.Kind = eval.LiteralString
		case ast.FloatVal:
			o.fixed.Kind = eval.LiteralDecimal
			if strings.ContainsAny(o.fixed.Text, "eE") {
				o.fixed.Kind = eval.LiteralFloat
			}
		default:
			return operand{}, false
		}
		return o, true
	}
	return operand{}, false
}

// parameter makes a parameter of an expression in the body of a routine, in which there is no column.
func (c *compiler) parameter(e ast.Expr) (operand, bool) {
	if c.bind == nil {
		return operand{}, false
	}
	alone := true
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.ColName, *ast.Subquery, *ast.ValuesFuncExpr, *ast.Default:
			alone = false
		case *ast.FuncExpr:
			alone = alone && !expr.UsesVariables(n)
		}
		return alone, nil
	}, e)
	if !alone {
		return operand{}, false
	}
	value, ok := c.bind(e)
	if !ok {
		return operand{}, false
	}
	c.params = append(c.params, value)
	return operand{param: len(c.params) - 1}, true
}

// conditions reads a conjunction of comparisons of columns with values.
func (c *compiler) conditions(e ast.Expr, in *[]operand, inColumn *int) ([]condition, error) {
	switch e := e.(type) {
	case *ast.AndExpr:
		l, err := c.conditions(e.Left, in, inColumn)
		if err != nil {
			return nil, err
		}
		r, err := c.conditions(e.Right, in, inColumn)
		return append(l, r...), err
	case *ast.ParenExpr:
		return c.conditions(e.Expr, in, inColumn)
	case *ast.RangeCond:
		col := c.column(e.Left)
		lo, ok1 := c.operand(e.From)
		hi, ok2 := c.operand(e.To)
		if col < 0 || !ok1 || !ok2 || e.Operator != ast.BetweenStr {
			return nil, unplanned(reasonShape)
		}
		return []condition{{col, ast.GreaterEqualStr, lo}, {col, ast.LessEqualStr, hi}}, nil
	case *ast.ComparisonExpr:
		return c.comparison(e, in, inColumn)
	}
	return nil, unplanned(reasonShape)
}

var flipped = map[string]string{
	ast.EqualStr: ast.EqualStr, ast.LessThanStr: ast.GreaterThanStr, ast.LessEqualStr: ast.GreaterEqualStr,
	ast.GreaterThanStr: ast.LessThanStr, ast.GreaterEqualStr: ast.LessEqualStr,
}

func (c *compiler) comparison(e *ast.ComparisonExpr, in *[]operand, inColumn *int) ([]condition, error) {
	if e.Operator == ast.InStr {
		col := c.column(e.Left)
		list, ok := e.Right.(ast.ValTuple)
		if col < 0 || !ok || *in != nil {
			return nil, unplanned(reasonShape)
		}
		for _, x := range list {
			o, ok := c.operand(x)
			if !ok {
				return nil, unplanned(reasonShape)
			}
			*in = append(*in, o)
		}
		*inColumn = col
		return nil, nil
	}
	op, known := flipped[e.Operator]
	if !known {
		return nil, unplanned(reasonShape)
	}
	left, right := e.Left, e.Right
	if c.column(left) < 0 {
		left, right = right, left
	} else {
		op = e.Operator
	}
	col := c.column(left)
	o, ok := c.operand(right)
	if col < 0 || !ok {
		return nil, unplanned(reasonShape)
	}
	return []condition{{col, op, o}}, nil
}

// find chooses the index for a WHERE clause: a unique key whose columns all have a value, else the one with
// the most leading columns that have.
func (c *compiler) find(where *ast.Where) error {
	if where == nil {
		return unplanned(reasonShape)
	}
	var in []operand
	inColumn := -1
	conds, err := c.conditions(where.Expr, &in, &inColumn)
	if err != nil {
		return err
	}
	t := c.plan.table
	if in != nil {
		if len(conds) > 0 {
			return unplanned(reasonShape)
		}
		for _, x := range t.keys {
			if x.unique && x.state == catalog.StatePublic && !x.unordered && len(x.cols) == 1 && x.cols[0] == inColumn {
				c.plan.where = access{index: x, in: in}
				return nil
			}
		}
		return unplanned(reasonIndex)
	}
	var best *access
	score := 0
	for _, x := range t.keys {
		if x.state != catalog.StatePublic || x.unordered {
			continue
		}
		a, s := accessBy(x, conds)
		if s > score {
			best, score = a, s
		}
	}
	if best == nil {
		return unplanned(reasonIndex)
	}
	c.plan.where = *best
	return nil
}

// accessBy fits the conditions to an index; the higher the score the better, 0 means not at all.
func accessBy(x *index, conds []condition) (*access, int) {
	a := &access{index: x}
	used := make([]bool, len(conds))
	take := func(col int, ops ...string) int {
		for i, cond := range conds {
			if used[i] || cond.column != col {
				continue
			}
			for _, op := range ops {
				if cond.op == op {
					used[i] = true
					return i
				}
			}
		}
		return -1
	}
	for _, col := range x.cols {
		i := take(col, ast.EqualStr)
		if i < 0 {
			break
		}
		a.equal = append(a.equal, conds[i].value)
	}
	n := len(a.equal)
	if n < len(x.cols) {
		if i := take(x.cols[n], ast.GreaterEqualStr, ast.GreaterThanStr); i >= 0 {
			a.lower = &bound{conds[i].value, conds[i].op == ast.GreaterEqualStr}
		}
		if i := take(x.cols[n], ast.LessEqualStr, ast.LessThanStr); i >= 0 {
			a.upper = &bound{conds[i].value, conds[i].op == ast.LessEqualStr}
		}
	}
	for i, cond := range conds {
		if !used[i] {
			a.rest = append(a.rest, cond)
		}
	}
	score := 10 * n
	if a.lower != nil {
		score += 4
	}
	if a.upper != nil {
		score += 4
	}
	if n == len(x.cols) && x.unique {
		a.point = true
		score += 1000
	}
	if score > 0 && x.primary {
		score++
	}
	return a, score
}

func (c *compiler) updates(ctx *sql.Context, v *view, s *ast.Update) error {
	if s.With != nil || s.Ignore != "" || len(s.Returning) > 0 {
		return unplanned(reasonShape)
	}
	c.plan.kind = planUpdate
	if err := c.from(ctx, v, s.TableExprs); err != nil {
		return err
	}
	if err := c.search(ctx, v, s.Where, len(s.OrderBy) > 0 || s.Limit != nil); err != nil {
		return err
	}
	var exprs []int // assignments of expressions
	for n, e := range s.Exprs {
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
	if err := c.generates(ctx); err != nil {
		return err
	}
	c.permit(sql.PrivilegeType_Select, sql.PrivilegeType_Update)
	if q := c.plan.source; q != nil {
		c.plan.allow = append(c.plan.allow, q.allow()...)
	}
	return nil
}

// sets reads an assignment; simple is false for one of an expression, which is still to be computed.
func (c *compiler) sets(e *ast.AssignmentExpr) (simple bool, err error) {
	a := assignment{column: c.column(e.Name), from: -1, arriving: -1}
	if a.column < 0 {
		return false, unplanned(reasonShape)
	}
	m := physical.StatementTimeOf(e.Expr)
	if m != nil && m.Fits(c.plan.table.pk.Schema[a.column].Type) {
		a.moment, simple = m, true
	} else {
		simple = c.assigns(&a, e.Expr)
	}
	c.plan.set = append(c.plan.set, a)
	return simple, nil
}

// assigns reads a value, or column + value, column - value; false if it is another expression.
func (c *compiler) assigns(a *assignment, value ast.Expr) (ok bool) {
	if b, ok := withoutOurs(value).(*ast.BinaryExpr); ok && (c.bind == nil || c.column(b.Left) >= 0) {
		from := c.column(b.Left)
		if from < 0 || b.Operator != ast.MinusStr && b.Operator != ast.PlusStr {
			return false
		}
		if t := c.plan.table.pk.Schema[from].Type.Type(); !sqltypes.IsIntegral(t) && t != sqltypes.Decimal {
			return false
		}
		a.from, a.minus, value = from, b.Operator == ast.MinusStr, b.Right
	}
	if v, is := value.(*ast.ValuesFuncExpr); is && c.plan.taken == takenUpdates {
		a.arriving = c.column(v.Name)
		ok = a.arriving >= 0
	} else {
		a.value, ok = c.operand(value)
	}
	if !ok {
		a.from = -1
	}
	return ok
}

func (c *compiler) deletes(ctx *sql.Context, v *view, s *ast.Delete) error {
	if s.With != nil || len(s.Targets) > 0 || len(s.Partitions) > 0 || len(s.Returning) > 0 {
		return unplanned(reasonShape)
	}
	if s.Where == nil && s.Limit == nil {
		return unplanned(reasonShape) // done to the table as a whole
	}
	c.plan.kind = planDelete
	if err := c.from(ctx, v, s.TableExprs); err != nil {
		return err
	}
	if err := c.search(ctx, v, s.Where, len(s.OrderBy) > 0 || s.Limit != nil); err != nil {
		return err
	}
	c.permit(sql.PrivilegeType_Select, sql.PrivilegeType_Delete)
	if q := c.plan.source; q != nil {
		c.plan.allow = append(c.plan.allow, q.allow()...)
	}
	return nil
}

func (c *compiler) permit(privileges ...sql.PrivilegeType) {
	c.plan.allow = []sql.PrivilegedOperation{sql.NewPrivilegedOperation(sql.PrivilegeCheckSubject{
		Database: c.plan.db, Table: c.plan.table.desc.Name,
	}, privileges...)}
}

// operand is where a plan takes a value from: the n-th parameter, or a literal that was in the text of a
// prepared statement.
type operand struct {
	param    int // -1: fixed
	negative bool
	fixed    eval.Literal
}

func (o *operand) value(values []eval.Literal) (eval.Literal, bool) {
	l := o.fixed
	if o.param >= 0 {
		if o.param >= len(values) {
			return eval.Literal{}, false
		}
		l = values[o.param]
	}
	if !o.negative || l.Kind == eval.LiteralNull {
		return l, true
	}
	if l.Kind == eval.LiteralString || l.Kind == eval.LiteralTime || strings.HasPrefix(l.Text, "-") {
		return eval.Literal{}, false
	}
	l.Text = "-" + l.Text
	return l, true
}
