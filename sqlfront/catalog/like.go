package catalog

import (
	"fmt"
	"slices"
	"time"
)

// Like is the descriptor of a new table of the same form, without rows, which is not related to any other.
// That nobody keeps it as an incremental view is part of that.
func (t *Table) Like(name string) *Table {
	d := t.Clone()
	d.ID, d.DatabaseID, d.Version, d.Name, d.Copy = 0, 0, 0, name, nil
	d.Incremental, d.ContributionsOf = nil, 0
	d.ForeignKeys, d.AutoIncrement, d.RowIDs = nil, Sequence{}, Sequence{}
	d.Created = time.Time{}
	for i := range d.Columns {
		d.Columns[i].Fill = nil
	}
	d.Indexes = slices.DeleteFunc(d.Indexes, func(x Index) bool { return x.State != StatePublic })
	for i := range d.Indexes {
		d.Indexes[i].Implicit = false
	}
	for i := range d.Checks { // their names are one name space with those of other tables, to MySQL
		d.Checks[i].Name = fmt.Sprintf("%s_chk_%d", name, i+1)
	}
	return d
}
