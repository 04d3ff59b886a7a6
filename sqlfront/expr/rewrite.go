package expr

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/cast"
	"moka/sqlfront/inband"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// The grammar does not know ANY and ALL: the parser writes them as calls of these functions.
var (
	AnyFunction = inband.Function("any")
	AllFunction = inband.Function("all")
)

// castOperator is CAST to a text or to bytes of a length.
const castOperator = "cast "

// cutOperator is the first characters of a text, of CAST(… AS CHAR(n) CHARACTER SET …).
const cutOperator = "cut "

// introducedOperator is a literal of bytes in a character set, _latin1 x'e4'; the set and the collation
// follow.
const introducedOperator = "introduced "

// CharFunction is CHAR(n, … USING cs), with cs in front. The library computes what has no columns while it
// plans, and would take the bytes of the other character set for its own.
var CharFunction = inband.Function("char")

// Rewrite puts operators of ours in the place of the library's, everywhere below a statement or an
// expression. Texts that are kept (of checks, defaults, generated columns, views) are taken from the user's
// text or from the bound expression, never from the tree.
func Rewrite(n ast.SQLNode) { rewriter{}.walk(n) }

// RewriteProcedure does the same in the body of a stored procedure. The library's interpreter puts the
// values of variables into the tree of each statement, and knows what to look into: calls of
// functions, not what is injected.
func RewriteProcedure(n ast.SQLNode) { rewriter{calls: true}.walk(n) }

// Each hands f every place below a statement or an expression where an expression stands, each before the
// places within what f leaves there. limit says that the place is LIMIT's or OFFSET's.
func Each(n ast.SQLNode, f func(at *ast.Expr, limit bool)) { rewriter{each: f}.walk(n) }

type rewriter struct {
	calls bool
	each  func(at *ast.Expr, limit bool) // instead of our operators
}

func (r rewriter) walk(n ast.SQLNode) {
	if n == nil {
		return
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.AliasedExpr:
			r.swap(&n.Expr)
		case *ast.Where:
			if n != nil {
				r.swap(&n.Expr)
			}
		case *ast.AssignmentExpr:
			if r.each == nil {
				assignedDefault(n)
			}
			r.swap(&n.Expr)
		case *ast.SetVarExpr:
			r.swap(&n.Expr)
			// The library looks for a column, or a variable of the procedure, of the name that the user
			// variable has without @.
			if name := n.Name.Name.String(); n.Scope == ast.SetScope_User && !strings.HasPrefix(name, "@") {
				n.Name = ast.NewColName("@" + name)
			}
			// SET GLOBAL validate_password.length: a name with a point in it, which the library takes for
			// a table and its column.
			if q := n.Name.Qualifier.Name.String(); n.Scope != ast.SetScope_None &&
				strings.EqualFold(q, "validate_password") {
				n.Name = &ast.ColName{Name: ast.NewColIdent(strings.ToLower(q) + "." + n.Name.Name.Lowered())}
			}
		case *ast.Select:
			if r.each == nil {
				splitWindows(n)
				orderDistinct(n)
				ownAggregates(n)
				nameHaving(n, r.calls)
			}
			if rollsUp(n.GroupBy) && n.Limit == nil {
				// A condition on a derived table would be moved below the groups, to rows of which the sums
				// are made; not below a limit.
				n.Limit = &ast.Limit{Rowcount: ast.NewIntVal([]byte("4611686018427387903"))}
			}
		case *ast.Order:
			r.swap(&n.Expr)
		case ast.GroupBy:
			for i := range n {
				r.swap(&n[i])
			}
		case ast.Exprs:
			for i := range n {
				r.swap(&n[i])
			}
		case ast.ValTuple:
			for i := range n {
				r.swap(&n[i])
			}
		case *ast.AndExpr:
			r.swap(&n.Left)
			r.swap(&n.Right)
		case *ast.OrExpr:
			r.swap(&n.Left)
			r.swap(&n.Right)
		case *ast.XorExpr:
			r.swap(&n.Left)
			r.swap(&n.Right)
		case *ast.NotExpr:
			r.swap(&n.Expr)
		case *ast.ParenExpr:
			r.swap(&n.Expr)
		case *ast.ComparisonExpr:
			if r.each == nil {
				nameSelected(n)
				openIn(n)
				r.constant(n, &n.Left, n.Right)
				r.constant(n, &n.Right, n.Left)
			}
			r.swap(&n.Left)
			r.swap(&n.Right)
			r.swap(&n.Escape)
		case *ast.RangeCond:
			r.swap(&n.Left)
			r.swap(&n.From)
			r.swap(&n.To)
		case *ast.IsExpr:
			r.swap(&n.Expr)
		case *ast.BinaryExpr:
			r.swap(&n.Left)
			r.swap(&n.Right)
		case *ast.UnaryExpr:
			if r.each == nil && n.Operator == ast.BinaryStr {
				textOfVariable(&n.Expr)
			}
			r.swap(&n.Expr)
		case *ast.CollateExpr:
			r.swap(&n.Expr)
		case *ast.ConvertExpr:
			if r.each == nil && n.Type != nil && strings.EqualFold(n.Type.Type, expression.ConvertToBinary) {
				textOfVariable(&n.Expr)
			}
			r.swap(&n.Expr)
		case *ast.ConvertUsingExpr:
			r.swap(&n.Expr)
		case *ast.GroupConcatExpr: // the library takes the first of several alone
			if len(n.Exprs) > 1 {
				n.Exprs = ast.SelectExprs{&ast.AliasedExpr{
					Expr: &ast.FuncExpr{Name: ast.NewColIdent("concat"), Exprs: n.Exprs}}}
			}
		case *ast.CaseExpr:
			r.swap(&n.Expr)
			r.swap(&n.Else)
			for _, w := range n.Whens {
				r.swap(&w.Cond)
				r.swap(&w.Val)
			}
		case *ast.IfStatement:
			for i := range n.Conditions { // the walk leaves them out
				r.swap(&n.Conditions[i].Expr)
				r.walk(n.Conditions[i].Expr)
			}
		case *ast.IntervalExpr:
			r.swap(&n.Expr)
		case *ast.ExtractFuncExpr:
			r.swap(&n.Expr)
		case *ast.TrimExpr:
			r.swap(&n.Str)
			r.swap(&n.Pattern)
		case *ast.MatchExpr:
			r.swap(&n.Expr)
		case *ast.SubstrExpr:
			r.swap(&n.From)
			r.swap(&n.To)
		case *ast.TimestampFuncExpr:
			r.swap(&n.Expr1)
			r.swap(&n.Expr2)
		case *ast.Call:
			for i := range n.Params {
				r.swap(&n.Params[i])
			}
		case ast.InjectedExpr:
			for i := range n.Children {
				r.swap(&n.Children[i])
			}
		case *ast.While:
			r.swap(&n.Condition)
		case *ast.Repeat:
			r.swap(&n.Condition)
		case *ast.Limit:
			if n != nil {
				r.count(&n.Rowcount)
				r.count(&n.Offset)
			}
		case *ast.Insert:
			if r.each == nil {
				selectedValues(n)
				insertedDefaults(n)
			}
			r.walk(n.Returning)
		case *ast.JoinTableExpr:
			r.swap(&n.Condition.On)
		}
		return true, nil
	}, n)
}

// swap replaces one expression; what is below it the walk will find.
func (r rewriter) swap(at *ast.Expr) {
	if r.each != nil {
		if *at != nil {
			r.each(at, false)
		}
		return
	}
	switch x := (*at).(type) {
	case *ast.SQLVal:
		*at = syntax.BitsAsHex(x)
	case *ast.Default:
		if x.ColName != "" {
			*at = callOf(DefaultFunction, &ast.ColName{Name: ast.NewColIdent(x.ColName)})
		}
	case *ast.BinaryExpr:
		switch x.Operator {
		case ast.JSONExtractOp:
			*at = callOf("json_extract", x.Left, x.Right)
		case ast.JSONUnquoteExtractOp:
			*at = callOf("json_unquote", callOf("json_extract", x.Left, x.Right))
		case ast.PlusStr, ast.MinusStr, ast.MultStr, ast.IntDivStr, ast.ModStr,
			ast.BitAndStr, ast.BitOrStr, ast.BitXorStr, ast.ShiftLeftStr, ast.ShiftRightStr:
			*at = r.operator(x.Operator, x, x.Left, x.Right)
		}
	case *ast.RangeCond:
		if mixedRange(x) {
			*at = r.operator(ast.BetweenStr, x, x.Left, x.From, x.To)
			if x.Operator == ast.NotBetweenStr {
				*at = &ast.NotExpr{Expr: *at}
			}
		}
	case *ast.UnaryExpr:
		switch x.Operator {
		case ast.UMinusStr, ast.TildaStr:
			v, literal := x.Expr.(*ast.SQLVal)
			number := literal && (v.Type == ast.IntVal || v.Type == ast.FloatVal)
			if !number || x.Operator == ast.TildaStr {
				*at = r.operator("unary "+x.Operator, x, x.Expr)
			}
		default:
			r.introduced(at, x)
		}
	case *ast.FuncExpr:
		if x.Name.Lowered() == "grouping" && len(x.Exprs) > 0 {
			*at = grouping(x)
		}
	case *ast.SubstrExpr:
		from := ast.SelectExprs{&ast.AliasedExpr{Expr: x.StrVal}}
		if x.Name != nil {
			from = ast.SelectExprs{&ast.AliasedExpr{Expr: x.Name}}
		}
		from = append(from, &ast.AliasedExpr{Expr: x.From})
		if x.To != nil {
			from = append(from, &ast.AliasedExpr{Expr: x.To})
		}
		*at = &ast.FuncExpr{Name: ast.NewColIdent("substring"), Exprs: from}
	case *ast.MatchExpr:
		operands, ok := make([]ast.Expr, 0, len(x.Columns)+1), true
		for _, c := range x.Columns {
			column, is := c.(*ast.AliasedExpr)
			if ok = ok && is; ok {
				operands = append(operands, column.Expr)
			}
		}
		if ok {
			*at = r.operator(matchOperator+x.Option, x, append(operands, x.Expr)...)
		}
	case *ast.TrimExpr:
		*at = r.operator("trim "+x.Dir, x, x.Str, x.Pattern)
	case *ast.CaseExpr:
		var operands []ast.Expr
		name := "case"
		if x.Expr != nil {
			name, operands = name+" expr", append(operands, x.Expr)
		}
		for _, w := range x.Whens {
			operands = append(operands, w.Cond, w.Val)
		}
		if x.Else != nil {
			name, operands = name+" else", append(operands, x.Else)
		}
		*at = r.operator(name, x, operands...)
	case *ast.CharExpr:
		if x.Type != "" {
			args := ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewStrVal([]byte(x.Type))}}
			*at = &ast.FuncExpr{Name: ast.NewColIdent(CharFunction), Exprs: append(args, x.Exprs...)}
		}
	case *ast.ConvertExpr:
		if x.Type.Charset != "" && strings.EqualFold(x.Type.Type, expression.ConvertToChar) {
			*at = &ast.ConvertUsingExpr{Expr: x.Expr, Type: x.Type.Charset}
			if n := x.Type.Length; n != nil {
				*at = r.operator(cutOperator+string(n.Val), x, *at)
			}
			return
		}
		if strings.EqualFold(x.Type.Type, "time") {
			digits := "0"
			if x.Type.Length != nil {
				digits = string(x.Type.Length.Val)
			}
			*at = r.operator("time "+digits, x, x.Expr)
		}
		if strings.EqualFold(x.Type.Type, expression.ConvertToDecimal) {
			spec := "decimal"
			for _, n := range []*ast.SQLVal{x.Type.Length, x.Type.Scale} {
				if n != nil {
					spec += " " + string(n.Val)
				}
			}
			*at = r.operator(spec, x, x.Expr)
		}
		if n := x.Type.Length; n != nil && len(n.Val) < 5 {
			switch to := strings.ToLower(x.Type.Type); to {
			case expression.ConvertToChar, expression.ConvertToNChar, expression.ConvertToBinary:
				*at = r.operator(castOperator+to+" "+string(n.Val), x, x.Expr)
			}
		}
		if strings.EqualFold(x.Type.Type, "json") {
			x.Expr = callOf(JSONFunction, x.Expr)
		}
		if strings.EqualFold(x.Type.Type, "binary") && x.Type.Length != nil && len(x.Type.Length.Val) > 4 {
			// the library fills it up, however long that is
			*at = callOf(BinaryFunction, x.Expr, x.Type.Length)
		}
	case *ast.ComparisonExpr:
		if x.Operator == ast.RegexpStr || x.Operator == ast.NotRegexpStr {
			*at = callOf("regexp_like", x.Left, x.Right)
			if x.Operator == ast.NotRegexpStr {
				*at = &ast.NotExpr{Expr: *at}
			}
			return
		}
		if x.Operator == ast.LikeStr || x.Operator == ast.NotLikeStr {
			operands := []ast.Expr{x.Left, x.Right}
			if x.Escape != nil {
				operands = append(operands, x.Escape)
			}
			*at = r.operator(x.Operator, x, operands...)
			return
		}
		f, ok := x.Right.(*ast.FuncExpr)
		if !ok || len(f.Exprs) != 1 {
			return
		}
		query, ok := f.Exprs[0].(*ast.AliasedExpr)
		if !ok {
			return
		}
		switch f.Name.Lowered() {
		case AnyFunction:
			*at = r.operator(x.Operator+" any", x, x.Left, query.Expr)
		case AllFunction:
			*at = r.operator(x.Operator+" all", x, x.Left, query.Expr)
		}
	}
}

// introduced puts a text of ours in the place of a literal of bytes behind the name of a character set. Of
// the library's the bytes are UTF-8 and no text: HEX(_latin1 x'e4') was C3A4.
func (r rewriter) introduced(at *ast.Expr, x *ast.UnaryExpr) {
	set, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(x.Operator)), "_")
	if !ok {
		return
	}
	bytes, collation := x.Expr, ""
	if c, ok := bytes.(*ast.CollateExpr); ok {
		bytes, collation = c.Expr, c.Collation
	}
	if v, ok := bytes.(*ast.SQLVal); ok && (v.Type == ast.HexVal || v.Type == ast.HexNum ||
		v.Type == ast.BitVal) {
		*at = r.operator(introducedOperator+set+" "+collation, x, syntax.BitsAsHex(v))
	}
}

// callOf is a call of a function.
func callOf(name string, args ...ast.Expr) ast.Expr {
	f := &ast.FuncExpr{Name: ast.NewColIdent(name)}
	for _, a := range args {
		f.Exprs = append(f.Exprs, &ast.AliasedExpr{Expr: a})
	}
	return f
}

func rollsUp(g ast.GroupBy) bool {
	return slices.ContainsFunc(g, func(e ast.Expr) bool {
		f, ok := e.(*ast.FuncExpr)
		return ok && f.Name.Lowered() == RollupFunction
	})
}

// grouping is GROUPING(a, b, …) as a sum of aggregates, a bit for each.
func grouping(f *ast.FuncExpr) (sum ast.Expr) {
	for _, arg := range f.Exprs {
		mark := &ast.FuncExpr{Name: ast.NewColIdent(GroupingFunction), Exprs: ast.SelectExprs{arg}}
		var bit ast.Expr = &ast.FuncExpr{Name: ast.NewColIdent("bit_or"),
			Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: mark}}}
		if sum != nil {
			bit = &ast.BinaryExpr{Operator: ast.PlusStr,
				Left:  &ast.BinaryExpr{Operator: ast.MultStr, Left: sum, Right: ast.NewIntVal([]byte("2"))},
				Right: bit}
		}
		sum = bit
	}
	return sum
}

// count replaces what LIMIT or OFFSET take, if it may be something that the library does not survive.
func (r rewriter) count(at *ast.Expr) {
	if r.each != nil {
		if *at != nil {
			r.each(at, true)
		}
		return
	}
	switch x := (*at).(type) {
	case *ast.SQLVal:
		if x.Type == ast.ValArg {
			*at = r.operator("limit", x, x)
		}
	case *ast.NullVal:
		*at = r.operator("limit", x, x)
	case *ast.ColName: // a variable of the procedure
		if r.calls {
			*at = r.operator("limit", x, x)
		}
	}
}

// Operator stands in the syntax tree for an expression of this package.
type Operator struct {
	name string
	was  ast.SQLNode
}

var _ ast.Injectable = (*Operator)(nil)

// Name is the operator as the grammar writes it.
func (o *Operator) Name() string { return o.name }

// Stateless reports whether an expression is one of this package's that depends on its operands alone.
func Stateless(e sql.Expression) bool {
	switch e.(type) {
	case *integers, *negation, *inversion, *bitwise, *decimalCast, *Case, *Number, *cast.Time, *Finite,
		*Temporal, *Moment, *EnumLabel, *Modulo, *unrounded, *cast.Cut:
		return true
	}
	return false
}

func (r rewriter) operator(name string, was ast.SQLNode, operands ...ast.Expr) ast.Expr {
	if r.calls {
		args := ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewStrVal([]byte(name))}}
		for _, o := range operands {
			args = append(args, &ast.AliasedExpr{Expr: o})
		}
		return &ast.FuncExpr{Name: ast.NewColIdent(operatorFunction), Exprs: args}
	}
	return ast.InjectedExpr{
		Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Expression: &Operator{name, was},
		Children: operands,
	}
}

// operatorFunction is the operator whose name is its first argument.
var operatorFunction = inband.Function("operator")

func callOperator(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) > 1 {
		if name, ok := args[0].(*expression.Literal); ok {
			if text, ok := name.Value().(string); ok {
				return bind(ctx, text, args[1:])
			}
		}
	}
	return nil, sql.ErrFunctionNotFound.New(operatorFunction)
}

// String is the text of what the operator replaced.
func (o *Operator) String() string { return ast.String(o.was) }

// WithResolvedChildren implements ast.Injectable: it is called with the bound operands.
func (o *Operator) WithResolvedChildren(c context.Context, children []any) (any, error) {
	ctx, ok := c.(*sql.Context)
	operands := make([]sql.Expression, len(children))
	for i, child := range children {
		e, is := child.(sql.Expression)
		ok = ok && is
		operands[i] = e
	}
	if !ok || len(operands) == 0 {
		return nil, fmt.Errorf("expr: operator %s over %T", o.name, children)
	}
	return bind(ctx, o.name, operands)
}

// bind makes the expression of an operator.
func bind(ctx *sql.Context, op string, operands []sql.Expression) (sql.Expression, error) {
	switch op {
	case "unary " + ast.UMinusStr:
		return newNegation(ctx, AsNumber(ctx, operands[0])), nil
	case "unary " + ast.TildaStr:
		return &inversion{expression.UnaryExpressionStub{Child: AsNumber(ctx, operands[0])}}, nil
	case ast.BitAndStr, ast.BitOrStr, ast.BitXorStr, ast.ShiftLeftStr, ast.ShiftRightStr:
		return newBitwise(op, AsNumber(ctx, operands[0]), AsNumber(ctx, operands[1])), nil
	case "limit":
		return rowCount(ctx, operands[0])
	case ast.BetweenStr:
		return newBetween(ctx, operands[0], operands[1], operands[2]), nil
	case constantOperator:
		return newConstant(ctx, operands[0]), nil
	}
	switch {
	case strings.HasPrefix(op, matchOperator):
		return newMatch(ctx, strings.TrimPrefix(op, matchOperator), operands)
	case strings.HasPrefix(op, "case"):
		return newCase(ctx, operands, strings.Contains(op, " expr"), strings.Contains(op, " else")), nil
	case strings.HasPrefix(op, "trim ") && len(operands) == 2:
		return collatedResult(function.NewTrim(operands[0], operands[1], strings.TrimPrefix(op, "trim "))),
			nil
	}
	if op == ast.LikeStr || op == ast.NotLikeStr {
		var escape sql.Expression
		if len(operands) == 3 {
			escape = operands[2]
		}
		like := newLike(ctx, operands[0], operands[1], escape)
		if op == ast.NotLikeStr {
			like = expression.NewNot(like)
		}
		return like, nil
	}
	if spec, ok := strings.CutPrefix(op, "decimal"); ok && len(operands) == 1 {
		return newDecimalCast(ctx, strings.TrimPrefix(spec, " "), operands[0])
	}
	if spec, ok := strings.CutPrefix(op, castOperator); ok {
		return cast.New(spec, operands[0])
	}
	if text, ok := strings.CutPrefix(op, cutOperator); ok {
		return cast.NewCut(text, operands[0])
	}
	if spec, ok := strings.CutPrefix(op, introducedOperator); ok {
		set, collation, _ := strings.Cut(spec, " ")
		return cast.Introduced(ctx, set, collation, operands[0])
	}
	if text, ok := strings.CutPrefix(op, "time "); ok {
		digits, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		return cast.NewTime(operands[0], digits), nil
	}
	if len(operands) != 2 {
		return nil, sql.ErrFunctionNotFound.New(operatorFunction)
	}
	for _, all := range []bool{false, true} {
		word := " any"
		if all {
			word = " all"
		}
		if n := len(op) - len(word); n > 0 && op[n:] == word {
			return newQuantified(ctx, op[:n], all, operands[0], operands[1])
		}
	}
	switch op {
	case ast.PlusStr, ast.MinusStr, ast.MultStr, ast.IntDivStr, ast.ModStr:
	default:
		return nil, sql.ErrFunctionNotFound.New(operatorFunction)
	}
	if err := intervals(op, operands[0], operands[1]); err != nil {
		return nil, err
	}
	by, l := operands[0].(*expression.Interval)
	date := operands[1]
	r, isRight := operands[1].(*expression.Interval)
	if isRight {
		by, date = r, operands[0]
	}
	if l || isRight {
		if e := shiftedSpan(ctx, date, by, op == ast.MinusStr); e != nil {
			return e, nil
		}
	}
	switch {
	case (l || isRight) && op == ast.MinusStr:
		// as a DATETIME, whatever it is, the library has date + INTERVAL
		return function.NewDateSub(ctx, date, by)
	case l || isRight:
		return function.NewDateAdd(ctx, date, by)
	}
	operands[0], operands[1] = AsNumber(ctx, operands[0]), AsNumber(ctx, operands[1])
	return newArithmetic(ctx, op, operands[0], operands[1]), nil
}

// intervals says what the library's binder says of INTERVAL in a wrong place.
func intervals(op string, left, right sql.Expression) error {
	_, l := left.(*expression.Interval)
	_, r := right.(*expression.Interval)
	switch {
	case l && op == ast.MinusStr:
		return sql.ErrUnsupportedSyntax.New("subtracting from an interval")
	case (l || r) && op != ast.PlusStr && op != ast.MinusStr:
		return sql.ErrUnsupportedSyntax.New(
			"only + and - can be used to add or subtract intervals from dates")
	case l && r:
		return sql.ErrUnsupportedSyntax.New("intervals cannot be added or subtracted from other intervals")
	}
	return nil
}

// rowCount is the number of rows of LIMIT ? or OFFSET ?: NULL is none, as in MySQL.
func rowCount(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return e, nil // a parameter without a value yet
	}
	if lit.Value() == nil {
		return expression.NewLiteral(int64(0), types.Int64), nil
	}
	if n, unsigned := lit.Value().(uint64); unsigned && n > 1<<63-1 {
		return expression.NewLiteral(int64(1<<63-1), types.Int64), nil
	}
	v, _, err := types.Int64.Convert(ctx, lit.Value())
	if err != nil || v == nil {
		v = int64(0) // as MySQL: a text that is no number is 0
	}
	if v.(int64) < 0 {
		return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to EXECUTE")
	}
	return expression.NewLiteral(v, types.Int64), nil
}

// openIn takes a query out of the parentheses around it, x IN ((SELECT …)), where the grammar takes it
// for one value of a list.
func openIn(n *ast.ComparisonExpr) {
	if n.Operator != ast.InStr && n.Operator != ast.NotInStr {
		return
	}
	list, ok := n.Right.(ast.ValTuple)
	if !ok || len(list) != 1 {
		return
	}
	if q, ok := inner(list[0]).(*ast.Subquery); ok {
		n.Right = q
	}
}
