package gms

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// jsonValue is JSON_VALUE(doc, path). The library's takes it for granted that the path is a text, and panics
// at NULL and at everything else.
type jsonValue struct{ *json.JsonValue }

var (
	_ sql.FunctionExpression = (*jsonValue)(nil)
	_ sql.CollationCoercible = (*jsonValue)(nil)
)

// NewJSONValue makes a call of JSON_VALUE.
func NewJSONValue(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	e, err := json.NewJsonValue(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &jsonValue{e.(*json.JsonValue)}, nil
}

// Eval implements sql.Expression.
func (j *jsonValue) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	path, err := j.Path.Eval(ctx, row)
	if err == nil {
		path, err = sql.UnwrapAny(ctx, path)
	}
	if path == nil || err != nil {
		return nil, err
	}
	text, ok := path.(string)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidJSONPath,
			"Invalid JSON path expression. The error is around character position 1.")
	}
	known := *j.JsonValue
	known.Path = expression.NewLiteral(text, types.LongText)
	return known.Eval(ctx, row)
}

// WithChildren implements sql.Expression.
func (j *jsonValue) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := j.JsonValue.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &jsonValue{e.(*json.JsonValue)}, nil
}
