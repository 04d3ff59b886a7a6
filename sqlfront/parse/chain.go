package parse

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// chain parses COMMIT and ROLLBACK [WORK] AND CHAIN. The grammar accepts the clause and drops it, so that the
// statements that follow run in autocommit, which nobody notices until a ROLLBACK does nothing.
func (r *rewriter) chain(l *lexer, rollback bool) (ast.Statement, int, bool, error) {
	t := l.next()
	if l.is(t, "work") {
		t = l.next()
	}
	if !l.is(t, "and") {
		return nil, 0, false, nil
	}
	if t = l.next(); !l.is(t, "chain") { // AND NO CHAIN, or an error
		return nil, 0, false, nil
	}
	t = l.next()
	if l.is(t, "no") {
		if t = l.next(); !l.is(t, "release") {
			return nil, 0, true, r.errAt(t)
		}
		t = l.next()
	}
	end, err := r.statementEnd(l, t)
	if err != nil {
		return nil, 0, true, err
	}
	return ast.InjectedStatement{
		Auth:      ast.AuthInformation{AuthType: ast.AuthType_IGNORE},
		Statement: chained{rollback: rollback},
	}, end, true, nil
}

// statementEnd checks that t ends the statement and returns where the next one begins.
func (r *rewriter) statementEnd(l *lexer, t token) (int, error) {
	switch {
	case t.kind == eof:
		return len(r.src), nil
	case l.isByte(t, ';'):
		return t.end, nil
	}
	return 0, r.errAt(t)
}

// Chainer is a session whose transactions have characteristics, which Chain begins another of. last has
// ended; there may be none.
type Chainer interface {
	sql.TransactionSession
	Chain(ctx *sql.Context, last sql.Transaction) (sql.Transaction, error)
}

// chained ends the session's transaction and begins another of the same kind.
type chained struct {
	rollback bool
}

var _ sql.ExecSourceRel = chained{}

func (c chained) WithResolvedChildren(context.Context, []any) (any, error) { return c, nil }
func (c chained) Resolved() bool                                           { return true }
func (c chained) IsReadOnly() bool                                         { return true }
func (c chained) Schema(*sql.Context) sql.Schema {
	return types.OkResultSchema
}
func (c chained) Children() []sql.Node                                              { return nil }
func (c chained) WithChildren(_ *sql.Context, _ ...sql.Node) (sql.Node, error)      { return c, nil }
func (c chained) CheckPrivileges(*sql.Context, sql.PrivilegedOperationChecker) bool { return true }
func (c chained) String() string {
	if c.rollback {
		return "ROLLBACK AND CHAIN"
	}
	return "COMMIT AND CHAIN"
}

func (c chained) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	ts, ok := ctx.Session.(Chainer)
	if !ok {
		return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(0))), nil
	}
	last := ctx.GetTransaction()
	if last != nil {
		end := ts.CommitTransaction
		if c.rollback {
			end = ts.Rollback
		}
		if err := end(ctx, last); err != nil {
			return nil, err
		}
	}
	next, err := ts.Chain(ctx, last)
	if err != nil {
		return nil, err
	}
	ctx.SetTransaction(next)
	ctx.SetIgnoreAutoCommit(true)
	return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(0))), nil
}
