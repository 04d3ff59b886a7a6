package schema

import (
	"strings"
	"testing"

	"moka/tpce/gen"
)

func TestParentsComeFirst(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range Tables() {
		for _, f := range table.ForeignKeys {
			if !seen[f.Parent] {
				t.Errorf("%s comes before its parent %s", table.Name, f.Parent)
			}
		}
		seen[table.Name] = true
	}
	if len(seen) != 33 {
		t.Errorf("%d tables, want 33", len(seen))
	}
}

func TestKeysNameColumns(t *testing.T) {
	for _, table := range Tables() {
		columns := map[string]bool{}
		for _, c := range table.Columns {
			columns[c.Name] = true
		}
		lists := [][]string{table.PrimaryKey}
		for _, f := range table.ForeignKeys {
			lists = append(lists, f.Columns)
		}
		for _, x := range table.Indexes {
			lists = append(lists, x.Columns)
		}
		for _, list := range lists {
			for _, name := range list {
				if !columns[name] {
					t.Errorf("%s has no column %s", table.Name, name)
				}
			}
		}
	}
}

// TestRowsFit holds every generated row of the smallest world against the definition: as many values as
// columns, NULL only where allowed, strings no longer than the column.
func TestRowsFit(t *testing.T) {
	u, err := gen.New(gen.Params{Customers: 100, Days: 1, DailyMarketWeeks: 1, NewsBytes: 300})
	if err != nil {
		t.Fatal(err)
	}
	visited := map[string]bool{}
	visit := func(name string, r gen.Row) {
		visited[name] = true
		table, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(r) != len(table.Columns) {
			t.Fatalf("%s: %d values for %d columns", name, len(r), len(table.Columns))
		}
		for i, c := range table.Columns {
			if r[i] == nil && !c.Null {
				t.Fatalf("%s.%s is NULL", name, c.Name)
			}
			if s, ok := r[i].(string); ok && c.Type != Text && len(s) > c.Len {
				t.Fatalf("%s.%s holds %d bytes: %q", name, c.Name, len(s), s)
			}
		}
	}
	for _, s := range u.Static() {
		for i := range s.Units {
			s.Unit(i, func(r gen.Row) { visit(s.Table, r) })
		}
	}
	if err := u.History(0, gen.Grown, func(table string, r gen.Row) error {
		visit(table, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(visited) != 32 { // all but TRADE_REQUEST
		t.Errorf("%d tables have rows, want 32", len(visited))
	}
}

func TestDeferredIndexesAreTheSame(t *testing.T) {
	inline, deferred := 0, 0
	for _, table := range Tables() {
		inline += strings.Count(MySQL.CreateTable(table, Options{}), "\n  KEY ")
		deferred += len(MySQL.CreateIndexes(table, Options{DeferIndexes: true}))
		if n := len(MySQL.CreateIndexes(table, Options{})); n != 0 {
			t.Errorf("%s would get %d indexes twice", table.Name, n)
		}
		if strings.Contains(Postgres.CreateTable(table, Options{}), "KEY "+table.Name+"_") {
			t.Errorf("%s: PostgreSQL has no KEY clause", table.Name)
		}
	}
	if inline == 0 || inline != deferred {
		t.Errorf("%d indexes inline, %d deferred", inline, deferred)
	}
}
