package sqlfront_test

import "testing"

// TestHexLiteralsAsConditions: x'30' is 48 where a condition is asked for, and a longer one its last eight
// bytes. The library took the bytes for the text of a number.
func TestHexLiteralsAsConditions(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT PRIMARY KEY)",
		"INSERT INTO t VALUES (0), (1)")
	for q, want := range map[string]string{
		"SELECT a FROM t WHERE x'30' ORDER BY a":                            "0; 1",
		"SELECT a FROM t WHERE x'61' AND a":                                 "1",
		"SELECT a FROM t WHERE NOT x'31'":                                   "",
		"SELECT a FROM t WHERE 0x00":                                        "",
		"SELECT a FROM t WHERE b'0' OR a":                                   "1",
		"SELECT COUNT(*) FROM t JOIN t u ON x'30'":                          "4",
		"SELECT COUNT(*) FROM t HAVING x'30'":                               "2",
		"SELECT a FROM t WHERE IF(x'30', a, 0)":                             "1",
		"SELECT IF(0x00, 1, 2), IF(x'30', 1, 2), IF(x'', 1, 2)":             "2 1 2",
		"SELECT x'30' IS TRUE, x'00' IS FALSE, x'30' XOR 0, !x'30'":         "1 1 1 0",
		"SELECT CASE WHEN x'61' THEN 1 ELSE 2 END":                          "1",
		"SELECT x'010000000000000001' + 0, IF(x'010000000000000000', 1, 2)": "1 2",
	} {
		if got := text(t, c, q); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
}
