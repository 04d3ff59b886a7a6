package sqlerr

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
)

// nearLimit is how much of the statement MySQL repeats in a syntax error.
const nearLimit = 80

// Syntax is MySQL's 1064. at is the byte offset in query where the token stands that could not be understood; len(query)
// (or beyond) says that the statement ended too early. sqlfront/parse makes it from the parser's errors.
func Syntax(query string, at int) *mysql.SQLError {
	return New(SyntaxError, "%s", syntaxText(query, at))
}

func syntaxText(query string, at int) string {
	at = max(0, min(at, len(query)))
	near := query[at:]
	line := 1 + strings.Count(query[:at], "\n")
	if len(near) > nearLimit {
		cut := nearLimit
		for cut > 0 && near[cut]&0xC0 == 0x80 { // not inside a character
			cut--
		}
		near = near[:cut]
	}
	return "You have an error in your SQL syntax; check the manual that corresponds to your Moka server version " +
		"for the right syntax to use near '" + near + "' at line " + strconv.Itoa(line)
}

// foreignSyntaxText serves the syntax errors that were not made by sqlfront/parse: the protocol layer parses the text of a
// binary PREPARE itself, before any code of ours, and says only "at position P near 'token'". P is one byte behind the
// token. Without the statement the token is all there is to show.
func foreignSyntaxText(query string, pos int, token string) string {
	if query == "" {
		return syntaxText(token, 0) + " (the error is at byte " + strconv.Itoa(max(0, pos-1-len(token))) + " of the statement)"
	}
	at := pos - 1 - len(token)
	if at < 0 || pos-1 > len(query) || !strings.EqualFold(query[at:pos-1], token) {
		at = min(pos-1, len(query))
	}
	return syntaxText(query, at)
}

// clauseOf says in which clause of the statement a column is named, in MySQL's words: 'field list' unless the first place
// where the name occurs is behind WHERE, ON, GROUP BY, HAVING or ORDER BY.
func clauseOf(query, name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	clause, prev := "field list", ""
	for _, w := range words(query) {
		lower := strings.ToLower(w)
		switch lower {
		case "select", "set", "values", "from":
			clause = "field list"
		case "where":
			clause = "where clause"
		case "on":
			clause = "on clause"
		case "having":
			clause = "having clause"
		case "by":
			if strings.EqualFold(prev, "group") {
				clause = "group statement"
			} else {
				clause = "order clause"
			}
		default:
			if strings.EqualFold(w, name) {
				return clause
			}
		}
		prev = w
	}
	return "field list"
}

// words splits a statement into its identifiers and keywords; strings and punctuation are left out.
func words(query string) []string {
	var out []string
	eachWord(query, func(start, end int) { out = append(out, strings.Trim(query[start:end], "`")) })
	return out
}

// eachWord says where the words are, quoted ones with their quotes.
func eachWord(query string, word func(start, end int)) {
	for i := 0; i < len(query); {
		c := query[i]
		switch {
		case c == '\'' || c == '"':
			i = skipQuoted(query, i)
		case c == '`':
			end := skipQuoted(query, i)
			word(i, end)
			i = end
		case wordByte(c):
			start := i
			for i < len(query) && wordByte(query[i]) {
				i++
			}
			word(start, i)
		default:
			i++
		}
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func skipQuoted(s string, i int) int {
	q := s[i]
	for i++; i < len(s); i++ {
		if s[i] == '\\' && q != '`' {
			i++
		} else if s[i] == q {
			return i + 1
		}
	}
	return len(s)
}
