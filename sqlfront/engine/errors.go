package engine

import (
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// go-mysql-server maps errors to numbers by their exact Go type: an error of ours must be a *mysql.SQLError, or one of the
// library's kinds, before it enters the library. Every door of this package therefore ends in Tx.fail, Tx.translate or
// catalogError.

func errNoTransaction() error {
	return errors.New("engine: no transaction in this context; statements must be run through the engine")
}

func errShutdown() error { return sqlerr.Shutdown() }

func errNoPersist() error {
	return sqlerr.Unsupported("SET PERSIST without a store for persisted variables")
}

// endsTransaction reports whether the transaction cannot commit any more after err.
func endsTransaction(err error) bool {
	return errors.Is(err, txn.ErrConflict) || errors.Is(err, txn.ErrOutcomeUnknown) || errors.Is(err, txn.ErrFinished) ||
		errors.Is(err, txn.ErrTooLarge) || errors.Is(err, txn.ErrMustExist) || errors.Is(err, txn.ErrDeadlock)
}

// IsRetryable reports whether running the whole transaction again may succeed. For a statement in autocommit the wire
// layer does so by itself, as long as nothing of the result has reached the client.
func IsRetryable(err error) bool {
	if errors.Is(err, txn.ErrConflict) || errors.Is(err, txn.ErrDeadlock) || errors.Is(err, txn.ErrMustExist) || errors.Is(err, catalog.ErrStale) {
		return true
	}
	var se *mysql.SQLError
	if errors.As(err, &se) {
		return se.Num == sqlerr.Deadlock || se.Num == sqlerr.TableDefChanged
	}
	return sql.ErrLockDeadlock.Is(err)
}

// translate turns an error of the store into what the client sees.
func (tx *Tx) translate(ctx *sql.Context, err error) error {
	var c *txn.ConstraintError
	if errors.As(err, &c) {
		switch {
		case !errors.Is(err, txn.ErrAlreadyExists):
			// A cell that had to exist is gone. A table version means a schema change; anything else is the parent of a
			// foreign key, deleted by a transaction that committed first: run again, the check will find out.
			if tx.eng.catalog.IsFence(c.Column) {
				return sqlerr.SchemaChanged()
			}
			return sqlerr.Conflict()
		default:
			return tx.duplicate(ctx, c)
		}
	}
	return catalogError(sqlerr.From(err))
}

// duplicate finds the row whose key was taken and words error 1062 with it.
func (tx *Tx) duplicate(ctx *sql.Context, c *txn.ConstraintError) error {
	want := string(c.Column.Row)
	for i := len(tx.inserted) - 1; i >= 0; i-- {
		in := tx.inserted[i]
		for _, x := range in.table.keys {
			if !x.unique {
				continue
			}
			key, err := x.rowKey(in.row)
			if err == nil && string(key) == want {
				return in.table.duplicate(ctx, x, in.row, nil)
			}
		}
	}
	return sqlerr.DuplicateEntry([]string{fmt.Sprintf("%x", c.Column.Row)}, "", "")
}

// catalogError maps the catalog's errors to the library's kinds, which it and the wire layer know the numbers of.
func catalogError(err error) error {
	if err == nil {
		return nil
	}
	var nf *catalog.NotFoundError
	if errors.As(err, &nf) {
		switch nf.Kind {
		case catalog.KindDatabase:
			return sql.ErrDatabaseNotFound.New(nf.Name)
		case catalog.KindTable:
			return sql.ErrTableNotFound.New(nf.Name)
		case catalog.KindView:
			return sql.ErrViewDoesNotExist.New(nf.Database, nf.Name)
		case catalog.KindTrigger:
			return sql.ErrTriggerDoesNotExist.New(nf.Name)
		case catalog.KindProcedure:
			return sql.ErrStoredProcedureDoesNotExist.New(nf.Name)
		case catalog.KindEvent:
			return sql.ErrEventDoesNotExist.New(nf.Name)
		}
		return err
	}
	var ex *catalog.ExistsError
	if errors.As(err, &ex) {
		switch ex.Kind {
		case catalog.KindDatabase:
			return sql.ErrDatabaseExists.New(ex.Name)
		case catalog.KindTable, catalog.KindView:
			return sql.ErrTableAlreadyExists.New(ex.Name)
		case catalog.KindColumn:
			return sql.ErrColumnExists.New(ex.Name)
		case catalog.KindIndex:
			return sql.ErrDuplicateKey.New(ex.Name)
		case catalog.KindTrigger:
			return sqlerr.New(sqlerr.TriggerExists, "Trigger already exists")
		case catalog.KindProcedure:
			return sql.ErrStoredProcedureAlreadyExists.New(ex.Name)
		case catalog.KindEvent:
			return sql.ErrEventAlreadyExists.New(ex.Name)
		}
		return err
	}
	if errors.Is(err, catalog.ErrStale) {
		return sqlerr.SchemaChanged()
	}
	var cp *catalog.CopyingError
	if errors.As(err, &cp) {
		return sqlerr.New(sqlerr.LockWaitTimeout, "Lock wait timeout exceeded; the table is being copied by another ALTER TABLE (job %d of moka.jobs); try again when that has ended", cp.Job)
	}
	var l *catalog.LimitError
	if errors.As(err, &l) {
		return sqlerr.New(int(l.Limit), "%s", l.Message)
	}
	var ut *catalog.UnsupportedTypeError
	if errors.As(err, &ut) {
		return sqlerr.Unsupported("columns of type " + ut.Type)
	}
	return err
}
