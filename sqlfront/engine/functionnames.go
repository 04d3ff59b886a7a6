package engine

import (
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/builtin"
	"moka/sqlfront/expr"
	"moka/sqlfront/gms"
	"moka/sqlfront/rights"
)

var _ sql.FunctionProvider = (*provider)(nil)

// Function implements sql.FunctionProvider; it is asked before the library's own functions.
func (p *provider) Function(ctx *sql.Context, schema, name string) (sql.Function, bool) {
	name = strings.ToLower(name)
	var in *rights.Stored
	if s := sessionOf(ctx); s != nil {
		in = s.callee(name)
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

// storedFunctionOf is what db.name(…) calls: the stored function of that database, or none, whatever the library has of the name.
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
