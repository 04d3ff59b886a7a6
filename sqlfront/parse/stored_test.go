package parse

import (
	"context"
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// TestStoredBodiesHaveNoParameters: a trigger with a parameter was taken, and each INSERT of everybody into
// its table was 1105, unbound variable.
func TestStoredBodiesHaveNoParameters(t *testing.T) {
	p := New(Hooks{
		CreateObserver: func(context.Context, CreateObserver) (ast.Statement, error) {
			return &ast.Begin{}, nil
		},
	})
	const trigger, observer = "CREATE TRIGGER q BEFORE INSERT ON t FOR EACH ROW ",
		"CREATE OBSERVER q AFTER INSERT ON t FOR EACH ROW "
	for _, head := range []string{trigger, observer,
		"CREATE DEFINER=a@b TRIGGER q BEFORE INSERT ON t FOR EACH ROW "} {
		for _, body := range []string{"SET @x=?", "SET @x=:v1", "BEGIN SELECT ? INTO @x; END",
			"IF ? THEN SET @x=1; END IF", "BEGIN DECLARE x INT DEFAULT ?; END"} {
			if _, err := p.ParseSimple(head + body); err == nil {
				t.Errorf("%s%s: taken", head, body)
			}
		}
		for _, body := range []string{"SET @x='?', @y=\":v1\" /* ? */",
			"BEGIN UPDATE u SET `a?` = ':b'; END"} {
			if _, err := p.ParseSimple(head + body); err != nil {
				t.Errorf("%s%s: %v", head, body, err)
			}
		}
	}
	for _, other := range []string{"CREATE TABLE event (a int) SELECT ? AS a"} {
		if _, err := p.ParseSimple(other); err != nil {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// TestColumnsOfOlderReleases: what was taken once does not stand in the way of other changes.
func TestColumnsOfOlderReleases(t *testing.T) {
	old := &catalog.Table{Name: "t", Columns: []catalog.Column{
		{ID: 1, Name: "g", Generated: "(`h` + 1)"}, {ID: 2, Name: "h", Generated: "(`s` + 1)"},
		{ID: 3, Name: "s"}, {ID: 4, Name: "\u017f"},
	}}
	if err := CheckColumns(old, nil); err == nil {
		t.Error("a table like it can be made")
	}
	now := old.Clone()
	now.Columns = append(now.Columns, catalog.Column{Name: "x"})
	if err := CheckColumns(now, old); err != nil {
		t.Error(err)
	}
	now.Columns = append(now.Columns, catalog.Column{Name: "y", Generated: "(`y`)"})
	if err := CheckColumns(now, old); sqlerr.Code(err) != sqlerr.GeneratedNonPrior {
		t.Errorf("%v, want 3107", err)
	}
}
