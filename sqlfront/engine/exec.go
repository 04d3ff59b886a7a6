package engine

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/collate"
	"moka/sqlfront/gms"
	"moka/sqlfront/infoschema"
	"moka/sqlfront/loaddata"
	"moka/sqlfront/operator"
	"moka/sqlfront/rights"
	"moka/sqlfront/routine"
	"moka/sqlfront/sqlerr"
)

// execBuilder is asked for each node of a plan before the library's own builder; a nil iterator declines. It is the seam at
// which plans meet the store.
type execBuilder struct {
	eng  *Engine
	base *rowexec.BaseBuilder
	// keeping builds what keeps rows.
	keeping operator.Builder
	shows   bool // in MySQL's words
}

var _ sql.NodeExecBuilder = (*execBuilder)(nil)

// Build implements sql.NodeExecBuilder.
func (b *execBuilder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if s := sessionOf(ctx); s != nil && s.planning {
		s.planning, s.around, s.bound, s.within, s.copies = false, false, false, "", false
		s.root = n
		if err := s.unasked(ctx, n); err != nil {
			return nil, err
		}
		if s.assigns {
			settled, err := b.settleDerived(ctx, n)
			if err != nil {
				return nil, err
			}
			if settled != n {
				return b.base.Build(ctx, settled, row)
			}
		}
		if sorted, err := ranked(ctx, n); err != nil || sorted != nil {
			if err != nil {
				return nil, err
			}
			return b.base.Build(ctx, sorted, row)
		}
		if it, err := b.identify(ctx, s, n, row); it != nil || err != nil {
			return it, err
		}
	}
	if m := measuringOf(ctx); m != nil {
		if it, err := b.measured(ctx, m, n, row); it != nil || err != nil {
			return it, err
		}
	}
	if f, ok := n.(*plan.Filter); ok {
		if it, err := b.bindScalars(ctx, f, row); it != nil || err != nil {
			return it, err
		}
		if it, err := b.bindBody(ctx, f); it != nil || err != nil {
			return it, err
		}
	}
	if bound, err := b.matched(ctx, n); bound != nil || err != nil {
		if err != nil {
			return nil, err
		}
		if m := measuringOf(ctx); m != nil {
			m.enter(bound)
		}
		return b.base.Build(ctx, bound, row)
	}
	if mended, err := collate.Node(ctx, n); mended != nil || err != nil {
		if err != nil {
			return nil, err
		}
		if m := measuringOf(ctx); m != nil {
			m.enter(mended) // what it does is n's
		}
		return b.base.Build(ctx, mended, row)
	}
	switch n := n.(type) {
	case *plan.LoadData:
		if !n.Local {
			if _, _, err := insideFileDir(n.File); err != nil {
				return nil, err
			}
		}
		return b.loadRows(ctx, n)
	case *plan.Into:
		if n.Outfile != "" || n.Dumpfile != "" {
			return b.intoFile(ctx, n, row)
		}
		if again := intoVariables(ctx, n); again != nil {
			return b.base.Build(ctx, again, row)
		}
	case *meantTexts:
		it, err := b.base.Build(ctx, n.Child, row)
		if err != nil {
			return nil, err
		}
		return &meantTextsIter{it, n.Schema(ctx)}, nil
	case *plan.ResolvedTable:
		it, err := b.seenInformation(ctx, n, row)
		if err == nil && it == nil && gms.OfInformation(n) && !isShown(ctx, n) {
			it, err = b.base.Build(asShown(ctx, n), n, row)
		}
		return gms.Heeding(it, gms.OfInformation(n)), err
	case *plan.CreateView:
		if _, keeps := n.Database().(sql.ViewDatabase); !keeps {
			return nil, rights.DatabaseDenied(ctx, n.Database().Name())
		}
	case *plan.JSONTable, *plan.ValueDerivedTable:
		if !isShown(ctx, n) {
			if values, ok := n.(*plan.ValueDerivedTable); ok {
				it, err := gms.ValuesRows(ctx, values, row)
				return &gms.HeedingRows{RowIter: it}, err
			}
			it, err := gms.JSONTableRows(ctx, n.(*plan.JSONTable), row)
			return &gms.HeedingRows{RowIter: it}, err
		}
	case *plan.ShowTriggers:
		return b.showTriggers(ctx, n, row)
	case *plan.ShowCreateTrigger:
		return b.showTrigger(ctx, n, row)
	case *plan.CreateEvent:
		if err := gms.CheckEvery(ctx, n.Every); err != nil {
			return nil, err
		}
	case *plan.AlterEvent:
		if err := gms.CheckEvery(ctx, n.Every); err != nil {
			return nil, err
		}
	case *plan.ShowCreateEvent:
		return infoschema.CreateEvent(ctx, n)
	case *plan.ShowTables:
		return b.showTables(ctx, n, row)
	case *plan.ShowDatabases:
		return b.showDatabases(ctx, n, row)
	case *plan.ShowColumns:
		return b.showColumns(ctx, n, row)
	case *plan.ShowCreateTable:
		if !b.shows {
			return nil, nil
		}
		if of, ok := n.Child.(*plan.SubqueryAlias); ok && !isShown(ctx, n) {
			return b.showCreateView(ctx, n, of, row)
		}
		text, ok, err := showCreate(ctx, n)
		if !ok || err != nil {
			return nil, err
		}
		return sql.RowsToRowIter(text), nil
	case *plan.DescribeQuery:
		return b.explain(ctx, n)
	case *plan.DropTable:
		if kept := b.eng.keepTriggers(ctx, n); kept != nil {
			return b.base.Build(ctx, kept, row)
		}
	case *plan.DropTrigger:
		return nil, b.mayDropTrigger(ctx, n)
	case *plan.LockTables:
		return b.lockTables(ctx, n)
	case *plan.UpdateHistogram:
		return nil, b.mayAnalyze(ctx, n.Db(), n.Table())
	case *plan.DropHistogram:
		return nil, b.mayAnalyze(ctx, n.Db(), n.Table())
	case *plan.AnalyzeTable:
		for _, t := range n.Tables {
			if t, ok := sql.GetUnderlyingTable(t).(*Table); ok && !t.temporary {
				if err := b.mayAnalyze(ctx, t.db, t.Name()); err != nil {
					return nil, err
				}
			}
		}
		if _, done := n.Stats.(filledTables); !done {
			again := *n
			again.Stats = filledTables{n.Stats}
			return b.base.Build(ctx, &again, row)
		}
	case *plan.ShowProcessList:
		return b.eng.showProcesses(ctx, textShown(ctx), func(id uint32, seconds uint64) (any, any) { return int64(id), int64(seconds) })
	case *plan.Kill:
		if id := n.ConnID; id >= firstJobConnection {
			if err := b.eng.mayCancel(ctx, id-firstJobConnection); err != nil {
				return nil, err
			}
			if err := b.eng.cancelJob(ctx, id-firstJobConnection); err != nil {
				return nil, err
			}
			return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(0))), nil
		}
		if done, err := b.kill(ctx, n); done || err != nil {
			return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(0))), err
		}
		return nil, nil
	case *plan.TriggerExecutor:
		return b.fireBefore(ctx, n, row)
	case *loadRows:
		rows, err := loaddata.New(n.LoadData, n.IsIgnore || !strict(ctx))
		if err != nil {
			return nil, err
		}
		return rows.Take(n.records, uint64(n.before)), nil
	case *plan.DeleteFrom:
		if err := refuseSystemTables(n); err != nil {
			return nil, err
		}
		writing(ctx, false, true)
		if err := b.eng.mustBeSafe(ctx, n); err != nil {
			return nil, err
		}
		if err := refuseInUse(ctx, n); err != nil || !n.HasExplicitTargets() || plan.IsEmptyTable(n.Child) {
			return nil, err
		}
		return b.deleteTables(ctx, n, row)
	case *plan.Set:
		if s := sessionOf(ctx); s != nil && s.ofClient && s.calls == 0 && !ctx.IsInterpreted() && !s.cleared {
			s.ClearWarnings() // the library keeps those of the statement before
		}
	case *plan.Truncate:
		if err := refuseViews(n); err != nil {
			return nil, err
		}
		if err := refuseSystemTables(n); err != nil {
			return nil, err
		}
		if !isTruncate(ctx.Query()) { // a DELETE of all rows
			if tx, ok := ctx.GetTransaction().(*Tx); ok {
				tx.begins(true)
			}
			return nil, b.eng.mustBeSafe(ctx, n)
		}
	case *arrivingRows:
		it, err := b.base.Build(ctx, n.Child, row)
		if err != nil {
			return nil, err
		}
		return &arrivingIter{RowIter: it, of: n}, nil
	case *countedRows:
		it, err := b.base.Build(ctx, n.Child, row)
		if err != nil {
			return nil, err
		}
		return &countedIter{it, n.at}, nil
	case *plan.UpdateSource:
		if err := mustHaveDefaults(ctx, n.Child.Schema(ctx), n.UpdateExprs.AllExpressions(), n.Ignore); err != nil {
			return nil, err
		}
		if again, err := lenientUpdate(ctx, n); again != nil || err != nil {
			return b.instead(ctx, again, row, err)
		}
	case *plan.InsertInto:
		if err := refuseSystemTables(n); err != nil {
			return nil, err
		}
		writing(ctx, n.Ignore, false)
		if err := mustHaveValues(ctx, n); err != nil {
			return nil, err
		}
		if again := enumSource(ctx, n); again != nil {
			return b.base.Build(ctx, again, row)
		}
		if n.FirstGeneratedAutoIncRowIdx >= 0 && !loads(n.Source) {
			again := *n
			again.FirstGeneratedAutoIncRowIdx = -1 // insertID knows
			return b.base.Build(ctx, &again, row)
		}
		if again, err := checkedInsert(ctx, n); again != nil || err != nil {
			return b.instead(ctx, again, row, err)
		}
		if !loads(n.Source) {
			if again, err := arriving(ctx, n); again != nil || err != nil {
				return b.instead(ctx, again, row, err)
			}
		}
		if err := refuseInUse(ctx, n); err != nil {
			return nil, err
		}
		fires, err := b.upsert(ctx, n)
		if err != nil {
			return nil, err
		}
		if fires != nil {
			it, err := b.base.Build(ctx, fires, row)
			if err != nil || !fires.IsReplace {
				return it, err
			}
			return &replaced{it, fires.Destination.(*firingTable)}, nil
		}
		if it, err := b.bulkLoad(ctx, n); it != nil || err != nil {
			return it, err
		}
		if again, err := arriving(ctx, n); again != nil || err != nil { // a LOAD DATA that does not go in blocks
			return b.instead(ctx, again, row, err)
		}
		b.insert(ctx, n)
		if exact := gms.ExactUpsert(n); exact != nil {
			return b.base.Build(ctx, exact, row)
		}
	case *plan.Update:
		if err := refuseSystemTables(n); err != nil {
			return nil, err
		}
		writing(ctx, n.Ignore, false)
		if err := b.eng.mustBeSafe(ctx, n); err != nil {
			return nil, err
		}
		if err := refuseInUse(ctx, n); err != nil {
			return nil, err
		}
		if join, ok := n.Child.(*plan.UpdateJoin); ok {
			return b.updateTables(ctx, n, join, row)
		}
		if again, err := checkedUpdate(ctx, n); again != nil || err != nil {
			return b.instead(ctx, again, row, err)
		}
		exact, err := gms.ExactUpdate(ctx, n)
		if err != nil || exact == nil {
			return nil, err
		}
		return b.base.Build(ctx, exact, row)
	case *gms.Inserted:
		below, err := b.base.Build(ctx, n.Child, row)
		if err != nil {
			return nil, err
		}
		return n.Rows(below, undoing), nil
	case *gms.ExactTable:
		return b.base.Build(ctx, n.Node, row)
	case *plan.AlterTableCollation:
		if it, err := b.alter(ctx, n, row); it != nil || err != nil {
			return it, err
		}
		return b.convertTable(ctx, n)
	case *plan.Block, *plan.AddColumn, *plan.ModifyColumn, *plan.DropColumn, *plan.AlterPK:
		return b.alter(ctx, n, row)
	case *plan.TableCopier:
		return b.createSelect(ctx, n, row)
	case *plan.CreateTable:
		declareTexts(n.Indexes())
		if err := b.eng.keyedNew(ctx, n); err != nil {
			return nil, err
		}
	case *plan.CreateCheck:
		if n.Check.Name == "" {
			if named, err := namedCheck(ctx, n); named != nil || err != nil {
				return b.instead(ctx, named, row, err)
			}
		}
	case *plan.AlterIndex:
		if text := alterText(n); text != nil {
			return b.base.Build(ctx, text, row)
		}
		resolved, err := b.resolveVirtual(ctx, n)
		if err != nil || resolved == nil {
			return nil, err
		}
		return b.base.Build(ctx, resolved, row)
	case *plan.ShowIndexes:
		return b.showIndexes(ctx, n, row)
	case *plan.Call:
		return b.call(ctx, n, row)
	case *plan.HashLookup:
		collate.Keys(ctx, n)
		return b.keeping.Build(ctx, n, row)
	case *plan.Filter:
		if within := infoschema.Narrowed(ctx, n); within != nil {
			return b.base.Build(within, n, row)
		}
		if it, err := b.buildPath(ctx, n); it != nil || err != nil {
			return it, err
		}
		return b.buildPushed(ctx, n, row)
	case *plan.Limit:
		if it, err := b.buildFoundRows(ctx, n, row); it != nil || err != nil {
			return it, err
		}
		return b.buildLimit(ctx, n)
	case *plan.GroupBy, *plan.TopN:
		if it, err := b.byIndex(ctx, n); it != nil || err != nil {
			return it, err
		}
		if it, err := b.buildPushed(ctx, n, row); it != nil || err != nil {
			return it, err
		}
		return b.keeping.Build(ctx, n, row)
	case *plan.Sort, *plan.Distinct, *plan.SetOp, *plan.RecursiveCte, *plan.Window, *plan.CachedResults, *operator.Charged:
		return b.keeping.Build(ctx, n, row)
	case *plan.JoinNode:
		if n.Filter == nil && n.Op.IsPartial() {
			// The condition of '0' IN (SELECT a … GROUP BY a) is one on the right side alone and was pushed there; the library's semi and
			// anti joins evaluate one nonetheless.
			all := *n
			all.Filter = expression.NewLiteral(true, types.Boolean)
			return b.base.Build(ctx, &all, row)
		}
		if it, err := b.keeping.Build(ctx, n, row); it != nil || err != nil {
			return it, err
		}
		return b.buildAhead(ctx, n, row)
	case *ahead:
		return b.buildOuter(ctx, n, row)
	case *plan.Project, *plan.Having:
		if now := b.undefer(ctx, n); now != nil {
			return b.base.Build(ctx, now, row)
		}
	case *plan.Signal:
		return routine.Signalled(ctx, n)
	case *plan.Commit, *plan.StartTransaction:
		if s := sessionOf(ctx); s != nil {
			s.ending = s.calls > 0
			if _, begins := n.(*plan.StartTransaction); begins && s.pins {
				return b.pin(ctx, s, n, row)
			}
		}
	}
	return nil, nil
}

// pin is START TRANSACTION WITH CONSISTENT SNAPSHOT.
func (b *execBuilder) pin(ctx *sql.Context, s *Session, n sql.Node, row sql.Row) (sql.RowIter, error) {
	s.pins = false
	it, err := b.base.Build(ctx, n, row)
	if err != nil {
		return nil, err
	}
	if _, err := b.eng.viewOf(ctx); err != nil { // reads the catalog in it
		return nil, err
	}
	if tx := s.tx(); tx != nil {
		tx.used.Store(true)
	}
	return it, nil
}

// writing notes that the statement writes, and whether it has IGNORE.
func writing(ctx *sql.Context, ignore, frees bool) {
	if tx, ok := ctx.GetTransaction().(*Tx); ok {
		tx.begins(frees)
		tx.writing, tx.forgiving = true, tx.forgiving || ignore
	}
}

// instead runs another node in the place of one.
func (b *execBuilder) instead(ctx *sql.Context, n sql.Node, row sql.Row, err error) (sql.RowIter, error) {
	if err != nil {
		return nil, err
	}
	return b.base.Build(ctx, n, row)
}

// call brackets the execution of a procedure, which happens while the library builds the iterator of CALL.
func (b *execBuilder) call(ctx *sql.Context, n *plan.Call, row sql.Row) (sql.RowIter, error) {
	s := sessionOf(ctx)
	if s == nil {
		return nil, nil
	}
	if s.call == n { // asked by ourselves, below
		s.call = nil
		return nil, nil
	}
	s.call = n
	s.calls++
	defer func() {
		s.calls--
		s.ending = false
	}()
	return b.base.Build(ctx, n, row)
}

// resolveVirtual gives an index that is being built the expressions of virtual columns that were there before: the library
// resolves those of the statement only, and computes all of them for each row.
func (b *execBuilder) resolveVirtual(ctx *sql.Context, n *plan.AlterIndex) (sql.Node, error) {
	table, ok := n.Table.(*plan.ResolvedTable)
	if !ok || n.Action != plan.IndexAction_Create {
		return nil, nil
	}
	own := ownTable(table.Table)
	if _, done := table.Table.(*schemaTable); done || own == nil {
		return nil, nil
	}
	// As the clauses before this one have made it, which the statement's plan does not know.
	now, err := own.current(ctx)
	if err != nil {
		return nil, err
	}
	schema := now.Schema(ctx)
	if !schema.HasVirtualColumns() {
		return nil, nil
	}
	builder := planbuilder.NewBuilderForColumnDefaultResolution(ctx, b.base.EngineOverrides)
	schema = builder.ResolveSchemaDefaults(n.Db.Name(), n.Table.Name(), schema.Copy())
	out, err := n.WithTargetSchema(schema)
	if err != nil {
		return nil, err
	}
	resolved := out.(*plan.AlterIndex)
	with := *table
	with.Table = &schemaTable{table.Table, schema}
	resolved.Table = &with
	return resolved, nil
}

// schemaTable is a table with the schema of the moment.
type schemaTable struct {
	sql.Table
	schema sql.Schema
}

var _ sql.TableWrapper = (*schemaTable)(nil)

// Schema implements sql.Table.
func (t *schemaTable) Schema(*sql.Context) sql.Schema { return t.schema }

// Underlying implements sql.TableWrapper.
func (t *schemaTable) Underlying() sql.Table { return t.Table }

// insert tells the editor what only the plan knows.
func (b *execBuilder) insert(ctx *sql.Context, n *plan.InsertInto) {
	tx, err := txOf(ctx)
	if err != nil {
		return
	}
	dest, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return
	}
	t, ok := sql.GetUnderlyingTable(dest).(*Table)
	if !ok {
		return
	}
	mode := insertPlain
	switch {
	case n.Ignore:
		mode = insertIgnore
	case n.IsReplace || n.OnDupExprs.HasUpdates():
		mode = insertUpsert
	case len(n.Returning) == 0 && !n.HasAfterTrigger && tx.session != nil && tx.session.implicit() &&
		tx.session.calls == 0 && !tx.dirty() &&
		(loads(n.Source) || givenRows(n.Source) > 0): // no numbers behind a refused row
		mode = insertBlind
	}
	if tx.modes == nil {
		tx.modes = map[uint32]insertMode{}
	}
	tx.modes[t.desc.ID] = mode
	if loads(n.Source) && !n.HasAfterTrigger && tx.session != nil && tx.session.implicit() && tx.session.calls == 0 && !tx.dirty() {
		if _, fires := n.Source.(*plan.TriggerExecutor); !fires {
			tx.bulk = t
		}
	}
}

// filesAllowed refuses statements that read or write files of the server unless a directory was set aside for them. To the
// library an unset directory means any file of the machine.
func filesAllowed() error {
	if _, dir, _ := sql.SystemVariables.GetGlobal("secure_file_priv"); dir == NoFiles {
		return sqlerr.New(sqlerr.ReadOnlyServer, "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement; "+
			"use LOAD DATA LOCAL, or start Moka with --secure-file-priv DIR")
	}
	return nil
}

// filledTables keeps tables without rows from a provider of statistics that divides by their number.
type filledTables struct{ sql.StatsProvider }

// AnalyzeTable implements sql.StatsProvider.
func (s filledTables) AnalyzeTable(ctx *sql.Context, t sql.Table, db string) error {
	parts, err := t.Partitions(ctx)
	if err != nil {
		return err
	}
	rows := sql.NewTableRowIter(ctx, t, parts)
	_, err = rows.Next(ctx)
	if cerr := rows.Close(ctx); err == nil {
		err = cerr
	}
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	return s.StatsProvider.AnalyzeTable(ctx, t, db)
}

// NoFiles is the value of secure_file_priv that forbids files of the server, as MySQL shows it.
const NoFiles = "NULL"

// refuseViews is the error of TRUNCATE of a view, which is no table to it. The library looks for the table
// below, of whatever database, and would empty it for who has DROP on the view.
func refuseViews(n *plan.Truncate) (err error) {
	transform.Inspect(n.Child, func(n sql.Node) bool {
		if v, ok := n.(*plan.SubqueryAlias); ok && err == nil {
			err = sqlerr.New(sqlerr.NoSuchTable, "Table '%s' doesn't exist: it is a view", v.Name())
		}
		return err == nil
	})
	return err
}
