package gms

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/jsontext"
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
	if !ok || text == "" {
		return nil, sqlerr.New(sqlerr.InvalidJSONPath,
			"Invalid JSON path expression. The error is around character position 1.")
	}
	known := *j.JsonValue
	known.Path = expression.NewLiteral(text, types.LongText)
	v, err := known.Eval(ctx, row)
	if quoted, ok := v.(string); ok && err == nil && isQuoted(quoted) { // a text is its characters
		return unquoted(quoted)
	}
	return v, err
}

func isQuoted(text string) bool {
	return len(text) > 1 && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`)
}

// NewJSONUnquote makes a call of JSON_UNQUOTE. The library's takes backslashes out of texts without quotes,
// too, takes what stands between quotes for a JSON text without a look, and ended the statement at half of a
// surrogate pair and at an escape that breaks off; of \ud83d\ude00 it knew only the halves.
func NewJSONUnquote(ctx *sql.Context, e sql.Expression) sql.Expression {
	return &jsonUnquote{json.NewJSONUnquote(ctx, e).(*json.JSONUnquote)}
}

type jsonUnquote struct{ *json.JSONUnquote }

// Eval implements sql.Expression.
func (j *jsonUnquote) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	t := j.Child.Type(ctx)
	if t != types.Null && !types.IsText(t) && !types.IsJSON(t) {
		return nil, sql.ErrInvalidType.New(t)
	}
	v, err := j.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	if v, _, err = types.LongText.Convert(ctx, v); err != nil {
		return nil, err
	}
	text, ok := v.(string)
	if !ok || !isQuoted(text) {
		return v, nil
	}
	return unquoted(text)
}

// unquoted is the text that a JSON text stands for.
func unquoted(text string) (any, error) {
	out, err := jsontext.Unquote(text)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidJSONText,
			"Invalid JSON text in argument 1 to function json_unquote")
	}
	return out, nil
}

// WithChildren implements sql.Expression.
func (j *jsonUnquote) WithChildren(ctx *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(j, len(ch), 1)
	}
	return NewJSONUnquote(ctx, ch[0]), nil
}

// WithChildren implements sql.Expression.
func (j *jsonValue) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := j.JsonValue.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &jsonValue{e.(*json.JsonValue)}, nil
}
