// Package past has what reading AS OF a time, or under moka_snapshot, needs besides the store: which moment
// is meant, and who may see what had a name then.
package past

import (
	"errors"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
)

// Variable is the session's variable for reading the past; empty is the present.
const Variable = "moka_snapshot"

// Moment is the time that AS OF means, a date and time in the session's time zone: what was committed before
// that millisecond.
func Moment(ctx *sql.Context, asOf any) (kv.Timestamp, error) {
	v, _, err := types.DatetimeMaxPrecision.Convert(ctx, asOf)
	t, ok := v.(time.Time)
	if err != nil || !ok {
		return 0, sqlerr.New(sqlerr.WrongValue, "Incorrect AS OF TIMESTAMP value: '%v'", asOf)
	}
	zone, err := function.SessionTimeZone(ctx)
	if err != nil {
		return 0, err
	}
	utc, err := sql.ConvertTimeToLocation(t, zone)
	if err != nil {
		return 0, sqlerr.New(sqlerr.UnknownTimeZone, "Unknown or incorrect time zone: '%s'", zone)
	}
	return max(1, kv.TimestampAt(utc)), nil
}

// CheckVariable refuses values of Variable that are no time, when they are set.
func CheckVariable(ctx *sql.Context, _ sql.SystemVariableScope, value sql.SystemVarValue) error {
	s, _ := value.Val.(string)
	if s == "" {
		return nil
	}
	if _, _, err := types.DatetimeMaxPrecision.Convert(ctx, s); err != nil {
		return sqlerr.New(sqlerr.WrongValueForVariable, "Variable '%s' can't be set to the value of '%s'"+
			": it is no date and time, nor empty for the present", Variable, s)
	}
	return nil
}

// Error words why a moment cannot be read.
func Error(at kv.Timestamp, err error) error {
	if errors.Is(err, kv.ErrInvalidArgument) {
		return sqlerr.Future(at.Time())
	}
	return sqlerr.From(err)
}

// Reader is a session that may read the past.
type Reader interface {
	// Past is the catalog of the moment that the open transaction reads (moka_snapshot), and the newest one;
	// nil for a transaction of the present.
	Past(ctx *sql.Context) (then, now *catalog.Snapshot, err error)
}

// OfOthers reports whether the transaction reads a moment at which the table of a name, or its database, was
// another one: what was said of it then (names, comments, bodies of triggers and observers) is for who may
// read its rows, see MayRead. Without a table, or with a name that was none's, it is the database that is
// asked about, and SELECT on the whole server that it takes.
func OfOthers(ctx *sql.Context, accounts *mysql_db.MySQLDb, database, table string) bool {
	r, ok := ctx.Session.(Reader)
	if !ok {
		return false
	}
	then, now, err := r.Past(ctx)
	if then == nil || err != nil {
		return err != nil
	}
	d, ok := then.Database(database)
	if !ok {
		return false
	}
	if t, ok := d.Table(table); ok {
		return MayRead(ctx, accounts, d, t, now) != nil
	}
	return still(d, now) == nil && !rights.Has(ctx, accounts, sql.PrivilegeType_Select)
}

// still is the database as it is now, nil if it is gone.
func still(d *catalog.Database, now *catalog.Snapshot) *catalog.Database {
	if p, ok := now.Database(d.Name); ok && p.ID == d.ID {
		return p
	}
	return nil
}

// MayUseView refuses a view of the past that is not the one of today. Views and routines lend their definer's
// rights to who may name them, and a right on the name was given for what it says now: maybe because the old
// text told too much. So an old one is for its definer himself, and for who has the right on all databases.
func MayUseView(
	ctx *sql.Context, accounts *mysql_db.MySQLDb, db *catalog.Database, v *catalog.View,
) error {
	same := func(d *catalog.Database) bool {
		now, ok := d.View(v.Name)
		return ok && now.CreateStatement == v.CreateStatement && now.Definition == v.Definition &&
			now.Definer == v.Definer
	}
	if lends(ctx, accounts, db.Name, v.Definer, sql.PrivilegeType_Select, same) {
		return nil
	}
	return refusal(ctx, v.Name, "*.*")
}

// MayCall is MayUseView for a procedure or a function.
func MayCall(
	ctx *sql.Context, accounts *mysql_db.MySQLDb, database, definer string, p *catalog.Procedure,
) error {
	same := func(d *catalog.Database) bool {
		for _, find := range []func(string) (*catalog.Procedure, bool){d.Procedure, d.Function} {
			now, ok := find(p.Name)
			if ok && now.CreateStatement == p.CreateStatement && now.Created.Equal(p.Created) {
				return true
			}
		}
		return false
	}
	if lends(ctx, accounts, database, definer, sql.PrivilegeType_Execute, same) {
		return nil
	}
	c := ctx.Client()
	return sqlerr.New(sqlerr.RoutineAccessDenied, "execute command denied to user '%s'@'%s' for routine "+
		"'%s.%s': what had the name at that time is another one, which takes EXECUTE on *.*", c.User,
		c.Address, database, p.Name)
}

// lends reports whether something of a definer's may be used: it is of the present, or there still (same), or
// the user's own, or he has a right on the whole server.
func lends(
	ctx *sql.Context, accounts *mysql_db.MySQLDb, database, definer string, right sql.PrivilegeType,
	same func(now *catalog.Database) bool,
) bool {
	r, ok := ctx.Session.(Reader)
	if !ok {
		return true
	}
	then, now, err := r.Past(ctx)
	if then == nil || err != nil {
		return err == nil
	}
	if d, ok := then.Database(database); ok {
		if p := still(d, now); p != nil && same(p) {
			return true
		}
	}
	c := ctx.Client()
	return definer == c.User+"@"+c.Address || rights.Has(ctx, accounts, right)
}

// SameColumn says of columns of a table of the past whether what has the name today is the same one: a right
// on a column is for that, and not for one that was renamed or dropped and had the name before it.
func SameColumn(then *catalog.Table, now *catalog.Snapshot) func(name string) bool {
	t, _ := now.TableByID(then.ID)
	return func(name string) bool {
		i := then.Column(name)
		if t == nil || i < 0 {
			return false
		}
		j := t.Column(name)
		return j >= 0 && t.Columns[j].ID == then.Columns[i].ID
	}
}

// MayRead refuses the table then of the database db of the past to whom the rights of today do not give it.
// Rights are given to names, and meant for what has the name: a right on a table holds for the past of that
// table, which an id tells from another one that was dropped or renamed and had the name before it. For
// these, a right on the database they were in is asked for, and for what was in a database that is gone, one
// on the whole server. Otherwise a grant on a new table would open the old one's rows, and who may drop his
// table could read what had its name before. Rejected: the rights of that moment; they may have been taken
// away since, and for a reason.
func MayRead(
	ctx *sql.Context, accounts *mysql_db.MySQLDb, db *catalog.Database, then *catalog.Table,
	now *catalog.Snapshot,
) error {
	present, ok := now.Database(db.Name)
	if ok && present.ID == db.ID {
		if t, ok := present.Table(then.Name); ok && t.ID == then.ID {
			return nil
		}
		if rights.OnTable(ctx, accounts, db.Name, "", sql.PrivilegeType_Select) {
			return nil
		}
		return refusal(ctx, then.Name, "the database")
	}
	if rights.Has(ctx, accounts, sql.PrivilegeType_Select) {
		return nil
	}
	return refusal(ctx, then.Name, "*.*")
}

func refusal(ctx *sql.Context, table, on string) error {
	c := ctx.Client()
	return sqlerr.New(sqlerr.TableAccessDenied, "SELECT command denied to user '%s'@'%s' for table '%s': "+
		"what had the name at that time is another table, which takes SELECT on %s",
		c.User, c.Address, table, on)
}
