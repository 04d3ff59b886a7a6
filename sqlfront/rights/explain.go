package rights

import (
	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// EXPLAIN shows what a view is made of: its tables, their keys and sizes, and the literals of its
// conditions. So it takes what would show them otherwise, SHOW VIEW on the view and the rights of its text,
// of the user himself and not only of the definer.

// explained is the Extra of the demands of a statement that is explained and not run.
type explained struct{}

// explaining is a session that remembers that the statement being bound is explained.
type explaining interface {
	Explain(bool)
	Explains() bool
}

// Explained marks what an EXPLAIN is about.
func Explained(x *ast.Explain) {
	mark := func(a *ast.AuthInformation) {
		switch extra := a.Extra.(type) {
		case nil:
			a.Extra = explained{}
		case *Stored: // of a view that is written to, which is kept for others
			v := *extra
			v.explained = true
			a.Extra = &v
		}
	}
	if s, ok := x.Statement.(*ast.Insert); ok {
		mark(&s.Auth)
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		if t, ok := n.(*ast.AliasedTableExpr); ok {
			mark(&t.Auth)
		}
		return true, nil
	}, x.Statement)
}

// MayExplain refuses to explain a view to who may not see its text.
func MayExplain(ctx *sql.Context, database, view string) error {
	s, ok := ctx.Session.(explaining)
	if !ok || !s.Explains() {
		return nil
	}
	h, ok := ctx.Session.(holder)
	if !ok || OnTable(ctx, h.Accounts(), database, view, sql.PrivilegeType_ShowView) {
		return nil
	}
	return notExplained()
}

// mayExplainBelow refuses to explain a statement that writes to a view to who may not see its text, or read
// the table that it names.
func mayExplainBelow(ctx *sql.Context, s through, database, view, name string) error {
	if err := MayExplain(ctx, database, view); err != nil {
		return err
	}
	e, ok := ctx.Session.(explaining)
	if !ok || !e.Explains() {
		return nil
	}
	h, ok := ctx.Session.(holder)
	if db, table := s.Base(name); ok && !OnTable(ctx, h.Accounts(), db, table, sql.PrivilegeType_Select) {
		return notExplained()
	}
	return nil
}

// explains asks of the user himself what a view's text needs, if the statement is explained.
func (h handler) explains(ctx *sql.Context, state sql.AuthorizationQueryState, a ast.AuthInformation,
	v *Stored) error {
	if s, ok := ctx.Session.(explaining); !ok || !s.Explains() {
		return nil
	}
	if err := MayExplain(ctx, v.Database, v.View); err != nil {
		return err
	}
	if err := h.handle(ctx, state, a); Refused(err) || denied(err) {
		return notExplained()
	}
	return nil
}

func notExplained() error {
	return sqlerr.New(sqlerr.ViewNoExplain,
		"EXPLAIN/SHOW can not be issued; lacking privileges for underlying table")
}
