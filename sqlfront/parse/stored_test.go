package parse

import (
	"context"
	"testing"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
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
