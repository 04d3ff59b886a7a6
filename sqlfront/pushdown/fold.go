package pushdown

import (
	"bytes"
	"slices"
)

// FoldIn makes one IN of the parts of an OR that ask one column for one value, or for one of several.
func FoldIn(parts []*Expr) []*Expr {
	lists := map[int]*Expr{}
	out := make([]*Expr, 0, len(parts))
	for _, p := range parts {
		point := p.Op == OpCompare && p.Relation == Equal
		if !point && p.Op != OpIn {
			out = append(out, p)
			continue
		}
		list := lists[p.Column]
		if list == nil {
			list = &Expr{Op: OpIn, Column: p.Column}
			lists[p.Column] = list
			out = append(out, list)
		}
		list.HasNull = list.HasNull || p.HasNull
		if point {
			list.Keys = append(list.Keys, p.Key)
		} else {
			list.Keys = append(list.Keys, p.Keys...)
		}
	}
	for _, list := range lists {
		slices.SortFunc(list.Keys, bytes.Compare)
		list.Keys = slices.CompactFunc(list.Keys, bytes.Equal)
	}
	return out
}
