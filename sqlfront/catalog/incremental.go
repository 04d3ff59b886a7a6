package catalog

import (
	"context"
	"slices"
	"strings"

	"moka/txn"
)

// An incremental view is a table that observers keep (package incview). Its descriptor says of which query,
// and names the table of the contributions of rows, which only the maintenance writes. What such a table is
// made of may not be taken from under it: writeTable and DropTable ask mayChange and mayDrop, through which
// every schema change goes.

// Incremental says of which query a table is kept.
type Incremental struct {
	Spoken
	Query           string `json:"query"`
	CreateStatement string `json:"create"`
	SQLMode         string `json:"sql_mode,omitempty"`
	TimeZone        string `json:"time_zone,omitempty"`
	// Definer is user@host of whose rights the query has.
	Definer string `json:"definer,omitempty"`
	// Contributions is the table of what each row of the anchor has added to the view.
	Contributions uint32 `json:"contributions"`
	// Uses are the tables of FROM, the anchor first.
	Uses []Use `json:"uses"`
}

// Use is a table that an incremental view reads, the columns that it reads of it, and who is told of changes.
type Use struct {
	Table    uint32   `json:"table"`
	Columns  []uint32 `json:"columns"`
	Observer uint32   `json:"observer"`
	// Refer are the columns, of the use that is Parent, that refer to this table's primary key; none of the
	// anchor. There is an index that begins with them.
	Refer  []uint32 `json:"refer,omitempty"`
	Parent int      `json:"parent,omitempty"`
}

// Referring finds where the rows of a table lie in the order of columns: in the row store (zero), or an
// index. pads is PadSpace of the key that the columns refer to.
func (t *Table) Referring(columns []uint32, pads bool) (index uint32, ok bool) {
	begins := func(key []IndexColumn, padSpace bool) bool {
		if len(key) < len(columns) {
			return false
		}
		for i, id := range columns {
			if key[i].Column != id || key[i].PrefixLength > 0 {
				return false
			}
		}
		return padSpace == pads || !t.Pads(key[:len(columns)])
	}
	if begins(t.PrimaryKey, t.PadSpace) {
		return 0, true
	}
	for _, x := range t.Indexes {
		if x.State == StatePublic && !x.FullText && begins(x.Columns, x.PadSpace) {
			return x.ID, true
		}
	}
	return 0, false
}

// Maintained reports whether only the maintenance of an incremental view writes to the table.
func (t *Table) Maintained() bool { return t.Incremental != nil || t.ContributionsOf != 0 }

// Views returns the incremental views that read a table, by id.
func (s *Snapshot) Views(table uint32) []*Table { return s.incremental[table] }

// mayDrop refuses to drop a table of, or below, an incremental view.
func (s *Snapshot) mayDrop(t *Table) error {
	if t.Incremental != nil {
		return limit(UsedByView, "'%s' is an incremental view: DROP INCREMENTAL VIEW drops it", t.Name)
	}
	if v, ok := s.tableIDs[t.ContributionsOf]; ok {
		return limit(UsedByView, "'%s' belongs to the incremental view '%s': DROP INCREMENTAL VIEW drops it",
			t.Name, v.Name)
	}
	for _, v := range s.Views(t.ID) {
		return limit(UsedByView, "Cannot drop table '%s': the incremental view '%s' reads it; DROP "+
			"INCREMENTAL VIEW comes first", t.Name, v.Name)
	}
	return nil
}

// mayChange refuses a change of a table that an incremental view is, or does not stand.
func (s *Snapshot) mayChange(old, n *Table) error {
	if old.Maintained() && !old.sameShape(n) {
		return limit(UsedByView, "'%s' is kept as an incremental view, and cannot be changed", old.Name)
	}
	for _, v := range s.Views(old.ID) {
		if old.Name != n.Name || old.DatabaseID != n.DatabaseID {
			return limit(UsedByView, "Cannot rename table '%s': the incremental view '%s' reads it", old.Name,
				v.Name)
		}
		if !slices.Equal(old.PrimaryKey, n.PrimaryKey) || old.PadSpace != n.PadSpace && old.padded() {
			return limit(UsedByView, "Cannot change the primary key of table '%s': the incremental "+
				"view '%s' "+
				"reads it", old.Name, v.Name)
		}
		for i, u := range v.Incremental.Uses {
			if u.Table != old.ID {
				continue
			}
			if err := u.stands(old, n, v.Name); err != nil {
				return err
			}
			if i > 0 && old.emptied(n) {
				return limit(UsedByView, "Cannot truncate table '%s': the incremental view '%s' joins it; "+
					"DELETE FROM does the same", old.Name, v.Name)
			}
		}
		for _, u := range v.Incremental.Uses {
			if v.Incremental.Uses[u.Parent].Table != old.ID || len(u.Refer) == 0 {
				continue
			}
			pads := old.PadSpace
			if d, ok := s.tableIDs[u.Table]; ok {
				pads = d.PadSpace
			}
			if _, ok := n.Referring(u.Refer, pads); !ok {
				return limit(UsedByView, "Cannot drop an index of table '%s': the incremental view "+
					"'%s' needs "+
					"it", old.Name, v.Name)
			}
		}
	}
	return nil
}

// stands reports whether the columns that a view reads are what they were.
func (u Use) stands(old, n *Table, view string) error {
	for _, id := range u.Columns {
		i, j := old.ColumnByID(id), n.ColumnByID(id)
		if i < 0 {
			continue
		}
		a := old.Columns[i]
		if j >= 0 {
			b := n.Columns[j]
			if strings.EqualFold(a.Name, b.Name) && a.Type.equal(b.Type) && a.Generated == b.Generated &&
				a.Virtual == b.Virtual {
				continue
			}
		}
		return limit(UsedByView, "Cannot drop or change column '%s' of table '%s': the incremental "+
			"view '%s' "+
			"reads it", a.Name, old.Name, view)
	}
	return nil
}

func (d Type) equal(o Type) bool {
	return d.Kind == o.Kind && d.Unsigned == o.Unsigned && d.Length == o.Length &&
		d.Precision == o.Precision &&
		d.Scale == o.Scale && d.Collation == o.Collation && slices.Equal(d.Values, o.Values)
}

// emptied reports whether the change is a TRUNCATE: fresh storage, into which nothing was copied. (A table
// with observers is never copied within a statement, and stays one that has been copied until what they have
// still to see is carried over.)
func (t *Table) emptied(n *Table) bool { return t.RowIndex != n.RowIndex && n.Copy == nil }

// GroupsIndex is the name of the index over a view's groups, by which views on it find its rows.
const GroupsIndex = "groups"

// sameIndexes reports whether a table has the indexes that its maintenance needs, and none that could refuse
// its rows. Whoever reads a view may give it others.
func (t *Table) sameIndexes(n *Table) bool {
	for i, x := range t.Indexes {
		if t.Incremental != nil && x.Name != GroupsIndex {
			continue
		}
		if i >= len(n.Indexes) || n.Indexes[i].ID != x.ID || n.Indexes[i].Name != x.Name {
			return false
		}
	}
	for _, x := range n.Indexes {
		if x.Unique {
			return false
		}
	}
	return t.Incremental != nil || len(t.Indexes) == len(n.Indexes)
}

// mayRefer refuses foreign keys that refer to an incremental view: its maintenance looks for no children.
func (s *Snapshot) mayRefer(n *Table) error {
	for _, k := range n.ForeignKeys {
		d, ok := s.Database(k.ParentDatabase)
		if !ok {
			continue
		}
		if p, ok := d.Table(k.ParentTable); ok && p.Maintained() {
			return limit(UsedByView, "'%s' is kept as an incremental view: a foreign key cannot refer to it",
				p.Name)
		}
	}
	return nil
}

// sameShape reports whether nothing has changed of a table but its indexes.
func (t *Table) sameShape(n *Table) bool {
	if t.Name != n.Name || t.DatabaseID != n.DatabaseID || t.RowIndex != n.RowIndex || n.Copy != nil ||
		len(t.Columns) != len(n.Columns) || len(n.ForeignKeys) > 0 || len(n.Checks) > 0 ||
		!slices.Equal(t.PrimaryKey, n.PrimaryKey) || !t.sameIndexes(n) {
		return false
	}
	for i, a := range t.Columns {
		if b := n.Columns[i]; a.ID != b.ID || a.Name != b.Name || !a.Type.equal(b.Type) ||
			a.Default != b.Default {
			return false
		}
	}
	return true
}

// emptyViews gives the views that are anchored in a table which is being emptied fresh storage, too, and
// those above them. Runs that are under way lose against it: the fences of the views move.
func (c *Catalog) emptyViews(ctx context.Context, t *txn.Txn, s *Snapshot, table uint32) error {
	for _, v := range s.Views(table) {
		for _, id := range []uint32{v.Incremental.Contributions, v.ID} {
			s, err := c.Snapshot(ctx, t)
			if err != nil {
				return err
			}
			old, ok := s.tableIDs[id]
			if !ok {
				continue
			}
			n := old.Clone()
			n.RowIndex = n.NextIndexID
			n.NextIndexID++
			for i := range n.Indexes {
				n.Indexes[i].ID = n.NextIndexID
				n.NextIndexID++
			}
			for _, above := range s.Views(id) {
				if above.Incremental.Uses[0].Table != id {
					return limit(UsedByView, "Cannot truncate: the incremental view '%s' joins '%s'",
						above.Name,
						old.Name)
				}
			}
			if _, err := c.storeTable(ctx, t, n, old); err != nil {
				return err
			}
			if err := c.emptyViews(ctx, t, s, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// CreateIncremental makes the table of an incremental view and that of its contributions. SetIncremental
// says later of what it is kept: observers name it by its id.
func (c *Catalog) CreateIncremental(ctx context.Context, t *txn.Txn, database string,
	view, contributions *Table) (v, of *Table, err error) {
	if v, err = c.CreateTable(ctx, t, database, view); err != nil {
		return nil, nil, err
	}
	contributions = contributions.Clone()
	contributions.ContributionsOf = v.ID
	of, err = c.CreateTable(ctx, t, database, contributions)
	return v, of, err
}

// SetIncremental makes a table that CreateIncremental has made an incremental view.
func (c *Catalog) SetIncremental(ctx context.Context, t *txn.Txn, view uint32, is *Incremental) error {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	old, ok := s.tableIDs[view]
	if !ok {
		return &NotFoundError{Kind: KindTable}
	}
	n := old.Clone()
	n.Incremental = is
	_, err = c.storeTable(ctx, t, n, old)
	return err
}

// DropIncremental removes an incremental view with its observers and contributions: those that say that they
// are this view's. A descriptor that says so of others' is a copy (CREATE TABLE … LIKE has made some), which
// goes alone.
func (c *Catalog) DropIncremental(ctx context.Context, t *txn.Txn, view *Table) error {
	s, err := c.Snapshot(ctx, t)
	if err != nil {
		return err
	}
	for _, above := range s.Views(view.ID) {
		return limit(UsedByView, "Cannot drop '%s': the incremental view '%s' reads it", view.Name,
			above.Name)
	}
	for _, u := range view.Incremental.Uses {
		s, err := c.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		o, ok := s.observerIDs[u.Observer]
		if !ok || o.View != view.ID {
			continue
		}
		if err := c.DropObserver(ctx, t, s.databaseIDs[o.DatabaseID].Name, o.Name); err != nil {
			return err
		}
	}
	for _, id := range []uint32{view.Incremental.Contributions, view.ID} {
		s, err := c.Snapshot(ctx, t)
		if err != nil {
			return err
		}
		if tbl, ok := s.tableIDs[id]; ok && (id == view.ID || tbl.ContributionsOf == view.ID) {
			if err := c.dropTable(ctx, t, s, tbl); err != nil {
				return err
			}
		}
	}
	return nil
}
