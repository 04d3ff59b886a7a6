package engine

import (
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

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
	for _, trigger := range d.Triggers() {
		m := triggerHead.FindStringSubmatch(trigger.CreateStatement)
		if m == nil || !strings.EqualFold(strings.Trim(m[3][strings.LastIndexByte(m[3], '.')+1:], "`"), t.desc.Name) {
			continue
		}
		what, event := "ON DUPLICATE KEY UPDATE", "UPDATE"
		if n.IsReplace {
			what, event = "REPLACE", "DELETE"
		}
		if strings.EqualFold(m[2], event) || strings.EqualFold(m[1], "AFTER") && strings.EqualFold(m[2], "INSERT") {
			return sqlerr.Unsupported(what + " on a table with triggers of " + event + " or AFTER INSERT; use INSERT, UPDATE and DELETE")
		}
	}
	return nil
}

// triggerHead finds time, event and table in a CREATE TRIGGER.
var triggerHead = regexp.MustCompile("(?is)\\b(before|after)\\s+(insert|update|delete)\\s+on\\s+((?:`[^`]+`|[^\\s`])+)")
