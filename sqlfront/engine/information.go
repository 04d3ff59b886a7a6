package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"moka/sqlfront/account"
	"moka/sqlfront/infoschema"
	"moka/sqlfront/system"
)

// information is a table of information_schema, or nil if it is read as the library reads it.
func (b *execBuilder) information(ctx *sql.Context, n *plan.ResolvedTable, row sql.Row) (sql.RowIter, error) {
	if it, err := b.accountRows(ctx, n, row); it != nil || err != nil {
		return it, err
	}
	within, limit, ok := infoschema.Asked(ctx, n)
	if !ok || isShown(ctx, n) {
		if it, err := b.informationRows(ctx, n, row); it != nil || err != nil {
			return it, err
		}
		return b.informationColumns(ctx, n, row)
	}
	it, err := b.informationRows(within, n, row)
	if it == nil && err == nil {
		it, err = b.informationColumns(within, n, row)
	}
	if it == nil && err == nil {
		it, err = b.base.Build(asShown(within, n), n, row)
	}
	if err != nil {
		return nil, err
	}
	return infoschema.Within(limit, it), nil
}

// inSight is a system's table as the text that is being bound names it.
func inSight(ctx *sql.Context, t sql.Table) sql.Table {
	s := sessionOf(ctx)
	if t == nil || s == nil || s.reading == nil || s.reading.Host == "" && s.reading.Makers == "" {
		return t
	}
	return &infoschema.Sighted{Table: t, In: *s.reading}
}

// sightDatabase is a database of system tables.
type sightDatabase struct{ *system.Database }

// GetTableInsensitive implements sql.Database.
func (d *sightDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	t, ok, err := d.Database.GetTableInsensitive(ctx, name)
	return inSight(ctx, t), ok, err
}

// bySight reads such a table; rows are nil if it is another.
func (b *execBuilder) bySight(
	ctx *sql.Context, n *plan.ResolvedTable, row sql.Row,
) (rows sql.RowIter, err error) {
	t, ok := n.Table.(*infoschema.Sighted)
	s := sessionOf(ctx)
	if !ok || s == nil {
		return nil, nil
	}
	own := *n
	own.Table = t.Table
	read := func() (all []sql.Row, err error) {
		it, err := b.base.Build(ctx, &own, row)
		if err != nil {
			return nil, err
		}
		return sql.RowIterToRows(ctx, it)
	}
	reader := account.Name{User: t.In.User, Host: t.In.Host}
	var all []sql.Row
	if reader.None() {
		reader = s.Account()
		all, err = read()
	} else {
		err = s.ActAs(ctx, reader.User, reader.Host, func() (err error) {
			all, err = read()
			return err
		})
	}
	for maker := range strings.SplitSeq(t.In.Makers, "\x00") {
		by := definerName(maker)
		if err != nil || by == reader || by.None() || !b.eng.asks() {
			continue
		}
		err = s.ActAs(ctx, by.User, by.Host, func() error {
			if b.eng.mayPose(ctx) {
				return nil
			}
			theirs, err := read()
			all = infoschema.Common(all, theirs)
			return err
		})
	}
	if err != nil {
		return nil, t.In.Invalid(err)
	}
	return sql.RowsToRowIter(all...), nil
}
