package plan

import (
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// StatementTime is the time of the statement with so many digits behind the second.
type StatementTime struct{ Digits int }

// StatementTimeOf reads NOW(n), CURRENT_TIMESTAMP and their synonyms; nil if it is something else.
func StatementTimeOf(e ast.Expr) *StatementTime {
	f, ok := e.(*ast.FuncExpr)
	if !ok || !f.Qualifier.IsEmpty() || len(f.Exprs) > 1 || f.Over != nil || f.Distinct {
		return nil
	}
	switch f.Name.Lowered() {
	case "now", "current_timestamp", "localtime", "localtimestamp":
	default:
		return nil
	}
	if len(f.Exprs) == 0 {
		return &StatementTime{}
	}
	arg, ok := f.Exprs[0].(*ast.AliasedExpr)
	if !ok {
		return nil
	}
	v, ok := arg.Expr.(*ast.SQLVal)
	if !ok || v.Type != ast.IntVal {
		return nil
	}
	return digitsOf(string(v.Val))
}

// StatementTimeText reads it as a column's descriptor has it.
func StatementTimeText(text string) *StatementTime {
	rest, ok := strings.CutPrefix(strings.ToUpper(text), "CURRENT_TIMESTAMP")
	switch {
	case !ok:
		return nil
	case rest == "" || rest == "()":
		return &StatementTime{}
	case rest[0] != '(' || rest[len(rest)-1] != ')':
		return nil
	}
	return digitsOf(rest[1 : len(rest)-1])
}

func digitsOf(text string) *StatementTime {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 6 {
		return nil
	}
	return &StatementTime{n}
}

// Fits reports whether a column holds it as it is.
func (m *StatementTime) Fits(t sql.Type) bool {
	if b := t.Type(); b != sqltypes.Datetime && b != sqltypes.Timestamp {
		return false
	}
	p, ok := t.(interface{ Precision() int })
	return ok && m.Digits <= p.Precision()
}
