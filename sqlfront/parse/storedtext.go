package parse

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// Expressions that a table keeps: generated columns, keys over expressions, defaults in parentheses, checks.
// What is kept is a text, which is shown, dumped, and read by every node again. The library's text of an
// expression that it has bound is for people: it loses ESCAPE and introducers, exchanges ATAN2's arguments,
// prints EXTRACT(DAY FROM x) as a call that nobody can read, and a table that has such a text can be neither
// read nor dropped. So each such expression carries its own tree along:
//
//	GENERATED ALWAYS AS (expr)  ──►  declared{tree of expr}(expr)     String(): the text that is stored
//
// The library's text stays where it is read as the same tree, since it is MySQL's spelling mostly; else the
// text is printed from the tree, and only if it is read as the same tree. What passes neither test is
// refused.

// storedExpressions finds what a clause of CREATE or ALTER TABLE keeps, and gives it its text.
func storedExpressions(ctx context.Context, d *ast.DDL, o ast.ParserOptions) error {
	if d.TableSpec != nil {
		for _, c := range d.TableSpec.Columns {
			name := c.Name.String()
			if c.Type.GeneratedExpr != nil {
				if err := declare(ctx, &c.Type.GeneratedExpr, generatedKind, name, o); err != nil {
					return err
				}
			}
			if in, ok := c.Type.Default.(*ast.ParenExpr); ok {
				if err := declare(ctx, &in.Expr, defaultKind, name, o); err != nil {
					return err
				}
			}
		}
		for _, c := range d.TableSpec.Constraints {
			if check, ok := c.Details.(*ast.CheckConstraintDefinition); ok && check.Expr != nil {
				if err := declare(ctx, &check.Expr, checkKind, c.Name, o); err != nil {
					return err
				}
			}
		}
	}
	if d.DefaultSpec != nil {
		if in, ok := d.DefaultSpec.Value.(*ast.ParenExpr); ok {
			name := d.DefaultSpec.Column.String()
			if err := declare(ctx, &in.Expr, defaultKind, name, o); err != nil {
				return err
			}
		}
	}
	if d.IndexSpec != nil && d.IndexSpec.Action != ast.DropStr {
		for _, f := range d.IndexSpec.Fields {
			if f != nil && f.Expression != nil {
				if err := declare(ctx, &f.Expression, keyKind, d.IndexSpec.ToName.String(), o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// storedKind is what keeps an expression, with MySQL's errors for what it may not hold.
type storedKind struct {
	function, variable int
	what               string // with the name's verb
}

var (
	generatedKind = storedKind{sqlerr.GeneratedFunction, sqlerr.GeneratedVariable,
		"Expression of generated column '%s'"}
	defaultKind = storedKind{sqlerr.DefaultFunction, sqlerr.DefaultVariable,
		"Default value expression of column '%s'"}
	checkKind = storedKind{sqlerr.CheckFunction, sqlerr.CheckVariable,
		"An expression of a check constraint '%s'"}
	keyKind = storedKind{sqlerr.FunctionalVarying, sqlerr.FunctionalVarying,
		"Expression of functional index '%s'"}
)

// declare wraps an expression that is kept.
func declare(ctx context.Context, at *ast.Expr, kind storedKind, name string, o ast.ParserOptions) error {
	if err := storable(*at, kind, name); err != nil {
		return err
	}
	bare, parens := *at, false
	for in, ok := bare.(*ast.ParenExpr); ok; in, ok = bare.(*ast.ParenExpr) {
		bare, parens = in.Expr, true
	}
	switch v := bare.(type) {
	case *ast.SQLVal:
		if hex := syntax.BitsAsHex(v); hex != v {
			*at = &ast.ParenExpr{Expr: hex}
		}
		return nil // whose text is right
	case *ast.NullVal, ast.BoolVal, *ast.ColName, ast.InjectedExpr:
		return nil // whose text is right
	}
	text := storedTree(bare)
	if inband.In(text) {
		return nil // the engine looks at the text that comes of it
	}
	if again, ok := treeOf(ctx, text, o); !ok || again != text {
		text = ""
	}
	wrapped := ast.Expr(ast.InjectedExpr{Expression: declared{text: text, options: o},
		Children: ast.Exprs{bare}, Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}})
	if parens {
		wrapped = &ast.ParenExpr{Expr: wrapped}
	}
	*at = wrapped
	return nil
}

// storable refuses what has another value for others, or none in a text.
func storable(e ast.Expr, kind storedKind, name string) error {
	function := func(called string) error {
		return sqlerr.New(kind.function, kind.what+" contains a disallowed function: %s.", name, called)
	}
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.SQLVal:
			if n.Type == ast.ValArg {
				return false, sqlerr.New(sqlerr.SyntaxError, "You have an error in your SQL syntax; "+
					kind.what+" cannot have a parameter", name)
			}
		case *ast.ColName:
			if strings.HasPrefix(n.Name.String(), "@") {
				return false, sqlerr.New(kind.variable,
					kind.what+" cannot refer to a user or system variable.", name)
			}
		case *ast.ValuesFuncExpr:
			return false, function("values")
		}
		return true, nil
	}, e)
}

// storedTree prints a tree with bare quoted names of columns, and parentheses around each operator and
// nowhere else: texts of equal trees are equal.
func storedTree(e ast.Expr) string {
	buf := ast.NewTrackedBuffer(func(buf *ast.TrackedBuffer, n ast.SQLNode) {
		switch n := n.(type) {
		case *ast.ColName:
			buf.Myprintf("`%s`", strings.ReplaceAll(n.Name.String(), "`", "``"))
		case *ast.ParenExpr:
			buf.Myprintf("%v", n.Expr)
		case *ast.UnaryExpr: // which writes a space if its operand is one, too
			buf.Myprintf("(%s%v)", n.Operator, n.Expr)
		case *ast.BinaryExpr, *ast.ComparisonExpr, *ast.AndExpr, *ast.OrExpr, *ast.XorExpr, *ast.NotExpr,
			*ast.RangeCond, *ast.IsExpr, *ast.CollateExpr:
			buf.WriteByte('(')
			n.Format(buf)
			buf.WriteByte(')')
		default:
			n.Format(buf)
		}
	})
	buf.Myprintf("%v", e)
	return buf.String()
}

// treeOf reads a text as an expression and prints it.
func treeOf(ctx context.Context, text string, o ast.ParserOptions) (string, bool) {
	e, ok := readStored(ctx, text, o)
	if !ok {
		return "", false
	}
	return storedTree(e), true
}

func readStored(ctx context.Context, text string, o ast.ParserOptions) (ast.Expr, bool) {
	r := rewriter{src: "select " + text, ansi: o.AnsiQuotes}
	r.constants()
	r.intervals()
	r.forms()
	stmt, err := ast.ParseWithOptions(ctx, r.edits.apply(r.src), o)
	if err != nil {
		return nil, false
	}
	if r.sounds {
		sounding(stmt)
	}
	s, ok := stmt.(*ast.Select)
	if !ok || len(s.SelectExprs) != 1 || s.Where != nil || s.Having != nil || s.GroupBy != nil ||
		s.OrderBy != nil || s.Limit != nil || len(s.From) > 1 {
		return nil, false
	}
	a, ok := s.SelectExprs[0].(*ast.AliasedExpr)
	if !ok || !a.As.IsEmpty() {
		return nil, false
	}
	return a.Expr, true
}

// Readable reports whether a text is that of an expression.
func Readable(text string) bool {
	_, ok := treeOf(context.Background(), text, ast.ParserOptions{})
	return ok
}

// declared is the value of its child, and has a text that is read as the tree that the client wrote.
type declared struct {
	text    string // printed from the tree; empty if that is not read as the same tree
	options ast.ParserOptions
	child   sql.Expression
}

var _ sql.Expression = declared{}

// WithResolvedChildren implements ast.Injectable.
func (d declared) WithResolvedChildren(ctx context.Context, children []any) (any, error) {
	if len(children) == 1 {
		if e, ok := children[0].(sql.Expression); ok {
			d.child = e
			return d, nil
		}
	}
	return nil, fmt.Errorf("a stored expression with %d expressions", len(children))
}

// String is the text that is kept. A text of the library's that cannot be read is left: the engine refuses
// it.
func (d declared) String() string {
	if d.child == nil { // in a tree that is printed
		return d.text
	}
	text := d.child.String()
	if d.text == "" {
		return text
	}
	own := Spelled(text)
	tree, ok := treeOf(context.Background(), own, d.options)
	switch {
	case !ok || !sameTree(tree, d.text):
		return d.text
	case strings.HasPrefix(d.text, "(") && !enclosed(own): // an operator without parentheses around it
		return "(" + text + ")"
	}
	return text
}

// enclosed reports whether the parenthesis that a text begins with ends at its end.
func enclosed(s string) bool {
	depth := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '`' || c == '"':
			i = skipString(s, i, c != '`')
			continue
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i == len(s)-1
			}
		case depth == 0:
			return false
		}
		i++
	}
	return false
}

// sameTree reports whether two printed trees are one, but for the case of words and of names.
func sameTree(a, b string) bool { return lowerOutside(a) == lowerOutside(b) }

// lowerOutside makes small letters of all that is in no constant.
func lowerOutside(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if c := s[i]; c == '\'' || c == '"' {
			j := skipString(s, i, true)
			b.WriteString(s[i:j])
			i = j
			continue
		}
		j := i
		for j < len(s) && s[j] != '\'' && s[j] != '"' {
			j++
		}
		b.WriteString(strings.ToLower(s[i:j]))
		i = j
	}
	return b.String()
}

func (d declared) Resolved() bool                   { return d.child.Resolved() }
func (d declared) Type(ctx *sql.Context) sql.Type   { return d.child.Type(ctx) }
func (d declared) IsNullable(ctx *sql.Context) bool { return d.child.IsNullable(ctx) }
func (d declared) Children() []sql.Expression       { return []sql.Expression{d.child} }

func (d declared) Eval(ctx *sql.Context, row sql.Row) (any, error) { return d.child.Eval(ctx, row) }

// CollationCoercibility implements sql.CollationCoercible.
func (d declared) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, d.child)
}

func (d declared) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(d, len(children), 1)
	}
	d.child = children[0]
	return d, nil
}

// kept is an expression that a table keeps, to be computed by whoever writes to it.
type kept struct {
	expr ast.Expr
	kind storedKind
	name string // of the column, the check or the index
}

// keptBy are all expressions that a clause of CREATE or ALTER TABLE, or CREATE INDEX, puts into a table. What
// is a way to get one there belongs here, so that no rule about them knows some of the ways only.
func keptBy(d *ast.DDL) (all []kept) {
	add := func(e ast.Expr, kind storedKind, name string) {
		if e != nil {
			all = append(all, kept{e, kind, name})
		}
	}
	check := func(c *ast.ConstraintDefinition) {
		if c == nil {
			return
		}
		if k, ok := c.Details.(*ast.CheckConstraintDefinition); ok {
			add(k.Expr, checkKind, c.Name)
		}
	}
	key := func(name string, fields []*ast.IndexField) {
		for _, f := range fields {
			if f != nil {
				add(f.Expression, keyKind, name)
			}
		}
	}
	if s := d.DefaultSpec; s != nil {
		add(s.Value, defaultKind, s.Column.String())
	}
	if x := d.IndexSpec; x != nil {
		key(x.ToName.String(), x.Fields)
	}
	if d.TableSpec == nil {
		return all
	}
	for _, x := range d.TableSpec.Indexes {
		name := "functional_index"
		if !x.Info.Name.IsEmpty() {
			name = x.Info.Name.String()
		}
		key(name, x.Fields)
	}
	for _, c := range d.TableSpec.Constraints {
		check(c)
	}
	for _, c := range d.TableSpec.Columns {
		check(c.Type.Constraint)
		add(c.Type.GeneratedExpr, generatedKind, c.Name.String())
		add(c.Type.Default, defaultKind, c.Name.String())
		add(c.Type.OnUpdate, defaultKind, c.Name.String())
	}
	return all
}

// computable refuses what a table must not compute: functions that vary, where the value must be the same at
// any time, those that act, and stored functions. They would run with the rights of whoever writes to the
// table, which its owner need not have. Bodies are looked at, too: their statements are run as they are.
func (p *Parser) computable(ctx context.Context, stmt ast.Statement) error {
	look := func(d *ast.DDL) error {
		for _, k := range keptBy(d) {
			if name := p.disallowed(ctx, k); name != "" && k.kind == keyKind {
				return sqlerr.New(k.kind.function, k.kind.what+" contains a disallowed function.", k.name)
			} else if name != "" {
				return sqlerr.New(k.kind.function, k.kind.what+" contains a disallowed function: %s.",
					k.name, name)
			}
		}
		return nil
	}
	return syntax.Walk(func(n ast.SQLNode) (bool, error) {
		s, ok := n.(ast.Statement)
		if !ok {
			return true, nil
		}
		for _, d := range clauses(s) {
			if err := look(d); err != nil {
				return false, err
			}
		}
		return true, nil
	}, append(syntax.Bodies(stmt), stmt)...)
}

// varying are functions that have another value for the same row at another time, or for somebody else. MySQL
// lets no index have them.
var varying = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "random_bytes": true, "now": true, "sysdate": true,
	"current_timestamp": true, "localtime": true, "localtimestamp": true, "curdate": true,
	"current_date": true, "curtime": true, "current_time": true, "utc_date": true, "utc_time": true,
	"utc_timestamp": true, "connection_id": true, "user": true, "current_user": true, "session_user": true,
	"system_user": true, "database": true, "schema": true,
}

// acting are those that do or read something else than the row, with the rights of whoever writes it: MySQL
// lets no default value have them, either.
var acting = map[string]bool{
	"load_file": true, "sleep": true, "benchmark": true, "get_lock": true, "release_lock": true,
	"release_all_locks": true, "is_free_lock": true, "is_used_lock": true, "last_insert_id": true,
	"row_count": true, "found_rows": true,
}

// disallowed is the first function in an expression that it may not call; empty if there is none.
func (p *Parser) disallowed(ctx context.Context, k kept) (name string) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.FuncExpr:
			called := n.Name.Lowered()
			switch {
			case acting[called], varying[called] && (k.kind == generatedKind || k.kind == keyKind):
				name = called
			case n.IsAggregate(), n.Over != nil: // there are no groups of rows
				name = called
			case p.hooks.StoredFunction != nil &&
				p.hooks.StoredFunction(ctx, n.Qualifier.String(), n.Name.String()):
				name = n.Name.String()
			}
		case *ast.GroupConcatExpr:
			name = "group_concat"
		case *ast.MatchExpr: // the planner looks for its table, and there is none
			name = "match"
		}
		return name == "", nil
	}, k.expr)
	return name
}
