package frozen

import (
	"slices"
	"strings"

	"moka/sqlfront/parse"
)

// text is that of a CREATE VIEW.
type text struct {
	text     string
	code     string // text without the marks of executable comments
	tokens   []parse.Token
	stars    []star
	naturals []natural
}

type place struct{ from, to int }

// star is one with the name before it, or the word TABLE, which is SELECT * FROM.
type star struct {
	place
	mark          int // where the star itself is
	before, after string
}

// natural is a NATURAL, and where the table behind its JOIN ends.
type natural struct {
	word place
	end  int
}

// edits make it USING (columns).
func (n natural) edits(columns []string) []edit {
	using := " ON TRUE"
	if len(columns) > 0 {
		var names []string
		for _, c := range columns {
			names = append(names, quoted(c))
		}
		using = " USING (" + strings.Join(names, ", ") + ")"
	}
	return []edit{{n.word.from, n.word.to, ""}, {n.end, n.end, using}}
}

func (t text) of(i int) string {
	if i < 0 || i >= len(t.tokens) {
		return ""
	}
	return t.code[t.tokens[i].Start:t.tokens[i].End]
}

// is reports whether a token is one of some words.
func (t text) is(i int, words ...string) bool {
	return i >= 0 && i < len(t.tokens) && t.tokens[i].Word &&
		slices.Contains(words, strings.ToLower(t.of(i)))
}

func (t text) punct(i int, c string) bool {
	return i >= 0 && i < len(t.tokens) && t.tokens[i].Punct && t.of(i) == c
}

// isStar reports whether a token is a star of a select list: an operator has an operand before it, COUNT(*)
// a parenthesis.
func (t text) isStar(i int) bool {
	if !t.punct(i, "*") {
		return false
	}
	if t.punct(i-1, ".") { // not 1.*2
		return strings.Trim(t.of(i-2), "0123456789") != ""
	}
	return t.punct(i-1, ",") || t.is(i-1, "select", "all", "distinct", "distinctrow", "high_priority",
		"straight_join", "sql_small_result", "sql_big_result", "sql_buffer_result", "sql_cache",
		"sql_no_cache", "sql_calc_found_rows")
}

// qualified is where the name before a star begins.
func (t text) qualified(i int) int {
	for t.punct(i-1, ".") {
		i -= 2
	}
	return t.tokens[i].Start
}

// natural finds the end of the table: what cannot be in one ends it.
func (t text) natural(i int) natural {
	n := natural{word: place{t.tokens[i].Start, t.tokens[i].End}}
	for i++; i < len(t.tokens) && !t.is(i, "join"); i++ {
	}
	depth := 0
	for i++; i < len(t.tokens); i++ {
		switch {
		case t.punct(i, "("):
			depth++
		case t.punct(i, ")"):
			depth--
		}
		if depth < 0 || depth == 0 && (t.punct(i, ",") || t.punct(i, ";") || t.is(i, "join", "inner", "left",
			"right", "cross", "natural", "straight_join", "full", "on", "using", "where", "group", "having",
			"window", "order", "limit", "union", "intersect", "except", "for", "lock", "into", "with")) {
			break
		}
	}
	n.end = t.tokens[min(i, len(t.tokens))-1].End
	return n
}
