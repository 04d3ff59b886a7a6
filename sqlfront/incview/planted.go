package incview

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// Planted are mistakes in the maintenance of a view that look right and are wrong. A server has none: tests
// plant them, and have to find views that are not what their queries answer.
type Planted struct {
	// Skips is asked before rows are told of a change of a joined row: it says that there is no need to.
	Skips func(ctx *sql.Context) (bool, error)
	// Was says what is taken away, in place of the stored contribution: what Query says, or nil for nothing.
	// instead is false where the stored one is to count.
	Was func(ctx *sql.Context, stored bool) (parts sql.Row, instead bool, err error)
	// Rows are those of Query over the whole anchor, to look for MIN and MAX in place of the contributions.
	Rows func(ctx *sql.Context) ([]sql.Row, error)
	// LazyGroups does not write a row of the view that stays as it is.
	LazyGroups bool
}

// Plant plants mistakes.
func (v *View) Plant(p Planted) { v.planted = p }

// Planted are the mistakes that are planted.
func (v *View) Planted() Planted { return v.planted }

// counted is the contribution that a run takes away.
func (v *View) counted(ctx *sql.Context, key []byte, stored sql.Row) (sql.Row, error) {
	if v.planted.Was == nil {
		return stored, nil
	}
	parts, instead, err := v.planted.Was(ctx, stored != nil)
	if err != nil || !instead {
		return stored, err
	}
	if parts == nil {
		return nil, nil
	}
	return v.contribution(ctx, key, parts)
}

// endOfRows is the first or the last value of an argument in a group, by rows of Query.
func (v *View) endOfRows(ctx *sql.Context, rows []sql.Row, arg int, last bool, group []byte) (end any,
	err error) {
	for _, parts := range rows {
		row, err := v.contribution(ctx, nil, parts)
		if err != nil {
			return nil, err
		}
		x := v.value(row, arg)
		if x == nil || string(groupOf(row)) != string(group) {
			continue
		}
		if end != nil {
			n, err := v.compare(ctx, arg, x, end)
			if err != nil {
				return nil, err
			}
			if last == (n < 0) {
				continue
			}
		}
		end = x
	}
	return end, nil
}
