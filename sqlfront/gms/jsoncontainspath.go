package gms

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
)

// jsonContainsPath is JSON_CONTAINS_PATH(doc, 'one' or 'all', path, …). The library's knows the paths that
// its JSON_EXTRACT knows: with $**.a it found nothing.
type jsonContainsPath struct{ *json.JSONContainsPath }

var _ sql.FunctionExpression = (*jsonContainsPath)(nil)

// NewJSONContainsPath makes a call of JSON_CONTAINS_PATH.
func NewJSONContainsPath(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	e, err := json.NewJSONContainsPath(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &jsonContainsPath{e.(*json.JSONContainsPath)}, nil
}

// WithChildren implements sql.Expression.
func (j *jsonContainsPath) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression,
	error) {
	return NewJSONContainsPath(ctx, children...)
}

// Eval implements sql.Expression. Paths are looked at from the left as far as it takes, and NULL among those
// makes NULL.
func (j *jsonContainsPath) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := j.Children()
	document, ok, err := documentOf(ctx, args[0], row)
	if err != nil {
		return nil, err
	}
	all := false
	if ok {
		word, err := args[1].Eval(ctx, row)
		if err == nil {
			word, err = sql.UnwrapAny(ctx, word)
		}
		if err != nil {
			return nil, err
		}
		text, is := word.(string)
		all = strings.EqualFold(text, "all")
		ok = is && (all || strings.EqualFold(text, "one"))
	}
	if !ok { // the library says why
		return j.JSONContainsPath.Eval(ctx, row)
	}
	for _, e := range args[2:] {
		p, err := pathOf(ctx, e, row)
		if p == nil || err != nil {
			return nil, err
		}
		found, err := p.Find(ctx, document)
		if err != nil {
			return nil, err
		}
		if some := len(found) > 0; some != all {
			return some, nil
		}
	}
	return all, nil
}
