package observer

import (
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/expr"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// NOTIFY wakes the observers of a table that were declared AFTER NOTIFY, for the rows that the condition
// finds at the transaction's snapshot (Percolator §2.4, weak notifications). It writes nothing to the rows:
// two transactions that notify the same row do not conflict, nor do they with one that changes it. Inside a
// transaction the notifications come with its commit.
//
// An observer's run sees the row as it is then, not as NOTIFY found it; several notifications of a row before
// a run are one. Fence of the table's version does not hold for a transaction that writes nothing else:
// NOTIFY beside a DROP OBSERVER may leave an entry behind that nobody asks for.

func (r *Registry) notifyStatement(s parse.Notify) ast.Statement {
	// What an UPDATE that changes nothing would need.
	auth := ast.AuthInformation{
		AuthType: ast.AuthType_UPDATE, TargetType: ast.AuthTargetType_SingleTableIdentifier,
		TargetNames: []string{s.Table.Database, s.Table.Name},
	}
	stmt := r.inject("NOTIFY", auth, nil).(ast.InjectedStatement)
	// The condition's parameters get their values with this statement, and hand them on to the query.
	var names []string
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if v, ok := n.(*ast.SQLVal); ok && v.Type == ast.ValArg {
			names = append(names, strings.TrimPrefix(string(v.Val), ":"))
			stmt.Children = append(stmt.Children, v)
		}
		return true, nil
	}, s.Rows)
	n := stmt.Statement.(*statement)
	n.bind = func(values []any) (*statement, error) {
		if len(values) != len(names) {
			return nil, fmt.Errorf("NOTIFY has %d parameters, %d values came", len(names), len(values))
		}
		with := map[string]sql.Expression{}
		for i, v := range values {
			e, ok := v.(sql.Expression)
			if !ok {
				return nil, fmt.Errorf("a value of NOTIFY is a %T", v)
			}
			with[names[i]] = e
		}
		bound := *n
		bound.run = func(ctx *sql.Context) (sql.RowIter, error) {
			n, err := r.notify(ctx, s, with)
			if err != nil {
				return nil, observerError(err)
			}
			return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(n))), nil
		}
		return &bound, nil
	}
	return stmt
}

// notify returns the number of rows for which observers were notified.
func (r *Registry) notify(ctx *sql.Context, s parse.Notify, values map[string]sql.Expression) (int, error) {
	if tx, ok := ctx.GetTransaction().(*engine.Tx); ok && tx.IsReadOnly() {
		return 0, sqlerr.ReadOnlyTxn()
	}
	dbName, err := currentDatabase(ctx, s.Table)
	if err != nil {
		return 0, err
	}
	if t, ok := ctx.Session.(*engine.Session); ok && t.HasTemporary(dbName, s.Table.Name) {
		// It takes no privilege, and its rows would be taken for those of the table behind it.
		return 0, sqlerr.Unsupported("NOTIFY of a temporary table")
	}
	snap, err := r.eng.CatalogSnapshot(ctx)
	if err != nil {
		return 0, err
	}
	db, found := snap.Database(dbName)
	if !found {
		return 0, &catalog.NotFoundError{Kind: catalog.KindDatabase, Name: dbName}
	}
	desc, found := db.Table(s.Table.Name)
	if !found {
		return 0, &catalog.NotFoundError{Kind: catalog.KindTable, Database: dbName, Name: s.Table.Name}
	}
	var ids []uint32
	for _, o := range snap.Observers(desc.ID) {
		if o.Enabled && o.Events&catalog.OnNotify != 0 {
			ids = append(ids, o.ID)
		}
	}
	if len(ids) == 0 {
		note(ctx, sqlerr.TriggerNotFound, "Table '%s' has no observer AFTER NOTIFY that is enabled",
			s.Table.Name)
	}
	table, err := r.eng.TableOf(ctx, desc)
	if err != nil {
		return 0, err
	}
	rows, err := r.rows(ctx, s, values)
	if err != nil {
		return 0, err
	}
	defer rows.Close(ctx)
	for n := 0; ; n++ {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return n, nil
		}
		if err == nil {
			err = table.Notify(ctx, row, ids)
		}
		if err != nil {
			return n, err
		}
	}
}

// rows runs SELECT * FROM table WHERE condition in the statement's transaction.
func (r *Registry) rows(ctx *sql.Context, s parse.Notify,
	values map[string]sql.Expression) (sql.RowIter, error) {
	a := r.eng.SQL().Analyzer
	expr.Rewrite(s.Rows)
	b := planbuilder.New(ctx, a.Catalog, nil)
	if len(values) > 0 {
		b.SetBindingsWithExpr(values)
	}
	query, err := r.eng.WithoutNames(ctx, s.Rows)
	if err != nil {
		return nil, err
	}
	bound, flags, err := b.BindOnly(query, "select * from "+s.Table.String(), nil)
	if err != nil {
		return nil, err
	}
	planned, err := a.Analyze(ctx, bound, nil, flags)
	if err != nil {
		return nil, err
	}
	return a.ExecBuilder.Build(ctx, planned, nil)
}
