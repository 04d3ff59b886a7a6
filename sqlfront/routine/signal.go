package routine

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Signalled is a client's SIGNAL of a warning, which is no error; nil for any other, which the library
// raises. Routines have a SIGNAL of their own.
func Signalled(ctx *sql.Context, n *plan.Signal) (sql.RowIter, error) {
	if len(n.SqlStateValue) != 5 || n.SqlStateValue[:2] != "01" {
		return nil, nil
	}
	number, text := sqlerr.SignalWarning, "Unhandled user-defined warning condition"
	if i, ok := n.Info[plan.SignalConditionItemName_MysqlErrno]; ok {
		number = int(i.IntValue)
	}
	if i, ok := n.Info[plan.SignalConditionItemName_MessageText]; ok {
		text = i.StrValue
		if i.ExprVal != nil {
			v, err := i.ExprVal.Eval(ctx, nil)
			if err != nil {
				return nil, err
			}
			if v, _, err = types.LongText.Convert(ctx, v); err != nil {
				return nil, err
			}
			text, _ = v.(string)
		}
	}
	ctx.Warn(number, "%s", text)
	return sql.RowsToRowIter(), nil
}

func badState(s string) error {
	return sqlerr.New(sqlerr.BadSQLState, "Bad SQLSTATE: '%s'", s)
}

func stateMatcher(s string) (*matcher, error) {
	if len(s) != 5 || strings.HasPrefix(s, "00") ||
		strings.Trim(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return nil, badState(s)
	}
	return &matcher{state: s}, nil
}

func numberMatcher(v *ast.SQLVal) (*matcher, error) {
	n, err := strconv.Atoi(string(v.Val))
	if err != nil || n == 0 {
		return nil, sqlerr.New(sqlerr.WrongValueForVariable, "Incorrect CONDITION value: '%s'", v.Val)
	}
	return &matcher{number: n}, nil
}

// How many characters MySQL keeps of the text of a condition, and of each of its other items.
const (
	maxMessageText = 128
	maxItem        = 64
)

// itemText is a value as a condition's item. One that is too long is cut where the SQL mode is lax, as in
// MySQL: the conditions of all handlers that run are kept, one below the other.
func itemText(ctx *sql.Context, name string, v any) (string, error) {
	text, _, err := types.LongText.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	if text, err = sql.UnwrapAny(ctx, text); err != nil {
		return "", err
	}
	most := maxItem
	if name == string(ast.SignalConditionItemName_MessageText) {
		most = maxMessageText
	}
	s, _ := text.(string)
	n := 0
	for at := range s {
		if n++; n <= most {
			continue
		}
		if sql.LoadSqlMode(ctx).Strict() {
			return "", sqlerr.New(sqlerr.ConditionItemTooLong, "Data too long for condition item '%s'",
				strings.ToUpper(name))
		}
		ctx.Warn(sqlerr.ConditionItemTruncated, "Data truncated for condition item '%s'",
			strings.ToUpper(name))
		return strings.Clone(s[:at]), nil
	}
	return strings.Clone(s), nil // it may be a part of a long value
}
