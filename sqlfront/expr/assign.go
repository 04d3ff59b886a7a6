package expr

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
	"moka/sqlfront/numeral"
	"moka/sqlfront/syntax"
)

// The grammar knows @a := e in SET only. The parser writes it as moka_assign(@a) OR e, see
// RewriteAssignments; what the engine gets is moka_assign('a', e), and moka_variable('a') for variables that
// are read in the same statement.
var (
	AssignFunction   = inband.Function("assign")
	variableFunction = inband.Function("variable")
)

// RewriteAssignments makes calls of the assignments below a statement.
//
// MySQL evaluates what it selects when it has sorted. The library computes what has an alias before; so an
// alias that ORDER BY does not use becomes a mere name where variables are about. And it moves conditions on
// a derived table into it, where they would assign a second time; not below a LIMIT.
func RewriteAssignments(n ast.SQLNode) {
	Each(n, func(at *ast.Expr, _ bool) {
		switch e := (*at).(type) {
		case *ast.OrExpr:
			*at = foldAssignments(e)
		case *ast.ColName:
			if name, ok := userVariable(e); ok {
				*at = variableCall(variableFunction, name)
			}
		}
	})
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Select:
			sortFirst(n)
		case *ast.AliasedTableExpr:
			if q, ok := n.Expr.(*ast.Subquery); ok {
				if s, ok := q.Select.(*ast.Select); ok && s.Limit == nil && MentionsVariables(s.SelectExprs) {
					s.Limit = &ast.Limit{Rowcount: ast.NewIntVal([]byte("4611686018427387903"))}
				}
			}
		}
		return true, nil
	}, n)
}

func userVariable(c *ast.ColName) (string, bool) {
	if !strings.HasPrefix(c.Name.String(), "@") && !strings.HasPrefix(c.Qualifier.Name.String(), "@") {
		return "", false
	}
	v, scope, _, err := ast.VarScopeForColName(c)
	if err != nil || scope != ast.SetScope_User {
		return "", false
	}
	return v.Name.String(), true
}

func variableCall(function, name string) *ast.FuncExpr {
	return &ast.FuncExpr{Name: ast.NewColIdent(function),
		Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewStrVal([]byte(name))}}}
}

// foldAssignments gives each assignment what stands right of its OR: all of it, as := binds looser than
// anything and to the right.
func foldAssignments(or *ast.OrExpr) ast.Expr {
	var parts []ast.Expr
	var flatten func(e ast.Expr)
	flatten = func(e ast.Expr) {
		if o, ok := e.(*ast.OrExpr); ok {
			flatten(o.Left)
			flatten(o.Right)
			return
		}
		parts = append(parts, e)
	}
	flatten(or)
	if !anyOpen(parts) {
		return or
	}
	value := parts[len(parts)-1]
	for i := len(parts) - 2; i >= 0; i-- {
		if call := openAssignment(parts[i]); call != nil {
			name, _ := userVariable(call.Exprs[0].(*ast.AliasedExpr).Expr.(*ast.ColName))
			*call = *variableCall(AssignFunction, name)
			call.Exprs = append(call.Exprs, &ast.AliasedExpr{Expr: value})
			value = parts[i]
			continue
		}
		value = &ast.OrExpr{Left: parts[i], Right: value}
	}
	return value
}

func anyOpen(parts []ast.Expr) bool {
	for _, p := range parts {
		if openAssignment(p) != nil {
			return true
		}
	}
	return false
}

// openAssignment is the assignment without a value that an expression ends with, if it does.
func openAssignment(e ast.Expr) *ast.FuncExpr {
	for {
		switch x := e.(type) {
		case *ast.FuncExpr:
			if x.Name.Lowered() != AssignFunction || len(x.Exprs) != 1 {
				return nil
			}
			if a, ok := x.Exprs[0].(*ast.AliasedExpr); ok {
				if c, ok := a.Expr.(*ast.ColName); ok {
					if _, ok := userVariable(c); ok {
						return x
					}
				}
			}
			return nil
		case *ast.AndExpr:
			e = x.Right
		case *ast.XorExpr:
			e = x.Right
		case *ast.NotExpr:
			e = x.Expr
		case *ast.ComparisonExpr:
			e = x.Right
		case *ast.RangeCond:
			e = x.To
		case *ast.BinaryExpr:
			e = x.Right
		case *ast.UnaryExpr:
			e = x.Expr
		default:
			return nil
		}
	}
}

// MentionsVariables reports whether a statement or an expression has a user variable in it.
func MentionsVariables(n ast.SQLNode) (found bool) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.FuncExpr:
			found = found || UsesVariables(n)
		case *ast.ColName:
			_, is := userVariable(n)
			found = found || is
		}
		return !found, nil
	}, n)
	return found
}

// UsesVariables reports whether a call is one that RewriteAssignments makes.
func UsesVariables(f *ast.FuncExpr) bool {
	name := f.Name.Lowered()
	return name == AssignFunction || name == variableFunction
}

// sortFirst takes the aliases away from what uses variables, unless they are referred to.
func sortFirst(s *ast.Select) {
	if len(s.OrderBy) == 0 || len(s.GroupBy) > 0 || s.Having != nil {
		return
	}
	var mine []*ast.AliasedExpr
	aliases := map[string]bool{}
	for _, e := range s.SelectExprs {
		if a, ok := e.(*ast.AliasedExpr); ok && !a.As.IsEmpty() && MentionsVariables(a.Expr) {
			mine = append(mine, a)
			aliases[a.As.Lowered()] = true
		}
	}
	used := false
	for _, o := range s.OrderBy {
		if v, ok := o.Expr.(*ast.SQLVal); ok && v.Type == ast.IntVal {
			used = true
		}
		_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
			if c, ok := n.(*ast.ColName); ok && aliases[c.Name.Lowered()] {
				used = true
			}
			return true, nil
		}, o.Expr)
	}
	if used {
		return
	}
	for _, a := range mine {
		a.InputExpression, a.As = a.As.String(), ast.ColIdent{}
	}
}

// orderDistinct is for SELECT DISTINCT … ORDER BY 1: the library would compute the first column anew over
// what is distinct, where its columns are not. By its name it finds it.
func orderDistinct(s *ast.Select) {
	if !s.QueryOpts.Distinct {
		return
	}
	for _, o := range s.OrderBy {
		v, ok := o.Expr.(*ast.SQLVal)
		if !ok || v.Type != ast.IntVal {
			continue
		}
		n, err := strconv.Atoi(string(v.Val))
		if err != nil || n < 1 || n > len(s.SelectExprs) {
			return
		}
		for _, e := range s.SelectExprs[:n] {
			if _, ok := e.(*ast.AliasedExpr); !ok {
				return // a star is any number of columns
			}
		}
		e := s.SelectExprs[n-1].(*ast.AliasedExpr)
		if _, column := e.Expr.(*ast.ColName); column && e.As.IsEmpty() {
			continue
		}
		if e.As.IsEmpty() {
			e.As = ast.NewColIdent(e.InputExpression)
		}
		if !e.As.IsEmpty() {
			o.Expr = ast.NewColName(e.As.String())
		}
	}
}

func variableFunctions() []sql.Function {
	return []sql.Function{
		sql.Function2{Name: AssignFunction,
			Fn: func(ctx *sql.Context, name, value sql.Expression) sql.Expression {
				return newAssignment(ctx, constantText(name), value)
			}},
		sql.Function1{Name: variableFunction, Fn: func(ctx *sql.Context, name sql.Expression) sql.Expression {
			return newVariable(ctx, constantText(name))
		}},
	}
}

func constantText(e sql.Expression) string {
	l, ok := e.(*expression.Literal)
	if !ok {
		return ""
	}
	text, _ := l.Value().(string)
	return text
}

// AssigningSession is told of statements that assign to variables while they run.
type AssigningSession interface {
	sql.Session
	AssignsVariables()
}

// Assignment is @name := value.
type Assignment struct {
	expression.UnaryExpressionStub
	name string
}

var (
	_ sql.FunctionExpression         = (*Assignment)(nil)
	_ sql.CollationCoercible         = (*Assignment)(nil)
	_ sql.NonDeterministicExpression = (*Assignment)(nil)
)

func newAssignment(ctx *sql.Context, name string, value sql.Expression) sql.Expression {
	if s, ok := ctx.Session.(AssigningSession); ok {
		s.AssignsVariables()
	}
	a := &Assignment{expression.UnaryExpressionStub{Child: AsText(ctx, value)}, name}
	if t, _, err := ctx.GetUserVariable(ctx, name); err == nil && (t == nil || t == types.Null) &&
		value.Resolved() {
		// What reads the variable in this statement has a type before there is a value. MySQL takes what is
		// not set for a text, and computes with DOUBLEs then; integers come to the same, and are exact.
		if t := a.Type(ctx); t == types.Int64 || t == types.Uint64 {
			_ = ctx.SetUserVariable(ctx, name, nil, t)
		}
	}
	return a
}

// FunctionName implements sql.FunctionExpression.
func (*Assignment) FunctionName() string { return AssignFunction }

// Description implements sql.FunctionExpression.
func (*Assignment) Description() string { return "assigns to a user variable." }

// String implements sql.Expression.
func (a *Assignment) String() string { return "@" + a.name + " := " + a.Child.String() }

// IsNonDeterministic implements sql.NonDeterministicExpression: it is evaluated for each row.
func (*Assignment) IsNonDeterministic() bool { return true }

// WithChildren implements sql.Expression.
func (a *Assignment) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	children, err := Unmarked(a, children, 1)
	if err != nil {
		return nil, err
	}
	return &Assignment{expression.UnaryExpressionStub{Child: AsText(ctx, children[0])}, a.name}, nil
}

// Children implements sql.Expression.
func (a *Assignment) Children() []sql.Expression { return []sql.Expression{a.Child, perRow} }

// Type implements sql.Expression.
func (a *Assignment) Type(ctx *sql.Context) sql.Type {
	return askType(ctx, a, func(ctx *sql.Context) sql.Type { return variableType(ctx, a.Child) })
}

// variableType is the type of a variable to which e is assigned: variables hold integers of 64 bits,
// DECIMALs, DOUBLEs and strings.
func variableType(ctx *sql.Context, e sql.Expression) sql.Type {
	t := e.Type(ctx)
	if l, ok := e.(*expression.Literal); ok && l.Value() != nil {
		t = Signed(l).Type(ctx)
	}
	switch {
	case t == types.Null || types.IsDeferredType(t):
		return t
	case types.IsDecimal(t):
		return types.InternalDecimalType // a variable has no scale, its values have
	case types.IsFloat(t):
		return types.Float64
	case types.IsYear(t), types.IsBit(t):
		return types.Uint64
	case types.IsInteger(t) && types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t):
		return types.Int64
	case types.IsBinaryType(t), types.IsBlobType(t):
		return types.LongBlob
	case types.IsGeometry(t):
		return t
	}
	collation, _ := coercibility(ctx, e)
	if collation == sql.Collation_binary || collation == sql.Collation_Unspecified {
		collation = ctx.GetCollation()
	}
	return types.CreateLongText(collation)
}

// CollationCoercibility implements sql.CollationCoercible.
func (a *Assignment) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return typeCollation(ctx, a.Type(ctx))
}

func typeCollation(ctx *sql.Context, t sql.Type) (sql.CollationID, byte) {
	if !types.IsTextOnly(t) {
		return sql.Collation_binary, 5
	}
	c, _ := t.CollationCoercibility(ctx)
	return c, 2
}

// Eval implements sql.Expression.
func (a *Assignment) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := a.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if err != nil {
		return nil, err
	}
	t := a.Type(ctx)
	if types.IsTextOnly(t) && v != nil {
		v, err = textOf(ctx, a.Child, v)
	} else {
		v, err = asVariable(ctx, t, v)
	}
	if err != nil {
		return nil, err
	}
	return v, ctx.SetUserVariable(ctx, a.name, v, t)
}

// asVariable is a value in the type of a variable; what is no number is 0.
func asVariable(ctx *sql.Context, t sql.Type, v any) (any, error) {
	if v == nil || t == types.Null {
		return nil, nil
	}
	if text, ok := numberText(v); ok && types.IsFloat(t) {
		f, _ := numeral.Double(text)
		v = f
	}
	out, _, err := Convert(ctx, t, v)
	if sql.ErrTruncatedIncorrect.Is(err) {
		err = nil
	}
	return out, err
}

// reading is a variable that is read in a statement that assigns: its value changes from row to row, its type
// does not, as in MySQL.
type reading struct {
	name string
	typ  sql.Type
}

var (
	_ sql.FunctionExpression         = (*reading)(nil)
	_ sql.CollationCoercible         = (*reading)(nil)
	_ sql.NonDeterministicExpression = (*reading)(nil)
)

func newVariable(ctx *sql.Context, name string) sql.Expression {
	t, _, err := ctx.GetUserVariable(ctx, name)
	if err != nil || t == nil || t == types.Null {
		t = types.CreateLongText(ctx.GetCollation())
	}
	if !types.IsTextOnly(t) { // which has its collation
		t = variableType(ctx, expression.NewLiteral(nil, t))
	}
	return &reading{name, t}
}

// FunctionName implements sql.FunctionExpression.
func (*reading) FunctionName() string { return variableFunction }

// Description implements sql.FunctionExpression.
func (*reading) Description() string { return "is a user variable." }

func (v *reading) Resolved() bool             { return true }
func (*reading) Children() []sql.Expression   { return []sql.Expression{perRow} }
func (v *reading) String() string             { return "@" + v.name }
func (v *reading) Type(*sql.Context) sql.Type { return v.typ }
func (*reading) IsNullable(*sql.Context) bool { return true }
func (*reading) IsNonDeterministic() bool     { return true }

// WithChildren implements sql.Expression.
func (v *reading) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	_, err := Unmarked(v, children, 0)
	return v, err
}

// CollationCoercibility implements sql.CollationCoercible.
func (v *reading) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return typeCollation(ctx, v.typ)
}

// Eval implements sql.Expression.
func (v *reading) Eval(ctx *sql.Context, _ sql.Row) (any, error) {
	_, value, err := ctx.GetUserVariable(ctx, v.name)
	if err != nil {
		return nil, err
	}
	return asVariable(ctx, v.typ, value)
}

// textOfVariable makes a text of a system variable whose bytes are asked for: the type of @@sql_mode is a
// text to the library, and has no character set.
func textOfVariable(at *ast.Expr) {
	bare := *at
	for p, ok := bare.(*ast.ParenExpr); ok; p, ok = bare.(*ast.ParenExpr) {
		bare = p.Expr
	}
	if c, ok := bare.(*ast.ColName); ok &&
		(strings.HasPrefix(c.Name.String(), "@@") || strings.HasPrefix(c.Qualifier.Name.String(), "@@")) {
		*at = &ast.ConvertExpr{Name: "CAST", Expr: bare,
			Type: &ast.ConvertType{Type: expression.ConvertToChar}}
	}
}
