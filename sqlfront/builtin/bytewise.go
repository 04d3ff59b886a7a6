package builtin

import (
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// bytewise is a function of texts that are bytes, to which a character is one of them. The library's takes
// them for UTF-8: LEFT(x'FFFE', 1) was EFBFBD, and was stored as that, and REVERSE was an error or nothing.
// Its own function is asked with the character U+00FF in the place of the byte FF, and so is its answer read.
type bytewise struct {
	expression.NaryExpression
	name  string
	make  sql.Function
	inner sql.Expression
}

var (
	_ sql.FunctionExpression = (*bytewise)(nil)
	_ sql.CollationCoercible = (*bytewise)(nil)
)

var bytewiseFunctions = map[string]bool{
	"left": true, "right": true, "substr": true, "substring": true, "mid": true, "reverse": true,
	"repeat": true, "replace": true, "ltrim": true, "rtrim": true, "trim": true, "elt": true,
	"substring_index": true, "concat": true, "concat_ws": true,
	"lower": true, "lcase": true, "upper": true, "ucase": true,
}

// Bytewise makes a function of texts one of bytes where bytes are among its arguments: f, or, if ok is
// false, the library's of that name. One of ofEncoded takes bytes for texts.
func Bytewise(name string, f sql.Function, ok bool) (sql.Function, bool) {
	if !bytewiseFunctions[name] && !ofEncoded[name] {
		return f, ok
	}
	if !ok {
		if f, ok = libraryFunction(name); !ok {
			return nil, false
		}
	}
	if ofEncoded[name] {
		return ofTheirBytes(f), true
	}
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression,
		error) {
		if !bytesAmong(ctx, args) {
			return f.NewInstance(ctx, args)
		}
		return newBytewise(ctx, name, f, args)
	}}, true
}

func bytesAmong(ctx *sql.Context, args []sql.Expression) bool {
	for _, a := range args {
		if t := resolvedType(ctx, a); t != nil && types.IsText(t) && !types.IsTextOnly(t) {
			return true
		}
	}
	return false
}

func newBytewise(ctx *sql.Context, name string, f sql.Function, args []sql.Expression) (sql.Expression,
	error) {
	spread := make([]sql.Expression, len(args))
	for i, a := range args {
		if spread[i] = a; types.IsText(a.Type(ctx)) {
			spread[i] = &spreadBytes{expression.UnaryExpressionStub{Child: a}}
		}
	}
	b := &bytewise{expression.NaryExpression{ChildExpressions: args}, name, f, nil}
	switch name {
	case "lower", "lcase", "upper", "ucase": // bytes have no case
		if len(args) == 1 {
			b.inner = spread[0]
			return b, nil
		}
	}
	var err error
	b.inner, err = f.NewInstance(ctx, spread)
	return b, err
}

// FunctionName implements sql.FunctionExpression.
func (b *bytewise) FunctionName() string { return b.name }

// Description implements sql.FunctionExpression.
func (b *bytewise) Description() string { return "is MySQL's function of that name, of bytes." }

// Type implements sql.Expression.
func (b *bytewise) Type(*sql.Context) sql.Type { return types.LongBlob }

// IsNullable implements sql.Expression.
func (b *bytewise) IsNullable(*sql.Context) bool { return true }

// String implements sql.Expression.
func (b *bytewise) String() string {
	return (&computed{NaryExpression: b.NaryExpression, name: b.name}).String()
}

// CollationCoercibility implements sql.CollationCoercible.
func (b *bytewise) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 2
}

// WithChildren implements sql.Expression.
func (b *bytewise) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(b.ChildExpressions) {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(children), len(b.ChildExpressions))
	}
	return newBytewise(ctx, b.name, b.make, children)
}

// Eval implements sql.Expression.
func (b *bytewise) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := b.inner.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	if v, _, err = types.LongText.Convert(ctx, v); err != nil {
		return nil, err
	}
	text, _ := v.(string)
	out := make([]byte, 0, len(text))
	for _, r := range text {
		out = append(out, byte(r))
	}
	return out, nil
}

// spreadBytes is a text of a character for each byte.
type spreadBytes struct{ expression.UnaryExpressionStub }

func (s *spreadBytes) String() string { return s.Child.String() }
func (s *spreadBytes) Type(*sql.Context) sql.Type {
	return types.CreateLongText(sql.Collation_utf8mb4_0900_bin)
}

// CollationCoercibility implements sql.CollationCoercible.
func (s *spreadBytes) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_utf8mb4_0900_bin, 2
}

// WithChildren implements sql.Expression.
func (s *spreadBytes) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(children), 1)
	}
	return &spreadBytes{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval implements sql.Expression.
func (s *spreadBytes) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := s.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return v, err
	}
	out := make([]byte, 0, len(text)+len(text)/2)
	for i := range len(text) {
		out = utf8.AppendRune(out, rune(text[i]))
	}
	return string(out), nil
}
