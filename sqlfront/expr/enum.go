package expr

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Values of ENUM and SET travel as numbers, which mean nothing without their type. Whoever gives such a value
// to something of another type goes through here: to all but numbers it is a text.

// IsEnum reports whether values of the type are the numbers of an ENUM or SET.
func IsEnum(t sql.Type) bool {
	switch t.(type) {
	case sql.EnumType, sql.SetType:
		return true
	}
	return false
}

// EnumText is the text of a value of an ENUM or SET. What is no number of one is text already.
func EnumText(t sql.Type, v any) (any, error) {
	switch t := t.(type) {
	case sql.EnumType:
		if n, ok := v.(uint16); ok {
			s, _ := t.At(int(n)) // 0 is the error value, whose text is empty
			return s, nil
		}
	case sql.SetType:
		if bits, ok := v.(uint64); ok {
			return t.BitsToString(bits)
		}
	}
	return v, nil
}

// AssignedAsText reports whether values of the type from are texts to what has the type to; nil
// is what takes any type.
func AssignedAsText(from, to sql.Type) bool {
	return IsEnum(from) && (to == nil || !types.IsNumber(to) && !to.Equals(from))
}

// EnumLabel is the text of an ENUM or SET.
type EnumLabel struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*EnumLabel)(nil)
	_ sql.CollationCoercible = (*EnumLabel)(nil)
)

// NewEnumLabel makes a text of an expression that has the value of an ENUM or SET.
func NewEnumLabel(e sql.Expression) *EnumLabel {
	return &EnumLabel{expression.UnaryExpressionStub{Child: e}}
}

// String implements sql.Expression.
func (e *EnumLabel) String() string { return e.Child.String() }

// WithChildren implements sql.Expression.
func (e *EnumLabel) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(cs), 1)
	}
	return NewEnumLabel(cs[0]), nil
}

// Type implements sql.Expression.
func (e *EnumLabel) Type(ctx *sql.Context) sql.Type {
	collation, _ := e.CollationCoercibility(ctx)
	return types.CreateLongText(collation)
}

// CollationCoercibility implements sql.CollationCoercible. The library says of a subquery that it is of
// bytes.
func (e *EnumLabel) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	collation, weight := sql.GetCoercibility(ctx, e.Child)
	if own, ok := e.Child.Type(ctx).(sql.TypeWithCollation); ok && collation == sql.Collation_binary {
		return own.Collation(), weight
	}
	return collation, weight
}

// Eval implements sql.Expression.
func (e *EnumLabel) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	return EnumText(e.Child.Type(ctx), v)
}

// withoutEnums are operands of which ENUMs and SETs are numbers if there is a number among the
// others, and else texts.
func withoutEnums(ctx *sql.Context, operands []sql.Expression) []sql.Expression {
	enum := func(e sql.Expression) bool { return e.Resolved() && IsEnum(e.Type(ctx)) }
	if !slices.ContainsFunc(operands, enum) {
		return operands
	}
	number := slices.ContainsFunc(operands, func(e sql.Expression) bool {
		return e.Resolved() && types.IsNumber(e.Type(ctx))
	})
	out := slices.Clone(operands)
	for i, e := range out {
		switch {
		case !enum(e):
		case number:
			out[i] = numberOfEnum(ctx, e)
		default:
			out[i] = NewEnumLabel(e)
		}
	}
	return out
}

// NotMember reports whether e is a constant text that the library takes for another value of the ENUM or SET
// than the text's own, or for none: that of a number, one with spaces at its end, which some collations do
// not count, or elements of a SET in another order than its own.
func NotMember(ctx *sql.Context, t sql.Type, e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	text, ok := l.Value().(string)
	if !ok {
		return false
	}
	_, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	doubtful := err == nil || strings.HasSuffix(text, " ")
	switch t := t.(type) {
	case sql.EnumType:
		return doubtful && !slices.ContainsFunc(t.Values(), func(v string) bool {
			return strings.EqualFold(v, text)
		})
	case sql.SetType:
		v, _, err := t.Convert(ctx, text)
		bits, ok := v.(uint64)
		if err != nil || !ok {
			return doubtful
		}
		own, err := t.BitsToString(bits)
		return err == nil && !strings.EqualFold(own, text)
	}
	return false
}

// numberOfEnum makes a number of an ENUM or SET; everything else stays.
func numberOfEnum(ctx *sql.Context, e sql.Expression) sql.Expression {
	if e.Resolved() && IsEnum(e.Type(ctx)) {
		return expression.NewConvert(e, expression.ConvertToUnsigned)
	}
	return e
}

// NumberText is the text of a DOUBLE or FLOAT, as MySQL writes it; everything else stays. The library writes
// all digits of 1.7e19.
func NumberText(ctx *sql.Context, e sql.Expression) sql.Expression {
	if _, done := e.(*Number); !done && e.Resolved() && types.IsFloat(e.Type(ctx)) {
		return newNumber(ctx, e, types.LongText)
	}
	return e
}

// BitText is a column of BIT where a text is wanted: its bytes.
type BitText struct{ expression.UnaryExpressionStub }

// NewBitText is the text of a column of BIT.
func NewBitText(column sql.Expression) *BitText {
	return &BitText{expression.UnaryExpressionStub{Child: column}}
}

func (b *BitText) String() string { return b.Child.String() }

// Type implements sql.Expression.
func (b *BitText) Type(*sql.Context) sql.Type { return types.LongBlob }

// CollationCoercibility implements sql.CollationCoercible.
func (b *BitText) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (b *BitText) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(children), 1)
	}
	return &BitText{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval implements sql.Expression.
func (b *BitText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := b.Child.Eval(ctx, row)
	n, ok := v.(uint64)
	if err != nil || !ok {
		return v, err
	}
	bits, ok := b.Child.Type(ctx).(types.BitType)
	if !ok {
		return v, nil
	}
	all := binary.BigEndian.AppendUint64(nil, n)
	return all[8-(int(bits.NumberOfBits())+7)/8:], nil
}
