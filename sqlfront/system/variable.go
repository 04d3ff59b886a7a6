package system

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// concatLength bounds GROUP_CONCAT. Its greatest value is -1 to the library, which cuts the text there, and
// dies of it; what is longer than any packet means the same.
const concatLength = "group_concat_max_len"

// Defaults gives system variables of the library values that are their defaults as well: SET … = DEFAULT
// brings them back.
func Defaults(values map[string]any) error {
	for name, value := range values {
		known, _, _ := sql.SystemVariables.GetGlobal(name)
		v, ok := known.(*sql.MysqlSystemVariable)
		if !ok {
			return sql.ErrUnknownSystemVariable.New(name)
		}
		own, err := v.InitValue(sql.NewEmptyContext(), value, true)
		if err != nil {
			return err
		}
		with := *v
		with.Default = own.Val
		sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&with})
	}
	return nil
}

// ForVariable is a value as a system variable takes it. A negative number for one that takes only others is
// 1231, as other numbers are that it does not take: to the library -1 is the greatest of all.
func ForVariable(v sql.SystemVariable, value any) (any, error) {
	t, ok := v.GetType().(interface{ UnderlyingType() sql.Type })
	if ok && t.UnderlyingType() == types.Uint64 && negative(value) {
		return nil, sqlerr.New(sqlerr.WrongValueForVariable,
			"Variable '%s' can't be set to the value of '%v'", v.GetName(), value)
	}
	if strings.EqualFold(v.GetName(), concatLength) {
		return clampLength(value), nil
	}
	return value, nil
}

func clampLength(value any) any {
	const most = 1 << 30
	switch n := value.(type) {
	case uint64:
		return min(n, most)
	case int64:
		return min(n, most)
	case *apd.Decimal:
		if n.Cmp(apd.New(most, 0)) > 0 {
			return uint64(most)
		}
	}
	return value
}

// negative knows the types in which the library has numbers.
func negative(v any) bool {
	switch n := v.(type) {
	case int:
		return n < 0
	case int8:
		return n < 0
	case int16:
		return n < 0
	case int32:
		return n < 0
	case int64:
		return n < 0
	case float32:
		return n < 0
	case float64:
		return n < 0
	case *apd.Decimal:
		return n.Sign() < 0
	}
	return false
}
