package expr

import (
	"context"
	"encoding/json"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	jsonfn "github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/inband"
	"moka/sqlfront/jsonsize"
	"moka/sqlfront/jsontext"
	"moka/sqlfront/sqlerr"
)

// JSON_CONTAINS and JSON_OVERLAPS. The library compares each element of one array with each of the other, and
// hears no KILL: two of 100,000 took minutes. Here the elements of one are kept in a set by their keys.

func jsonFunctions() (fs []sql.Function) {
	truth := func(*sql.Context, []sql.Expression) sql.Type { return types.Boolean }
	for _, b := range []*builtin{
		{name: "json_contains", min: 2, max: 3, typ: truth, eval: jsonContains},
		{name: "json_overlaps", min: 2, max: 2, typ: truth, eval: jsonOverlaps},
	} {
		fs = append(fs, b.function())
	}
	return append(fs, sql.Function1{Name: "json_type",
		Fn: func(_ *sql.Context, e sql.Expression) sql.Expression {
			return newJSONType(e)
		}}, sql.Function1{Name: JSONFunction, Fn: func(_ *sql.Context, e sql.Expression) sql.Expression {
		return jsontext.NewParsing(e)
	}})
}

// JSONFunction is the argument of CAST(… AS JSON).
var JSONFunction = inband.Function("json")

func newJSONType(e sql.Expression) sql.Expression {
	if _, cast := e.(*expression.Convert); !cast { // of which JSON_TYPE looks at the argument
		e = jsontext.NewParsing(e)
	}
	return &jsonType{&jsonfn.JSONType{JSON: e}}
}

// jsonType is JSON_TYPE. go-mysql-server's says 'NULL' of a JSON null, which is right, and of
// NULL, which has no type.
type jsonType struct{ *jsonfn.JSONType }

// WithChildren implements sql.Expression.
func (t *jsonType) WithChildren(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(t, len(args), 1)
	}
	return newJSONType(args[0]), nil
}

// IsNullable implements sql.Expression.
func (t *jsonType) IsNullable(*sql.Context) bool { return true }

// Eval implements sql.Expression.
func (t *jsonType) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	kind, err := t.JSONType.Eval(ctx, row)
	if kind != "NULL" || err != nil {
		return kind, err
	}
	if v, err := t.JSON.Eval(ctx, row); v == nil || err != nil {
		return nil, err
	}
	return kind, nil
}

// jsonContains is JSON_CONTAINS(target, candidate, path).
func jsonContains(ctx *sql.Context, c *call, vs []any) (any, error) {
	target, err := documentOf(ctx, c, vs, 0)
	if err != nil {
		return nil, err
	}
	candidate, err := documentOf(ctx, c, vs, 1)
	if err != nil {
		return nil, err
	}
	if len(vs) == 3 {
		path, err := textOf(ctx, c.args[2], vs[2])
		if err != nil {
			return nil, err
		}
		found, err := types.LookupJSONValue(ctx, target, path)
		if found == nil || err != nil {
			return nil, err
		}
		target = found
	}
	s, err := newFinder(ctx, c, target, candidate)
	if err != nil {
		return nil, err
	}
	defer s.end()
	is, err := s.Contains(s.left, s.right)
	if err != nil {
		return nil, err
	}
	return is, nil
}

// jsonOverlaps is JSON_OVERLAPS(a, b).
func jsonOverlaps(ctx *sql.Context, c *call, vs []any) (any, error) {
	a, err := documentOf(ctx, c, vs, 0)
	if err != nil {
		return nil, err
	}
	b, err := documentOf(ctx, c, vs, 1)
	if err != nil {
		return nil, err
	}
	s, err := newFinder(ctx, c, a, b)
	if err != nil {
		return nil, err
	}
	defer s.end()
	is, err := s.Overlaps(s.left, s.right)
	if err != nil {
		return nil, err
	}
	return is, nil
}

// documentOf is an argument that is a document, or the text of one.
func documentOf(ctx *sql.Context, c *call, vs []any, i int) (sql.JSONWrapper, error) {
	switch v := vs[i].(type) {
	case sql.JSONWrapper:
		return v, nil
	case string:
		var doc any
		if err := json.Unmarshal([]byte(v), &doc); err != nil {
			return nil, sql.ErrInvalidJSONText.New(i+1, c.name, shortened(v))
		}
		return types.JSONDocument{Val: doc}, nil
	}
	return nil, sql.ErrInvalidJSONArgument.New(i+1, c.name)
}

// finder compares two documents.
type finder struct {
	jsontext.Comparison
	ctx         *sql.Context
	by          *call
	left, right any
	steps       int
}

// newFinder charges for the sets of their elements that there may be.
func newFinder(ctx *sql.Context, c *call, left, right sql.JSONWrapper) (*finder, error) {
	s := &finder{ctx: ctx, by: c}
	s.Comparison = jsontext.Comparison{Number: jsonNumber, Step: s.step}
	var err error
	if s.left, err = left.ToInterface(ctx); err != nil {
		return nil, err
	}
	if s.right, err = right.ToInterface(ctx); err != nil {
		return nil, err
	}
	if n := 2 * jsonsize.Memory(s.right); n > large {
		return s, charge(ctx, c, n)
	}
	return s, nil
}

// end gives back what was charged.
func (s *finder) end() { _ = charge(s.ctx, s.by, 0) } // which does not fail

// step counts, and is an error when the statement is to end.
func (s *finder) step() error {
	if s.steps++; s.steps%askEvery == 0 && s.ctx.Err() != nil {
		return sqlerr.From(context.Cause(s.ctx))
	}
	return nil
}

// jsonNumber is a value as a number: numbers are equal whatever they are kept as.
func jsonNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case bool:
		return 0, false
	case *apd.Decimal:
		f, err := v.Float64()
		return f, err == nil
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	n, ok := wide(v)
	if !ok {
		return 0, false
	}
	if n.negative {
		return -float64(n.abs), true
	}
	return float64(n.abs), true
}
