package sqlfront_test

import (
	"strings"
	"testing"
)

// TestCountsOfCharacters: a number of characters is whatever a client says, beyond what an integer holds,
// too. SUBSTRING('abc', 2, 9223372036854775807) ended the connection.
func TestCountsOfCharacters(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table t (s varchar(10), b varbinary(10), i bigint, "+
		"u bigint unsigned, d decimal(30, 1), f double)", "insert into t values ('abc', 'abc', "+
		"9223372036854775807, 18446744073709551615, 99999999999999999999999999999.5, 1e300)")
	for _, n := range []string{
		"9223372036854775807", "99999999999999999999999.5", "1e300", "i", "d", "f",
		"18446744073709551615", "u", "(select max(u) from t)",
	} {
		unsigned := n[0] == '(' || n[0] == 'u' || strings.HasPrefix(n, "18") // which have no opposite
		for _, s := range []string{"s", "b", "'abc'"} {
			of := strings.NewReplacer("$s", s, "$n", n)
			want(t, c, of.Replace("select substring($s, 2, $n), mid($s, 2, $n), substr($s, $n), "+
				"substring($s, $n, $n), left($s, $n), right($s, $n), insert($s, 2, $n, 'x'), "+
				"insert($s, $n, 1, 'x'), locate('b', $s, $n) from t"), "bc bc   abc abc ax abc 0")
			if !unsigned {
				want(t, c, of.Replace("select substring($s, -2, -($n)), substring($s, -($n), 2), "+
					"left($s, -($n)), right($s, -($n)), insert($s, 2, -($n), 'x') from t"), "    ax")
			}
		}
	}
	want(t, c, "select substring('abc', 1.5, 1.5), substring('abc', null), left('abc', null), "+
		"right(null, 1), substring('abc', '2x', '1y')", "bc NULL NULL NULL b")
	if got := results(t, c, "show warnings"); !strings.Contains(got, "1y'") ||
		!strings.Contains(got, "Truncated incorrect INTEGER value: '2x'") {
		t.Errorf("warnings: %s", got)
	}
	want(t, c, "select left('abc', cast('00:00:02' as time))", "ab")
	for _, n := range []any{int64(1<<63 - 1), uint64(1<<64 - 1), 1e308, "99999999999999999999"} {
		var s string
		err := c.QueryRowContext(t.Context(), "select concat(substring('abc', 2, ?), left('abc', ?), "+
			"right(s, ?)) from t", n, n, n).Scan(&s)
		if err != nil || s != "bcabcabc" {
			t.Errorf("%v: %q, %v", n, s, err)
		}
	}
}

// TestUnquotedTexts: JSON_UNQUOTE knows pairs of surrogates, and refuses what is no JSON text. Half a pair,
// or an escape that breaks off, ended the connection.
func TestUnquotedTexts(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	want(t, c, `select json_unquote('"\\ud83d\\ude00"'), json_unquote('"a\\tb\\u00e9"'), `+
		`json_unquote('abc'), json_unquote('"'), json_unquote(''), json_unquote(null), `+
		`json_unquote(cast('"\\ud83d\\ude00"' as json)), `+
		`json_value('{"a": "x\\"y"}', '$.a'), json_unquote('[1, "a"]')`,
		"😀 a\tbé abc \"  NULL 😀 x\"y [1, \"a\"]")
	for _, text := range []string{
		`"\\ud800"`, `"\\ud83dabc"`, `"\\ude00"`, `"\\u00"`, `"\\u00zz"`, `"\\x"`, `"a"b"`, `"\\"`,
	} {
		if got := results(t, c, "select json_unquote('"+text+"')"); got != "error 3141" {
			t.Errorf("%s: %s", text, got)
		}
	}
	want(t, c, "select 1", "1")
}

// TestJSONTablePaths: JSON_TABLE has MySQL's paths, the errors of what is none, and the rows of nested
// ones. $[0] of null, $**.a and many malformed ones ended the connection, or were nothing.
func TestJSONTablePaths(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	for _, p := range []string{
		"", "x", "$[", "$.", "$..", "$**", "$[*", "$.a.", "$.\"a", "$[-1]", "$[99999999999999999999]",
		"$[?(@.a)]", "$a", "$[1 to 0]", "$[0,1]",
	} {
		for _, q := range []string{
			"'$P' columns (a int path '$')", "'$' columns (a int path '$P')",
			"'$' columns (a int exists path '$P')", "'$' columns (nested path '$P' columns (a int path '$'))",
			"'$' columns (nested path '$' columns (a int path '$P'))",
		} {
			q = "select * from json_table('[1]', " + strings.ReplaceAll(q, "$P", p) + ") t"
			if got := results(t, c, q); got != "error 3143" {
				t.Errorf("%s: %s", q, got)
			}
		}
	}
	for of, rows := range map[string]string{
		"'null', '$[0]' columns (a int path '$[0]')":                      "NULL",
		`'[{"a": [1, {"y": 2}]}]', '$**.y' columns (v int path '$')`:      "2",
		"'[1, 2, 3]', '$[last]' columns (v int path '$')":                 "3",
		"'[1, 2, 3]', '$[1 to last]' columns (v int path '$')":            "2;3",
		"'[[1], [3]]', '$' columns (o for ordinality, j json path '$')":   "1 [[1], [3]]",
		"'[[1, 2]]', '$[0]' columns (j json path '$', v int path '$')":    "[1, 2] NULL",
		`'"2020"', '$' columns (d int path '$', j json path '$')`:         `2020 "2020"`,
		`'[[1, 2]]', '$[*]' columns (v int path '$' error on error)`:      "error 3666",
		`'[[1, 2]]', '$[*]' columns (v int path '$.b' error on empty)`:    "error 3665",
		"'[1', '$' columns (v int path '$')":                              "error 3141",
		"'', '$' columns (v int path '$')":                                "error 3141",
		"null, '$' columns (v int path '$')":                              "",
		`'{"t": true}', '$' columns (t varchar(5) path '$.t')`:            "true",
		`'{"a": 1}', '$' columns (x int exists path '$.a')`:               "1",
		`'{"a": 1}', '$' columns (x int exists path '$.b')`:               "0",
		`'[[1]]', '$[0]' columns (v int path '$' default '7' on error)`:   "7",
		`'[[1]]', '$[0]' columns (v int path '$.a' default '8' on empty)`: "8",
		`'[{"a": 1, "b": [11, 111], "c": [5]}, {"a": 2, "b": [], "c": [6, 7]}, {"a": 4}]', ` +
			`'$[*]' columns (o for ordinality, a int path '$.a', nested path '$.b[*]' columns ` +
			`(p for ordinality, b int path '$'), nested path '$.c[*]' columns (c int path '$'))`: "" +
			"1 1 1 11 NULL;1 1 2 111 NULL;1 1 NULL NULL 5;" +
			"2 2 NULL NULL 6;2 2 NULL NULL 7;3 4 NULL NULL NULL",
		`'{"a": [{"b": [1, 2]}, {"b": [3]}]}', '$' columns (nested path '$.a[*]' columns ` +
			`(o for ordinality, nested path '$.b[*]' columns (v int path '$')))`: "1 1;1 2;2 3",
	} {
		if got := results(t, c, "select * from json_table("+of+") t"); got != rows {
			t.Errorf("%s: %s, want %s", of, got, rows)
		}
	}
	want(t, c, "select s.n, t.v from (select 1 n, '[1, 2]' d union all select 2, '{\"x\": 3}' "+
		"union all select 3, null) s, json_table(s.d, '$.*' columns (v int path '$')) t", "2 3")
}

// TestBitsOfNew: a BIT of NEW, or of a variable, is bytes to functions of texts, as that of a column is. It
// was the digits of its number.
func TestBitsOfNew(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	run(t, c, "create database d", "use d", "create table b (b bit(8))", "create table l (t varchar(50))",
		"create trigger t before insert on b for each row insert into l values "+
			"(hex(concat('x', new.b, '|', new.b + 1, '|', hex(new.b))))",
		"create function f(n int) returns text begin declare v bit(8) default n; "+
			"return hex(concat('x', v)); end",
		"insert into b values (b'01000001')")
	want(t, c, "select t, f(65), (select hex(concat('x', b)) from b) from l", "78417C36367C3431 7841 7841")
}

// TestWrongArguments: what a function cannot take has MySQL's numbers of errors. It was 1105, with words
// about types of the server's programming language.
func TestWrongArguments(t *testing.T) {
	c := newDatabase(t).serve().conn("")
	for call, code := range map[string]string{
		"abs(point(1, 2))": "1210", "abs(cast('[]' as json))": "1210", "linestring(1, 2)": "1367",
		"st_x('abc')": "3037", "uuid_to_bin('abc')": "1411",
	} {
		if got := results(t, c, "select "+call); got != "error "+code {
			t.Errorf("%s: %s, want %s", call, got, code)
		}
	}
}
