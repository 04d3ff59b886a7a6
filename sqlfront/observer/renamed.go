package observer

import (
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/engine"
	"moka/sqlfront/rights"
	"moka/triggers"
)

// mayReadOld refuses a body that names a column of OLD which had another name when the row was as OLD has it,
// to a definer who may not read all of the table. Rights on columns are on names, and meant for what has the
// name now; what the column held before may have been overwritten because it was to have that name. It is
// the rule of AS OF (package past), and the run is parked: DISCARD FAILED, or a right on the table, goes on.
// Of a row that was moved since nobody knows when it was so: it counts as before any change of a name.
func (r *Registry) mayReadOld(ctx *sql.Context, s *engine.Session, b *body, e triggers.Event,
	old sql.Row) error {
	if old == nil {
		return nil
	}
	t := b.table.Descriptor()
	for _, name := range b.plan.ReadsOld() {
		i := t.Column(name)
		if i < 0 || t.Columns[i].Renamed == 0 || !e.Moved() && e.PreviousTS >= t.Columns[i].Renamed {
			continue
		}
		user, host := definerOf(b.observer)
		return s.ActAs(ctx, user, host, func() error {
			if rights.OnTable(ctx, r.eng.Accounts(), b.database, t.Name, sql.PrivilegeType_Select) {
				return nil
			}
			return rights.ColumnDenied(ctx, "SELECT", name, t.Name)
		})
	}
	return nil
}
