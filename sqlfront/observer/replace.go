package observer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/sqlfront/parse"
	"moka/txn"
)

// ALTER OBSERVER … AS body gives an observer another body in one commit: a run takes what its snapshot has of
// it, whole. What is acknowledged, waits or is parked stays so. As with ALTER EVENT, who alters it is its
// definer from then on: nobody writes what runs with the rights of somebody else. It takes what CREATE
// OBSERVER takes.

// replaceBody does it in t, for an observer that its caller has found and may manage.
func (r *Registry) replaceBody(ctx *sql.Context, t *txn.Txn, snap *catalog.Snapshot, o *catalog.Observer,
	s parse.AlterObserver) error {
	if o.View != 0 {
		return keeps(snap, o)
	}
	if !r.onTable(ctx, snap, o, sql.PrivilegeType_Trigger) {
		return hidden(ctx, o)
	}
	beside := 0
	for _, other := range snap.Observers(o.TableID) {
		if other.ID != o.ID {
			beside += len(other.CreateStatement)
		}
	}
	changed := *o
	declaredBy(ctx, &changed)
	changed.Body = s.Body
	changed.CreateStatement = createText(snap, &changed, s.Written)
	if err := parse.BodyFits(o.Name, len(changed.CreateStatement), beside); err != nil {
		return err
	}
	stored, err := r.o.Catalog.UpdateObserver(ctx, t, changed)
	if err != nil {
		return err
	}
	readsOld, err := r.validate(ctx, t, stored)
	if err != nil {
		return err
	}
	if readsOld {
		warnSiblings(ctx, snap, stored)
	}
	r.warnCycle(ctx, t, stored)
	return nil
}

// declaredBy notes who declares an observer, and in which surroundings its body is to be understood.
func declaredBy(ctx *sql.Context, o *catalog.Observer) {
	o.Definer = ctx.Client().User + "@" + ctx.Client().Address
	o.Spoken = engine.SpokenOf(ctx)
	if mode, err := ctx.GetSessionVariable(ctx, "sql_mode"); err == nil {
		o.SQLMode, o.ModeKnown = mode.(string)
	}
}

// createText is the statement that declares an observer as it is after an ALTER OBSERVER. The body is as it
// was written, or as it is kept.
func createText(snap *catalog.Snapshot, o *catalog.Observer, body string) string {
	var b strings.Builder
	b.WriteString("CREATE OBSERVER " + quote(o.Name) + " AFTER ")
	for i, ev := range eventsOf(o.Events) {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteString(string(ev))
		if names := columnNames(snap, o); ev == updated && len(names) > 0 {
			for i, c := range names {
				names[i] = quote(c)
			}
			b.WriteString(" OF " + strings.Join(names, ", "))
		}
	}
	b.WriteString(" ON " + quote(tableName(snap, o.TableID)) + " FOR EACH ROW")
	var options []string
	for name, n := range map[string]int64{"attempts": int64(o.MaxAttempts),
		"backoff_ms": o.Backoff.Milliseconds(),
		"timeout_ms": o.Timeout.Milliseconds(), "max_fanout": int64(o.MaxFanout),
		"max_depth": int64(o.MaxDepth)} {
		if n != 0 {
			options = append(options, name+" = "+strconv.FormatInt(n, 10))
		}
	}
	if o.ForgottenIsNull {
		options = append(options, "forgotten_old = 'null'")
	}
	if slices.Sort(options); len(options) > 0 {
		b.WriteString(" WITH (" + strings.Join(options, ", ") + ")")
	}
	return b.String() + " " + body
}
