package parse

import "sort"

// pair is a parenthesis with the one that closes it.
type pair struct {
	open, closing token // closing is eof where nothing closes it
	comma         token // the last between the two that no other parentheses are around; eof if there is none
}

// pairs are the parentheses of a text by their place. They are looked up where each of many parentheses
// would have the rest of the text searched otherwise.
type pairs []pair

// pairs returns those of the user's text, which are looked for when somebody asks for the first time.
func (r *rewriter) pairs() pairs {
	if r.parens == nil {
		r.parens = pairsOf(r.src, r.ansi)
	}
	return r.parens
}

// pairsOf finds those of a text in one pass.
func pairsOf(text string, ansi bool) pairs {
	found := pairs{}
	l := &lexer{s: text, ansi: ansi}
	none := token{eof, len(text), len(text)}
	var around []int // those that are open
	for t := l.next(); t.kind != eof; t = l.next() {
		switch {
		case t.kind != punct:
		case text[t.start] == '(':
			around = append(around, len(found))
			found = append(found, pair{open: t, closing: none})
		case text[t.start] == ')' && len(around) > 0:
			found[around[len(around)-1]].closing = t
			around = around[:len(around)-1]
		case text[t.start] == ',' && len(around) > 0:
			found[around[len(around)-1]].comma = t
		}
	}
	return found
}

// of is the pair of a parenthesis that is opened at a place; closing is eof where there is none.
func (p pairs) of(open token) pair {
	i := sort.Search(len(p), func(i int) bool { return p[i].open.start >= open.start })
	if i < len(p) && p[i].open.start == open.start {
		return p[i]
	}
	return pair{open: open}
}
