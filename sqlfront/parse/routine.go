package parse

import (
	"cmp"
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/expr"
	"moka/sqlfront/rights"
	"moka/sqlfront/routine"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
	"moka/sqlfront/upcoming"
)

// Routine is CREATE [DEFINER = account] PROCEDURE | FUNCTION [IF NOT EXISTS] name (…) [RETURNS
// type] characteristics body.
type Routine struct {
	Kind        routine.Kind
	Name        Name
	IfNotExists bool
	Text        string // the whole statement as the user wrote it
	ReturnsText string // the type of a function, as written
	ParamsText  string // without the parentheses
	BodyText    string
	Spec        *ast.ProcedureSpec
	Returns     *ast.ColumnType

	shared, exclusive, past, assigns bool // as in rewriter, of the whole text
}

// RoutineName is a routine in DROP, SHOW CREATE.
type RoutineName struct {
	Kind     routine.Kind
	Name     Name
	IfExists bool
}

// routineHead is what was taken out of the text of a CREATE before the grammar saw it. It knows no functions,
// and no character sets in parameters.
type routineHead struct {
	kind         routine.Kind
	ifNotExists  bool
	returns      [2]int // places of the type
	returnsExtra [2]string
	params       [2]int
	extra        map[int][2]string // character set and collation of parameters
}

// createRoutine edits CREATE PROCEDURE and CREATE FUNCTION; t is the token behind CREATE. It reports
// false for other statements.
func (r *rewriter) createRoutine(l lexer, t token) (bool, error) {
	if l.is(t, "definer") {
		// definer = user[@host] | current_user[()]
		for t = l.next(); t.kind != eof && !l.is(t, "procedure") && !l.is(t, "function"); t = l.next() {
			if l.is(t, "view") || l.is(t, "trigger") || l.is(t, "event") || l.is(t, "sql") {
				return false, nil
			}
		}
	}
	h := &routineHead{kind: routine.Procedure, extra: map[int][2]string{}}
	switch {
	case l.is(t, "function"):
		h.kind = routine.Function
		r.edits.replace(t.start, t.end, "procedure")
	case !l.is(t, "procedure"):
		return false, nil
	}
	t = l.next()
	if l.is(t, "if") {
		from := t.start
		not, exists := l.next(), l.next()
		if !l.is(not, "not") || !l.is(exists, "exists") {
			return true, r.errAt(not)
		}
		h.ifNotExists = true
		r.edits.blank(from, exists.end)
		t = l.next()
	}
	if t.kind != word && t.kind != quoted {
		return true, r.errAt(t)
	}
	t = l.next()
	if l.isByte(t, '.') {
		l.next()
		t = l.next()
	}
	if !l.isByte(t, '(') {
		if l.is(t, "returns") {
			return true, unsupported("CREATE FUNCTION … SONAME")
		}
		return true, r.errAt(t)
	}
	h.params[0] = t.end
	index, depth := 0, 1
	for depth > 0 {
		t = l.next()
		switch {
		case t.kind == eof:
			return true, r.errAt(t)
		case l.isByte(t, '('):
			depth++
		case l.isByte(t, ')'):
			depth--
		case depth == 1 && l.isByte(t, ','):
			index++
		case depth == 1 && t.kind == word:
			if which, value, end, ok := charsetClause(l, t); ok {
				r.edits.blank(t.start, end)
				e := h.extra[index]
				e[which] = value
				h.extra[index] = e
				l.pos = end
			}
		}
	}
	h.params[1] = t.start
	if h.kind == routine.Function {
		t = l.next()
		if !l.is(t, "returns") {
			return true, r.errAt(t)
		}
		from := t.start
		t = l.next()
		h.returns[0] = t.start
		if t.kind != word {
			return true, r.errAt(t)
		}
		h.returns[1] = r.columnType(&l, t, &h.returnsExtra)
		r.edits.blank(from, h.returns[1])
	}
	r.routine = h
	r.routineBody(l)
	return true, nil
}

// charsetClause reads CHARSET x, CHARACTER SET x or COLLATE x; which is 0 for a character set, 1 for a
// collation.
func charsetClause(l lexer, t token) (which int, value string, end int, ok bool) {
	switch {
	case l.is(t, "charset"):
	case l.is(t, "character"):
		if n := l.next(); !l.is(n, "set") {
			return 0, "", 0, false
		}
	case l.is(t, "collate"):
		which = 1
	default:
		return 0, "", 0, false
	}
	v := l.next()
	if v.kind != word && v.kind != quoted && v.kind != str {
		return 0, "", 0, false
	}
	return which, strings.Trim(l.name(v), "'\""), v.end, true
}

// columnType finds the end of a type that begins at t, and notes its character set and collation.
func (r *rewriter) columnType(l *lexer, t token, extra *[2]string) (end int) {
	end = t.end
	first := t
	for {
		from := *l
		n := l.next()
		if which, value, to, ok := charsetClause(*l, n); ok {
			extra[which] = value
			l.pos, end = to, to
			continue
		}
		switch {
		case l.isByte(n, '(') && first.kind == word:
			end = l.closing().end
			first.kind = eof
			continue
		case l.is(n, "unsigned"), l.is(n, "signed"), l.is(n, "zerofill"), l.is(n, "binary"), l.is(n, "ascii"),
			l.is(n, "unicode"),
			l.is(n, "precision"), l.is(n, "varying"),
			l.is(t, "national") && (l.is(n, "varchar") || l.is(n, "char") || l.is(n, "character")),
			l.is(t, "long") && (l.is(n, "varchar") || l.is(n, "varbinary")):
			end = n.end
			continue
		}
		*l = from
		return end
	}
}

// routineBody edits what stands in the body and the grammar does not know.
func (r *rewriter) routineBody(l lexer) {
	var before token
	declares, whiles := false, 0
	for t := l.next(); t.kind != eof; before, t = t, l.next() {
		switch starts := before.kind != punct || l.isByte(before, ';') || l.isByte(before, ')'); {
		case l.is(t, "declare") && starts:
			declares = true
		case l.isByte(t, ';'):
			declares = false
		case l.is(t, "return") && starts, l.is(t, "default") && declares:
			r.parenthesise(l, t)
		case l.is(t, "while") && !l.is(before, "end"):
			whiles++
		case l.is(t, "do") && whiles > 0: // of WHILE
			whiles--
		case l.is(t, "do"):
			statement := l
			r.do(&statement, t)
		}
		if l.is(t, "get") {
			l.pos = r.diagnostics(l, t)
		}
	}
	r.whole = true
	r.selectWords(nil, false)
	r.whole = false
}

// diagnostics writes GET DIAGNOSTICS, which the grammar does not know, as a call, and returns where it ends.
// t is the word GET; where it is another GET nothing is changed.
func (r *rewriter) diagnostics(l lexer, t token) (end int) {
	look := l
	n := look.next()
	if look.is(n, "current") || look.is(n, "stacked") {
		n = look.next()
	}
	if !look.is(n, "diagnostics") {
		return l.pos
	}
	var b strings.Builder
	b.WriteString("call " + quoteName(routine.DiagnosticsProcedure) + "(")
	look = l
	last, sep := t.end, ""
	for n = look.next(); n.kind != eof && !look.isByte(n, ';') && !look.is(n, "end"); n = look.next() {
		value := strings.ReplaceAll(strings.ReplaceAll(look.name(n), `\`, `\\`), "'", "''")
		b.WriteString(sep + "'" + value + "'")
		last, sep = n.end, ", "
		l = look
	}
	r.edits.replace(t.start, last, b.String()+")")
	return l.pos
}

// parenthesise puts the expression between t and the end of the statement in parentheses: in RETURN and
// DEFAULT the grammar takes comparisons and AND only so.
func (r *rewriter) parenthesise(l lexer, t token) {
	first, last, depth := token{}, token{}, 0
	for n := l.next(); n.kind != eof && !(depth == 0 && l.isByte(n, ';')); n = l.next() {
		switch {
		case l.isByte(n, '('):
			depth++
		case l.isByte(n, ')'):
			depth--
		}
		if first.end == 0 {
			first = n
		}
		last = n
	}
	if first.end > 0 {
		r.edits.replace(first.start, first.start, "(")
		r.edits.replace(last.end, last.end, ")")
	}
}

// finishRoutine makes a Routine of what the grammar has understood.
func (r *rewriter) finishRoutine(ctx context.Context, d *ast.DDL, text string,
	o ast.ParserOptions) (*Routine, error) {
	h := r.routine
	s := d.ProcedureSpec
	out := &Routine{
		Kind: h.kind, Name: Name{s.ProcName.Qualifier.String(), s.ProcName.Name.String()},
		IfNotExists: h.ifNotExists, Text: text, Spec: s,
		ParamsText: strings.TrimSpace(r.src[h.params[0]:h.params[1]]),
		shared:     r.shared, exclusive: r.exclusive, past: r.past, assigns: r.assigns,
	}
	if from, to := r.edits.original(d.SubStatementPositionStart),
		r.edits.original(d.SubStatementPositionEnd); from >= 0 && from <= to && to <= len(r.src) {
		out.BodyText = strings.TrimSpace(r.src[from:to])
	}
	r.nameColumns(s.Body)
	for i, e := range h.extra {
		if i < len(s.Params) {
			s.Params[i].Type.Charset, s.Params[i].Type.Collate = e[0], e[1]
		}
	}
	if h.kind != routine.Function {
		return out, nil
	}
	for _, p := range s.Params {
		if p.Direction != ast.ProcedureParamDirection_In {
			return nil, sqlerr.Syntax(r.src, h.params[0])
		}
	}
	out.ReturnsText = strings.TrimSpace(r.src[h.returns[0]:h.returns[1]])
	stmt, err := ast.ParseWithOptions(ctx, "create table t (c "+out.ReturnsText+")", o)
	if err != nil {
		return nil, sqlerr.Syntax(r.src, h.returns[0])
	}
	t := stmt.(*ast.DDL).TableSpec.Columns[0].Type
	if t.Charset == "" {
		t.Charset = h.returnsExtra[0]
	}
	if t.Collate == "" {
		t.Collate = h.returnsExtra[1]
	}
	out.Returns = &t
	return out, nil
}

// nameColumns gives expressions of select lists the names that they have in MySQL: their texts. The grammar
// does it for statements that stand alone.
func (r *rewriter) nameColumns(stmt ast.Statement) {
	eachInner(stmt, func(s ast.Statement) ast.Statement {
		r.nameColumns(s)
		return s
	})
	switch s := stmt.(type) {
	case *ast.DDL:
		if s.OptSelect != nil && s.OptSelect.Select != nil {
			r.nameColumns(s.OptSelect.Select)
		}
		if s.ViewSpec != nil && s.ViewSpec.ViewExpr != nil {
			r.nameColumns(s.ViewSpec.ViewExpr)
		}
	case ast.SelectStatement:
		r.nameExprs(s, selectsAlone(s))
		nameOrdered(s)
	case *ast.Insert:
		r.nameExprs(s.Returning, true)
		columnsReturned(s)
	}
}

// columnsReturned tells columns in RETURNING from expressions before them that are called so: the library
// finds both.
func columnsReturned(s *ast.Insert) {
	called := map[string]bool{}
	for _, x := range s.Returning {
		e, ok := x.(*ast.AliasedExpr)
		if !ok {
			continue
		}
		_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
			if c, ok := n.(*ast.ColName); ok && c.Qualifier.IsEmpty() && called[c.Name.Lowered()] {
				c.Qualifier.Name = s.Table.Name
			}
			_, query := n.(*ast.Subquery)
			return !query, nil
		}, e.Expr)
		name := e.As.Lowered()
		if v, ok := e.Expr.(*ast.SQLVal); ok && name == "" {
			name = strings.ToLower(string(v.Val))
		}
		called[cmp.Or(name, strings.ToLower(e.InputExpression))] = true
	}
}

// nameExprs gives expressions of a select list, or of RETURNING, the client's text as their names. alone says
// that columns have theirs already.
func (r *rewriter) nameExprs(of ast.SQLNode, alone bool) {
	back := r.edits.places()
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		e, ok := n.(*ast.AliasedExpr)
		if !ok || e.EndParsePos <= e.StartParsePos {
			return true, nil
		}
		if !alone {
			bareColumn(e)
		}
		if _, column := e.Expr.(*ast.ColName); column {
			return true, nil
		}
		from, to := back.original(r.begins(e.StartParsePos)), back.original(e.EndParsePos)
		if from < 0 || to > len(r.src) || from >= to {
			return true, nil
		}
		text := r.between(from, to)
		if q := text[:min(1, len(text))]; (q == "'" || q == `"`) &&
			skipString(text, 0, true) == len(text) && len(text) > 2 {
			text = text[1 : len(text)-1]
		}
		if _, truth := e.Expr.(ast.BoolVal); truth {
			text = strings.ToUpper(text)
		}
		e.InputExpression = text
		return true, nil
	}, of)
}

// nameOrdered gives the columns of set operations with an ORDER BY aliases, their names. The library sorts by
// a column of the first query, and if that is a constant without an alias, by the constant.
func nameOrdered(s ast.SelectStatement) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		set, ok := n.(*ast.SetOp)
		if !ok || len(set.OrderBy) == 0 {
			return true, nil
		}
		for _, e := range leftmost(set).SelectExprs {
			a, ok := e.(*ast.AliasedExpr)
			if !ok || !a.As.IsEmpty() {
				continue
			}
			if _, column := a.Expr.(*ast.ColName); !column && a.InputExpression != "" {
				a.As = ast.NewColIdent(a.InputExpression)
			}
		}
		return true, nil
	}, s)
}

// leftmost is the query whose columns name those of a set operation; one without columns if there is none.
func leftmost(s ast.SelectStatement) *ast.Select {
	switch s := s.(type) {
	case *ast.Select:
		return s
	case *ast.SetOp:
		return leftmost(s.Left)
	case *ast.ParenSelect:
		return leftmost(s.Select)
	}
	return &ast.Select{}
}

// begins is where an expression of a select list begins in the edited text. The grammar has the space and the
// comments before it, and the comma where there is a space before that.
func (r *rewriter) begins(pos int) int {
	if r.edited == "" {
		r.edited = r.edits.apply(r.src)
	}
	if pos > len(r.edited) {
		return pos
	}
	l := &lexer{s: r.edited, pos: pos, ansi: r.ansi}
	t := l.next()
	if l.isByte(t, ',') {
		t = l.next()
	}
	return t.start
}

// between is a piece of the text without the space and the comments around it.
func (r *rewriter) between(from, to int) string {
	l := &lexer{s: r.src[:to], pos: from, ansi: r.ansi}
	t := l.next()
	start, end := t.start, t.start
	for ; t.kind != eof; t = l.next() {
		end = t.end
	}
	return r.src[start:end]
}

// selectsAlone reports whether a statement selects from no table. That is how the library reads the
// expressions that tables keep: in them parentheses say that they are expressions.
func selectsAlone(stmt ast.SelectStatement) bool {
	s, ok := stmt.(*ast.Select)
	if !ok || len(s.From) > 1 {
		return false
	}
	if len(s.From) == 0 {
		return true
	}
	from, ok := s.From[0].(*ast.AliasedTableExpr)
	if !ok {
		return false
	}
	name, ok := from.Expr.(ast.TableName)
	return ok && strings.EqualFold(name.Name.String(), "dual") && name.DbQualifier.IsEmpty()
}

// bareColumn takes the parentheses off a column, and a plus sign: its name is the column's.
func bareColumn(e *ast.AliasedExpr) {
	for inner := e.Expr; ; {
		switch x := inner.(type) {
		case *ast.ParenExpr:
			inner = x.Expr
		case *ast.UnaryExpr:
			if x.Operator != ast.UPlusStr {
				return
			}
			inner = x.Expr
		case *ast.ColName:
			if e.Expr != inner {
				e.Expr, e.InputExpression = x, ""
			}
			return
		default:
			return
		}
	}
}

// ParseRoutine parses the stored text of a routine.
func (p *Parser) ParseRoutine(text string, o ast.ParserOptions) (*Routine, error) {
	r := rewriter{parser: p, src: text, ansi: o.AnsiQuotes}
	stmt, _, err := p.parse(context.Background(), &r, o, false)
	if err != nil {
		return nil, err
	}
	d, ok := stmt.(*ast.DDL)
	if !ok || d.ProcedureSpec == nil || r.routine == nil {
		return nil, sqlerr.New(sqlerr.SyntaxError, "the stored text is not that of a routine: %.100s", text)
	}
	return r.finishRoutine(context.Background(), d, text, o)
}

// ParseTrigger parses the stored text of a trigger; the Routine is for EditBody.
func (p *Parser) ParseTrigger(text string, o ast.ParserOptions) (*ast.DDL, *Routine, error) {
	text = sql.RemoveSpaceAndDelimiter(text, ';')
	r := rewriter{parser: p, src: text, ansi: o.AnsiQuotes, stored: true}
	stmt, _, err := p.parse(context.Background(), &r, o, false)
	if err != nil {
		return nil, nil, err
	}
	d, ok := stmt.(*ast.DDL)
	if !ok || d.TriggerSpec == nil {
		return nil, nil, sqlerr.New(sqlerr.SyntaxError,
			"the stored text is not that of a trigger: %.100s", text)
	}
	return d, &Routine{Kind: routine.Trigger, shared: r.shared, exclusive: r.exclusive, past: r.past,
		assigns: r.assigns}, nil
}

// EditBody does to a statement of a routine's body what is done to a client's.
func (p *Parser) EditBody(in *Routine, stmt ast.Statement) ast.Statement {
	if in.past {
		wrapTimes(stmt)
	}
	r := rewriter{parser: p, locks: true, shared: in.shared, exclusive: in.exclusive}
	r.moveLocks(stmt)
	switch s := stmt.(type) {
	case *ast.Update:
		splitRanges(s.Where)
	case *ast.Delete:
		splitRanges(s.Where)
	case *ast.Insert:
		bareValues(s)
	case *ast.Set:
		upcoming.Announce(s)
	}
	if in.assigns {
		expr.RewriteAssignments(stmt)
	}
	_ = declareDigits(stmt) // what is wrong with it, the planner says when it is run
	expr.Rewrite(stmt)
	rights.Demand(stmt)
	return p.replaceCalls(stmt, in.Kind == routine.Trigger)
}

// replaceCalls puts our CALL in the place of the library's, in statements that contain others as well. inner
// says that it is not the client that calls.
func (p *Parser) replaceCalls(stmt ast.Statement, inner bool) ast.Statement {
	if p.hooks.Call == nil {
		return stmt
	}
	switch s := stmt.(type) {
	case *ast.Call:
		if ours := p.hooks.Call(s, inner); ours != nil {
			return ours
		}
	case *ast.DDL:
		if s.TriggerSpec != nil && s.TriggerSpec.Body != nil {
			s.TriggerSpec.Body = p.replaceCalls(s.TriggerSpec.Body, true)
		}
		if s.EventSpec != nil && s.EventSpec.Body != nil {
			s.EventSpec.Body = p.replaceCalls(s.EventSpec.Body, true)
		}
	}
	eachInner(stmt, func(s ast.Statement) ast.Statement { return p.replaceCalls(s, inner) })
	return stmt
}

// eachInner puts in the place of each statement within a block, a branch, a loop or a handler what f makes of
// it.
func eachInner(stmt ast.Statement, f func(ast.Statement) ast.Statement) {
	all := func(l ast.Statements) {
		for i := range l {
			l[i] = f(l[i])
		}
	}
	switch s := stmt.(type) {
	case *ast.BeginEndBlock:
		all(s.Statements)
	case *ast.IfStatement:
		for _, c := range s.Conditions {
			all(c.Statements)
		}
		all(s.Else)
	case *ast.CaseStatement:
		for _, c := range s.Cases {
			all(c.Statements)
		}
		all(s.Else)
	case *ast.While:
		all(s.Statements)
	case *ast.Repeat:
		all(s.Statements)
	case *ast.Loop:
		all(s.Statements)
	case *ast.Declare:
		if s.Handler != nil {
			s.Handler.Statement = f(s.Handler.Statement)
		}
	}
}

// CreatesTrigger reports whether a text is that of a CREATE TRIGGER.
func CreatesTrigger(s string) bool {
	l := lexer{s: s}
	if t := l.next(); !l.is(t, "create") {
		return false
	}
	for t := l.next(); t.kind != eof; t = l.next() {
		switch {
		case l.is(t, "trigger"):
			return true
		case l.is(t, "table"), l.is(t, "view"), l.is(t, "procedure"), l.is(t, "function"), l.isByte(t, '('):
			return false
		}
	}
	return false
}

// dropRoutine parses DROP FUNCTION [IF EXISTS] name; t is the token behind DROP.
func (r *rewriter) dropRoutine(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	t := l.next()
	n := RoutineName{Kind: routine.Function}
	if l.is(t, "if") {
		if err := r.words(l, "exists"); err != nil {
			return nil, 0, true, err
		}
		n.IfExists = true
		t = l.next()
	}
	var err error
	if n.Name, t, err = r.qualified(l, t); err != nil {
		return nil, 0, true, err
	}
	return deliver(r, ctx, l, t, "DROP FUNCTION", r.parser.hooks.DropRoutine, n)
}

// showCreateRoutine parses SHOW CREATE PROCEDURE | FUNCTION name.
func (r *rewriter) showCreateRoutine(ctx context.Context, l *lexer, kind routine.Kind) (ast.Statement, int,
	bool, error) {
	if r.parser.hooks.ShowCreateRoutine == nil {
		return nil, 0, false, nil
	}
	n := RoutineName{Kind: kind}
	var t token
	var err error
	if n.Name, t, err = r.qualified(l, l.next()); err != nil {
		return nil, 0, true, err
	}
	return deliver(r, ctx, l, t, "SHOW CREATE "+string(kind), r.parser.hooks.ShowCreateRoutine, n)
}

// showRoutines turns SHOW PROCEDURE | FUNCTION STATUS [LIKE … | WHERE …] into a query of information_schema.
func (r *rewriter) showRoutines(l *lexer, head token, kind routine.Kind) {
	if t := l.next(); !l.is(t, "status") {
		return
	}
	end := l.pos
	t := l.next()
	query := "select * from (select ROUTINE_SCHEMA as Db, ROUTINE_NAME as Name, ROUTINE_TYPE as Type, " +
		"DEFINER as Definer, LAST_ALTERED as Modified, " +
		"CREATED as Created, SECURITY_TYPE as Security_type, ROUTINE_COMMENT as Comment, " +
		"CHARACTER_SET_CLIENT as character_set_client, " +
		"COLLATION_CONNECTION as collation_connection, DATABASE_COLLATION as `Database Collation` from " +
		"information_schema.ROUTINES " +
		"where ROUTINE_TYPE = '" + string(kind) + "' order by ROUTINE_SCHEMA, ROUTINE_NAME) as routines "
	if l.is(t, "like") {
		query += "where Name "
	}
	r.edits.replace(head.start, end, query)
}
