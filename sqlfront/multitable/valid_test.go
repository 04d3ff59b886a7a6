package multitable

import (
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// TestValid: what is refused by the tree alone, in database d, where g is a generated column of a.
func TestValid(t *testing.T) {
	columns := func(n ast.TableName) []Column {
		switch n.Name.String() {
		case "a":
			return []Column{{Name: "id"}, {Name: "g", Generated: true}}
		case "b":
			return []Column{{Name: "id"}, {Name: "G"}}
		}
		return nil
	}
	for q, code := range map[string]int{
		"update a set g = 1":                         0, // of one table: the planner says it
		"update a set id = 1 order by id limit 1":    0,
		"update a join c set a.id = 1 order by a.id": 1221,
		"update (a, c) set a.id = 1 limit 1":         1221,
		"update a join c set a.g = 1":                3105,
		"update c join a as x set x.g = 1":           3105,
		"update c join a set g = 1":                  3105,
		"update c join a set g = default":            0,
		// b is first, and its column is what the planner finds by the name
		"update b join a set b.g = 1":                               0,
		"update a join b set b.g = 1":                               1235,
		"update a join (select 1 as g) d set a.id = 1":              0,
		"delete from c":                                             0,
		"delete a from a join c":                                    0,
		"delete d.a from a join c":                                  0,
		"delete e.a from a join c":                                  1109,
		"delete a from a as x":                                      1109,
		"delete x from a as x":                                      0,
		"delete d.x from a as x":                                    1109,
		"delete X from e.a as x":                                    0,
		"delete a from e.a":                                         1109,
		"delete e.a from e.a":                                       0,
		"delete a, b from a join c":                                 1109,
		"delete from a using (a join c), b":                         0,
		"delete x from (select 1 as id) x join c":                   1288,
		"delete a from a join (select 1 as id) x where x.id = a.id": 0,
	} {
		stmt, err := ast.Parse(q)
		if err != nil {
			t.Fatal(q, err)
		}
		err = Valid(stmt, "d", columns)
		if number := sqlerr.Code(err); number != code {
			t.Errorf("%s: %v, want %d", q, err, code)
		}
	}
}
