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
	is, err := s.contains(s.left, s.right)
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
	is, err := s.overlaps(s.left, s.right)
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
	ctx         *sql.Context
	by          *call
	left, right any
	steps       int
}

// newFinder charges for the sets of their elements that there may be.
func newFinder(ctx *sql.Context, c *call, left, right sql.JSONWrapper) (*finder, error) {
	s := &finder{ctx: ctx, by: c}
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

// contains reports whether b is contained in a. What is in an array within an array counts as in the array.
func (s *finder) contains(a, b any) (bool, error) {
	if err := s.step(); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case []any:
		return s.arrayContains(a, b)
	case map[string]any:
		o, ok := b.(map[string]any)
		if !ok {
			return false, nil
		}
		for k, v := range o {
			in, ok := a[k]
			if !ok {
				return false, nil
			}
			if is, err := s.contains(in, v); !is || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	switch b.(type) {
	case []any, map[string]any:
		return false, nil
	}
	return string(jsonKey(nil, a)) == string(jsonKey(nil, b)), nil
}

func (s *finder) arrayContains(a []any, b any) (bool, error) {
	wanted := map[string]bool{} // scalars, by their keys
	var objects []any
	err := s.each(b, func(v any) {
		if _, ok := v.(map[string]any); ok {
			objects = append(objects, v)
		} else {
			wanted[string(jsonKey(nil, v))] = true
		}
	})
	if err != nil {
		return false, err
	}
	var among []any
	var key []byte
	err = s.each(a, func(v any) {
		if _, ok := v.(map[string]any); ok {
			if len(objects) > 0 {
				among = append(among, v)
			}
		} else if len(wanted) > 0 {
			key = jsonKey(key[:0], v)
			delete(wanted, string(key))
		}
	})
	if len(wanted) > 0 || err != nil {
		return false, err
	}
	for _, o := range objects {
		found := false
		for i := 0; i < len(among) && !found; i++ {
			if found, err = s.contains(among[i], o); err != nil {
				return false, err
			}
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// each goes over a value, or over what is in an array and the arrays in it.
func (s *finder) each(v any, do func(any)) error {
	if err := s.step(); err != nil {
		return err
	}
	array, ok := v.([]any)
	if !ok {
		do(v)
		return nil
	}
	for _, e := range array {
		if err := s.each(e, do); err != nil {
			return err
		}
	}
	return nil
}

// overlaps reports whether two documents have an element of an array, or a member of an object, in common; a
// value is an array of itself beside an array.
func (s *finder) overlaps(a, b any) (bool, error) {
	left, array := a.([]any)
	right, both := b.([]any)
	if array || both {
		if !array {
			left = []any{a}
		}
		if !both {
			right = []any{b}
		}
		return s.common(left, right)
	}
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok || !ok2 {
		return s.common([]any{a}, []any{b})
	}
	for k, v := range x {
		if w, ok := y[k]; ok {
			if is, err := s.common([]any{v}, []any{w}); is || err != nil {
				return is, err
			}
		}
	}
	return false, nil
}

// common reports whether a value is in both lists.
func (s *finder) common(a, b []any) (bool, error) {
	set := make(map[string]bool, len(b))
	for _, v := range b {
		if err := s.step(); err != nil {
			return false, err
		}
		set[string(jsonKey(nil, v))] = true
	}
	var key []byte
	for _, v := range a {
		if err := s.step(); err != nil {
			return false, err
		}
		if key = jsonKey(key[:0], v); set[string(key)] {
			return true, nil
		}
	}
	return false, nil
}

// jsonKey adds a value's key: numbers are equal whatever they are kept as.
func jsonKey(key []byte, v any) []byte { return jsontext.AppendKey(key, v, jsonNumber) }

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
