package engine

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/assign"
	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
	"moka/sqlfront/routine"
)

// Where dates and times are taken for texts or numbers they are made such by what they are; see expr.Temporal.

// ofText are functions of texts; all their arguments are texts, or numbers that stay what they are.
var ofText = names(`concat concat_ws upper ucase lower lcase left right substring substr mid substring_index replace length octet_length
	char_length character_length bit_length reverse lpad rpad trim ltrim rtrim md5 sha sha1 sha2 locate instr position quote repeat insert strcmp
	find_in_set field elt to_base64 crc32 ascii ord soundex unhex conv bin oct regexp_like regexp_replace regexp_instr regexp_substr`)

// ofNumber are functions of numbers whose results are DOUBLEs, or texts, whatever their arguments are.
var ofNumber = names(`sqrt sin cos tan cot asin acos atan atan2 ln log log2 log10 exp pow power degrees radians format sign`)

// ofResult are functions whose arguments become texts if the result is one.
var ofResult = names(`if ifnull coalesce`)

func names(list string) map[string]bool {
	set := map[string]bool{}
	for _, n := range strings.Fields(list) {
		set[n] = true
	}
	return set
}

func mendTemporal(ctx *sql.Context, n sql.Node, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case *expression.GetField: // WHERE time
		if f, ok := n.(*plan.Filter); ok && f.Expression == sql.Expression(e) && expr.IsSpan(e.Type(ctx)) {
			return expr.AsNumber(ctx, e), transform.NewTree, nil
		}
	case *expression.Convert:
		switch t := e.Type(ctx); {
		case types.IsText(t):
			return wrapped(ctx, e, textOfAny)
		case types.IsFloat(t):
			return wrapped(ctx, e, expr.Operand)
		case types.IsInteger(t):
			return wrapped(ctx, e, expr.AsInteger)
		case types.IsNumber(t) && !types.IsYear(t):
			return wrapped(ctx, e, expr.AsNumber)
		}
	case *expression.Div, *expr.Modulo, *expression.IntDiv:
		return wrapped(ctx, e, expr.AsNumber)
	case *expression.And, *expression.Or, *expression.Xor, *expression.Not:
		return wrapped(ctx, e, expr.TimeAsNumber)
	case *expression.Like, *expr.Like:
		return wrapped(ctx, e, textOfTemporalOrEnum)
	case *aggregation.GroupConcat:
		return concatenated(ctx, e)
	case *expression.ConvertUsing:
		return wrapped(ctx, e, textOfEnum)
	case *aggregation.JsonArray:
		if e.Window() != nil { // whose columns are among the children
			return e, transform.SameTree, nil
		}
		return wrapped(ctx, e, textOfTemporalOrEnum)
	case *sql.ColumnDefaultValue: // of a column that is computed
		if e != nil && e.Expr != nil {
			return wrapped(ctx, e, func(ctx *sql.Context, of sql.Expression) sql.Expression {
				return assign.Expression(ctx, of, e.OutType)
			})
		}
	case *expression.Case:
		return textBranches(ctx, e)
	case *expr.Case:
		if mended, same, err := textBranches(ctx, e.Case); err != nil || !bool(same) {
			if c, ok := mended.(*expression.Case); ok && !bool(same) {
				return &expr.Case{Case: c}, transform.NewTree, err
			}
			return e, transform.SameTree, err
		}
	case *expression.SetField:
		return mendTemporalAssignment(ctx, e)
	case expression.Comparer:
		return compareTemporal(ctx, e)
	case sql.FunctionExpression:
		name := strings.ToLower(e.FunctionName())
		if numbers, err := enumNumbers(ctx, e, name); numbers != nil || err != nil {
			if err == nil {
				numbers, _, err = mendTemporal(ctx, n, numbers)
			}
			return numbers, transform.NewTree, err
		}
		switch {
		case name == "hex": // of a number the digits, and BIT is a number to it
			return wrapped(ctx, e, func(ctx *sql.Context, e sql.Expression) sql.Expression { return expr.AsText(ctx, textOfEnum(ctx, e)) })
		case name == "if" && len(e.Children()) == 3 && madeText(e.Children()[0], expr.TimeAsNumber(ctx, e.Children()[0])):
			condition := slices.Clone(e.Children())
			condition[0] = expr.AsNumber(ctx, condition[0])
			mended, err := e.WithChildren(ctx, condition...)
			return mended, transform.NewTree, err
		case ofNumber[name]:
			return wrapped(ctx, e, func(ctx *sql.Context, e sql.Expression) sql.Expression {
				if name != "format" && types.IsText(e.Type(ctx)) { // FORMAT has a locale, and a DECIMAL
					return expr.Operand(ctx, e)
				}
				return expr.TimeAsNumber(ctx, e)
			})
		case strings.HasPrefix(name, "json_"):
			return wrapped(ctx, e, textOfTemporalOrEnum)
		case name == "greatest" || name == "least":
			return mendExtreme(ctx, e)
		case ofText[name] && strings.HasPrefix(name, "concat"):
			return wrapped(ctx, e, textOfAny)
		case ofText[name], ofResult[name] && isOfTexts(ctx, name, e):
			return wrapped(ctx, e, textOfTemporalOrEnum)
		}
	}
	return e, transform.SameTree, nil
}

// wrapped puts as around the operands that are dates or times.
func wrapped(ctx *sql.Context, e sql.Expression, as func(*sql.Context, sql.Expression) sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	children := e.Children()
	var out []sql.Expression
	for i, c := range children {
		if c == nil {
			continue
		}
		if w := as(ctx, c); madeText(c, w) {
			if out == nil {
				out = append(out, children...)
			}
			out[i] = w
		}
	}
	if out == nil {
		return e, transform.SameTree, nil
	}
	mended, err := e.WithChildren(ctx, out...)
	return mended, transform.NewTree, err
}

// concatenated makes texts of what GROUP_CONCAT puts together. What it sorts by stays what it is: an ENUM goes by its number.
func concatenated(ctx *sql.Context, g *aggregation.GroupConcat) (sql.Expression, transform.TreeIdentity, error) {
	children := g.Children()
	sorted := len(children) - len(g.OutputExpressions())
	same := transform.SameTree
	for i := sorted; i < len(children); i++ {
		if w := textOfTemporalOrEnum(ctx, children[i]); madeText(children[i], w) {
			children[i], same = w, transform.NewTree
		}
	}
	if same {
		return g, same, nil
	}
	mended, err := g.WithChildren(ctx, children...)
	return mended, same, err
}

// isOfTexts reports whether the result of a function is a text because one of the arguments is, or because there is an ENUM
// and something else, or moments and numbers.
func isOfTexts(ctx *sql.Context, name string, e sql.Expression) bool {
	enums, moments, numbers, texts := 0, false, false, false
	arguments := e.Children()
	if name == "if" {
		arguments = arguments[1:]
	}
	for _, c := range arguments {
		switch t := c.Type(ctx); {
		case types.IsText(t):
			texts = true
		case isEnum(ctx, c):
			enums++
		case types.IsNumber(t):
			numbers = true
		case expr.IsTemporal(ctx, c):
			moments = true
		}
	}
	own := e.Type(ctx)
	return moments && numbers || (texts || enums > 1 || enums > 0 && !expr.IsEnum(own)) && !types.IsNumber(own)
}

// madeText reports whether an expression was wrapped. Expressions cannot be compared in general.
func madeText(before, after sql.Expression) bool {
	switch after := after.(type) {
	case *expression.Literal: // a hexadecimal one, as a number
		was, ok := before.(*expression.Literal)
		return ok && was != after
	case *expr.Temporal:
		_, was := before.(*expr.Temporal)
		return !was
	case *expr.EnumLabel:
		_, was := before.(*expr.EnumLabel)
		return !was
	case *expr.BitText:
		_, was := before.(*expr.BitText)
		return !was
	case *expr.Number:
		_, was := before.(*expr.Number)
		return !was
	}
	return false
}

// severalEnums reports whether the values of a CASE are of ENUMs and SETs that are not all of one type, or of others as well.
func severalEnums(ctx *sql.Context, c *expression.Case) bool {
	values := []sql.Expression{c.Else}
	for _, b := range c.Branches {
		values = append(values, b.Value)
	}
	var first sql.Type
	enum, same := false, true
	for _, v := range values {
		if v == nil || !v.Resolved() || v.Type(ctx) == types.Null {
			continue
		}
		t := v.Type(ctx)
		enum, same = enum || isEnum(ctx, v), same && (first == nil || first.Equals(t))
		first = t
	}
	return enum && !same
}

// textOfTemporalOrEnum is for JSON, which has neither.
func textOfTemporalOrEnum(ctx *sql.Context, e sql.Expression) sql.Expression {
	if _, done := e.(*expr.EnumLabel); !done && isEnum(ctx, e) {
		return expr.NewEnumLabel(e)
	}
	switch e.(type) {
	case *expression.GetField, *routine.Variable, *routine.Held: // which may be of NEW
		if types.IsBit(e.Type(ctx)) {
			return expr.NewBitText(e)
		}
	}
	return expr.AsText(ctx, e)
}

// textOfAny is for functions of texts alone.
func textOfAny(ctx *sql.Context, e sql.Expression) sql.Expression {
	return expr.NumberText(ctx, textOfTemporalOrEnum(ctx, e))
}

// mendExtreme is for GREATEST and LEAST: of dates alone they are a date, of dates and texts a text.
func mendExtreme(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e.(type) {
	case *builtin.Typed, *gms.Extreme:
		return e, transform.SameTree, nil
	}
	dates, others, texts, numbers := 0, 0, 0, 0
	for _, c := range e.Children() {
		switch t := c.Type(ctx); {
		case types.IsText(t):
			texts++
		case types.IsDateType(t):
			dates++
		case types.IsNumber(t):
			numbers++
		case !expr.IsTemporal(ctx, c):
			return e, transform.SameTree, nil
		default:
			others++
		}
	}
	switch {
	case numbers > 0 && texts == 0 && dates+others > 0:
		return gms.NewExtreme(ctx, strings.ToLower(e.(sql.FunctionExpression).FunctionName()), e.Children()), transform.NewTree, nil
	case numbers > 0:
		return e, transform.SameTree, nil
	case texts > 0:
		return wrapped(ctx, e, expr.AsText)
	case dates > 0 && others == 0:
		return builtin.As(e, types.Date), transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

// textBranches makes texts of the values of a CASE that is a text, and numbers of the TIMEs that are conditions.
func textBranches(ctx *sql.Context, c *expression.Case) (sql.Expression, transform.TreeIdentity, error) {
	same, texts := transform.SameTree, types.IsText(c.Type(ctx)) || severalEnums(ctx, c)
	branches := make([]expression.CaseBranch, len(c.Branches))
	for i, b := range c.Branches {
		branches[i] = b
		if w := expr.TimeAsNumber(ctx, b.Cond); c.Expr == nil && madeText(b.Cond, w) {
			branches[i].Cond, same = w, transform.NewTree
		}
		if w := textOfTemporalOrEnum(ctx, b.Value); texts && madeText(b.Value, w) {
			branches[i].Value, same = w, transform.NewTree
		}
	}
	last := c.Else
	if last != nil && texts {
		if w := textOfTemporalOrEnum(ctx, last); madeText(last, w) {
			last, same = w, transform.NewTree
		}
	}
	if same {
		return c, transform.SameTree, nil
	}
	return expression.NewCase(c.Expr, branches, last), transform.NewTree, nil
}

// mendTemporalAssignment is for columns of text or numbers, and for variables, which hold nothing else.
func mendTemporalAssignment(ctx *sql.Context, set *expression.SetField) (sql.Expression, transform.TreeIdentity, error) {
	as := textOfTemporalOrEnum
	if _, user := set.LeftChild.(*expression.UserVar); !user {
		to, ok := set.LeftChild.(*expression.GetField)
		if !ok {
			return set, transform.SameTree, nil
		}
		if isEnum(ctx, set.RightChild) && expr.AssignedAsText(set.RightChild.Type(ctx), to.Type(ctx)) {
			return expression.NewSetField(to, textOfEnum(ctx, set.RightChild)), transform.NewTree, nil
		}
		digits := expr.IsBytes(set.RightChild.Type(ctx)) || types.IsGeometry(set.RightChild.Type(ctx))
		if isLiteral(set.RightChild) {
			digits = types.IsDecimal(to.Type(ctx))
		}
		if !digits && !expr.IsTemporal(ctx, set.RightChild) {
			return set, transform.SameTree, nil
		}
		as = expr.Bytes
		switch t := to.Type(ctx); {
		case types.IsText(t):
		case types.IsNumber(t) && !types.IsYear(t):
			as = func(ctx *sql.Context, e sql.Expression) sql.Expression { return expr.Digits(ctx, e, t) }
		default:
			return set, transform.SameTree, nil
		}
	}
	value := as(ctx, set.RightChild)
	if !madeText(set.RightChild, value) {
		return set, transform.SameTree, nil
	}
	return expression.NewSetField(set.LeftChild, value), transform.NewTree, nil
}

// compareTemporal makes a constant that a date is compared with what the library understands, so that an index is still of use: 20200102, and texts
// without leading zeros.
func compareTemporal(ctx *sql.Context, e expression.Comparer) (sql.Expression, transform.TreeIdentity, error) {
	l, r := e.Left(), e.Right()
	if list, ok := r.(expression.Tuple); ok && isDated(ctx, l) {
		return temporalList(ctx, e, l, list)
	}
	switch {
	case isDated(ctx, l) && !expr.IsTemporal(ctx, r):
		if lit := canonicalMoment(ctx, r); lit != nil {
			out, err := e.WithChildren(ctx, l, lit)
			return out, transform.NewTree, err
		}
		if types.IsNumber(r.Type(ctx)) {
			out, err := e.WithChildren(ctx, expr.AsNumber(ctx, l), r)
			return out, transform.NewTree, err
		}
	case isDated(ctx, r) && !expr.IsTemporal(ctx, l):
		if lit := canonicalMoment(ctx, l); lit != nil {
			out, err := e.WithChildren(ctx, lit, r)
			return out, transform.NewTree, err
		}
		if types.IsNumber(l.Type(ctx)) {
			out, err := e.WithChildren(ctx, l, expr.AsNumber(ctx, r))
			return out, transform.NewTree, err
		}
	}
	return e, transform.SameTree, nil
}

// isDated reports whether an expression is a date, with or without a time.
func isDated(ctx *sql.Context, e sql.Expression) bool {
	return expr.IsTemporal(ctx, e) && !expr.IsSpan(e.Type(ctx))
}

// temporalList is a moment IN (…).
func temporalList(ctx *sql.Context, e, l sql.Expression, list expression.Tuple) (sql.Expression, transform.TreeIdentity, error) {
	out, same := slices.Clone(list), transform.SameTree
	for i, item := range list {
		if lit := canonicalMoment(ctx, item); lit != nil {
			out[i], same = lit, transform.NewTree
		}
	}
	if same {
		return e, same, nil
	}
	again, err := e.WithChildren(ctx, l, out)
	return again, same, err
}

var sloppyDate = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})$`)

// canonicalMoment is the usual text of a constant that means a moment; nil if it has it, or means none.
func canonicalMoment(ctx *sql.Context, e sql.Expression) sql.Expression {
	lit, ok := e.(*expression.Literal)
	if !ok {
		return nil
	}
	if text, ok := lit.Value().(string); ok {
		if m := sloppyDate.FindStringSubmatch(text); m != nil && len(text) < len("2006-01-02") {
			month, _ := strconv.Atoi(m[2])
			day, _ := strconv.Atoi(m[3])
			if at := time.Date(0, time.Month(month), day, 0, 0, 0, 0, time.UTC); int(at.Month()) == month && at.Day() == day || month == 2 && day == 29 {
				return expression.NewLiteral(m[1]+"-"+two(month)+"-"+two(day), lit.Type(ctx))
			}
		}
		return nil
	}
	if !types.IsInteger(lit.Type(ctx)) {
		return nil
	}
	n, _, err := types.Int64.Convert(ctx, lit.Value())
	if err != nil || n == nil { // NULL may have an integer's type: it is what YEAR('x') is
		return nil
	}
	if n == int64(0) {
		return expression.NewLiteral("0000-00-00", types.LongText)
	}
	short := n.(int64)
	switch { // 200102 is a date of this century, 700101 one of the last
	case short >= 101 && short <= 691231:
		short += 20000000
	case short >= 700101 && short <= 991231:
		short += 19000000
	}
	digits := strconv.FormatInt(short, 10)
	for layout, text := range map[string]string{"20060102": "2006-01-02", "20060102150405": "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, digits); err == nil && len(layout) == len(digits) {
			return expression.NewLiteral(at.Format(text), types.LongText)
		}
	}
	return nil
}

func two(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// mendTemporalRows is for rows that become others: an INSERT into columns of text or numbers, and the sides of a UNION.
func mendTemporalRows(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.Node(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.InsertInto:
			return mendInsert(ctx, n)
		case *plan.SetOp:
			return mendUnion(ctx, n)
		case *plan.ResolvedTable:
			return n, transform.SameTree, mendVirtual(ctx, n)
		}
		return n, transform.SameTree, nil
	})
}

func mendInsert(ctx *sql.Context, n *plan.InsertInto) (sql.Node, transform.TreeIdentity, error) {
	if n.Source == nil || !n.Source.Resolved() || n.Destination == nil || !n.Destination.Resolved() {
		return n, transform.SameTree, nil
	}
	into := n.Destination.Schema(ctx)
	var targets []sql.Type
	for _, name := range n.ColumnNames {
		i := into.IndexOfColName(name)
		if i < 0 {
			return n, transform.SameTree, nil
		}
		targets = append(targets, into[i].Type)
	}
	if len(n.ColumnNames) == 0 {
		for _, c := range into {
			targets = append(targets, c.Type)
		}
	}
	fit := func(e sql.Expression, to sql.Type) sql.Expression {
		switch {
		case types.IsText(to):
			return expr.Bytes(ctx, e)
		case types.IsNumber(to) && !types.IsYear(to):
			return expr.Digits(ctx, e, to)
		}
		return e
	}
	if values, ok := n.Source.(*plan.Values); ok {
		changed := false
		tuples := make([][]sql.Expression, len(values.ExpressionTuples))
		for i, tuple := range values.ExpressionTuples {
			tuples[i] = append([]sql.Expression(nil), tuple...)
			for j, e := range tuple {
				if j < len(targets) && e != nil && isEnum(ctx, e) && expr.AssignedAsText(e.Type(ctx), targets[j]) {
					tuples[i][j] = textOfEnum(ctx, e)
					changed = true
				} else if j < len(targets) && e != nil && (isLiteral(e) && types.IsDecimal(targets[j]) || !isLiteral(e) && (expr.IsTemporal(ctx, e) || expr.IsBytes(e.Type(ctx)) || types.IsGeometry(e.Type(ctx)))) {
					tuples[i][j] = fit(e, targets[j])
					changed = changed || madeText(e, tuples[i][j])
				}
			}
		}
		if !changed {
			return n, transform.SameTree, nil
		}
		return n.WithSource(plan.NewValues(tuples)), transform.NewTree, nil
	}
	source, changed := projected(ctx, n.Source, func(i int, e sql.Expression) sql.Expression {
		if i < len(targets) {
			return fit(e, targets[i])
		}
		return e
	})
	if !changed {
		return n, transform.SameTree, nil
	}
	return n.WithSource(source), transform.NewTree, nil
}

func mendUnion(ctx *sql.Context, n *plan.SetOp) (sql.Node, transform.TreeIdentity, error) {
	if !n.Left().Resolved() || !n.Right().Resolved() {
		return n, transform.SameTree, nil
	}
	l, r := n.Left().Schema(ctx), n.Right().Schema(ctx)
	if len(l) != len(r) {
		return n, transform.SameTree, nil
	}
	// The library has made texts of columns of two types.
	moment := func(n sql.Node, i int) sql.Expression {
		p, ok := n.(*plan.Project)
		if !ok {
			return nil
		}
		c, ok := unaliased(p.Projections[i]).(*expression.Convert)
		if !ok {
			return nil
		}
		e := unwrapTemporal(c.Child)
		if !expr.IsTemporal(ctx, e) || expr.IsSpan(e.Type(ctx)) {
			return nil
		}
		return e
	}
	meets := func(other sql.Schema, side int) func(int, sql.Expression) sql.Expression {
		return func(i int, e sql.Expression) sql.Expression {
			if a, b := moment(n.Left(), i), moment(n.Right(), i); a != nil && b != nil {
				return expr.AsMoments(ctx, a, b)[side]
			}
			if types.IsText(other[i].Type) {
				return expr.AsText(ctx, e)
			}
			return e
		}
	}
	left, a := projected(ctx, n.Left(), meets(r, 0))
	right, b := projected(ctx, n.Right(), meets(l, 1))
	if !a && !b {
		return n, transform.SameTree, nil
	}
	out, err := n.WithChildren(ctx, left, right)
	return out, transform.NewTree, err
}

func unaliased(e sql.Expression) sql.Expression {
	if a, ok := e.(*expression.Alias); ok {
		return a.Child
	}
	return e
}

func unwrapTemporal(e sql.Expression) sql.Expression {
	if t, ok := e.(*expr.Temporal); ok {
		return t.Child
	}
	return e
}

// projected puts other expressions in the place of columns of a Project's rows; of other nodes it leaves the rows as they are.
func projected(ctx *sql.Context, n sql.Node, change func(int, sql.Expression) sql.Expression) (sql.Node, bool) {
	p, ok := n.(*plan.Project)
	if !ok {
		return n, false
	}
	changed := false
	list := append([]sql.Expression(nil), p.Projections...)
	for i, e := range p.Projections {
		if alias, ok := e.(*expression.Alias); ok {
			if inner := change(i, alias.Child); madeText(alias.Child, inner) {
				if again, err := alias.WithChildren(ctx, inner); err == nil {
					list[i], changed = again, true
				}
			}
			continue
		}
		if inner := change(i, e); madeText(e, inner) {
			changed = true
			a := expression.NewAlias(ctx, e.String(), inner)
			if id, ok := e.(sql.IdExpression); ok {
				a = a.WithId(id.Id()).(*expression.Alias)
			}
			list[i] = a
		}
	}
	if !changed {
		return n, false
	}
	again, err := p.WithExpressions(ctx, list...)
	return again, err == nil
}
