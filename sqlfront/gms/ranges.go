package gms

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// maxRanges bounds the ranges of an index that conditions are multiplied to. The library makes a range of
// each combination of values: of a IN (1, …, 1000) AND b IN (1, …, 1000) AND c IN (1, …, 1000) on an index
// (a, b, c) a billion, in which it hears no KILL and takes the memory of the machine. MySQL bounds the memory
// of its ranges (range_optimizer_max_mem_size), and then takes no index at all. A list alone is not bounded:
// it multiplies nothing, and is as long as the statement.
const maxRanges = 1_024

// boundingRanges has the library look for indexes without the conditions that would be too many ranges, or
// wrong ones (see fitting). They are asked of the rows then.
func boundingRanges(order analyzer.RuleFunc) analyzer.RuleFunc {
	return func(
		ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector,
		flags *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		hiding, same, err := transform.Node(ctx, n, hideRanges)
		if err != nil || same {
			return order(ctx, a, n, scope, sel, flags)
		}
		planned, _, err := order(ctx, a, hiding, scope, sel, flags)
		if err != nil {
			return nil, transform.SameTree, err
		}
		planned, _, err = showRanges(ctx, planned)
		return planned, transform.NewTree, err
	}
}

// HidingOfWrites and ShowingOfWrites do the same before and after what the library plans with a list of rules
// of its own: UPDATE and DELETE of one table.
var (
	HidingOfWrites = analyzer.Rule{Id: analyzer.RuleId(-1022), Apply: func(ctx *sql.Context,
		_ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		if !simpleWrite(n) {
			return n, transform.SameTree, nil
		}
		return transform.Node(ctx, n, hideRanges)
	}}
	ShowingOfWrites = analyzer.Rule{Id: analyzer.RuleId(-1023), Apply: func(ctx *sql.Context,
		_ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		if !simpleWrite(n) {
			return n, transform.SameTree, nil
		}
		return showRanges(ctx, n)
	}}
)

// simpleWrite reports a statement for which the library has a list of rules of its own.
func simpleWrite(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.Update:
		return n.HasSingleRel && !n.IsJoin
	case *plan.DeleteFrom:
		return !n.HasExplicitTargets() && n.RefsSingleRel
	}
	return false
}

// showRanges shows what hideRanges has hidden.
func showRanges(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprs(ctx, n,
		func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			if u, ok := e.(unindexed); ok {
				return u.Expression, transform.NewTree, nil
			}
			return e, transform.SameTree, nil
		})
}

// unindexed is a condition for which no index is looked for, while joins and indexes are chosen.
type unindexed struct{ sql.Expression }

// Children implements sql.Expression: other rules look at the condition.
func (u unindexed) Children() []sql.Expression { return []sql.Expression{u.Expression} }

// WithChildren implements sql.Expression.
func (u unindexed) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(u, len(children), 1)
	}
	return unindexed{children[0]}, nil
}

// hideRanges is a filter of a table with what makes wrong ranges, or too many ones of one of its indexes,
// hidden.
func hideRanges(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	f, ok := n.(*plan.Filter)
	if !ok {
		return n, transform.SameTree, nil
	}
	below := f.Child
	if a, ok := below.(*plan.TableAlias); ok {
		below = a.Child
	}
	t, ok := below.(sql.TableNode)
	if !ok {
		return n, transform.SameTree, nil
	}
	indexed, ok := t.UnderlyingTable().(sql.IndexAddressableTable)
	if !ok {
		return n, transform.SameTree, nil
	}
	conditions := expression.SplitConjunction(ctx, f.Expression)
	changed := false
	for i, e := range conditions {
		fitted, same, fits, err := fitting(ctx, e)
		if err != nil {
			return nil, transform.SameTree, err
		}
		if conditions[i] = fitted; !fits {
			conditions[i] = unindexed{e}
		}
		changed = changed || !fits || !bool(same)
	}
	h, product := hiding{columns: namedBy(ctx, conditions)}, 1
	for _, e := range conditions {
		c := rangesOf(e)
		h.ranges, product = append(h.ranges, c), times(product, c.ranges)
	}
	if product > maxRanges {
		indexes, err := indexed.GetIndexes(ctx)
		if err != nil {
			return nil, transform.SameTree, err
		}
		h.leads = leading(indexes)
		hidden := h.of(indexes)
		for i := range hidden {
			conditions[i] = unindexed{conditions[i]}
		}
		changed = changed || len(hidden) > 0
	}
	if !changed {
		return n, transform.SameTree, nil
	}
	return plan.NewFilter(ctx, expression.JoinAnd(conditions...), f.Child), transform.NewTree, nil
}

// hiding are the conditions on a table, and what each is to its indexes.
type hiding struct {
	ranges  []counted
	columns []map[string]bool // in lower case
	leads   map[string]int    // by column: 2 it is the first of a unique index, 1 of another
}

// of are the conditions to be hidden, by their places. Those that are most likely to find few rows stay: on
// the first column of a unique index, then of another one; then by their places in the index, and the shorter
// first.
func (h *hiding) of(indexes []sql.Index) map[int]bool {
	hidden := map[int]bool{}
	for _, x := range indexes {
		place := places(x)
		var on []int
		for i, c := range h.ranges {
			if c.ranges > 1 && !hidden[i] && h.at(i, place) < math.MaxInt {
				on = append(on, i)
			}
		}
		slices.SortStableFunc(on, func(i, k int) int {
			return cmp.Or(cmp.Compare(h.lead(k), h.lead(i)), cmp.Compare(h.at(i, place), h.at(k, place)),
				cmp.Compare(h.ranges[i].ranges, h.ranges[k].ranges))
		})
		product := 1
		for _, i := range on {
			c := h.ranges[i]
			p := times(product, c.ranges)
			if p <= maxRanges || product == 1 && c.ranges <= c.values {
				product = p
			} else {
				hidden[i] = true
			}
		}
	}
	return hidden
}

// at is the place in an index of the first column that a condition has; math.MaxInt if it has none.
func (h *hiding) at(i int, place map[string]int) int {
	first := math.MaxInt
	for c := range h.columns[i] {
		if at, ok := place[c]; ok {
			first = min(first, at)
		}
	}
	if at, ok := place[""]; ok {
		first = min(first, at)
	}
	return first
}

func (h *hiding) lead(i int) (lead int) {
	for c := range h.columns[i] {
		lead = max(lead, h.leads[c])
	}
	return lead
}

// places are the columns of an index by name, in lower case. Expressions of a functional index are "":
// whatever condition may be one on them.
func places(x sql.Index) map[string]int {
	place := map[string]int{}
	for i, e := range x.Expressions() {
		name := strings.ToLower(e[strings.LastIndexByte(e, '.')+1:])
		if strings.Contains(name, "!hidden!") {
			name = ""
		}
		if _, ok := place[name]; !ok {
			place[name] = i
		}
	}
	return place
}

func leading(indexes []sql.Index) map[string]int {
	leads := map[string]int{}
	for _, x := range indexes {
		for c, at := range places(x) {
			if at != 0 {
				continue
			}
			if leads[c] = max(leads[c], 1); x.IsUnique() {
				leads[c] = 2
			}
		}
	}
	return leads
}

func namedBy(ctx *sql.Context, conditions []sql.Expression) []map[string]bool {
	columns := make([]map[string]bool, len(conditions))
	for i, e := range conditions {
		columns[i] = map[string]bool{}
		transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if f, ok := e.(*expression.GetField); ok {
				columns[i][strings.ToLower(f.Name())] = true
			}
			return false
		})
	}
	return columns
}

// counted is how many ranges a condition is at most, on whatever index, and how many values it compares with.
type counted struct{ ranges, values int }

func rangesOf(e sql.Expression) counted {
	switch e := e.(type) {
	case *expression.And:
		l, r := rangesOf(e.LeftChild), rangesOf(e.RightChild)
		return counted{times(l.ranges, r.ranges), l.values + r.values}
	case *expression.Or:
		l, r := rangesOf(e.LeftChild), rangesOf(e.RightChild)
		return counted{min(l.ranges+r.ranges, math.MaxInt32), l.values + r.values}
	case *expression.InTuple:
		return listed(e.Right())
	case *expression.HashInTuple:
		return listed(e.Right())
	case *expression.Not: // what lies between the values
		c := rangesOf(e.Child)
		return counted{c.ranges + 1, c.values + 1}
	}
	return counted{1, 1}
}

func listed(e sql.Expression) counted {
	n := 1
	if t, ok := e.(expression.Tuple); ok {
		n = max(n, len(t))
	}
	return counted{n, n}
}

// times is a product that ends at math.MaxInt32.
func times(a, b int) int { return int(min(int64(a)*int64(b), math.MaxInt32)) }
