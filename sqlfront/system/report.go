package system

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Report is a statement of ours that answers with rows, or with OK if it has no columns.
type Report struct {
	what   string
	schema sql.Schema
	rows   func(*sql.Context) ([]sql.Row, error)
	ends   bool
}

// Ending is a statement of ours that may end the open transaction before it begins.
type Ending interface{ EndsTransaction() bool }

var _ sql.ExecSourceRel = (*Report)(nil)

// NewReport makes a report; what is its name in plans.
func NewReport(what string, columns sql.Schema, rows func(*sql.Context) ([]sql.Row, error)) *Report {
	return &Report{what, columns, rows, false}
}

// Ending makes it a statement that ends the open transaction before it begins.
func (r *Report) Ending() *Report {
	r.ends = true
	return r
}

// EndsTransaction implements Ending.
func (r *Report) EndsTransaction() bool { return r.ends }

// Statement is the report as the parser returns it, for those who have the global privilege (PROCESS, RELOAD,
// …).
func (r *Report) Statement(privilege string) ast.Statement {
	auth := ast.AuthInformation{AuthType: privilege, TargetType: ast.AuthTargetType_Global}
	return ast.InjectedStatement{Auth: auth, Statement: r}
}

func (*Report) Resolved() bool                                             { return true }
func (*Report) Children() []sql.Node                                       { return nil }
func (*Report) IsReadOnly() bool                                           { return true }
func (r *Report) String() string                                           { return r.what }
func (r *Report) WithResolvedChildren(context.Context, []any) (any, error) { return r, nil }

// WithChildren implements sql.Node.
func (r *Report) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(r, len(ch), 0)
	}
	return r, nil
}

// Schema implements sql.Node.
func (r *Report) Schema(*sql.Context) sql.Schema {
	if len(r.schema) == 0 {
		return types.OkResultSchema
	}
	return r.schema
}

// RowIter implements sql.ExecSourceRel.
func (r *Report) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	rows, err := r.rows(ctx)
	if err != nil {
		return nil, err
	}
	if len(r.schema) == 0 {
		rows = []sql.Row{sql.NewRow(types.NewOkResult(0))}
	}
	return sql.RowsToRowIter(rows...), nil
}
