package engine

import (
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
	"moka/sqlfront/inband"
	"moka/sqlfront/rights"
	"moka/sqlfront/syntax"
)

var _ sql.FunctionProvider = (*provider)(nil)

// Function implements sql.FunctionProvider; it is asked before the library's own functions.
func (p *provider) Function(ctx *sql.Context, schema, name string) (sql.Function, bool) {
	name = strings.ToLower(name)
	var in *rights.Stored
	if s := sessionOf(ctx); s != nil {
		in = s.callee(name)
	}
	if marked, of, ok := storedIn(name); ok {
		name, in = marked, of
	}
	if schema != "" {
		return p.storedFunctionOf(ctx, in, schema, name)
	}
	if name == "load_file" {
		return expr.Bounded(name, p.eng.loadFile(in), true)
	}
	if f, ok := p.funcs[name]; ok {
		return expr.Bounded(name, f, true)
	}
	f, ok := ownFunction(name)
	f, ok = builtin.Bytewise(name, f, ok)
	f, ok = expr.Bounded(name, f, ok)
	if f, ok = expr.CollatedFunction(name, f, ok); ok {
		return f, true
	}
	if builtin.Native(name) {
		return nil, false
	}
	if f, ok := p.storedFunction(ctx, in, "", name); ok {
		return f, true
	}
	return goneFromView(ctx, name)
}

// storedFunctionOf is what db.name(…) calls: the stored function of that database, or none, whatever the
// library has of the name.
func (p *provider) storedFunctionOf(ctx *sql.Context, in *rights.Stored, db, name string) (sql.Function, bool) {
	if f, ok := p.storedFunction(ctx, in, db, name); ok {
		return f, true
	}
	if f, ok := goneFromView(ctx, name); ok {
		return f, true
	}
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, _ ...sql.Expression) (sql.Expression, error) {
		return nil, p.eng.noFunction(ctx, db, name)
	}}, true
}

// goneFromView is the function that a view calls and the client does not, and that is not there any more.
func goneFromView(ctx *sql.Context, name string) (sql.Function, bool) {
	if ctx == nil || ctx.Session == nil {
		return nil, false
	}
	s := sessionOf(ctx)
	if s == nil || ctx.Query() == "" || s.reads.text == "" {
		return nil, false
	}
	call := regexp.MustCompile("(?i)\\b" + regexp.QuoteMeta(name) + "`?\\s*\\(")
	if call.MatchString(ctx.Query()) || !call.MatchString(s.reads.text) {
		return nil, false
	}
	view := s.reads
	return sql.FunctionN{Name: name, Fn: func(*sql.Context, ...sql.Expression) (sql.Expression, error) {
		return nil, sql.ErrInvalidRefInView.New(view.Database, view.View)
	}}, true
}

// ownFunction is ours of that name, in the place of the library's.
func ownFunction(name string) (sql.Function, bool) {
	for _, of := range []func(string) (sql.Function, bool){typedFunction, builtin.Function, gms.ClockFunction, builtin.SpatialReader, builtin.SpatialPairs,
		builtin.VectorFunction} {
		if f, ok := of(name); ok {
			return f, true
		}
	}
	return nil, false
}

// viewCall begins the name of a function in the text of a view through which rows are written. Behind it are,
// in hexadecimal and with a zero byte between, what storedIn reads: whose call it is, and the function's
// name.
//
// Views over views are merged into one expression, the condition of WITH CHECK OPTION becomes a CHECK of the
// table; neither knows any more which of its parts came from which view. An INSERT of root's into somebody's
// view ran that somebody's functions as root.
var viewCall = inband.Function("view")

// markCalls marks the calls of stored functions, and of those that ask for a privilege when they run, in the
// text of the view in.
func (p *provider) markCalls(e ast.SQLNode, in *rights.Stored) {
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		f, ok := n.(*ast.FuncExpr)
		if !ok || f.IsAggregate() || f.Qualifier.IsEmpty() && p.own(f.Name.Lowered()) {
			return true, nil
		}
		whose := []string{in.Database, in.View, in.User, in.Host, in.Definer, f.Name.String()}
		f.Name = ast.NewColIdent(viewCall + hex.EncodeToString([]byte(strings.Join(whose, "\x00"))))
		return true, nil
	}, e)
}

// own reports whether a name is that of a function of ours or of the library's that asks for no privilege.
func (p *provider) own(name string) bool {
	if name == "load_file" {
		return false
	}
	_, given := p.funcs[name]
	_, ours := ownFunction(name)
	return given || ours || builtin.Native(name)
}

// storedIn is the function and the view of a marked name.
func storedIn(marked string) (name string, in *rights.Stored, ok bool) {
	rest, ok := strings.CutPrefix(marked, viewCall)
	if !ok {
		return "", nil, false
	}
	whose, err := hex.DecodeString(rest)
	parts := strings.Split(string(whose), "\x00")
	if err != nil || len(parts) != 6 {
		return "", nil, false
	}
	in = &rights.Stored{Database: parts[0], View: parts[1], User: parts[2], Host: parts[3], Definer: parts[4]}
	return strings.ToLower(parts[5]), in, true
}
