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
