package plan

import (
	"math"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/eval"
)

// order puts the tables in an order, and each condition where it can be asked first. Orders are tried from
// each table on, greedily: next comes the table that costs least to be joined with the rows so far; the
// cheapest whole order is taken. Inner joins come before the outer ones, which keep theirs: a condition of
// WHERE or of an inner join's ON that looks at an outer table is asked when that is there.
func (l *lowering) order(needed map[sql.ColumnId]bool) error {
	var best []*relation
	least := never
	for _, r := range l.relations {
		if r.left {
			continue
		}
		if sequence, cost, rows := l.try(r); cost < least {
			best, least, l.rows = sequence, cost, rows
		}
	}
	for _, r := range l.relations {
		if !r.left {
			continue
		}
		for _, on := range r.on {
			for x := range on.uses {
				if x != r && x.left && slices.Index(l.relations, x) > slices.Index(l.relations, r) {
					return Unsupported("an outer join that depends on a later one")
				}
			}
		}
		best = append(best, r)
	}
	for _, r := range best {
		conditions := l.where
		if r.left {
			conditions = r.on
		}
		if err := l.place(r, l.access(r, conditions), needed); err != nil {
			return err
		}
	}
	return nil
}

// try finds an order of the inner tables that begins with one, what it costs in rows that are read, and about
// how many rows come out.
func (l *lowering) try(first *relation) (sequence []*relation, cost, rows float64) {
	var done []*conjunct
	rows = 1
	for r := first; r != nil; {
		c := l.access(r, l.where)
		cost += c.cost(rows)
		rows = max(rows*c.out, 0.1)
		sequence = append(sequence, r)
		r.placed = true
		for i, id := range r.ids {
			l.slots[id] = i
		}
		for _, a := range c.answers {
			a.done = true
			done = append(done, a)
		}
		r = nil
		least := never
		for _, next := range l.relations {
			if next.placed || next.left {
				continue
			}
			// What a table costs, and what the rows that it makes of each will cost.
			if c := l.access(next, l.where); c.cost(rows)+rows*c.out < least {
				r, least = next, c.cost(rows)+rows*c.out
			}
		}
	}
	for _, r := range sequence {
		r.placed = false
		for _, id := range r.ids {
			delete(l.slots, id)
		}
	}
	for _, c := range done {
		c.done = false
	}
	return sequence, cost, rows
}

// place makes a relation the next source.
func (l *lowering) place(r *relation, c candidate, needed map[sql.ColumnId]bool) error {
	if r.table != nil && c.access.Key == nil && c.read > maxScan {
		return Unsupported("a scan of a large table")
	}
	l.q.few = len(l.relations) == 1 && c.read <= maxScan
	s := &Source{Name: r.name, Derived: r.derived, Slot: l.q.Width, Left: r.left, Access: c.access}
	var ordinals []int
	for i, id := range r.ids {
		if r.table != nil && !needed[id] {
			continue
		}
		l.slots[id] = s.Slot + len(ordinals)
		ordinals = append(ordinals, i)
		s.Types = append(s.Types, r.types[i])
	}
	if r.table != nil {
		var err error
		if s.Table, err = r.table.Columns(ordinals); err != nil {
			return err
		}
	}
	s.Width = len(ordinals)
	l.q.Width += s.Width
	r.placed = true
	if c.access.Depends() {
		for i := range c.access.Equal {
			s.KeyColumns = append(s.KeyColumns, slices.Index(ordinals, c.access.Key.Columns[i]))
		}
	}
	for i, m := range s.Access.Hash {
		s.Access.Hash[i].Column = slices.Index(ordinals, m.Column)
	}
	for _, used := range c.answers {
		used.done = true
	}
	l.operands(&s.Access)
	var err error
	if s.On, err = l.conditions(r.on, true); err != nil {
		return err
	}
	s.After, err = l.conditions(l.where, false)
	l.q.Sources = append(l.q.Sources, s)
	return err
}

// operands has those of an access looked at before the first row is.
func (l *lowering) operands(a *Access) {
	for _, v := range a.Equal {
		if v.Slot < 0 && !v.Subquery {
			l.scope().Add(v.Operand, v.Type)
		}
	}
	for _, o := range a.In {
		l.scope().Add(o, a.Key.Types[len(a.Equal)])
	}
	for _, b := range []*Bound{a.Lower, a.Upper} {
		if b != nil {
			l.scope().Add(b.Operand, b.Type)
		}
	}
}

// conditions compiles those that can be asked now.
func (l *lowering) conditions(of []*conjunct, all bool) (out []eval.Predicate, err error) {
	for _, c := range of {
		if c.done || !all && !c.ready() {
			continue
		}
		p, err := eval.New(l.ctx, c.expr, l.scope())
		if err != nil {
			return nil, Unsupported("the condition " + c.expr.String())
		}
		c.done = true
		out = append(out, p)
	}
	return out, nil
}

func (c *conjunct) ready() bool {
	for r := range c.uses {
		if !r.placed {
			return false
		}
	}
	return true
}

// maxScan is of how many rows a table may be for a plan that reads it whole: larger ones are read by the
// general planner, which has conditions looked at where the rows are.
const maxScan = 512

// byIndex leaves out the sort where the only source comes in that order.
func (l *lowering) byIndex() {
	q := l.q
	if len(q.Sources) != 1 || q.Group != nil || len(q.Order) == 0 || q.Sources[0].Table == nil || q.Distinct {
		return
	}
	a := &q.Sources[0].Access
	if a.Key == nil || a.In != nil {
		return
	}
	if a.Point() {
		q.Order = nil
		return
	}
	descending := q.Order[0].Descending
	var cols []int
	for _, o := range q.Order {
		c := q.Columns[o.Column]
		if c.Slot < 0 || o.Descending != descending {
			return
		}
		cols = append(cols, l.ordinalAt(c.Slot))
	}
	for skip := range len(a.Equal) + 1 {
		if rest := a.Key.Columns[skip:]; len(rest) >= len(cols) && slices.Equal(rest[:len(cols)], cols) {
			q.Order, q.InOrder, q.Reverse = nil, true, descending
			return
		}
	}
}

// ordinalAt is which column of the only relation is in a slot.
func (l *lowering) ordinalAt(slot int) int {
	for id, s := range l.slots {
		if s == slot {
			return l.of[id].ordinal
		}
	}
	return -1
}

// candidate is a way to read a relation next.
type candidate struct {
	access  Access
	answers []*conjunct // conditions that need not be asked any more
	// read is about how many rows are read: for each row so far, or once if nothing depends on these.
	read float64
	once bool
	out  float64 // about how many rows there are for each row so far
}

// cost is what reading for so many rows costs, in rows. To be asked for a row costs something, too.
func (c *candidate) cost(rows float64) float64 {
	if c.once {
		return c.read
	}
	return rows * (c.read + 0.5)
}

const never = math.MaxFloat64
