package page

import "time"

// rows reads a Table by the names of its columns.
type rows struct {
	t     Table
	index map[string]int
}

func byName(t Table) rows {
	r := rows{t, map[string]int{}}
	for i, c := range t.Columns {
		r.index[c] = i
	}
	return r
}

// value is nil for a column that is not there.
func (r rows) value(i int, column string) any {
	if c, ok := r.index[column]; ok && c < len(r.t.Rows[i]) {
		return r.t.Rows[i][c]
	}
	return nil
}

func (r rows) text(i int, column string) string    { return cell(r.value(i, column)) }
func (r rows) number(i int, column string) float64 { return number(r.value(i, column)) }
func (r rows) time(i int, column string) time.Time {
	t, _ := r.value(i, column).(time.Time)
	return t
}

// isSet reports whether a boolean column is true.
func (r rows) isSet(i int, column string) bool {
	v := r.value(i, column)
	b, ok := v.(bool)
	return b || !ok && number(v) != 0
}
