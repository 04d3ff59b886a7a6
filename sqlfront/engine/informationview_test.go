package engine_test

import (
	"testing"

	"moka/sqlfront/sqlerr"
)

// TestNoViewsInInformation: CREATE VIEW said OK in a database that keeps none, and there was none.
func TestNoViewsInInformation(t *testing.T) {
	c := newServer(t).session("information_schema")
	for _, q := range []string{
		"CREATE VIEW information_schema.v AS SELECT 1",
		"CREATE OR REPLACE VIEW information_schema.v AS SELECT 1",
	} {
		_, _, err := c.run(q)
		if e := sqlerr.Final(err, sqlerr.Statement{Query: q}); err == nil || e.Num != 1044 {
			t.Errorf("%s: %v, want 1044", q, err)
		}
	}
}
