package sqlfront_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestPlanCacheKeepsOrders compares random reads with and without the plan cache: positions, aliases and
// expressions in ORDER BY and GROUP BY, DISTINCT, LIMIT with OFFSET, joins by columns without an index,
// conditions on the inner side of a LEFT JOIN, constants of other types than the column. Where LIMIT cuts,
// the order is completed by the keys: of rows that tie MySQL may return any.
func TestPlanCacheKeepsOrders(t *testing.T) {
	seeds := 1
	if n, err := strconv.Atoi(os.Getenv("MOKA_PLANCACHE_SEEDS")); err == nil {
		seeds = n
	}
	s := newDatabase(t).serve()
	run(t, s.conn(""), "create database d")
	cached, plain := s.conn("d"), s.conn("d")
	run(t, plain, "set moka_plan_cache = 0")
	run(t, cached, "set moka_plan_cache = 1",
		"create table l (id int primary key, a int, b varchar(10), c decimal(8,2), da date)",
		`create table r (id int primary key, a int, b varchar(10), c decimal(8,2), da date,
		  key (a), key (da, c))`)
	for i := range 24 {
		row := fmt.Sprintf("(%d, nullif(%d, 3), %d, nullif(%d.5, 2.5), date '2024-01-01' + interval %d day)",
			i, i*7%5, i%4, i%6, i%5)
		run(t, cached, "insert into l values "+row, "insert into r values "+row)
	}
	before := s.Metrics().PlanHits
	for seed := range seeds {
		o := &orders{rand.New(rand.NewPCG(uint64(seed), 2))}
		for range 150 {
			query, kinds := o.query()
			for range 3 { // the first time compiles the plan, the others use it
				text := o.filled(query, kinds)
				fast, slow := answer(cached, text, nil, true), answer(plain, text, nil, true)
				if fast != slow {
					t.Errorf("seed %d: %s\nwith the plan cache:\n%s\nwithout:\n%s", seed, text, fast, slow)
					break
				}
			}
		}
	}
	if hits := s.Metrics().PlanHits - before; hits < int64(100*seeds) {
		t.Errorf("only %d reads were run by plans", hits)
	}
}

// orders draws the reads of TestPlanCacheKeepsOrders.
type orders struct{ *rand.Rand }

func (o *orders) of(words ...string) string { return words[o.IntN(len(words))] }

// query draws a read with ? in the place of constants, and the columns that they are compared with.
func (o *orders) query() (query string, kinds []string) {
	from, sides := "l", []string{"l"}
	if o.IntN(4) > 0 {
		sides = append(sides, "r")
		on := o.of("a", "b", "id", "da")
		from = "l " + o.of("join", "left join") + " r on l." + on + " = r." + on
		if o.IntN(3) == 0 {
			from += " and " + o.condition(sides[1:], &kinds)
		}
	}
	where := ""
	for i := range o.IntN(3) {
		where += []string{" where ", " and "}[i] + o.condition(sides, &kinds)
	}
	var cols []string
	for range 1 + o.IntN(2) {
		cols = append(cols, o.of(sides...)+"."+o.of("a", "b", "c", "da", "id"))
	}
	if o.IntN(4) == 0 {
		return o.grouped(cols[0], from, where, &kinds), kinds
	}
	distinct := o.of("", "", "distinct ")
	if distinct == "" {
		for _, side := range sides {
			cols = append(cols, side+".id")
		}
	}
	names := make([]string, len(cols))
	for i := range cols {
		names[i] = fmt.Sprintf("%s as c%d", cols[i], i)
	}
	by := o.Perm(len(cols))
	elements := make([]string, len(by))
	for i, n := range by {
		elements[i] = o.of(strconv.Itoa(n+1), fmt.Sprintf("(%d)", n+1), names[n][len(cols[n])+4:], cols[n]) +
			o.of("", " desc", " asc")
	}
	if distinct == "" && o.IntN(4) == 0 {
		first := o.of("l.a + l.id", "-l.id", "abs(l.c - 2)", "concat(l.b, l.id)", "l.a is null")
		elements = append([]string{first}, elements...)
	}
	return "select " + distinct + strings.Join(names, ", ") + " from " + from + where +
		" order by " + strings.Join(elements, ", ") + o.limit(&kinds), kinds
}

func (o *orders) grouped(col, from, where string, kinds *[]string) string {
	having := ""
	if o.IntN(2) == 0 {
		having = " having count(*) > ?"
		*kinds = append(*kinds, "limit")
	}
	return "select " + col + " as g, count(*) as n, max(l.id) as m from " + from + where +
		" group by " + o.of("1", "g", col) + having +
		" order by " + o.of("1", "g desc", "2, 1", "n desc, 1 desc", "3 desc, g") + o.limit(kinds)
}

func (o *orders) limit(kinds *[]string) string {
	switch o.IntN(4) {
	case 0:
		return ""
	case 1:
		*kinds = append(*kinds, "limit", "limit")
		return o.of(" limit ? offset ?", " limit ?, ?")
	}
	*kinds = append(*kinds, "limit")
	return " limit ?"
}

func (o *orders) condition(sides []string, kinds *[]string) string {
	col := o.of("a", "b", "c", "da", "id")
	name := o.of(sides...) + "." + col
	switch o.IntN(6) {
	case 0:
		return name + o.of(" is null", " is not null")
	case 1:
		*kinds = append(*kinds, col, col)
		return name + " between ? and ?"
	case 2:
		*kinds = append(*kinds, col, col)
		return name + " in (?, ?)"
	}
	*kinds = append(*kinds, col)
	return name + o.of(" = ?", " < ?", " >= ?", " <> ?", " <=> ?")
}

// filled writes constants into a read, of a type that the column has or of another.
func (o *orders) filled(query string, kinds []string) string {
	parts := strings.Split(query, "?")
	var b strings.Builder
	b.WriteString(parts[0])
	for i, kind := range kinds {
		switch kind {
		case "limit":
			b.WriteString(o.of("1", "2", "3", "5", "8"))
		case "da":
			b.WriteString(o.of("'2024-01-02'", "'2024-1-3'", "'2024-01-03 00:00:00'",
				"20240104", "'2024-01-04 10:00:00'"))
		default:
			b.WriteString(o.of("1", "2", "'2'", "1.5", "'1.5'", "2.125", "0", "' 3'", "-1"))
		}
		b.WriteString(parts[i+1])
	}
	return b.String()
}
