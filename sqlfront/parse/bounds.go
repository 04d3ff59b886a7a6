package parse

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/sqlerr"
)

// Grammar parses the one statement of a text with the library's grammar alone, which a text has to be made
// bearable for. It is for texts that are already known to be good: it knows nothing of ours.
func Grammar(ctx context.Context, text string, o ast.ParserOptions) (ast.Statement, error) {
	text, open := unwrap(text, o.AnsiQuotes)
	if open >= 0 {
		return nil, sqlerr.Syntax(text, open)
	}
	text, err := scannable(text, o.AnsiQuotes)
	if err != nil {
		return nil, err
	}
	return ast.ParseWithOptions(ctx, text, o)
}

// scannable refuses what the grammar's scanner would fall over before there is a tree: it calls itself
// to look what comes after NOT and FOR, so that a million of them in a row are a million calls. It
// calls itself for the string behind a string, too: those are made one.
func scannable(text string, ansi bool) (string, error) {
	if len(text) < maxDepth {
		return text, nil
	}
	suspects := 0
	for i := 0; i+3 <= len(text); i++ {
		if c := text[i] | 0x20; (c == 'n' || c == 'f') &&
			(strings.EqualFold(text[i:i+3], "not") || strings.EqualFold(text[i:i+3], "for")) {
			suspects++
		}
	}
	if suspects > maxDepth {
		l := &lexer{s: text, ansi: ansi}
		run := 0
		for t := l.next(); t.kind != eof; t = l.next() {
			if run++; !l.is(t, "not") && !l.is(t, "for") {
				run = 0
			}
			if run > maxDepth {
				return "", tooDeep()
			}
		}
	}
	return joinedStrings(text, ansi)
}

// maxStrings is how many strings in a row the grammar's scanner is given: it copies what follows for each.
const maxStrings = 64

// joinedStrings makes of more strings in a row than maxStrings one, as long as the text of all of them:
// 'a' 'b' is 'ab' and three spaces. Places stay. Where the quotes change from string to string they cannot
// be joined so; then many are refused.
func joinedStrings(text string, ansi bool) (string, error) {
	if !hasStringsInRow(text) {
		return text, nil
	}
	var out []byte
	var row []token
	var err error
	join := func() {
		if len(row) > maxStrings {
			if out == nil {
				out = []byte(text)
			}
			if last := row[len(row)-1]; !terminated(text[last.start:last.end]) {
				err = sqlerr.Syntax(text, last.start)
			} else if joinRow(out, text, row) > maxStrings {
				err = tooDeep()
			}
		}
		row = row[:0]
	}
	l := &lexer{s: text, ansi: ansi}
	var prev token
	for t := l.next(); t.kind != eof && err == nil; t = l.next() {
		switch {
		case t.kind != str:
			join()
		case len(row) > 0 && strings.Trim(text[prev.end:t.start], " \t\r\n") != "":
			join() // what the scanner takes for a comment ends the row
			fallthrough
		case len(row) > 0 || !(prev.kind == word && prev.end == t.start): // X'41' 'b' is no row
			row = append(row, t)
		}
		prev = t
	}
	join()
	if err != nil || out == nil {
		return text, err
	}
	return string(out), nil
}

// joinRow writes the strings of a row over themselves in out, those of the same quote that follow each other
// as one, and returns how many there are then.
func joinRow(out []byte, text string, row []token) (strings int) {
	at := row[0].start
	for i := 0; i < len(row); {
		quote := text[row[i].start]
		strings++
		out[at] = quote
		at++
		for ; i < len(row) && text[row[i].start] == quote; i++ {
			at += copy(out[at:], text[row[i].start+1:row[i].end-1])
		}
		out[at] = quote
		at++
	}
	for end := row[len(row)-1].end; at < end; at++ {
		out[at] = ' '
	}
	return strings
}

// terminated reports whether a string ends with its quote.
func terminated(s string) bool {
	return len(s) > 1 && skipString(s+" ", 0, true) == len(s)
}

// hasStringsInRow is a quick look for more quotes that only space parts, or nothing does, than texts have.
func hasStringsInRow(text string) bool {
	found := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != '\'' && c != '"' {
			continue
		}
		j := i + 1
		for j < len(text) && (text[j] == ' ' || text[j] >= '\t' && text[j] <= '\r') {
			j++
		}
		if j < len(text) && (text[j] == '\'' || text[j] == '"') && (j > i+1 || text[j] != text[i]) {
			if found++; found > maxStrings {
				return true
			}
		}
		i = j - 1
	}
	return false
}

func tooDeep() error {
	return sqlerr.New(sqlerr.StackOverrun, "Thread stack overrun: the statement is nested more than %d "+
		"levels deep, or in many places more than 1,000; a chain of operators is a level for each, "+
		"IN (…) is one", maxDepth)
}
