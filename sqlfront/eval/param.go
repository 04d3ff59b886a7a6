package eval

import (
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// ParamType is the type that the binder is told of a parameter.
func ParamType(k LiteralKind) sql.Type {
	switch k {
	case LiteralInt:
		return types.Int64
	case LiteralDecimal:
		return types.InternalDecimalType
	case LiteralFloat:
		return types.Float64
	case LiteralNull:
		return types.Null
	}
	return types.LongText
}

// Kinds tells the kinds of parameters: a plan whose expressions have parameters in them is right for the
// kinds that it was bound with.
func Kinds(params []Literal) string {
	b := make([]byte, len(params))
	for i := range params {
		b[i] = '0' + byte(params[i].Kind)
	}
	return string(b)
}

// Native is the literal as a value of its ParamType.
func (l Literal) Native() (any, bool) {
	switch l.Kind {
	case LiteralNull:
		return nil, true
	case LiteralInt:
		n, err := strconv.ParseInt(l.Text, 10, 64)
		return n, err == nil
	case LiteralDecimal:
		d, _, err := apd.NewFromString(l.Text)
		return d, err == nil
	case LiteralFloat:
		f, err := strconv.ParseFloat(l.Text, 64)
		return f, err == nil
	case LiteralString:
		return l.Text, true
	}
	return nil, false
}
