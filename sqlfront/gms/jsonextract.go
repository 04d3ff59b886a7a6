package gms

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/jsontext"
	"moka/sqlfront/sqlerr"
)

// jsonExtract is JSON_EXTRACT(doc, path, …). The library's knows no `last`, `to` and `**`, finds null with
// wildcards where there is nothing, and panics if one of several paths finds nothing.
type jsonExtract struct{ *json.JSONExtract }

var (
	_ sql.FunctionExpression = (*jsonExtract)(nil)
	_ sql.CollationCoercible = (*jsonExtract)(nil)
)

// NewJSONExtract makes a call of JSON_EXTRACT.
func NewJSONExtract(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	e, err := json.NewJSONExtract(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &jsonExtract{e.(*json.JSONExtract)}, nil
}

// WithChildren implements sql.Expression.
func (j *jsonExtract) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	return NewJSONExtract(ctx, children...)
}

// IsNullable implements sql.Expression: a path may find nothing.
func (*jsonExtract) IsNullable(*sql.Context) bool { return true }

// Eval implements sql.Expression. What a path finds that may find several values, and what several paths
// find, is an array; nothing is NULL.
func (j *jsonExtract) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	document, ok, err := documentOf(ctx, j.JSON, row)
	if err != nil {
		return nil, err
	}
	if !ok { // the library says why that is no document
		return j.JSONExtract.Eval(ctx, row)
	}
	all, many := []any{}, len(j.Paths) > 1
	for _, e := range j.Paths {
		p, err := pathOf(ctx, e, row)
		if p == nil || err != nil {
			return nil, err
		}
		found, err := p.Find(ctx, document)
		if err != nil {
			return nil, err
		}
		all, many = append(all, found...), many || p.Many()
	}
	switch {
	case len(all) == 0:
		return nil, nil
	case !many:
		return types.JSONDocument{Val: all[0]}, nil
	}
	return types.JSONDocument{Val: all}, nil
}

// documentOf is the document that an argument is; ok is false if it is none, or NULL.
func documentOf(ctx *sql.Context, e sql.Expression, row sql.Row) (document any, ok bool, err error) {
	v, err := e.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, false, err
	}
	doc, ok := v.(sql.JSONWrapper)
	if _, text := v.(string); text {
		converted, _, err := types.JSON.Convert(ctx, v)
		if doc, ok = converted.(sql.JSONWrapper); err != nil {
			ok = false
		}
	}
	if !ok {
		return nil, false, nil
	}
	document, err = doc.ToInterface(ctx)
	return document, true, err
}

// pathOf is the path that an argument is, nil for NULL.
func pathOf(ctx *sql.Context, e sql.Expression, row sql.Row) (*jsontext.Path, error) {
	v, err := e.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	if bytes, ok := v.([]byte); ok {
		v = string(bytes)
	}
	text, _ := v.(string)
	p, err := jsontext.ParsePath(text)
	if bad := jsontext.PathError(0); errors.As(err, &bad) {
		return nil, sqlerr.New(sqlerr.InvalidJSONPath, "%s", bad.Error())
	}
	return p, err
}
