package engine

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// firesWrong refuses an upsert of a table with triggers that the library would leave out, or run for the wrong rows. REPLACE and ON
// DUPLICATE KEY UPDATE set off the triggers of what they turn out to be for each row; the library knows those of INSERT only, and those
// that run after it get rows of twice the width, half of it NULL.
func (b *execBuilder) firesWrong(ctx *sql.Context, n *plan.InsertInto) error {
	if !n.IsReplace && !n.OnDupExprs.HasUpdates() {
		return nil
	}
	dest, err := plan.GetInsertable(n.Destination)
	if err != nil {
		return nil // the library words it
	}
	t, ok := sql.GetUnderlyingTable(dest).(*Table)
	if !ok || t.temporary {
		return nil
	}
	v, err := b.eng.viewOf(ctx)
	if err != nil {
		return err
	}
	d, ok := v.snap.Database(t.db)
	if !ok {
		return nil
	}
	what, event := "ON DUPLICATE KEY UPDATE", "update"
	if n.IsReplace {
		what, event = "REPLACE", "delete"
	}
	fires, _ := b.eng.triggersOf(d, t.desc.Name, event)
	inserts, _ := b.eng.triggersOf(d, t.desc.Name, "insert")
	if len(fires) > 0 || slices.ContainsFunc(inserts, func(x *catalog.Trigger) bool { return b.eng.triggerHead(x).time == "after" }) {
		return sqlerr.Unsupported(what + " on a table with triggers of " + strings.ToUpper(event) + " or AFTER INSERT; use INSERT, UPDATE and DELETE")
	}
	return nil
}
