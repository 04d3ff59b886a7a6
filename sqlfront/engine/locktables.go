package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
	"moka/txn"
)

// LOCK TABLES. To the session that has locked tables the rules are MySQL's: it may use these tables only, by the names that it has
// locked them by, each name once in a statement (1100), and write to those that are locked for that (1099). What triggers, foreign keys
// and the texts of views lead to is not asked.
//
// Between sessions it excludes who asks for it as well: a lock for each table, shared by READ. Statements of sessions that have
// locked nothing go on, which is enough for programs that use LOCK TABLES among themselves, as a mutex; making all statements
// of everybody ask for a table's lock would be a request more for each. These locks are row locks of a transaction that writes
// nothing, and like them lost when a shard changes its leader.

// tableLocks are the tables that the session has locked.
type tableLocks struct {
	names map[lockedName]*tableLock
	held  *txn.Txn
}

// lockedName is how a table is called in a statement: the database that it is in, and its alias, in small letters.
type lockedName struct{ db, alias string }

type tableLock struct {
	table string // in small letters
	write bool
}

// tableUse is a table in a statement.
type tableUse struct {
	lockedName
	table, shown string
	write        bool
}

// lockedTables begins and ends LOCK TABLES, and refuses statements on tables that are not locked while others are.
func (s *Session) lockedTables(ctx *sql.Context, stmt ast.Statement) error {
	switch n := stmt.(type) {
	case *ast.LockTables:
		s.unlockTables()
		locks := &tableLocks{names: map[lockedName]*tableLock{}}
		for _, t := range n.Tables {
			for _, u := range usesOf(ctx, t.Table) {
				if locks.names[u.lockedName] != nil {
					return sqlerr.New(sqlerr.NonUniqueTable, "Not unique table/alias: '%s'", u.shown)
				}
				locks.names[u.lockedName] = &tableLock{u.table, t.Lock == ast.LockWrite || t.Lock == ast.LockLowPriorityWrite}
			}
		}
		s.locking = locks
	case *ast.UnlockTables, *ast.Begin:
		s.unlockTables()
	default:
		if s.tables != nil {
			return s.mayUse(ctx, stmt)
		}
	}
	return nil
}

func (s *Session) unlockTables() {
	if s.tables != nil && s.tables.held != nil {
		s.tables.held.Rollback()
	}
	s.tables, s.locking = nil, nil
}

// lockTables takes the locks that LOCK TABLES asks for, in the order of the tables' numbers, so that two sessions never wait for each other.
func (b *execBuilder) lockTables(ctx *sql.Context, n *plan.LockTables) (sql.RowIter, error) {
	s := sessionOf(ctx)
	if s == nil || s.locking == nil {
		return nil, nil
	}
	locks := s.locking
	s.locking = nil
	modes := map[uint32]bool{}
	tables := map[uint32]*Table{}
	for _, l := range n.Locks {
		look := func(ctx *sql.Context, n sql.Node) bool {
			if t, ok := n.(sql.TableNode); ok {
				if own := ownTable(t.UnderlyingTable()); own != nil && !own.temporary {
					tables[own.desc.ID] = own
					modes[own.desc.ID] = modes[own.desc.ID] || l.Write
				}
			}
			return true
		}
		transform.InspectWithOpaque(ctx, l.Table, look)
	}
	ids := make([]uint32, 0, len(tables))
	for id := range tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	held := b.eng.client.Begin(txn.TxnOptions{Connection: s.ID()})
	held.SetNote(ctx.Query())
	for _, id := range ids {
		key := kv.Column{Row: gapKey(tables[id]), Family: rowFamily, Qualifier: tableLockQualifier}
		if _, err := held.Lock(ctx, []kv.Column{key}, txn.LockOptions{Share: !modes[id], Wait: s.tableLockWait()}); err != nil {
			held.Rollback()
			return nil, sqlerr.From(err)
		}
	}
	held.Advance() // its snapshot would keep old versions from being collected
	locks.held = held
	s.tables = locks
	return sql.RowsToRowIter(), nil
}

// tableLockQualifier tells the lock of a table from that of its gaps. Nothing is stored there.
var tableLockQualifier = []byte("table")

// tableLockWait is how long LOCK TABLES waits.
func (s *Session) tableLockWait() time.Duration {
	if v, err := s.GetSessionVariable(nil, "lock_wait_timeout"); err == nil {
		if n, ok := v.(int64); ok {
			return time.Duration(n) * time.Second
		}
	}
	return 0
}

// mayUse refuses a statement on tables that are not locked, or not for what it does.
func (s *Session) mayUse(ctx *sql.Context, stmt ast.Statement) error {
	switch n := stmt.(type) {
	case *ast.DBDDL:
		return lockedOrActive()
	case *ast.DDL:
		if n.ViewSpec != nil || len(n.FromViews) > 0 || n.ProcedureSpec != nil {
			return lockedOrActive()
		}
	}
	seen := map[lockedName]bool{}
	for _, u := range usesOf(ctx, stmt) {
		if s.HasTemporary(u.db, u.table) || !lockedDatabase(u.db) {
			continue
		}
		lock := s.tables.names[u.lockedName]
		switch {
		case lock == nil, lock.table != u.table, seen[u.lockedName]:
			return sqlerr.New(sqlerr.TableNotLocked, "Table '%s' was not locked with LOCK TABLES", u.shown)
		case u.write && !lock.write:
			return sqlerr.New(sqlerr.TableNotLockedForWrite, "Table '%s' was locked with a READ lock and can't be updated", u.shown)
		}
		seen[u.lockedName] = true
	}
	return nil
}

func lockedOrActive() error {
	return sqlerr.New(sqlerr.LockOrActive, "Can't execute the given command because you have active locked tables or an active transaction")
}

// lockedDatabase reports whether tables of the database have to be locked.
func lockedDatabase(name string) bool {
	switch name {
	case "information_schema", "performance_schema", "mysql", "sys", "moka":
		return false
	}
	return true
}

// usesOf lists the tables that a statement names, those that it writes to first.
func usesOf(ctx *sql.Context, n ast.SQLNode) (uses []tableUse) {
	current := strings.ToLower(ctx.GetCurrentDatabase())
	use := func(t ast.TableName, alias string, write bool) {
		u := tableUse{table: strings.ToLower(t.Name.String()), shown: t.Name.String(), write: write}
		if u.db = strings.ToLower(t.DbQualifier.String()); u.db == "" {
			u.db = current
		}
		if alias != "" {
			u.shown = alias
		}
		if u.alias = strings.ToLower(u.shown); u.table != "" && u.table != "dual" && u.db != "" {
			uses = append(uses, u)
		}
	}
	writes := func(*ast.AliasedTableExpr, ast.TableName) bool { return false }
	switch s := n.(type) {
	case *ast.Explain:
		return usesOf(ctx, s.Statement)
	case *ast.Insert:
		use(s.Table, "", true)
	case *ast.Load:
		use(s.Table, "", true)
		return uses
	case *ast.AlterTable:
		use(s.Table, "", true)
		return uses
	case *ast.DDL:
		for _, t := range s.FromTables {
			use(t, "", true)
		}
		if len(s.FromTables) == 0 && !s.Temporary {
			use(s.Table, "", true)
		}
		if s.OptSelect == nil {
			return uses
		}
		n = s.OptSelect.Select
	case *ast.Update:
		writes = updated(ctx, s)
	case *ast.Delete:
		writes = func(a *ast.AliasedTableExpr, t ast.TableName) bool {
			if len(s.Targets) == 0 {
				return len(s.TableExprs) > 0 && s.TableExprs[0] == ast.TableExpr(a)
			}
			return slices.ContainsFunc(s.Targets, func(target ast.TableName) bool { return denotes(target, a, t) })
		}
	case *ast.Show, *ast.Set, *ast.Use, *ast.Prepare, *ast.Deallocate, *ast.Commit, *ast.Rollback, *ast.Analyze, *ast.Flush, *ast.Kill:
		return nil
	}
	ctes := map[string]bool{}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		if w, ok := n.(*ast.With); ok && w != nil {
			for _, c := range w.Ctes {
				ctes[strings.ToLower(c.As.String())] = true
			}
		}
		return true, nil
	}, n)
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if a, ok := n.(*ast.AliasedTableExpr); ok {
			if t, ok := a.Expr.(ast.TableName); ok && (!t.DbQualifier.IsEmpty() || !ctes[strings.ToLower(t.Name.String())]) {
				use(t, a.As.String(), writes(a, t))
			}
		}
		return true, nil
	}, n)
	return uses
}

// denotes reports whether a name in a statement means the table of the FROM clause.
func denotes(name ast.TableName, a *ast.AliasedTableExpr, t ast.TableName) bool {
	if !a.As.IsEmpty() {
		return strings.EqualFold(name.Name.String(), a.As.String())
	}
	return strings.EqualFold(name.Name.String(), t.Name.String()) &&
		(name.DbQualifier.IsEmpty() || t.DbQualifier.IsEmpty() || strings.EqualFold(name.DbQualifier.String(), t.DbQualifier.String()))
}

// updated says which tables an UPDATE writes to: those whose columns are assigned to.
func updated(ctx *sql.Context, s *ast.Update) func(*ast.AliasedTableExpr, ast.TableName) bool {
	return func(a *ast.AliasedTableExpr, t ast.TableName) bool {
		if len(s.TableExprs) == 1 && s.TableExprs[0] == ast.TableExpr(a) {
			return true
		}
		return slices.ContainsFunc(s.Exprs, func(x *ast.AssignmentExpr) bool {
			if q := x.Name.Qualifier; !q.Name.IsEmpty() {
				return denotes(q, a, t)
			}
			return hasColumn(ctx, t, x.Name.Name.String())
		})
	}
}

// hasColumn reports whether a table, as far as this process knows it, has the column.
func hasColumn(ctx *sql.Context, t ast.TableName, column string) bool {
	snap := sessionOf(ctx).eng.catalog.Latest()
	if snap == nil {
		return true
	}
	db := t.DbQualifier.String()
	if db == "" {
		db = ctx.GetCurrentDatabase()
	}
	d, ok := snap.Database(db)
	if !ok {
		return true
	}
	desc, ok := d.Table(t.Name.String())
	if !ok {
		return true
	}
	for i := range desc.Columns {
		if strings.EqualFold(desc.Columns[i].Name, column) {
			return true
		}
	}
	return false
}
