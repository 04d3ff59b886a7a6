package sqlfront_test

import (
	"context"
	"strings"
	"testing"
)

// TestGroupsInReplacements: REGEXP_REPLACE takes what it replaces with as MySQL's does: it was put in as it
// was written. What is wrong with it is said when there is a match.
func TestGroupsInReplacements(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	for q, want := range map[string]string{
		`regexp_replace('abc def', '(\\w+) (\\w+)', '$2 $1')`:                            "def abc",
		`regexp_replace('abc', 'b', '<$0$0>')`:                                           "a<bb>c",
		`regexp_replace('abc', 'b', '\\$')`:                                              "a$c",
		`regexp_replace('abc', 'b', '\\\\$0')`:                                           `a\bc`,
		`regexp_replace('abc', '(b)', '$12')`:                                            "ab2c",
		`regexp_replace('aBcb', '(b)', '[$1]', 1, 2, 'i')`:                               "aBc[b]",
		`regexp_replace('aBcb', '(b)', '[$1]', 1, 0, 'c')`:                               "aBc[b]",
		`regexp_replace('abcb', '(?<n>b)', '[${n}]', 3)`:                                 "abc[b]",
		`regexp_replace('abcabd', '(a)(b)(c)?', '<$3>')`:                                 "<c><>d",
		`regexp_replace('abc', 'x', '$9')`:                                               "abc",
		`length(regexp_replace(repeat('ab', 200000), '(a)(b)', '$2$1$2'))`:               "600000",
		`right(regexp_replace(concat(repeat('é', 300000), 'ab'), '(a)(b)$', '$2$1'), 3)`: "éba",
		`regexp_replace('ab', '(a)|(b)', '$2$1!')`:                                       "a!b!",
		`regexp_replace(concat('a', repeat('x', 3)), '(x)(?:x)', '$1-', 2)`:              "ax-x",
	} {
		if got := text(t, c, "SELECT "+q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
	for q, want := range map[string]string{
		"regexp_replace('abc', 'b', '$')":                   "3887",
		"regexp_replace('abc', 'b', '$x')":                  "3887",
		"regexp_replace('abc', 'b', '${x}')":                "3887",
		"regexp_replace('abc', '(b)', '$2')":                "3686",
		"regexp_replace('abc', repeat('(b)', 20000), '$1')": "3700",
	} {
		if rows, err := c.QueryContext(context.Background(), "SELECT "+q); err == nil {
			_ = rows.Close()
			t.Errorf("%s is not refused", q)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", q, err, want)
		}
	}
}
