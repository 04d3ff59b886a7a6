package parse

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/expr"
	"moka/sqlfront/inband"
	"moka/sqlfront/syntax"
)

// constants writes such constants as the grammar takes for others: DATE'…' and its like are plain texts
// to it, and '\%' a '%'.
func (r *rewriter) constants() {
	if !mentionsConstants(r.src) {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	var prev, before token
	declares := false // DEFAULT of a variable is any expression, of a column it is a text
	for t := l.next(); t.kind != eof; t = l.next() {
		declares = (declares || l.is(t, "declare")) && !l.isByte(t, ';')
		if t.kind == str {
			if function := r.temporalWord(l, prev, before, declares); function != "" {
				start, end := prev.start, t.end
				if l.isByte(before, '{') { // {d '…'}, as ODBC and JDBC write it
					if n := l.next(); l.isByte(n, '}') {
						start, end = before.start, n.end
					}
				}
				r.edits.replace(start, end, function+"("+wildcards(l.text(t))+")")
				r.moved = true
			} else if text := wildcards(l.text(t)); text != l.text(t) {
				r.edits.replace(t.start, t.end, text)
				r.moved = true
			}
		}
		before, prev = prev, t
	}
}

// temporalWord is the function that makes a date or time of the text behind word, if that is what the two
// are.
func (r *rewriter) temporalWord(l *lexer, word, before token, declares bool) string {
	odbc := l.isByte(before, '{')
	switch {
	case l.isByte(before, '.') || l.is(before, "default") && !declares:
	case l.is(before, "of") || l.is(before, "as"):
	case l.is(word, "date") || odbc && l.is(word, "d"):
		return expr.DateFunction
	case l.is(word, "time") || odbc && l.is(word, "t"):
		return expr.TimeFunction
	case l.is(word, "timestamp") || odbc && l.is(word, "ts"):
		return expr.TimestampFunction
	}
	return ""
}

// wildcards keeps the backslash before % and _, which stands for itself there.
func wildcards(text string) string {
	if !strings.Contains(text, `\%`) && !strings.Contains(text, `\_`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] == '%' || text[i+1] == '_' {
				b.WriteByte('\\')
			}
			b.WriteByte('\\')
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// mentionsConstants is a quick look for a statement that may have such constants.
func mentionsConstants(s string) bool {
	if strings.Contains(s, `\%`) || strings.Contains(s, `\_`) {
		return true
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\'' && s[i] != '"' {
			continue
		}
		j := i
		for j > 0 && s[j-1] <= ' ' {
			j--
		}
		if j > 0 {
			switch s[j-1] | 0x20 {
			case 'd', 't', 's', 'e', 'p': // {d, {t, {ts, DATE, TIME, TIMESTAMP
				return true
			}
		}
	}
	return false
}

// forms writes what MySQL has and the grammar has not, in words that it has: 0b11, which it takes for a name,
// as b'11'; TRIM(LEADING FROM x) with the blank that it means; and a SOUNDS LIKE b as a COLLATE mark LIKE b,
// which has its precedence and from which sounding makes SOUNDEX(a) = SOUNDEX(b).
func (r *rewriter) forms() {
	sounds, trims := containsWord(r.src, "sounds"), containsWord(r.src, "trim")
	if !sounds && !trims && !strings.Contains(r.src, "0b") {
		return
	}
	l := &lexer{s: r.src, ansi: r.ansi}
	var prev token
	for t := l.next(); t.kind != eof; prev, t = t, l.next() {
		ahead := lexer{s: l.s, pos: l.pos, ansi: l.ansi}
		switch {
		case t.kind == num && isBinary(l.text(t)):
			r.edits.replace(t.start, t.end, "b'"+l.text(t)[2:]+"'")
			r.moved = true
		case trims && l.is(t, "trim"):
			if !ahead.isByte(ahead.next(), '(') {
				continue
			}
			n := ahead.next()
			if !ahead.is(n, "leading") && !ahead.is(n, "trailing") && !ahead.is(n, "both") {
				continue
			}
			if from := ahead.next(); ahead.is(from, "from") {
				r.edits.replace(from.start, from.start, "' ' ")
				r.moved = true
			}
		case sounds && l.is(t, "sounds") && l.endsValue(prev) && ahead.is(ahead.next(), "like"):
			r.edits.replace(t.start, t.end, "COLLATE "+soundsMark)
			r.moved, r.sounds = true, true
		}
	}
}

// soundsMark is the collation of the last value before SOUNDS LIKE.
var soundsMark = inband.Function("sounds")

// isBinary reports whether a number is 0b and digits of the base 2; of anything else 0b… is a name.
func isBinary(s string) bool {
	return len(s) > 2 && s[:2] == "0b" && strings.Trim(s[2:], "01") == ""
}

// endsValue reports whether a value may end with the token, so that SOUNDS behind it is no name.
func (l *lexer) endsValue(t token) bool {
	switch t.kind {
	case str, num, quoted, variable, param:
		return true
	case punct:
		return l.isByte(t, ')')
	case word:
		return !beforeValues[strings.ToLower(l.text(t))]
	}
	return false
}

// beforeValues are the words behind which a value begins.
var beforeValues = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`all and as between binary both by case collate desc distinct div do else
		elseif except exists from having if in intersect interval is into join leading like limit mod not
		on or over partition regexp return rlike select set then trailing union until update using values
		when where while with xor`) {
		words[w] = true
	}
	return words
}()

// sounding makes a comparison of SOUNDEXes of each LIKE whose left operand ends with the mark.
func sounding(stmt ast.Statement) {
	soundex := func(e ast.Expr) ast.Expr {
		args := ast.SelectExprs{&ast.AliasedExpr{Expr: e}}
		return &ast.FuncExpr{Name: ast.NewColIdent("soundex"), Exprs: args}
	}
	var visit func(n ast.SQLNode) (bool, error)
	visit = func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.ComparisonExpr:
			if n.Operator == ast.LikeStr && unmark(&n.Left) {
				n.Operator, n.Left, n.Right = ast.EqualStr, soundex(n.Left), soundex(n.Right)
			}
		case ast.Statement:
			for _, e := range syntax.Conditions(n) {
				_ = syntax.Walk(visit, e)
			}
		}
		return true, nil
	}
	_ = syntax.Walk(visit, append(syntax.Bodies(stmt), stmt)...) // the visitor has no errors
}

// unmark takes the mark off the end of a value, if it is there.
func unmark(at *ast.Expr) bool {
	switch e := (*at).(type) {
	case *ast.CollateExpr:
		if e.Collation == soundsMark {
			*at = e.Expr
			return true
		}
	case *ast.BinaryExpr:
		return unmark(&e.Right)
	case *ast.UnaryExpr:
		return unmark(&e.Expr)
	}
	return false
}
