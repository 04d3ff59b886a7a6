package sqlfront_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestLargeStatements: chains of UNION are planned in a time that their length justifies, joins of too many tables are refused, and what looks
// like a comment within a text is text.
func TestLargeStatements(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	var parts, tables []string
	for i := range 150 {
		parts = append(parts, fmt.Sprintf("select %d as n", i))
		tables = append(tables, fmt.Sprintf("(select 1 x) t%d", i))
	}
	want(t, c, "select count(*), min(n), max(n) from ("+strings.Join(parts, " union all ")+") u", "150 0 149")
	if got := results(t, c, strings.Join(parts[:20], " union all ")); got != "0;1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19" {
		t.Errorf("in the order of the chain: %s", got)
	}
	if got := results(t, c, strings.Join(append(parts[:12:12], parts[:12]...), " union ")+" order by n desc limit 3"); got != "11;10;9" {
		t.Errorf("UNION with ORDER BY: %s", got)
	}
	if got := results(t, c, strings.Repeat("select 1 union ", 9)+"select 1 union all select 1"); got != "1;1" {
		t.Errorf("UNION, then UNION ALL: %s", got)
	}
	if got := results(t, c, "select 1 from "+strings.Join(tables[:62], ",")); got != "error 1116" {
		t.Errorf("62 tables: %s", got)
	}
	want(t, c, "select length('"+strings.Repeat("/*M!", 9000)+"') /*M! + 1 */", "36000")
}
