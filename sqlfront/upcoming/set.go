package upcoming

import (
	"context"
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/inband"
)

// The variables that have the characteristics of all transactions.
const (
	IsolationVariable  = "transaction_isolation"
	AccessModeVariable = "transaction_read_only"
)

// Session is told of the characteristics of its next transaction: name is a variable that has those of all of
// them.
type Session interface {
	Upcoming(ctx *sql.Context, name string, value any) error
}

// NoVariable is the user variable that a SET gives a value to which has none: what is evaluated counts.
const NoVariable = "moka do"

// Mark is what the name of a variable begins with that the text has without a scope: @@x, which the grammar
// takes for @@session.x. The name goes before anything is bound.
var Mark = inband.New("upcoming")

// Announce makes of SET TRANSACTION …, and of SET @@transaction_isolation = …, which is the same in MySQL,
// the evaluation of an expression that tells the session; the planner would take both for SET SESSION. The
// expression is injected: no text can have it, and the variable that it is given to has no value (see
// NoVariable).
func Announce(set *ast.Set) {
	for _, e := range set.Exprs {
		if e.Scope != ast.SetScope_None {
			continue
		}
		if name, value := characteristic(e); name != "" {
			*e = ast.SetVarExpr{Name: ast.NewColName("@" + NoVariable), Expr: ast.InjectedExpr{
				Expression: announcement{name: name}, Children: ast.Exprs{value},
				Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}}}
		}
	}
}

// characteristic is the variable, and the value, of an assignment that is about the next transaction.
func characteristic(e *ast.SetVarExpr) (name string, value ast.Expr) {
	name = strings.ToLower(e.Name.String())
	if v, ok := e.Expr.(*ast.SQLVal); ok && name == ast.TransactionStr {
		level, leveled := strings.CutPrefix(string(v.Val), "isolation level ")
		switch {
		case leveled:
			return IsolationVariable, ast.NewStrVal([]byte(strings.ReplaceAll(level, " ", "-")))
		case string(v.Val) == ast.TxReadOnly:
			return AccessModeVariable, ast.NewIntVal([]byte("1"))
		case string(v.Val) == ast.TxReadWrite:
			return AccessModeVariable, ast.NewIntVal([]byte("0"))
		}
		return "", nil
	}
	name, marked := strings.CutPrefix(name, Mark)
	if !marked {
		return "", nil
	}
	switch v := e.Expr.(type) {
	case *ast.Default:
		return name, ast.NewColName("@@global." + name)
	case *ast.ColName: // a word; others are variables of a body
		switch word := v.Name.Lowered(); word {
		case "serializable", "on", "off", "true", "false":
			return name, ast.NewStrVal([]byte(word))
		}
	}
	return name, e.Expr
}

// announcement tells the session, and is NULL.
type announcement struct {
	name  string
	value sql.Expression
}

var _ sql.Expression = announcement{}

var errOneValue = errors.New("a characteristic of transactions has one value")

// WithResolvedChildren implements ast.Injectable.
func (a announcement) WithResolvedChildren(_ context.Context, children []any) (any, error) {
	if len(children) == 1 {
		if e, ok := children[0].(sql.Expression); ok {
			return announcement{a.name, e}, nil
		}
	}
	return nil, errOneValue
}

func (a announcement) Resolved() bool               { return a.value.Resolved() }
func (a announcement) String() string               { return "@@" + a.name + " = " + a.value.String() }
func (a announcement) Type(*sql.Context) sql.Type   { return types.Null }
func (a announcement) IsNullable(*sql.Context) bool { return true }
func (a announcement) Children() []sql.Expression   { return []sql.Expression{a.value} }
func (a announcement) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := a.value.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if s, ok := ctx.Session.(Session); ok {
		return nil, s.Upcoming(ctx, a.name, v)
	}
	return nil, nil
}

func (a announcement) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	return announcement{a.name, children[0]}, nil
}
