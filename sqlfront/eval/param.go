package eval

import (
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/rowenc"
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

// LiteralOf writes a value of a type as a literal that means the same; false if none does.
func LiteralOf(v any, t sql.Type) (Literal, bool) {
	switch v := v.(type) {
	case nil:
		return Literal{Kind: LiteralNull}, true
	case bool:
		if v {
			return Literal{Kind: LiteralInt, Text: "1"}, true
		}
		return Literal{Kind: LiteralInt, Text: "0"}, true
	case int8, int16, int32, int64, uint8, uint16, uint32:
		if !types.IsInteger(t) && !types.IsBoolean(t) {
			return Literal{}, false // YEAR, ENUM
		}
		n, _ := rowenc.Int64(v)
		return Literal{Kind: LiteralInt, Text: strconv.FormatInt(n, 10)}, true
	case uint64:
		return Literal{Kind: LiteralInt, Text: strconv.FormatUint(v, 10)}, types.IsInteger(t)
	case int:
		return Literal{Kind: LiteralInt, Text: strconv.Itoa(v)}, true
	case float64:
		return Literal{Kind: LiteralFloat, Text: strconv.FormatFloat(v, 'g', -1, 64)}, true
	case *apd.Decimal:
		return Literal{Kind: LiteralDecimal, Text: v.Text('f')}, v.Form == apd.Finite
	case string:
		st, ok := t.(sql.StringType)
		if !ok {
			return Literal{}, false
		}
		return Literal{Kind: LiteralString, Text: v, Collation: st.Collation()}, true
	case time.Time:
		switch t.Type() {
		case sqltypes.Date:
			return Literal{Kind: LiteralTime, Text: v.Format(time.DateOnly)}, true
		case sqltypes.Datetime, sqltypes.Timestamp:
			return Literal{Kind: LiteralTime, Text: v.Format("2006-01-02 15:04:05.999999")}, true
		}
	}
	return Literal{}, false
}

// TextLiteral is the literal of a value in a statement's text: one of a text has no collation of its own.
func TextLiteral(v any, t sql.Type) (Literal, bool) {
	l, ok := LiteralOf(v, t)
	l.Collation = sql.Collation_Unspecified
	return l, ok
}
