package engine

import (
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/assign"
	"moka/sqlfront/builtin"
	"moka/sqlfront/chain"
	"moka/sqlfront/charset"
	"moka/sqlfront/collate"
	"moka/sqlfront/eval"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
	"moka/sqlfront/sqlerr"
)

// mending is for the library's rules that are always applied, before it looks for indexes: it puts expressions of ours in the place of
// those that do not do what MySQL does. The library's own ids count up from zero.
var mending = analyzer.Rule{Id: analyzer.RuleId(-1001), Apply: mend}

// mend is an analyzer.RuleFunc.
func mend(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	if !n.Resolved() {
		return n, transform.SameTree, nil
	}
	if err := settleTypes(ctx, n); err != nil {
		return nil, transform.SameTree, err
	}
	n, settled, err := gms.SettleRecursive(ctx, n)
	if err != nil {
		return nil, transform.SameTree, err
	}
	n, whole, err := gms.CompleteGroups(ctx, n)
	if err != nil {
		return nil, transform.SameTree, err
	}
	n, once, err := computeOnce(ctx, n)
	if err != nil {
		return nil, transform.SameTree, err
	}
	mended, same, err := mendNode(ctx, n)
	if err != nil {
		return nil, transform.SameTree, err
	}
	mended, short, err := chain.Hide(ctx, mended)
	if err != nil {
		return nil, transform.SameTree, err
	}
	same = same && once && whole && settled && short
	rows, alike, err := mendTemporalRows(ctx, mended)
	return rows, same && alike, err
}

func mendNode(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	n, alike, err := gms.TrueRows(ctx, n)
	if err != nil {
		return nil, transform.SameTree, err
	}
	n, same, err := transform.NodeExprsWithNodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		temporal, same, err := mendTemporal(ctx, n, e)
		if err != nil {
			return nil, transform.SameTree, err
		}
		mended, alike, err := mendExpression(ctx, n, temporal)
		return mended, same && alike, err
	})
	return n, same && alike, err
}

// mendAlone is for an expression that is evaluated outside of a plan of the library, over rows.
func mendAlone(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	e, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		temporal, same, err := mendTemporal(ctx, nil, e)
		if err != nil {
			return nil, transform.SameTree, err
		}
		mended, alike, err := mendExpression(ctx, nil, temporal)
		return mended, same && alike, err
	})
	return e, err
}

// Settled implements unions.Session.
func (s *Session) Settled(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	return mendAlone(ctx, e)
}

// mendComputed is for the expression of a column.
func mendComputed(ctx *sql.Context, e sql.Expression, to sql.Type) (sql.Expression, error) {
	e, err := mendAlone(ctx, e)
	if err != nil {
		return nil, err
	}
	return assign.Expression(ctx, e, to), nil
}

// mendVirtual is for the columns of a table that are computed when they are read. Their expressions were made for this statement, and
// are seen by no rule.
func mendVirtual(ctx *sql.Context, n *plan.ResolvedTable) error {
	v, ok := plan.FindVirtualColumnTable(n.Table)
	if !ok {
		return nil
	}
	for i, e := range v.Projections {
		d, ok := e.(*sql.ColumnDefaultValue)
		if !ok || d == nil {
			continue
		}
		mended, err := mendComputed(ctx, d, d.OutType)
		if err != nil {
			return err
		}
		v.Projections[i] = mended
	}
	return nil
}

func mendExpression(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if kept, err := mendScalar(ctx, e); kept != nil || err != nil {
		if numbers, _ := expr.Numbers(ctx, kept); numbers != nil {
			kept = numbers
		}
		if _, compares := kept.(expression.Comparer); compares && err == nil {
			kept, _, err = asText(ctx, kept, isEquality(kept))
		}
		return kept, transform.NewTree, err
	}
	numbers, err := expr.Numbers(ctx, e)
	if err != nil {
		return nil, transform.SameTree, err
	}
	if numbers != nil {
		e = numbers
	}
	e, hidden, err := gms.ApartFromKeys(ctx, e)
	if err != nil {
		return nil, transform.SameTree, err
	}
	kept, whole := e.(*gms.KeptWhole)
	if whole = whole && hidden; whole {
		e = kept.Child
	}
	mended, same, err := mendOther(ctx, n, e)
	if whole && err == nil {
		mended = gms.Keep(mended)
	}
	return mended, same && numbers == nil && !transform.TreeIdentity(hidden), err
}

func mendOther(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if truths, err := gms.Truths(ctx, e); truths != nil || err != nil {
		return truths, transform.NewTree, err
	}
	switch e := e.(type) {
	case *expression.LessThan, *expression.LessThanOrEqual, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.Between:
		if again, err := trimmed(ctx, n, e); again != nil || err != nil {
			return again, transform.NewTree, err
		}
		if spelled, err := mendRows(ctx, e); spelled != nil || err != nil {
			return spelled, transform.NewTree, err
		}
		return asText(ctx, e, false)
	case *expression.Equals, *expression.NullSafeEquals:
		if again := gms.ApartFromIndex(ctx, e); again != nil {
			mended, err := e.WithChildren(ctx, again...)
			return mended, transform.NewTree, err
		}
		if again, err := trimmed(ctx, n, e); again != nil || err != nil {
			return again, transform.NewTree, err
		}
		return asText(ctx, e, true)
	case *aggregation.Min, *aggregation.Max:
		return asText(ctx, e, false)
	case *expression.SetField:
		return mendAssignment(n, e)
	case *function.Now:
		_, shown := n.(*plan.Project) // with its digits; the library has six, or none
		if !zoneOf(ctx).Fixed() || shown && len(e.Children()) > 0 {
			return &now{e}, transform.NewTree, nil
		}
	case *expression.ConvertUsing:
		if !charset.Storable(e.TargetCharSet) {
			return nil, transform.SameTree, sqlerr.New(sqlerr.UnknownCharset, "Unknown character set: '%s'", e.TargetCharSet.Name())
		}
		return builtin.NewConvertUsing(e), transform.NewTree, nil
	case *expression.Literal:
		switch n.(type) {
		case *plan.Limit, *plan.Offset:
			return mendLimit(e)
		}
		if l := expr.Signed(e); l != e {
			return l, transform.NewTree, nil
		}
	case *expression.Arithmetic:
		mended, same, err := mendInterval(ctx, e)
		if same && err == nil && e.Type(ctx) == types.Float64 {
			return &expr.Finite{UnaryExpressionStub: expression.UnaryExpressionStub{Child: e}}, transform.NewTree, nil
		}
		if bool(same) && err == nil && e.Op == "*" && types.IsDecimal(e.Type(ctx)) {
			return &eval.Product{Arithmetic: e}, transform.NewTree, nil
		}
		return mended, same, err
	case *expression.Div:
		if e.Type(ctx) == types.Float64 {
			return &expr.Finite{UnaryExpressionStub: expression.UnaryExpressionStub{Child: e}}, transform.NewTree, nil
		}
	case *expr.Finite:
		if again, ok := e.Child.(*expr.Finite); ok {
			return again, transform.NewTree, nil
		}
	case *expression.Convert:
		if mended, changed := builtin.CastInteger(ctx, e); changed {
			return mended, transform.NewTree, nil
		}
	case *expression.Case:
		return mendCase(ctx, e)
	case *expr.Case:
		if truths, err := gms.Truths(ctx, e.Case); truths != nil || err != nil {
			return &expr.Case{Case: truths.(*expression.Case)}, transform.NewTree, err
		}
		mended, same, err := mendCase(ctx, e.Case)
		if c, ok := mended.(*expression.Case); ok && !bool(same) {
			return &expr.Case{Case: c}, transform.NewTree, err
		}
		return e, transform.SameTree, err
	case *function.Extract:
		mended, changed := gms.ExtractClock(e)
		return mended, transform.TreeIdentity(!changed), nil
	case *function.DateAdd:
		return mendShift(ctx, e, e.Date, e.Interval, function.NewDateAdd)
	case *function.DateSub:
		return mendShift(ctx, e, e.Date, e.Interval, function.NewDateSub)
	case *shifted:
		if again, ok := e.child.(*shifted); ok { // parts of a statement come by more than once
			return again, transform.NewTree, nil
		}
	case *plan.InSubquery: // it finds DECIMALs by their digits, of which the same number may have more or fewer, and no truth values among numbers
		if mended, same, err := gms.RewriteIn(ctx, e); !bool(same) || err != nil {
			return mended, same, err
		}
		query, ok := e.RightChild.(*plan.Subquery)
		if ok && mixesNumbers(e.LeftChild.Type(ctx), query.Type(ctx)) {
			return gms.Keep(e), transform.NewTree, nil // the library would compare the rows by a join
		}
		if !ok || types.NumColumns(e.LeftChild.Type(ctx)) != 1 || types.NumColumns(query.Type(ctx)) != 1 {
			return gms.KeepIn(ctx, e)
		}
		left, right := e.LeftChild.Type(ctx), query.Type(ctx)
		_, column := e.LeftChild.(*expression.GetField)
		numeric := types.IsDecimal(left) && (sql.IsNumberType(right) || types.IsText(right)) ||
			types.IsDecimal(right) && (sql.IsNumberType(left) || types.IsText(left))
		numeric = numeric || expr.IsBytes(left) && types.IsNumber(right) || types.IsNumber(left) && expr.IsBytes(right)
		times := expr.IsSpan(left) != expr.IsSpan(right) && left != types.Null && right != types.Null
		moments := times || types.IsTime(left) && types.IsText(right) || types.IsText(left) && types.IsTime(right) // long texts
		enums := (expr.IsEnum(left) || expr.IsEnum(right)) && !types.IsNumber(left) && !types.IsNumber(right) && !left.Equals(right)
		if numeric && !(column && left.Equals(right)) || moments || enums || left == types.Boolean || right == types.Boolean {
			in, err := expr.NewIn(ctx, e.LeftChild, query)
			return in, transform.NewTree, err
		}
		return gms.KeepIn(ctx, e)
	case *plan.ExistsSubquery:
		return gms.RewriteExists(ctx, e)
	case *gms.KeptWhole:
		if again, ok := e.Child.(*gms.KeptWhole); ok {
			return again, transform.NewTree, nil
		}
	case *plan.Subquery: // it may be made a join before it is analysed by itself
		q, same, err := mendNode(ctx, e.Query)
		if same || err != nil {
			return e, transform.SameTree, err
		}
		return e.WithQuery(q), transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

// mixesNumbers reports whether a DECIMAL of one row is compared with a text of the other.
func mixesNumbers(a, b sql.Type) bool {
	left, ok := a.(types.TupleType)
	right, ok2 := b.(types.TupleType)
	if !ok || !ok2 || len(left) != len(right) {
		return false
	}
	for i := range left {
		if types.IsDecimal(left[i]) && types.IsText(right[i]) || types.IsText(left[i]) && types.IsDecimal(right[i]) {
			return true
		}
	}
	return false
}

// mendRows spells out a comparison of rows, (a, b) > (x, y): a > x OR a = x AND b > y. The library's own takes NULL for the least value,
// and finds no index for it.
func mendRows(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	c, ok := e.(expression.Comparer)
	if !ok {
		return nil, nil
	}
	left, okLeft := c.Left().(expression.Tuple)
	right, okRight := c.Right().(expression.Tuple)
	if !okLeft || !okRight || len(left) != len(right) || len(left) < 2 || !repeatable(ctx, left) || !repeatable(ctx, right) {
		return nil, nil
	}
	var strict func(l, r sql.Expression) sql.Expression
	var last func(l, r sql.Expression) sql.Expression
	less := func(l, r sql.Expression) sql.Expression { return expression.NewLessThan(l, r) }
	greater := func(l, r sql.Expression) sql.Expression { return expression.NewGreaterThan(l, r) }
	switch e.(type) {
	case *expression.LessThan:
		strict, last = less, less
	case *expression.LessThanOrEqual:
		strict, last = less, func(l, r sql.Expression) sql.Expression { return expression.NewLessThanOrEqual(l, r) }
	case *expression.GreaterThan:
		strict, last = greater, greater
	case *expression.GreaterThanOrEqual:
		strict, last = greater, func(l, r sql.Expression) sql.Expression { return expression.NewGreaterThanOrEqual(l, r) }
	default:
		return nil, nil
	}
	n := len(left) - 1
	out, _, err := asText(ctx, last(left[n], right[n]), false)
	for n--; n >= 0 && err == nil; n-- {
		var more, same sql.Expression
		if more, _, err = asText(ctx, strict(left[n], right[n]), false); err != nil {
			break
		}
		if same, _, err = asText(ctx, expression.NewEquals(left[n], right[n]), true); err != nil {
			break
		}
		out = expression.NewOr(more, expression.NewAnd(same, out))
	}
	return out, err
}

// repeatable reports whether the expressions may be evaluated twice: columns and values.
func repeatable(ctx *sql.Context, es expression.Tuple) bool {
	for _, e := range es {
		switch e.(type) {
		case *expression.GetField, *expression.Literal, *expression.BindVar, *expression.UserVar, *expression.ProcedureParam:
		default:
			return false
		}
	}
	return true
}

// everyRow is more rows than there are, and twice that is still an int64: the library adds offset and limit.
const everyRow = 1<<62 - 1

// mendLimit makes numbers of rows fit the library, to which MySQL's own way to say all the rest, LIMIT 10, 18446744073709551615, is -1.
func mendLimit(l *expression.Literal) (sql.Expression, transform.TreeIdentity, error) {
	if n, ok := l.Value().(uint64); ok && n > everyRow {
		return expression.NewLiteral(int64(everyRow), types.Int64), transform.NewTree, nil
	}
	if n, ok := l.Value().(int64); ok && n > everyRow {
		return expression.NewLiteral(int64(everyRow), types.Int64), transform.NewTree, nil
	}
	return l, transform.SameTree, nil
}

// mendCase compares a JSON value after CASE as text with texts after WHEN: MySQL's rules for JSON are for the comparison operators, and object
// mappers find JSON's null by CASE j WHEN 'null'.
func mendCase(ctx *sql.Context, c *expression.Case) (sql.Expression, transform.TreeIdentity, error) {
	if c.Expr == nil || !types.IsJSON(c.Expr.Type(ctx)) {
		return c, transform.SameTree, nil
	}
	branches := make([]expression.CaseBranch, len(c.Branches))
	for i, b := range c.Branches {
		e := c.Expr
		if types.IsText(b.Cond.Type(ctx)) {
			e = expression.NewConvert(e, expression.ConvertToChar)
		}
		branches[i] = expression.CaseBranch{Cond: expression.NewEquals(e, b.Cond), Value: b.Value}
	}
	return expression.NewCase(nil, branches, c.Else), transform.NewTree, nil
}

// trimmed takes the spaces off the ends of literals where the comparison pads: the library cuts ranges of an index with each other
// before they come here, and takes 'a ' for more than 'a'. It returns nil if there are none.
func trimmed(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, error) {
	switch n.(type) {
	case *plan.Filter, *plan.JoinNode:
	default:
		return nil, nil // what is stored as text stays as it was written
	}
	operands := e.Children()
	var out []sql.Expression
	for i, c := range operands {
		l, ok := c.(*expression.Literal)
		if !ok {
			continue
		}
		s, ok := l.Value().(string)
		if !ok || !strings.HasSuffix(s, " ") {
			continue
		}
		if _, ok := expr.Padded(ctx, operands...); !ok {
			return nil, nil
		}
		if out == nil {
			out = slices.Clone(operands)
		}
		out[i] = expression.NewLiteral(strings.TrimRight(s, " "), l.Type(ctx))
	}
	if out == nil {
		return nil, nil
	}
	return e.WithChildren(ctx, out...)
}

// mendAssignment makes what an UPDATE assigns fit its column: the library cuts numbers off at the end of the column's range, as MySQL does
// only where IGNORE or the SQL mode asks for it.
func mendAssignment(n sql.Node, set *expression.SetField) (sql.Expression, transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.UpdateSource:
		if n.Ignore {
			return set, transform.SameTree, nil
		}
	case *plan.InsertInto:
		if n.Ignore {
			return set, transform.SameTree, nil
		}
	default:
		return set, transform.SameTree, nil
	}
	to, ok := set.LeftChild.(*expression.GetField)
	if !ok {
		return set, transform.SameTree, nil
	}
	t := to.Type(nil)
	if !types.IsNumber(t) && !types.IsTime(t) && !expr.IsSpan(t) && !collate.CutsSpaces(t) {
		return set, transform.SameTree, nil
	}
	if _, computed := set.RightChild.(*sql.ColumnDefaultValue); computed && types.IsTime(to.Type(nil)) {
		return set, transform.SameTree, nil
	}
	if _, done := set.RightChild.(*fitted); done {
		return set, transform.SameTree, nil
	}
	return expression.NewSetField(set.LeftChild, &fitted{set.RightChild, to.Type(nil), to.Name()}), transform.NewTree, nil
}

// fitted is a value for a column of numbers, dates or texts.
type fitted struct {
	child  sql.Expression
	typ    sql.Type
	column string
}

var (
	_ sql.Expression         = (*fitted)(nil)
	_ sql.CollationCoercible = (*fitted)(nil)
)

func (f *fitted) Resolved() bool                 { return f.child.Resolved() }
func (f *fitted) String() string                 { return f.child.String() }
func (f *fitted) Type(*sql.Context) sql.Type     { return f.typ }
func (f *fitted) IsNullable(c *sql.Context) bool { return f.child.IsNullable(c) }
func (f *fitted) Children() []sql.Expression     { return []sql.Expression{f.child} }

// WithChildren implements sql.Expression.
func (f *fitted) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(cs), 1)
	}
	return &fitted{cs[0], f.typ, f.column}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (f *fitted) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (f *fitted) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.child.Eval(ctx, row)
	if err == nil {
		err = divided(ctx)
	}
	if v == nil || err != nil {
		return nil, err
	}
	if collate.CutsSpaces(f.typ) {
		return collate.WithoutSurplus(ctx, &sql.Column{Name: f.column, Type: f.typ}, v, 1), nil
	}
	return assign.Ready(ctx, &sql.Column{Name: f.column, Type: f.typ}, v)
}

// mendInterval makes DATE_ADD and DATE_SUB of date + INTERVAL, which the library takes for a DATETIME whatever it is.
func mendInterval(ctx *sql.Context, e *expression.Arithmetic) (sql.Expression, transform.TreeIdentity, error) {
	date, by := e.LeftChild, e.RightChild
	if _, ok := date.(*expression.Interval); ok {
		date, by = by, date
	}
	if _, ok := by.(*expression.Interval); !ok || e.Op != "+" && e.Op != "-" {
		return e, transform.SameTree, nil
	}
	shift := function.NewDateAdd
	if e.Op == "-" {
		shift = function.NewDateSub
	}
	f, err := shift(ctx, date, by)
	if err != nil {
		return nil, transform.SameTree, err
	}
	mended, _, err := mendShift(ctx, f, date, by.(*expression.Interval), shift)
	return mended, transform.NewTree, err
}

// mendShift mends e, which is date moved by an interval, as shift makes it.
func mendShift(ctx *sql.Context, e, date sql.Expression, by *expression.Interval, shift func(*sql.Context, ...sql.Expression) (sql.Expression, error)) (sql.Expression, transform.TreeIdentity, error) {
	if whole := wholeMicros(ctx, by); whole != nil {
		f, err := shift(ctx, date, whole)
		return withFraction(ctx, builtin.NewMoved(f), date, by), transform.NewTree, err
	}
	return mendMoment(ctx, builtin.NewMoved(e), date, by)
}

// wholeMicros is an interval of seconds that may have a fraction, which the library rounds away, in microseconds; nil of all others.
func wholeMicros(ctx *sql.Context, by *expression.Interval) *expression.Interval {
	t := by.Child.Type(ctx)
	if !strings.EqualFold(by.Unit, "SECOND") || types.IsDeferredType(t) || t == types.Null || !types.IsText(t) && !types.IsDecimal(t) && !types.IsFloat(t) {
		return nil
	}
	return expression.NewInterval(&micros{expression.UnaryExpressionStub{Child: by.Child}}, "MICROSECOND")
}

// withFraction gives a moment that was moved by seconds as many digits behind them as the moment or the seconds have.
func withFraction(ctx *sql.Context, e, date sql.Expression, by *expression.Interval) sql.Expression {
	t, ok := date.Type(ctx).(sql.DatetimeType)
	if !ok || e == nil {
		return e
	}
	digits := 6
	if d, ok := by.Child.Type(ctx).(sql.DecimalType); ok {
		digits = min(6, int(d.Scale()))
	}
	if !types.IsDateType(t) {
		digits = max(digits, t.Precision())
	}
	return &shifted{e, builtin.DatetimeOf(digits)}
}

// micros is a number of seconds as one of microseconds.
type micros struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*micros)(nil)
	_ sql.CollationCoercible = (*micros)(nil)
)

func (m *micros) String() string             { return "(" + m.Child.String() + " * 1000000)" }
func (m *micros) Type(*sql.Context) sql.Type { return types.Int64 }

// WithChildren implements sql.Expression.
func (m *micros) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(cs), 1)
	}
	return &micros{expression.UnaryExpressionStub{Child: cs[0]}}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (m *micros) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (m *micros) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := m.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	f, _, err := types.Float64.Convert(ctx, v)
	if err != nil && !sql.ErrTruncatedIncorrect.Is(err) {
		return nil, err
	}
	n, _ := f.(float64)
	return int64(max(-1<<62, min(1<<62, math.Round(n*1e6)))), nil
}

// mendMoment gives a DATETIME that was moved by whole seconds the fraction that it had: the library always shows six digits.
func mendMoment(ctx *sql.Context, e, date sql.Expression, by *expression.Interval) (sql.Expression, transform.TreeIdentity, error) {
	t, ok := date.Type(ctx).(sql.DatetimeType)
	is, moved := e.Type(ctx).(sql.DatetimeType)
	if !ok || !moved || types.IsDateType(is) || strings.Contains(strings.ToUpper(by.Unit), "MICROSECOND") {
		return e, transform.NewTree, nil
	}
	digits := t.Precision()
	if types.IsDateType(t) {
		digits = 0
	}
	seconds := by.Child.Type(ctx)
	if !sql.IsNumberType(seconds) || !types.IsInteger(seconds) {
		return e, transform.NewTree, nil // SECOND may be a fraction, and texts may be anything
	}
	typ, err := types.CreateDatetimeType(sqltypes.Datetime, digits)
	if err != nil {
		return nil, transform.SameTree, err
	}
	if is.Equals(typ) {
		return e, transform.NewTree, nil
	}
	return &shifted{e, typ}, transform.NewTree, nil
}

// shifted is a DATETIME of a type that the library does not see.
type shifted struct {
	child sql.Expression
	typ   sql.Type
}

var (
	_ sql.Expression         = (*shifted)(nil)
	_ sql.CollationCoercible = (*shifted)(nil)
)

func (m *shifted) Resolved() bool                 { return m.child.Resolved() }
func (m *shifted) String() string                 { return m.child.String() }
func (m *shifted) Type(*sql.Context) sql.Type     { return m.typ }
func (m *shifted) IsNullable(c *sql.Context) bool { return m.child.IsNullable(c) }
func (m *shifted) Children() []sql.Expression     { return []sql.Expression{m.child} }

// WithChildren implements sql.Expression.
func (m *shifted) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(cs), 1)
	}
	return &shifted{cs[0], m.typ}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (m *shifted) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Eval implements sql.Expression.
func (m *shifted) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := m.child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	to, _, err := m.typ.Convert(ctx, v)
	return to, err
}
