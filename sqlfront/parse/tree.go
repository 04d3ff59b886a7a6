package parse

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/expr"
	"moka/sqlfront/inband"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
	"moka/sqlfront/upcoming"
)

// A lock clause reaches storage as the AS OF text of a table, marked as none of a client's.
var (
	LockPrefix              = inband.New("lock")
	LockForUpdate           = LockPrefix + "update"
	LockForUpdateNowait     = LockPrefix + "update nowait"
	LockForUpdateSkipLocked = LockPrefix + "update skip locked"
	LockForShare            = LockPrefix + "share"
	LockForShareNowait      = LockPrefix + "share nowait"
	LockForShareSkipLocked  = LockPrefix + "share skip locked"
	// LockPast is what a table with both clauses has: they exclude each other, and only the engine can say
	// so.
	LockPast = LockPrefix + "past"
)

// Lock is a row lock clause.
type Lock struct {
	Exclusive  bool // FOR UPDATE; else FOR SHARE
	Nowait     bool
	SkipLocked bool
}

// String is the AS OF text that carries the lock.
func (l Lock) String() string {
	s := LockForShare
	if l.Exclusive {
		s = LockForUpdate
	}
	if l.Nowait {
		s += " nowait"
	}
	if l.SkipLocked {
		s += " skip locked"
	}
	return s
}

// ParseLock reads the lock back from an AS OF value; ok is false when the value is something else.
func ParseLock(asOf any) (l Lock, ok bool) {
	s, ok := asOf.(string)
	if !ok || !strings.HasPrefix(s, LockPrefix) {
		return Lock{}, false
	}
	switch s {
	case LockForUpdate:
		return Lock{Exclusive: true}, true
	case LockForUpdateNowait:
		return Lock{Exclusive: true, Nowait: true}, true
	case LockForUpdateSkipLocked:
		return Lock{Exclusive: true, SkipLocked: true}, true
	case LockForShare:
		return Lock{}, true
	case LockForShareNowait:
		return Lock{Nowait: true}, true
	case LockForShareSkipLocked:
		return Lock{SkipLocked: true}, true
	}
	return Lock{}, false
}

// editTree edits what the grammar parsed and the engine would lose or do badly.
func (p *Parser) editTree(ctx context.Context, stmt ast.Statement, r *rewriter) {
	if r.past {
		wrapTimes(stmt)
	}
	if r.locks {
		r.moveLocks(stmt)
	}
	for _, d := range clauses(stmt) {
		zerofill(d)
		binaryTexts(ctx, d)
		dropPrimary(d)
	}
	switch s := stmt.(type) {
	case *ast.DDL:
		if s.ViewSpec != nil && storedDefinition(ctx) {
			s.Temporary = true
		}
		if s.ViewSpec != nil { // the planner would want a current database
			s.Table.DbQualifier = s.ViewSpec.ViewName.DbQualifier
		}
		if s.ViewSpec != nil && s.ViewSpec.CheckOption == ast.ViewCheckOptionLocal {
			// the planner refuses the other; what is stored, and looked at, is the text
			s.ViewSpec.CheckOption = ast.ViewCheckOptionCascaded
		}
	case *ast.Explain: // shows the plan of the statement as it would be run
		p.editTree(ctx, s.Statement, &rewriter{assigns: r.assigns, locks: r.locks, shared: r.shared,
			exclusive: r.exclusive})
		return
	case *ast.Show:
		if o := s.ShowTablesOpt; o != nil && o.DbName != "" && strings.EqualFold(s.Type, "triggers") {
			s.Table.DbQualifier = ast.NewTableIdent(o.DbName) // the planner would take the current one
		}
	case *ast.Update:
		splitRanges(s.Where)
	case *ast.Delete:
		splitRanges(s.Where)
	case *ast.Select:
		p.completeOrder(ctx, s)
	case *ast.SetOp:
		balance(s)
	case *ast.Insert:
		bareValues(s)
	case *ast.Set:
		upcoming.Announce(s)
	}
	r.nameColumns(stmt)
	if r.assigns {
		within(stmt, expr.RewriteAssignments)
	}
	replaceOperators(stmt)
}

// clauses are the definitions of a CREATE TABLE or of the clauses of an ALTER TABLE; none of another
// statement.
func clauses(stmt ast.Statement) []*ast.DDL {
	switch s := stmt.(type) {
	case *ast.DDL:
		return []*ast.DDL{s}
	case *ast.AlterTable:
		return s.Statements
	}
	return nil
}

// zerofill makes ZEROFILL columns UNSIGNED, as it does in MySQL. Zeros are not filled in.
func zerofill(d *ast.DDL) {
	if d.TableSpec == nil {
		return
	}
	for _, c := range d.TableSpec.Columns {
		if c.Type.Zerofill {
			c.Type.Unsigned = true
		}
	}
}

// binaryTexts gives VARCHAR(n) BINARY its character set, which the planner needs to know which collation is
// meant: the table's, or the default of the session's database.
func binaryTexts(ctx context.Context, d *ast.DDL) {
	if d.TableSpec == nil {
		return
	}
	var charset string
	for _, c := range d.TableSpec.Columns {
		t := &c.Type
		if !t.BinaryCollate || t.Charset != "" || t.Collate != "" {
			continue
		}
		if charset == "" {
			charset = defaultCharset(ctx, d.TableSpec.TableOpts)
		}
		t.Charset = charset
	}
}

func defaultCharset(ctx context.Context, options []*ast.TableOption) string {
	var charset, collation string
	for _, o := range options {
		switch strings.ToUpper(o.Name) {
		case "CHARACTER SET":
			charset = o.Value
		case "COLLATE":
			collation = o.Value
		}
	}
	if charset != "" {
		return charset
	}
	if sc, ok := ctx.(*sql.Context); ok && collation == "" {
		v, _ := sc.GetSessionVariable(sc, "collation_database")
		collation, _ = v.(string)
	}
	if c, err := sql.ParseCollation("", collation, false); err == nil && c != sql.Collation_Unspecified {
		return c.CharacterSet().Name()
	}
	return sql.Collation_Default.CharacterSet().Name()
}

// dropPrimary takes DROP INDEX `PRIMARY` for DROP PRIMARY KEY.
func dropPrimary(d *ast.DDL) {
	if i := d.IndexSpec; i != nil && i.Action == ast.DropStr && i.Type == "" &&
		i.ToName.Lowered() == "primary" {
		i.Type, i.ToName = ast.PrimaryStr, ast.ColIdent{}
	}
}

// bareValues takes the table out of VALUES(t.c), which the planner reads as the old row's column.
func bareValues(s *ast.Insert) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		if v, ok := n.(*ast.ValuesFuncExpr); ok {
			v.Name.Qualifier = ast.TableName{}
		}
		return true, nil
	}, ast.AssignmentExprs(s.OnDup))
}

// replaceOperators puts expressions of ours into a statement.
func replaceOperators(stmt ast.Statement) {
	within(stmt, expr.Rewrite)
	if d, ok := stmt.(*ast.DDL); ok && d.ProcedureSpec != nil && d.ProcedureSpec.Body != nil {
		expr.RewriteProcedure(d.ProcedureSpec.Body)
	}
}

// within does something to a statement, or to the statements within one that defines something.
func within(stmt ast.Statement, edit func(ast.SQLNode)) {
	d, ok := stmt.(*ast.DDL)
	if !ok {
		edit(stmt)
		return
	}
	if d.ViewSpec != nil && d.ViewSpec.ViewExpr != nil {
		edit(d.ViewSpec.ViewExpr)
	}
	if d.OptSelect != nil && d.OptSelect.Select != nil {
		edit(d.OptSelect.Select)
	}
	if d.TriggerSpec != nil && d.TriggerSpec.Body != nil {
		edit(d.TriggerSpec.Body)
	}
	if d.EventSpec != nil && d.EventSpec.Body != nil {
		edit(d.EventSpec.Body)
	}
}

// storedDefinition reports whether what is parsed is the text of a view that a query reads, rather than a
// CREATE VIEW of the user's. The planner takes both for DDL and would commit the transaction of who only
// selects from a view; of a temporary object it does not.
func storedDefinition(ctx context.Context) bool {
	sc, ok := ctx.(*sql.Context)
	if !ok {
		return false
	}
	l := lexer{s: sc.Query()}
	t := l.next()
	return !l.is(t, "create") && !l.is(t, "alter") && !l.is(t, "prepare") && !l.is(t, "execute")
}

// moveLocks turns each lock clause into AS OF on the tables it covers.
func (r *rewriter) moveLocks(stmt ast.Statement) {
	// Names of common table expressions are no tables.
	ctes := map[string]bool{}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if w, ok := n.(*ast.With); ok && w != nil {
			for _, c := range w.Ctes {
				ctes[strings.ToLower(c.As.String())] = true
			}
		}
		return true, nil
	}, stmt)
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch s := n.(type) {
		case *ast.Select:
			if hasLock(s.Lock) {
				r.lockSelect(s, s.Lock, ctes)
				s.Lock = nil
			}
		case *ast.SetOp:
			if hasLock(s.Lock) {
				// MySQL gives the clause to the last query of the union. Locking all of them is the safe
				// reading of what the user asked for; a lock too many costs a wait, a lock too few an update.
				r.lockAll(s.Left, s.Lock, ctes)
				r.lockAll(s.Right, s.Lock, ctes)
				s.Lock = nil
			}
		}
		return true, nil
	}, stmt)
	if ins, ok := stmt.(*ast.Insert); ok {
		if rows, ok := ins.Rows.(ast.SelectStatement); ok {
			r.moveLocks(rows)
		}
	}
}

// hasLock tells a clause from none: the grammar makes an empty one for each query.
func hasLock(l *ast.Lock) bool { return l != nil && l.Type != "" }

func (r *rewriter) lockAll(s ast.SelectStatement, lock *ast.Lock, ctes map[string]bool) {
	switch s := s.(type) {
	case *ast.Select:
		r.lockSelect(s, lock, ctes)
	case *ast.ParenSelect:
		r.lockAll(s.Select, lock, ctes)
	case *ast.SetOp:
		r.lockAll(s.Left, lock, ctes)
		r.lockAll(s.Right, lock, ctes)
	}
}

func (r *rewriter) lockSelect(s *ast.Select, clause *ast.Lock, ctes map[string]bool) {
	typ := strings.ToLower(clause.Type)
	lock := Lock{
		// FOR SHARE was handed to the grammar as FOR UPDATE. In a statement with clauses of both kinds they
		// cannot be told apart any more: then all are the stronger.
		Exclusive:  !strings.Contains(typ, "share mode") && (!r.shared || r.exclusive),
		Nowait:     strings.HasSuffix(typ, " nowait"),
		SkipLocked: strings.HasSuffix(typ, " skip locked"),
	}
	for _, from := range s.From {
		lockTables(from, lock, clause.Tables, ctes)
	}
}

// lockTables marks the base tables of a FROM item. It stays out of derived tables: a locking clause does not
// reach into a subquery, which may have its own.
func lockTables(from ast.TableExpr, lock Lock, of ast.TableNames, ctes map[string]bool) {
	switch t := from.(type) {
	case *ast.JoinTableExpr:
		lockTables(t.LeftExpr, lock, of, ctes)
		lockTables(t.RightExpr, lock, of, ctes)
	case *ast.ParenTableExpr:
		for _, e := range t.Exprs {
			lockTables(e, lock, of, ctes)
		}
	case *ast.AliasedTableExpr:
		name, ok := t.Expr.(ast.TableName)
		if !ok || !lockable(name, ctes) || !covered(t, name, of) {
			return
		}
		if lock.Exclusive && t.Auth.AuthType == ast.AuthType_SELECT {
			t.Auth.AuthType = rights.Locking
		}
		if t.AsOf != nil {
			t.AsOf = &ast.AsOf{Time: ast.NewStrVal([]byte(LockPast))}
			return
		}
		t.AsOf = &ast.AsOf{Time: ast.NewStrVal([]byte(lock.String()))}
	}
}

func lockable(name ast.TableName, ctes map[string]bool) bool {
	db, table := strings.ToLower(name.DbQualifier.String()), strings.ToLower(name.Name.String())
	switch db {
	case "information_schema", "mysql", "performance_schema", "sys":
		return false
	case "":
		return table != "dual" && table != "" && !ctes[table]
	}
	return true
}

func covered(t *ast.AliasedTableExpr, name ast.TableName, of ast.TableNames) bool {
	if len(of) == 0 {
		return true
	}
	known := t.As.String()
	if known == "" {
		known = name.Name.String()
	}
	for _, o := range of {
		if strings.EqualFold(o.Name.String(), known) {
			return true
		}
	}
	return false
}

// splitRanges writes BETWEEN on a column as two comparisons, and takes NOT away from a comparison. The engine
// does this in SELECT, but its short rule set for single-table UPDATE and DELETE does not, and without it no
// index range is found: the statement would read the whole table. LIKE 'x%' would need the column's type and
// collation and stays as it is.
func splitRanges(w *ast.Where) {
	if w != nil {
		w.Expr = splitRange(w.Expr)
	}
}

var negated = map[string]string{
	ast.EqualStr: ast.NotEqualStr, ast.NotEqualStr: ast.EqualStr,
	ast.LessThanStr: ast.GreaterEqualStr, ast.GreaterEqualStr: ast.LessThanStr,
	ast.GreaterThanStr: ast.LessEqualStr, ast.LessEqualStr: ast.GreaterThanStr,
}

func splitRange(e ast.Expr) ast.Expr {
	switch x := e.(type) {
	case *ast.AndExpr:
		x.Left, x.Right = splitRange(x.Left), splitRange(x.Right)
	case *ast.OrExpr:
		x.Left, x.Right = splitRange(x.Left), splitRange(x.Right)
	case *ast.ParenExpr:
		x.Expr = splitRange(x.Expr)
	case *ast.NotExpr:
		inner := x.Expr
		for p, ok := inner.(*ast.ParenExpr); ok; p, ok = inner.(*ast.ParenExpr) {
			inner = p.Expr
		}
		if c, ok := inner.(*ast.ComparisonExpr); ok {
			if op, ok := negated[c.Operator]; ok {
				return &ast.ComparisonExpr{Operator: op, Left: c.Left, Right: c.Right}
			}
		}
		x.Expr = splitRange(x.Expr)
	case *ast.RangeCond:
		col, ok := x.Left.(*ast.ColName)
		if !ok || mixed(x.From, x.To) { // anything else would be evaluated twice
			return e
		}
		cmp := func(op string, to ast.Expr) ast.Expr {
			c := *col
			return &ast.ComparisonExpr{Operator: op, Left: &c, Right: to}
		}
		switch x.Operator {
		case ast.BetweenStr:
			return &ast.ParenExpr{Expr: &ast.AndExpr{Left: cmp(ast.GreaterEqualStr, x.From),
				Right: cmp(ast.LessEqualStr, x.To)}}
		case ast.NotBetweenStr:
			return &ast.ParenExpr{Expr: &ast.OrExpr{Left: cmp(ast.LessThanStr, x.From),
				Right: cmp(ast.GreaterThanStr, x.To)}}
		}
	}
	return e
}

// mixed reports whether one bound of a BETWEEN is the constant of a number and the other of a text: the
// column is compared with both as a number, whatever it is.
func mixed(from, to ast.Expr) bool {
	a, ok := from.(*ast.SQLVal)
	b, ok2 := to.(*ast.SQLVal)
	return ok && ok2 && (a.Type == ast.StrVal) != (b.Type == ast.StrVal)
}

// EqualColumn is a column that WHERE binds to one value.
type EqualColumn struct {
	Column string
	// Text says that the value is a string literal. A text column bound to a number is not bound to one text:
	// '1' and '1.0' both equal 1.
	Text bool
	// Param says that the value is a parameter, of a type not known yet.
	Param bool
}

// completeOrder writes the columns that WHERE binds in front of ORDER BY: WHERE a = 3 ORDER BY b LIMIT 5
// becomes ORDER BY a, b LIMIT 5. The result is the same, and the engine, which compares the sort columns with
// an index from the index's first column on, can then read (a, b) in order and stop after five rows. Whether
// there is such an index, and whether the comparison really binds the column, the catalog knows.
func (p *Parser) completeOrder(ctx context.Context, s *ast.Select) {
	if p.hooks.CompleteOrder == nil || s.Limit == nil || len(s.OrderBy) == 0 || s.Where == nil ||
		len(s.From) != 1 ||
		len(s.GroupBy) > 0 || s.Having != nil || s.With != nil || s.QueryOpts.Distinct {
		return
	}
	from, ok := s.From[0].(*ast.AliasedTableExpr)
	if !ok {
		return
	}
	table, ok := from.Expr.(ast.TableName)
	if !ok {
		return
	}
	known := from.As.String()
	if known == "" {
		known = table.Name.String()
	}
	column := func(e ast.Expr) (string, bool) {
		c, ok := e.(*ast.ColName)
		if !ok || c.StoredProcVal != nil ||
			!c.Qualifier.IsEmpty() && !strings.EqualFold(c.Qualifier.Name.String(), known) {
			return "", false
		}
		return strings.ToLower(c.Name.String()), true
	}
	aliases := map[string]bool{}
	for _, e := range s.SelectExprs {
		if a, ok := e.(*ast.AliasedExpr); ok {
			if !a.As.IsEmpty() {
				aliases[a.As.Lowered()] = true
			}
			if _, ok := a.Expr.(*ast.FuncExpr); ok && a.Expr.(*ast.FuncExpr).IsAggregate() {
				return
			}
		}
	}
	order := make([]string, 0, len(s.OrderBy))
	for _, o := range s.OrderBy {
		c, ok := column(o.Expr)
		if !ok || aliases[c] || o.Direction != s.OrderBy[0].Direction {
			return
		}
		order = append(order, c)
	}
	eq := boundColumns(s.Where.Expr, column, nil)
	if len(eq) == 0 {
		return
	}
	var add ast.OrderBy
	for _, name := range p.hooks.CompleteOrder(ctx, table.DbQualifier.String(), table.Name.String(),
		eq, order) {
		if aliases[strings.ToLower(name)] {
			return
		}
		add = append(add, &ast.Order{
			Expr: &ast.ColName{Name: ast.NewColIdent(name),
				Qualifier: ast.TableName{Name: ast.NewTableIdent(known)}},
			Direction: s.OrderBy[0].Direction,
		})
	}
	if len(add) > 0 {
		s.OrderBy = append(add, s.OrderBy...)
	}
}

func boundColumns(e ast.Expr, column func(ast.Expr) (string, bool), eq []EqualColumn) []EqualColumn {
	switch x := e.(type) {
	case *ast.AndExpr:
		return boundColumns(x.Right, column, boundColumns(x.Left, column, eq))
	case *ast.ParenExpr:
		return boundColumns(x.Expr, column, eq)
	case *ast.ComparisonExpr:
		if x.Operator != ast.EqualStr {
			return eq
		}
		left, right := x.Left, x.Right
		if _, ok := left.(*ast.SQLVal); ok {
			left, right = right, left
		}
		c, ok := column(left)
		v, isVal := right.(*ast.SQLVal)
		if ok && isVal {
			eq = append(eq, EqualColumn{Column: c, Text: v.Type == ast.StrVal, Param: v.Type == ast.ValArg})
		}
	}
	return eq
}

// explained is the statement that an EXPLAIN shows, else stmt itself: the library's walk does not go below
// EXPLAIN, and what is refused because the planner panics at it has to be refused there, too.
func explained(stmt ast.Statement) ast.Statement {
	if x, ok := stmt.(*ast.Explain); ok && x.Statement != nil {
		return x.Statement
	}
	return stmt
}

// explainFormat brings FORMAT= of EXPLAIN into the library's words.
func explainFormat(stmt ast.Statement) error {
	s, ok := stmt.(*ast.Explain)
	if !ok {
		return nil
	}
	switch strings.ToLower(s.ExplainFormat) {
	case "", "tree":
	case "traditional":
		s.ExplainFormat = ""
	case "json":
		// what the library shows beyond MySQL; the engine answers it in JSON
		s.ExplainFormat = "debug_estimates"
	default:
		return sqlerr.New(sqlerr.UnknownExplainFormat, "Unknown EXPLAIN format name: '%s'", s.ExplainFormat)
	}
	return nil
}
