package routine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// Spec is a routine as it was parsed.
type Spec struct {
	Kind           Kind
	Database, Name string
	Params         []ast.ProcedureParam
	Returns        *ast.ColumnType // of a function
	Old, New       []Column        // of a trigger; nil for a row that its event has not
	Event          string          // of a trigger, for errors
	Says           []string        // of a trigger: variables that are true or false, as Fire is told
	Answers        bool            // of a trigger: a SELECT may have a result
	Refuse         error           // the error of an assignment to NEW; nil if there may be one
	Deterministic  bool
	Body           ast.Statement
	Depth          int // how deep the body is nested
	// Collation is that of texts whose type names none.
	Collation sql.CollationID
	// Edit does to a statement of the body what the parser does to a statement of a client.
	Edit func(ast.Statement) ast.Statement
}

// Column is a column of OLD and NEW.
type Column struct {
	Name string
	Type sql.Type
}

// Compile checks a body and makes it ready to run. It takes the trees of the spec as its own.
func Compile(s Spec) (*Routine, error) {
	r := &Routine{Kind: s.Kind, Database: s.Database, Name: s.Name, Deterministic: s.Deterministic,
		depth: s.Depth, answers: s.Answers}
	c := &compiler{routine: r, spec: s}
	c.names = &names{vars: map[string]int{}}
	for _, p := range s.Params {
		t, err := c.typeOf(p.Type)
		if err != nil {
			return nil, err
		}
		if _, ok := c.names.vars[strings.ToLower(p.Name)]; ok {
			return nil, sqlerr.New(sqlerr.RoutineDuplicateParam, "Duplicate parameter: %s", p.Name)
		}
		param := Param{Name: p.Name, Type: t}
		switch p.Direction {
		case ast.ProcedureParamDirection_Out:
			param.Direction = Out
		case ast.ProcedureParamDirection_Inout:
			param.Direction = InOut
		}
		c.declare(p.Name, t)
		r.Params = append(r.Params, param)
	}
	if s.Kind == Trigger {
		r.old, r.now = len(s.Old), len(s.New)
		for _, c := range slices.Concat(s.Old, s.New) {
			r.slots = append(r.slots, slot{c.Name, c.Type})
		}
		for _, name := range s.Says {
			c.declare(name, types.Boolean)
		}
	}
	if s.Kind == Function {
		var err error
		if r.Returns, err = c.typeOf(*s.Returns); err != nil {
			return nil, err
		}
	}
	body, err := c.statement(s.Body)
	if err == nil {
		err = c.wrong
	}
	if err != nil {
		return nil, err
	}
	if s.Kind == Function && !c.returns {
		return nil, sqlerr.New(sqlerr.FunctionHasNoReturn, "No RETURN found in FUNCTION %s", s.Name)
	}
	r.body = list{body}
	return r, nil
}

// Statements are the statements of the body that the engine plans, expressions included (as SELECT). Those
// that are known as a text only are left out.
func (r *Routine) Statements() []ast.Statement { return r.statements }

type compiler struct {
	routine *Routine
	spec    Spec
	names   *names
	labels  *label
	returns bool
	wrong   error // found by swap, which cannot say so
}

// names are what a block declares.
type names struct {
	outer      *names
	vars       map[string]int
	conditions map[string]*matcher
	cursors    map[string]*cursorSlot
	order      declared
}

// declared says what a block has declared so far: variables and conditions, then cursors, then handlers.
type declared uint8

const (
	declaredVariables declared = iota
	declaredCursors
	declaredHandlers
)

// label is something that LEAVE and ITERATE can name. A handler's body begins with one without a name
// that nothing gets past.
type label struct {
	outer *label
	name  string
	loop  bool
	wall  bool
	to    *target
}

// target is a loop or a block while it runs.
type target struct{ name string }

func (c *compiler) typeOf(t ast.ColumnType) (sql.Type, error) {
	if strings.EqualFold(t.Type, "time") {
		return timeOf(t.Length)
	}
	typ, err := types.ColumnTypeToType(&t)
	if err != nil {
		return nil, err
	}
	if ct, ok := typ.(sql.TypeWithCollation); ok && t.Collate == "" && t.Charset == "" && !t.BinaryCollate &&
		ct.Collation() != sql.Collation_binary && c.spec.Collation != 0 {
		return ct.WithNewCollation(c.spec.Collation)
	}
	return typ, nil
}

func (c *compiler) declare(name string, t sql.Type) int {
	n := len(c.routine.slots)
	c.routine.slots = append(c.routine.slots, slot{name, t})
	c.names.vars[strings.ToLower(name)] = n
	return n
}

func (c *compiler) variable(name string) (*Variable, bool) {
	name = strings.ToLower(name)
	for s := c.names; s != nil; s = s.outer {
		if n, ok := s.vars[name]; ok {
			return &Variable{c.routine.slots[n].name, n, c.routine.slots[n].typ}, true
		}
	}
	return nil, false
}

// named is the variable, or the column of OLD and NEW, that a name means, where its value is used.
func (c *compiler) named(n *ast.ColName) (*Variable, bool) {
	v, ok := c.target(n)
	if ok && c.ofRow(v) {
		also(&c.routine.Reads, n.Name.Lowered())
	}
	if ok && v.slot < c.routine.old {
		also(&c.routine.ReadsOld, n.Name.Lowered())
	}
	return v, ok
}

func also(list *[]string, name string) {
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

// given is named where a value is given to it.
func (c *compiler) given(n *ast.ColName) (*Variable, bool) {
	v, ok := c.target(n)
	if ok && c.ofRow(v) {
		also(&c.routine.Writes, n.Name.Lowered())
	}
	return v, ok
}

// ofRow reports whether the variable is a column of OLD or NEW.
func (c *compiler) ofRow(v *Variable) bool { return v.slot < c.routine.old+c.routine.now }

func (c *compiler) target(n *ast.ColName) (*Variable, bool) {
	switch {
	case n == nil:
		return nil, false
	case n.Qualifier.IsEmpty():
		return c.variable(n.Name.String())
	case c.routine.Kind != Trigger || !n.Qualifier.DbQualifier.IsEmpty():
		return nil, false
	}
	row := strings.ToUpper(n.Qualifier.Name.String())
	columns, first := c.spec.Old, 0
	switch row {
	case "OLD":
	case "NEW":
		columns, first = c.spec.New, len(c.spec.Old)
	default:
		return nil, false
	}
	if columns == nil {
		c.wrong = sqlerr.New(sqlerr.NoSuchTriggerRow, "There is no %s row in on %s", row, c.spec.Event)
		return nil, false
	}
	at := slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, n.Name.String()) })
	if at < 0 {
		c.wrong = sqlerr.New(sqlerr.BadField, "Unknown column '%s' in '%s'", n.Name.String(), row)
		return nil, false
	}
	return &Variable{row + "." + columns[at].Name, first + at, columns[at].Type}, true
}

func (c *compiler) condition(name string) (*matcher, error) {
	for s := c.names; s != nil; s = s.outer {
		if m, ok := s.conditions[strings.ToLower(name)]; ok {
			return m, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedCondition, "Undefined CONDITION: %s", name)
}

func (c *compiler) cursor(name string) (*cursorSlot, error) {
	for s := c.names; s != nil; s = s.outer {
		if slot, ok := s.cursors[strings.ToLower(name)]; ok {
			return slot, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedCursor, "Undefined CURSOR: %s", name)
}

// bind puts variables where their names stand.
func (c *compiler) bind(n ast.SQLNode) {
	expr.Each(n, c.swap)
}

func (c *compiler) swap(at *ast.Expr, inLimit bool) {
	switch x := (*at).(type) {
	case *ast.ColName:
		v, ok := c.named(x)
		if !ok {
			return
		}
		var e ast.Injectable = v
		if inLimit {
			e = limit{v}
			if !types.IsInteger(v.typ) {
				c.wrong = sqlerr.New(sqlerr.LimitType,
					"A variable of a non-integer based type in LIMIT clause")
			}
		}
		*at = injected(e)
	case *ast.SubstrExpr:
		v, ok := c.named(x.Name)
		if !ok {
			return
		}
		args := ast.SelectExprs{&ast.AliasedExpr{Expr: injected(v)}, &ast.AliasedExpr{Expr: x.From}}
		if x.To != nil {
			args = append(args, &ast.AliasedExpr{Expr: x.To})
		}
		*at = &ast.FuncExpr{Name: ast.NewColIdent("substring"), Exprs: args}
	case *ast.FuncExpr:
		// A function without a database is the routine's, wherever the routine is called from.
	}
}

func injected(e ast.Injectable) ast.Expr {
	return ast.InjectedExpr{Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Expression: e}
}

// scalar makes an expression ready that stands alone.
func (c *compiler) scalar(e ast.Expr) *scalar {
	for p, ok := e.(*ast.ParenExpr); ok; p, ok = e.(*ast.ParenExpr) {
		e = p.Expr
	}
	if e == nil {
		return nil
	}
	sel := &ast.Select{SelectExprs: ast.SelectExprs{&ast.AliasedExpr{Expr: e}}}
	c.bind(sel)
	s := &scalar{stmt: c.edit(sel)}
	bound := sel.SelectExprs[0].(*ast.AliasedExpr).Expr
	switch x := bound.(type) {
	case ast.InjectedExpr:
		s.variable, _ = x.Expression.(*Variable)
	case *ast.NullVal:
		s.null = true
	}
	return s
}

func (c *compiler) edit(s ast.Statement) ast.Statement {
	if c.spec.Edit != nil {
		s = c.spec.Edit(s)
	}
	c.routine.statements = append(c.routine.statements, s)
	return s
}

func (c *compiler) list(all ast.Statements) (list, error) {
	var l list
	for _, s := range all {
		n, err := c.statement(s)
		if err != nil {
			return nil, err
		}
		l = append(l, n)
	}
	return l, nil
}

func (c *compiler) statement(s ast.Statement) (node, error) {
	within := c.routine.Kind != Procedure // of a statement, whose transaction and client are not ours
	switch s := s.(type) {
	case *ast.BeginEndBlock:
		return c.block(s)
	case *ast.Declare:
		// The grammar takes it anywhere.
		return nil, sqlerr.New(sqlerr.SyntaxError,
			"DECLARE is allowed at the beginning of a BEGIN … END block only")
	case *ast.IfStatement:
		n := &branch{}
		for _, x := range s.Conditions {
			then, err := c.list(x.Statements)
			if err != nil {
				return nil, err
			}
			n.arms = append(n.arms, arm{c.scalar(x.Expr), then})
		}
		var err error
		n.otherwise, err = c.list(s.Else)
		return n, err
	case *ast.CaseStatement:
		return c.cases(s)
	case *ast.While:
		return c.loop(s.Label, s.Statements, s.Condition, nil)
	case *ast.Repeat:
		return c.loop(s.Label, s.Statements, nil, s.Condition)
	case *ast.Loop:
		return c.loop(s.Label, s.Statements, nil, nil)
	case *ast.Leave:
		return c.jump("LEAVE", s.Label, jumpLeave)
	case *ast.Iterate:
		return c.jump("ITERATE", s.Label, jumpIterate)
	case *ast.Return:
		if c.routine.Kind != Function {
			return nil, sqlerr.New(sqlerr.BadReturn, "RETURN is only allowed in a FUNCTION")
		}
		c.returns = true
		return &returns{c.scalar(s.Expr)}, nil
	case *ast.Set:
		return c.set(s)
	case *ast.OpenCursor:
		slot, err := c.cursor(s.Name)
		return &open{slot}, err
	case *ast.CloseCursor:
		slot, err := c.cursor(s.Name)
		return &closes{slot}, err
	case *ast.FetchCursor:
		slot, err := c.cursor(s.Name)
		if err != nil {
			return nil, err
		}
		into, err := c.destinations(s.Variables)
		return &fetch{slot, into}, err
	case *ast.Signal:
		return c.signal(s, false)
	case *ast.Resignal:
		return c.signal(&s.Signal, true)
	case *ast.Call:
		if strings.EqualFold(s.ProcName.Name.String(), DiagnosticsProcedure) {
			return c.diagnostics(s)
		}
		if s.ProcName.Qualifier.IsEmpty() {
			s.ProcName.Qualifier = ast.NewTableIdent(c.routine.Database)
			if len(s.Auth.TargetNames) > 0 {
				s.Auth.TargetNames[0] = c.routine.Database
			}
		}
		for i := range s.Params {
			c.swap(&s.Params[i], false)
			c.bind(s.Params[i])
		}
		return &query{stmt: c.edit(s)}, nil
	case *ast.Prepare, *ast.Execute, *ast.Deallocate:
		if within {
			return nil, sqlerr.New(sqlerr.NotInFunction,
				"Dynamic SQL is not allowed in stored function or trigger")
		}
	case *ast.Begin, *ast.Commit, *ast.Rollback, *ast.DBDDL, *ast.AlterTable, *ast.Analyze, *ast.Flush:
		if within {
			return nil, commits()
		}
	case *ast.CreateUser, *ast.DropUser, *ast.RenameUser, *ast.GrantPrivilege, *ast.RevokePrivilege,
		*ast.GrantRole, *ast.RevokeRole, *ast.CreateRole, *ast.DropRole,
		*ast.GrantProxy, *ast.RevokeProxy, *ast.ShowGrants:
		if within {
			return nil, commits()
		}
		return account(s)
	case *ast.DDL:
		return c.ddl(s)
	case *ast.Show, *ast.Explain:
		if within {
			return nil, resultSet(c.routine.Kind)
		}
	case *ast.Insert:
		if within && len(s.Returning) > 0 {
			return nil, resultSet(c.routine.Kind)
		}
	case ast.SelectStatement:
		return c.selects(s)
	case *ast.LockTables, *ast.UnlockTables:
		return nil, notInRoutines("LOCK")
	case *ast.Load:
		return nil, notInRoutines("LOAD DATA")
	case *ast.Use:
		return nil, notInRoutines("USE")
	}
	c.bind(s)
	return &query{stmt: c.edit(s)}, nil
}

// account is a statement about accounts. It is parsed when it runs, as a client's is: what the grammar alone
// makes of it the library would carry out by rules of its own, by which who may create users may become root.
func account(s ast.Statement) (node, error) {
	text := ast.String(s)
	// the grammar writes quotes within texts as they are
	if again, err := ast.Parse(text); err != nil || ast.String(again) != text {
		return nil, sqlerr.Unsupported(
			"this statement about accounts in a stored routine (PREPARE and EXECUTE it there)")
	}
	return &query{text: text}, nil
}

func notInRoutines(what string) error {
	return sqlerr.New(sqlerr.BadRoutineStatement, "%s is not allowed in stored procedures", what)
}

func commits() error {
	return sqlerr.New(sqlerr.CommitNotAllowed,
		"Explicit or implicit commit is not allowed in stored function or trigger.")
}

func resultSet(from Kind) error {
	return sqlerr.New(sqlerr.FunctionResultSet, "Not allowed to return a result set from a %s",
		strings.ToLower(string(from)))
}

func (c *compiler) ddl(s *ast.DDL) (node, error) {
	if s.ProcedureSpec != nil || s.TriggerSpec != nil || s.EventSpec != nil {
		return nil, sqlerr.New(sqlerr.RoutineInRoutine,
			"Can't create a routine from within another stored routine")
	}
	if c.routine.Kind != Procedure && !s.Temporary {
		return nil, commits()
	}
	if strings.HasPrefix(ast.String(s), "alter user") {
		return account(s)
	}
	if s.ViewSpec != nil { // the planner cuts the view out of the statement's text
		return &query{text: ast.String(s)}, nil
	}
	return &query{stmt: c.edit(s)}, nil
}

// selects is a query: for the client, or INTO variables.
func (c *compiler) selects(s ast.SelectStatement) (node, error) {
	into := s.GetInto()
	if into == nil || len(into.Variables) == 0 {
		if c.routine.Kind != Procedure && into == nil && !c.spec.Answers {
			return nil, resultSet(c.routine.Kind)
		}
		c.bind(s)
		return &query{stmt: c.edit(s)}, nil
	}
	var targets []string
	for _, v := range into.Variables {
		targets = append(targets, v.String())
	}
	dest, err := c.destinations(targets)
	if err != nil {
		return nil, err
	}
	dropInto(s)
	c.bind(s)
	return &selectInto{c.edit(s), dest}, nil
}

func dropInto(s ast.SelectStatement) {
	switch s := s.(type) {
	case *ast.Select:
		s.Into = nil
	case *ast.SetOp:
		s.Into = nil
	case *ast.ParenSelect:
		dropInto(s.Select)
	}
}

// destinations are the variables that values of a row go to.
func (c *compiler) destinations(names []string) ([]destination, error) {
	var all []destination
	for _, n := range names {
		if user, ok := strings.CutPrefix(n, "@"); ok {
			all = append(all, destination{user: user})
			continue
		}
		v, ok := c.variable(n)
		if !ok {
			return nil, sqlerr.New(sqlerr.UndeclaredVariable, "Undeclared variable: %s", n)
		}
		all = append(all, destination{variable: v})
	}
	return all, nil
}

// set splits SET: assignments to variables are ours, what is left is the engine's.
func (c *compiler) set(s *ast.Set) (node, error) {
	var l list
	var rest ast.SetVarExprs
	flush := func() {
		if len(rest) > 0 {
			stmt := &ast.Set{Exprs: rest}
			c.bind(stmt)
			l = append(l, &query{stmt: c.edit(stmt), quiet: true})
			rest = nil
		}
	}
	for _, e := range s.Exprs {
		v, ok := (*Variable)(nil), false
		if e.Scope == ast.SetScope_None {
			v, ok = c.given(e.Name)
		}
		if !ok {
			rest = append(rest, e)
			continue
		}
		switch of := v.slot - c.routine.old; {
		case v.slot < c.routine.old:
			return nil, sqlerr.New(sqlerr.TriggerRowReadOnly, "Updating of OLD row is not allowed in trigger")
		case of < c.routine.now && c.spec.Refuse != nil:
			return nil, c.spec.Refuse
		}
		if d, ok := e.Expr.(*ast.Default); ok && d.ColName == "" {
			return nil, sqlerr.Unsupported("DEFAULT as the value of a local variable or of a column of NEW")
		}
		flush()
		l = append(l, &assignment{v.slot, c.scalar(e.Expr)})
	}
	flush()
	if len(l) == 1 {
		return l[0], nil
	}
	return l, nil
}

func (c *compiler) cases(s *ast.CaseStatement) (node, error) {
	n := &branch{mustMatch: s.Else == nil}
	if s.Expr != nil {
		// The value is computed once, into a variable without a name.
		n.subject = c.scalar(s.Expr)
		n.slot = len(c.routine.slots)
		c.routine.slots = append(c.routine.slots, slot{name: "case"})
	}
	for _, x := range s.Cases {
		cond := x.Case
		if s.Expr != nil {
			cond = &ast.ComparisonExpr{Operator: ast.EqualStr, Left: injected(&dynamic{n.slot}), Right: cond}
		}
		then, err := c.list(x.Statements)
		if err != nil {
			return nil, err
		}
		n.arms = append(n.arms, arm{c.scalar(cond), then})
	}
	var err error
	n.otherwise, err = c.list(s.Else)
	return n, err
}

func (c *compiler) enter(name string, isLoop bool) (*target, func(), error) {
	for l := c.labels; l != nil && !l.wall; l = l.outer {
		if name != "" && strings.EqualFold(l.name, name) {
			return nil, nil, sqlerr.New(sqlerr.DuplicateLabel, "Redefining label %s", name)
		}
	}
	outer := c.labels
	t := &target{name}
	c.labels = &label{outer: outer, name: name, loop: isLoop, to: t}
	return t, func() { c.labels = outer }, nil
}

func (c *compiler) loop(name string, body ast.Statements, while, until ast.Expr) (node, error) {
	t, leave, err := c.enter(name, true)
	if err != nil {
		return nil, err
	}
	defer leave()
	l, err := c.list(body)
	return &loop{t, c.scalar(while), c.scalar(until), l}, err
}

func (c *compiler) jump(verb, name string, kind jumpKind) (node, error) {
	for l := c.labels; l != nil && !l.wall; l = l.outer {
		if l.name != "" && strings.EqualFold(l.name, name) && (l.loop || kind == jumpLeave) {
			return &jumps{&jump{kind: kind, to: l.to}}, nil
		}
	}
	return nil, sqlerr.New(sqlerr.NoSuchLabel, "%s with no matching label: %s", verb, name)
}

// block compiles BEGIN … END with its declarations.
func (c *compiler) block(s *ast.BeginEndBlock) (node, error) {
	t, leave, err := c.enter(s.Label, false)
	if err != nil {
		return nil, err
	}
	defer leave()
	c.names = &names{outer: c.names, vars: map[string]int{}, conditions: map[string]*matcher{},
		cursors: map[string]*cursorSlot{}}
	defer func() { c.names = c.names.outer }()
	b := &block{target: t}
	for i, st := range s.Statements {
		d, ok := st.(*ast.Declare)
		if !ok {
			b.body, err = c.list(s.Statements[i:])
			return b, err
		}
		n, err := c.declaration(b, d)
		if err != nil {
			return nil, err
		}
		if n != nil {
			b.declares = append(b.declares, n)
		}
	}
	return b, nil
}

func (c *compiler) declaration(b *block, d *ast.Declare) (node, error) {
	switch {
	case d.Variables != nil:
		if c.names.order > declaredVariables {
			return nil, sqlerr.New(sqlerr.DeclareOrder,
				"Variable or condition declaration after cursor or handler declaration")
		}
		t, err := c.typeOf(d.Variables.VarType)
		if err != nil {
			return nil, err
		}
		initial := c.scalar(d.Variables.VarType.Default)
		n := &declaration{initial: initial}
		for _, v := range d.Variables.Names {
			if _, ok := c.names.vars[v.Lowered()]; ok {
				return nil, sqlerr.New(sqlerr.DuplicateVariable, "Duplicate variable: %s", v.String())
			}
			n.slots = append(n.slots, c.declare(v.String(), t))
		}
		return n, nil
	case d.Condition != nil:
		if c.names.order > declaredVariables {
			return nil, sqlerr.New(sqlerr.DeclareOrder,
				"Variable or condition declaration after cursor or handler declaration")
		}
		name := strings.ToLower(d.Condition.Name)
		if _, ok := c.names.conditions[name]; ok {
			return nil, sqlerr.New(sqlerr.DuplicateCondition, "Duplicate condition: %s", d.Condition.Name)
		}
		var m *matcher
		var err error
		if d.Condition.MysqlErrorCode != nil {
			m, err = numberMatcher(d.Condition.MysqlErrorCode)
		} else {
			m, err = stateMatcher(d.Condition.SqlStateValue)
		}
		c.names.conditions[name] = m
		return nil, err
	case d.Cursor != nil:
		if c.names.order > declaredCursors {
			return nil, sqlerr.New(sqlerr.CursorAfterHandler, "Cursor declaration after handler declaration")
		}
		c.names.order = declaredCursors
		name := strings.ToLower(d.Cursor.Name)
		if _, ok := c.names.cursors[name]; ok {
			return nil, sqlerr.New(sqlerr.DuplicateCursor, "Duplicate cursor: %s", d.Cursor.Name)
		}
		c.bind(d.Cursor.SelectStmt)
		slot := &cursorSlot{name: d.Cursor.Name, stmt: c.edit(d.Cursor.SelectStmt)}
		c.names.cursors[name] = slot
		b.cursors = append(b.cursors, slot)
		return nil, nil
	case d.Handler != nil:
		c.names.order = declaredHandlers
		return nil, c.handler(b, d.Handler)
	}
	return nil, sqlerr.Unsupported("this DECLARE")
}

func (c *compiler) handler(b *block, d *ast.DeclareHandler) error {
	h := &handler{block: b}
	switch d.Action {
	case ast.DeclareHandlerAction_Continue:
	case ast.DeclareHandlerAction_Exit:
		h.exit = true
	default:
		return sqlerr.Unsupported("UNDO handlers")
	}
	for _, v := range d.ConditionValues {
		var m *matcher
		var err error
		switch v.ValueType {
		case ast.DeclareHandlerCondition_MysqlErrorCode:
			m, err = numberMatcher(v.MysqlErrorCode)
		case ast.DeclareHandlerCondition_SqlState:
			m, err = stateMatcher(v.String)
		case ast.DeclareHandlerCondition_ConditionName:
			m, err = c.condition(v.String)
		case ast.DeclareHandlerCondition_SqlWarning:
			m = &matcher{class: classWarning}
		case ast.DeclareHandlerCondition_NotFound:
			m = &matcher{class: classNotFound}
		default:
			m = &matcher{class: classException}
		}
		if err != nil {
			return err
		}
		for _, other := range b.handlers {
			for _, known := range other.matches {
				if *known == *m {
					return sqlerr.New(sqlerr.DuplicateHandler, "Duplicate handler declared in the same block")
				}
			}
		}
		h.matches = append(h.matches, m)
	}
	b.handlers = append(b.handlers, h)
	labels := c.labels
	c.labels = &label{outer: labels, wall: true}
	defer func() { c.labels = labels }()
	body, err := c.statement(d.Statement)
	h.body = list{body}
	return err
}

func (c *compiler) signal(s *ast.Signal, again bool) (node, error) {
	n := &signal{again: again}
	switch {
	case s.ConditionName != "":
		m, err := c.condition(s.ConditionName)
		if err != nil {
			return nil, err
		}
		if m.state == "" {
			return nil, sqlerr.New(sqlerr.SignalNeedsState,
				"SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE")
		}
		n.state = m.state
	case s.SqlStateValue != "":
		m, err := stateMatcher(s.SqlStateValue)
		if err != nil {
			return nil, err
		}
		n.state = m.state
	case !again:
		return nil, badState("")
	}
	seen := map[ast.SignalConditionItemName]bool{}
	for _, i := range s.Info {
		if seen[i.ConditionItemName] {
			return nil, sqlerr.New(sqlerr.DuplicateSignalItem, "Duplicate condition information item '%s'",
				strings.ToUpper(string(i.ConditionItemName)))
		}
		seen[i.ConditionItemName] = true
		n.items = append(n.items, signalItem{string(i.ConditionItemName), c.scalar(i.Value)})
	}
	return n, nil
}
