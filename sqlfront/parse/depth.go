package parse

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// maxDepth bounds how deep a statement may be nested. The grammar has a stack of its own, which grows;
// everything behind it (binding, analysis, evaluation) calls itself for each level, with up to 3 KB of
// Go's stack for it, and a Go program whose stack is full is gone, with all its connections. 1 + 1 + 1 …
// is a level for each sign.
const maxDepth = 10_000

// shallow refuses a statement that is nested deeper than maxDepth. text is what stmt was parsed from: a level
// takes at least a byte.
//
// Programs write OR by the thousand, and to MySQL it is a list. So chains of OR, and of AND, are made trees
// first.
func shallow(stmt ast.Statement, text string, assigns bool) error {
	if len(text) < cheapText {
		return nil
	}
	if !assigns { // := was written as an OR (expr.RewriteAssignments)
		levelChains(stmt)
	}
	if deepest, cost := depthOf(stmt); deepest <= maxDepth && cost <= maxCost {
		return nil
	}
	return tooDeep()
}

// maxCost bounds what all levels of all chains of a statement cost together. Each level of the planner's
// trees is asked for its type and its text, which ask all below it, in the square of the depth, where KILL
// is not heard. So each structure counts as many times as there are others around it beyond easyDepth: a
// chain of 1,500 signs, or three of 1,000, are a second.
const maxCost = 4 << 20

// easyDepth is how deep a structure may be that costs nothing.
const easyDepth = 64

// cheapText is how long a text may be that cannot cost much.
const cheapText = 1000

// steep is the part of the square of its depth that a CASE or a quotient costs: each level of theirs asks all
// below it once for each that asks itself, which makes the cube of the depth of a chain. 300 CASEs in one
// another, or 480 quotients, are a second; 600 CASEs were nine, and 4,000 quotients twenty-four, of 8 KB.
const steep = 9

// longChain is how many operands a chain has that is made a tree.
const longChain = 64

// levelChains makes a tree of each long chain of one operator, with the operands in their order.
func levelChains(stmt ast.Statement) {
	walkTree(stmt, func(v reflect.Value, _, _ int) bool {
		if v.Kind() != reflect.Pointer || v.IsNil() {
			return true
		}
		switch e := v.Interface().(type) {
		case *ast.OrExpr:
			parts := chainOf(e, func(e ast.Expr) (ast.Expr, ast.Expr, bool) {
				if o, ok := e.(*ast.OrExpr); ok {
					return o.Left, o.Right, true
				}
				return nil, nil, false
			})
			if len(parts) > longChain {
				e.Left, e.Right = halves(parts, func(l, r ast.Expr) ast.Expr {
					return &ast.OrExpr{Left: l, Right: r}
				})
			}
		case *ast.AndExpr:
			parts := chainOf(e, func(e ast.Expr) (ast.Expr, ast.Expr, bool) {
				if a, ok := e.(*ast.AndExpr); ok {
					return a.Left, a.Right, true
				}
				return nil, nil, false
			})
			if len(parts) > longChain {
				e.Left, e.Right = halves(parts, func(l, r ast.Expr) ast.Expr {
					return &ast.AndExpr{Left: l, Right: r}
				})
			}
		}
		return true
	})
}

// chainOf lists the operands of a chain, parentheses around parts of it or not.
func chainOf(e ast.Expr, operands func(ast.Expr) (left, right ast.Expr, ok bool)) (parts []ast.Expr) {
	for todo := []ast.Expr{e}; len(todo) > 0; {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		inner := e
		for p, ok := inner.(*ast.ParenExpr); ok; p, ok = inner.(*ast.ParenExpr) {
			inner = p.Expr
		}
		if left, right, ok := operands(inner); ok {
			todo = append(todo, right, left)
			continue
		}
		parts = append(parts, e)
	}
	return parts
}

func halves(parts []ast.Expr, join func(left, right ast.Expr) ast.Expr) (left, right ast.Expr) {
	tree := func(parts []ast.Expr) ast.Expr {
		if len(parts) == 1 {
			return parts[0]
		}
		return join(halves(parts, join))
	}
	return tree(parts[:len(parts)/2]), tree(parts[len(parts)/2:])
}

// maxTables is how many tables a query may join, in MySQL as in the planner's sets of tables.
const maxTables = 61

// joinable refuses a query over more tables. text is what stmt was parsed from: a table takes at least two
// bytes.
func joinable(stmt ast.Statement, text string) error {
	if len(text) < 2*maxTables {
		return nil
	}
	return Joinable(stmt)
}

// Joinable is joinable for a statement of a body, which a walk over what creates it does not see.
func Joinable(stmt ast.Statement) error {
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		s, ok := n.(*ast.Select)
		if !ok {
			return true, nil
		}
		tables := 0
		for _, from := range s.From {
			tables += tablesIn(from)
		}
		if tables > maxTables {
			return false, sqlerr.New(sqlerr.TooManyTables,
				"Too many tables; MySQL can only use %d tables in a join", maxTables)
		}
		return true, nil
	}, stmt)
}

const (
	// maxColumns is how many columns a result may have, as in MySQL.
	maxColumns = 4096
	// fewStars is how many stars there may be in a text for whose columns nobody looks before it is bound.
	fewStars = 8
	// maxWindows is how many windows a WINDOW clause may name: for each the planner goes along the chain of
	// those that it is built on, and KILL does not reach it there.
	maxWindows = 127
)

// narrow refuses a SELECT with more entries than a result may have columns, however many a star stands for.
// text is what stmt was parsed from: an entry takes two bytes, and a window nine.
func narrow(stmt ast.Statement, text string) error {
	if len(text) < 9*maxWindows {
		return nil
	}
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		s, ok := n.(*ast.Select)
		switch {
		case !ok:
		case len(s.SelectExprs) > maxColumns:
			return false, sqlerr.New(sqlerr.TooManyColumns, "Too many columns")
		case len(s.GroupBy) > maxColumns:
			return false, sqlerr.New(sqlerr.TooManyColumns, "Too many columns")
		case len(s.Window) > maxWindows:
			return false, unsupported("a WINDOW clause of more than " + strconv.Itoa(maxWindows) + " windows")
		}
		return true, nil
	}, stmt)
}

// semijoinable refuses a condition with more subqueries in EXISTS and IN than the planner can join with the
// tables of the query, whose sets of tables have 64.
func semijoinable(stmt ast.Statement, text string) error {
	if len(text) < 8*maxTables {
		return nil
	}
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		s, ok := n.(*ast.Select)
		if !ok || s.Where == nil {
			return true, nil
		}
		tables := joinedBy(s.Where.Expr)
		if tables == 0 {
			return true, nil
		}
		for _, from := range s.From {
			tables += tablesIn(from)
		}
		if tables > maxTables {
			return false, sqlerr.New(sqlerr.TooManyTables, "Too many tables; MySQL can only use %d tables "+
				"in a join, and those of EXISTS (…) and IN (SELECT …) in WHERE count as well", maxTables)
		}
		return true, nil
	}, stmt)
}

// joinedBy counts the tables in the subqueries of a condition that become joins.
func joinedBy(e ast.Expr) (tables int) {
	var query *ast.Subquery
	switch e := e.(type) {
	case *ast.AndExpr:
		for _, part := range chainOf(e, func(e ast.Expr) (ast.Expr, ast.Expr, bool) {
			if a, ok := e.(*ast.AndExpr); ok {
				return a.Left, a.Right, true
			}
			return nil, nil, false
		}) {
			tables += joinedBy(part)
		}
		return tables
	case *ast.ParenExpr:
		return joinedBy(e.Expr)
	case *ast.NotExpr:
		return joinedBy(e.Expr)
	case *ast.ExistsExpr:
		query = e.Subquery
	case *ast.ComparisonExpr:
		if e.Operator == ast.InStr || e.Operator == ast.NotInStr {
			query, _ = e.Right.(*ast.Subquery)
		}
	}
	if query == nil {
		return 0
	}
	if s, ok := query.Select.(*ast.Select); ok {
		for _, from := range s.From {
			tables += tablesIn(from)
		}
		if s.Where != nil {
			tables += joinedBy(s.Where.Expr)
		}
	}
	return max(1, tables)
}

// maxDigits is how many digits the grammar's numbers may have.
const maxDigits = 1000

// soundLiterals refuses numbers that the planner falls over, and makes constants that GROUP BY goes by
// expressions: it takes all of them for places in the select list.
func soundLiterals(stmt ast.Statement, text string) error {
	long, groups := len(text) > maxDigits, mayHave(text, "group")
	if !long && !groups {
		return nil
	}
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.SQLVal:
			if number := n.Type == ast.IntVal || n.Type == ast.FloatVal; number && len(n.Val) > maxDigits {
				return false, sqlerr.New(sqlerr.IllegalValueForType,
					"Illegal double '%.64s…' value found during parsing", n.Val)
			}
		case *ast.Select:
			for i, by := range n.GroupBy {
				if v, ok := by.(*ast.SQLVal); ok && v.Type != ast.IntVal && v.Type != ast.ValArg {
					n.GroupBy[i] = &ast.FuncExpr{Name: ast.NewColIdent("coalesce"),
						Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: v}}}
				}
			}
		}
		return true, nil
	}, stmt)
}

// maxName is how many characters a name may have that nothing else looks at.
const maxName = 64

// nameable refuses names of savepoints and prepared statements that are longer: the session keeps them.
func nameable(stmt ast.Statement) error {
	name := ""
	switch s := stmt.(type) {
	case *ast.Savepoint:
		name = s.Identifier
	case *ast.RollbackSavepoint:
		name = s.Identifier
	case *ast.ReleaseSavepoint:
		name = s.Identifier
	case *ast.Prepare:
		name = s.Name
	case *ast.Execute:
		name = s.Name
	case *ast.Deallocate:
		name = s.Name
	}
	if utf8.RuneCountInString(name) > maxName {
		return sqlerr.New(sqlerr.IdentifierTooLong, "Identifier name '%s' is too long",
			sqlerr.Shortened(name))
	}
	return nil
}

// farRows is an offset of ROWS beyond any partition. The library adds the offset to the number of the row.
const farRows = 1 << 40

// nearRows makes offsets of ROWS that are farther the same as farRows: the rows of the frame are the same.
func nearRows(stmt ast.Statement, text string) {
	if !mayHave(text, "rows") || !mayHave(text, "over") && !mayHave(text, "window") {
		return
	}
	walkTree(stmt, func(v reflect.Value, _, _ int) bool {
		if v.Kind() != reflect.Pointer {
			return true
		}
		f, ok := v.Interface().(*ast.Frame)
		if !ok || f == nil || f.Unit != ast.RowsUnit || f.Extent == nil {
			return true
		}
		for _, b := range []*ast.FrameBound{f.Extent.Start, f.Extent.End} {
			if b == nil {
				continue
			}
			v, ok := b.Expr.(*ast.SQLVal)
			if !ok || v == nil || v.Type != ast.IntVal {
				continue
			}
			if n, err := strconv.ParseUint(string(v.Val), 10, 64); err != nil || n > farRows {
				b.Expr = ast.NewIntVal([]byte(strconv.Itoa(farRows)))
			}
		}
		return true
	})
}

// convertible refuses CONVERT(… USING cs) of a character set that nothing can be kept in: the planner asks
// for its collation before the expression is mended, and has none. And it refuses more than six digits of a
// second: at CAST(… AS DATETIME(7)) the planner panics, and NOW(7) fails when it is run. text is what stmt
// was parsed from.
func convertible(stmt ast.Statement, text string) error {
	words := []string{"using", "time", "now", "sysdate"}
	if !slices.ContainsFunc(words, func(w string) bool { return mayHave(text, w) }) {
		return nil
	}
	nodes := append(syntax.Bodies(stmt), stmt)
	for _, d := range clauses(stmt) {
		for _, k := range keptBy(d) {
			nodes = append(nodes, k.expr)
		}
	}
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch c := n.(type) {
		case *ast.ConvertExpr:
			if of := strings.ToLower(c.Type.Type); of == "time" || of == "datetime" {
				return true, digitsFit("CAST", c.Type.Length)
			}
		case *ast.FuncExpr:
			if !clocks[c.Name.Lowered()] || len(c.Exprs) != 1 {
				return true, nil
			}
			if e, ok := c.Exprs[0].(*ast.AliasedExpr); ok {
				l, _ := e.Expr.(*ast.SQLVal)
				return true, digitsFit(c.Name.Lowered(), l)
			}
		case *ast.ConvertUsingExpr:
			if id, err := sql.ParseCharacterSet(c.Type); err == nil && !charset.Storable(id) {
				return false, sqlerr.New(sqlerr.UnknownCharset, "Unknown character set: '%s'", id.Name())
			}
		}
		return true, nil
	}, nodes...)
}

// clocks are the functions that take digits of a second and nothing else.
var clocks = map[string]bool{"now": true, "sysdate": true, "current_timestamp": true, "localtime": true,
	"localtimestamp": true, "curtime": true, "current_time": true, "utc_time": true, "utc_timestamp": true}

func digitsFit(of string, l *ast.SQLVal) error {
	if l == nil || l.Type != ast.IntVal {
		return nil
	}
	if digits, err := strconv.Atoi(string(l.Val)); err == nil && digits <= 6 {
		return nil
	}
	return sqlerr.New(sqlerr.TooBigPrecision, "Too-big precision %s specified for '%s'. Maximum is 6.",
		l.Val, of)
}

// mayHave reports whether a word, in lower case, is somewhere in a text.
func mayHave(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

func tablesIn(from ast.TableExpr) int {
	switch t := from.(type) {
	case *ast.JoinTableExpr:
		return tablesIn(t.LeftExpr) + tablesIn(t.RightExpr)
	case *ast.ParenTableExpr:
		n := 0
		for _, e := range t.Exprs {
			n += tablesIn(e)
		}
		return n
	}
	return 1
}

// maxReferences bounds the tables that a statement reads, those of WITH as often as they are named: q2 AS
// (SELECT … FROM q1 JOIN q1), q3 AS (SELECT … FROM q2 JOIN q2) and so on are a tree twice as large each time,
// which the planner walks, and KILL does not reach it there.
const maxReferences = 4096

// expandable refuses a statement that amounts to more. text is what stmt was parsed from: it takes a dozen
// tables of WITH. Views have a bound of their own.
func expandable(stmt ast.Statement, text string) error {
	if len(text) < 200 || !strings.Contains(strings.ToLower(text), "with") {
		return nil
	}
	if (expansion{}).of(stmt) > maxReferences {
		return sqlerr.New(sqlerr.TooManyTables,
			"Too many tables; what WITH names counts as often as it is named, and %d are the most",
			maxReferences)
	}
	return nil
}

// expansion is how many tables those of WITH amount to, by name. Of two of the same name it is the larger.
type expansion map[string]int

func (x expansion) add(with *ast.With) {
	if with == nil {
		return
	}
	for _, c := range with.Ctes {
		name := strings.ToLower(c.As.String())
		x[name] = max(x[name], x.of(c.Expr))
	}
}

// of counts what n reads; beyond the bound it does not matter how much.
func (x expansion) of(n ast.SQLNode) (total int) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.Explain:
			total += x.of(n.Statement)
			return false, nil
		case *ast.DDL: // the walk leaves these out
			if n.ViewSpec != nil {
				total += x.of(n.ViewSpec.ViewExpr)
			}
			if n.OptSelect != nil {
				total += x.of(n.OptSelect.Select)
			}
			if n.ProcedureSpec != nil {
				total += x.of(n.ProcedureSpec.Body)
			}
			if n.TriggerSpec != nil {
				total += x.of(n.TriggerSpec.Body)
			}
		case *ast.Select:
			x.add(n.With)
		case *ast.SetOp:
			x.add(n.With)
		case *ast.Insert:
			x.add(n.With)
		case *ast.Update:
			x.add(n.With)
		case *ast.Delete:
			x.add(n.With)
		case *ast.With:
			return false, nil // added above
		case *ast.AliasedTableExpr:
			if t, ok := n.Expr.(ast.TableName); ok {
				known := 0
				if t.DbQualifier.IsEmpty() {
					known = x[strings.ToLower(t.Name.String())]
				}
				total = min(total+max(1, known), maxReferences+1)
				return false, nil
			}
		}
		return true, nil
	}, n)
	return total
}

// balance makes a chain of UNIONs of one kind a tree, in the order of the chain: the planner asks each of
// them for its columns, which asks all below it, for each of its rules.
func balance(s *ast.SetOp) {
	var parts []ast.SelectStatement
	at := ast.SelectStatement(s)
	for {
		u, ok := at.(*ast.SetOp)
		if !ok || u.Type != s.Type || u != s && (u.With != nil || u.OrderBy != nil || u.Limit != nil ||
			u.Lock != nil && u.Lock.Type != "" || u.Into != nil) {
			break
		}
		parts = append(parts, u.Right)
		at = u.Left
	}
	if len(parts) < 8 || s.Type != ast.UnionStr && s.Type != ast.UnionAllStr &&
		s.Type != ast.UnionDistinctStr {
		return
	}
	parts = append(parts, at)
	slices.Reverse(parts)
	half := len(parts) / 2
	s.Left, s.Right = union(s.Type, parts[:half]), union(s.Type, parts[half:])
}

func union(kind string, parts []ast.SelectStatement) ast.SelectStatement {
	if len(parts) == 1 {
		return parts[0]
	}
	half := len(parts) / 2
	return &ast.SetOp{Type: kind, Left: union(kind, parts[:half]), Right: union(kind, parts[half:])}
}

// depthOf counts the structures of the tree that are one within the other.
// cost is what is said at maxCost; selects of a UNION, which is made a tree, are not within one another
// there.
func depthOf(stmt ast.Statement) (deepest, cost int) {
	walkTree(stmt, func(v reflect.Value, depth, within int) bool {
		if deepest = max(deepest, depth); v.Kind() == reflect.Struct {
			beyond := max(0, within-easyDepth)
			if cost += beyond; isSteep(v) {
				cost += beyond * beyond / steep
			}
		}
		return deepest <= maxDepth && cost <= maxCost
	})
	return deepest, cost
}

func isSteep(v reflect.Value) bool {
	switch v.Type() {
	case caseType:
		return true
	case binaryType:
		return v.FieldByName("Operator").String() == ast.DivStr
	}
	return false
}

var (
	caseType   = reflect.TypeFor[ast.CaseExpr]()
	binaryType = reflect.TypeFor[ast.BinaryExpr]()
)

// walkTree shows all there is in a tree, what is around first, with the number of structures around it, and
// of those within the last UNION, until see returns false. ast.Walk would not do: it leaves out what DDL
// consists of, and calls itself.
func walkTree(stmt ast.Statement, see func(v reflect.Value, depth, within int) bool) {
	type place struct {
		v     reflect.Value
		depth int
		union int // the depth of what is in the last UNION
	}
	for todo := []place{{v: reflect.ValueOf(stmt)}}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !see(p.v, p.depth, p.depth-p.union) {
			return
		}
		switch p.v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !p.v.IsNil() {
				todo = append(todo, place{p.v.Elem(), p.depth, p.union})
			}
		case reflect.Slice:
			for i := range p.v.Len() {
				todo = append(todo, place{p.v.Index(i), p.depth, p.union})
			}
		case reflect.Struct:
			if p.v.Type() == unionType {
				p.union = p.depth + 1
			}
			for _, i := range branches(p.v.Type()) {
				todo = append(todo, place{p.v.Field(i), p.depth + 1, p.union})
			}
		}
	}
}

var unionType = reflect.TypeFor[ast.SetOp]()

// branching keeps the answers of branches: reflect.Type to []int.
var branching sync.Map

// branches returns the fields of a struct that can hold further nodes. What does not belong to the
// grammar does not count.
func branches(t reflect.Type) []int {
	if known, ok := branching.Load(t); ok {
		return known.([]int)
	}
	var out []int
	for i := range t.NumField() {
		f := t.Field(i).Type
		for f.Kind() == reflect.Slice || f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		if (f.Kind() == reflect.Struct || f.Kind() == reflect.Interface) &&
			strings.HasSuffix(f.PkgPath(), "/sqlparser") {
			out = append(out, i)
		}
	}
	branching.Store(t, out)
	return out
}
