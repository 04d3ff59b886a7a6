package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// Statements that end the open transaction before they begin ("Statements That Cause an Implicit Commit" of MySQL's manual), so also if
// they then fail. What a statement is, only its tree says. The library has the tree before it looks for a transaction if the statement
// is prepared, or one of several in a text; else it has begun the transaction when it asks for the tree. So the parser's hook and the
// list of prepared statements say which statement it is, ValidateSession that it begins; whichever comes second acts.

// next is told of the statement of the client that is going to be run.
func (s *Session) next(ctx *sql.Context, stmt ast.Statement) error {
	switch s.stage {
	case stageIdle:
		s.coming = stmt
	case stageBegun:
		s.stage = stageEntered
		return s.enter(ctx, stmt)
	}
	if s.preparing {
		switch stmt.(type) {
		case *ast.Prepare, *ast.Execute, *ast.Deallocate:
			return sqlerr.NotPreparable()
		}
	}
	return nil // the text of a view, a trigger or a default that the planner has asked for
}

// begins is told that a statement of the client begins.
func (s *Session) begins(ctx *sql.Context) error {
	stmt := s.coming
	if s.coming, s.stage = nil, stageBegun; stmt == nil {
		return nil
	}
	s.stage = stageEntered
	return s.enter(ctx, stmt)
}

// stage is how far a statement of the client has come.
type stage uint8

const (
	stageIdle    stage = iota
	stageBegun         // and it is not known what it is
	stageEntered       // and enter has been called
)

// enter is what a statement does to the session before anything else.
func (s *Session) enter(ctx *sql.Context, stmt ast.Statement) error {
	s.countCommand(ctx, stmt)
	var p *ast.Prepare
	if p, s.preparing = stmt.(*ast.Prepare); s.preparing {
		s.UnprepareQuery(p.Name) // also if the new one fails: the name is that of no statement then
	}
	if err := s.prepared.Reads(ctx, s, stmt); err != nil {
		return err
	}
	if x, ok := stmt.(*ast.Execute); ok {
		stmt, _ = s.BaseSession.GetPreparedQuery(x.Name)
	}
	s.announce(stmt)
	if commitsFirst(stmt) || s.tables != nil && unlocks(stmt) {
		tx := s.tx()
		switch {
		case tx == nil:
			alone := &Tx{}
			if s.characterize(ctx, alone); alone.readOnly && commitsWrites(stmt) {
				return sqlerr.ReadOnlyTxn()
			}
		case tx.rerun: // it has done so
			return nil
		case tx.readOnly && tx.asOf == 0 && commitsWrites(stmt):
			return sqlerr.ReadOnlyTxn() // and the transaction goes on
		case !s.implicit():
			if err := s.commitOpen(ctx); err != nil {
				return err
			}
			next, err := s.StartTransaction(ctx, sql.ReadWrite)
			if err != nil {
				return err
			}
			s.SetTransaction(next)
		}
		s.upcoming = nil
	}
	return s.lockedTables(ctx, stmt)
}

// commitOpen ends the transaction that is open.
func (s *Session) commitOpen(ctx *sql.Context) error {
	tx := s.tx()
	if tx == nil {
		return nil
	}
	s.ending = s.calls > 0
	return s.CommitTransaction(ctx, tx)
}

func unlocks(stmt ast.Statement) bool {
	_, ok := stmt.(*ast.UnlockTables)
	return ok
}

// commitsFirst reports whether the statement ends the open transaction before it begins. BEGIN, START TRANSACTION and SET autocommit
// do so, too; the library sees to that.
func commitsFirst(stmt ast.Statement) bool {
	if commitsWrites(stmt) {
		return true
	}
	switch s := stmt.(type) {
	case *ast.LockTables, *ast.Analyze, *ast.Flush, *ast.OtherAdmin,
		*ast.ChangeReplicationSource, *ast.ChangeReplicationFilter, *ast.StartReplica, *ast.StopReplica, *ast.ResetReplica:
		return true
	case ast.InjectedStatement:
		c, ok := s.Statement.(system.Ending)
		return ok && c.EndsTransaction()
	}
	return false
}

// commitsWrites is commitsFirst for statements that a transaction which is READ ONLY refuses.
func commitsWrites(stmt ast.Statement) bool {
	switch s := stmt.(type) {
	case *ast.DDL:
		if s.Action == ast.CreateStr || s.Action == ast.DropStr {
			return !s.Temporary || s.ViewSpec != nil
		}
		return true
	case *ast.AlterTable, *ast.DBDDL, *ast.CreateSpatialRefSys,
		*ast.CreateUser, *ast.RenameUser, *ast.DropUser, *ast.CreateRole, *ast.DropRole,
		*ast.GrantPrivilege, *ast.GrantRole, *ast.GrantProxy, *ast.RevokePrivilege, *ast.RevokeRole, *ast.RevokeProxy:
		return true
	case ast.InjectedStatement:
		_, ok := s.Statement.(*ddlStatement)
		return ok && s.Statement.(*ddlStatement).EndsTransaction()
	}
	return false
}
