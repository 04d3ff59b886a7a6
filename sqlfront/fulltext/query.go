package fulltext

import (
	"strings"
	"unicode/utf8"
)

// Mode is how the text of a query is read.
type Mode uint8

const (
	// Natural takes all words of the text: a row matches if it has one of them.
	Natural Mode = iota
	// Boolean knows the operators + - > < ~ * "phrase" "phrase" @n and ( ).
	Boolean
	// Expansion is Natural, and once more with the words of the rows that were found.
	Expansion
)

// SyntaxError is a text that the boolean mode cannot read.
type SyntaxError struct{ Unexpected string }

// Error implements error, in InnoDB's words.
func (e *SyntaxError) Error() string { return "syntax error, unexpected " + e.Unexpected }

// maxDepth bounds parentheses within each other.
const maxDepth = 64

// Term is a word that rows are looked up by.
type Term struct {
	// Key is that of the word, or what the keys of all words begin with that are meant.
	Key    []byte
	Prefix bool
}

// Query is a query that has been read. It is immutable.
type Query struct {
	Terms []Term
	a     *Analyzer
	root  *node
	exact map[string]int // terms by key
	begin []int          // terms that are prefixes
	seq   map[string]int // words of phrases by key
}

type operator byte

const (
	optional operator = ' '
	required operator = '+'
	excluded operator = '-'
	raised   operator = '>'
	lowered  operator = '<'
	noise    operator = '~'
)

// node is a word, a phrase or a list in parentheses.
type node struct {
	op       operator
	term     int     // of a word that is indexed
	terms    []int   // of a phrase: those of its words that are indexed
	words    []int   // of a phrase: all its words, as numbers of Query.seq
	within   int     // of a phrase: how far its words may be apart, in any order; 0: one after the other
	children []*node // of a list
	kind     kind
	run      bool // a list without parentheses: words with nothing but a comma between them
}

type kind uint8

const (
	kindNothing kind = iota // a word that is not indexed: no row has it
	kindWord
	kindPhrase
	kindList
)

// Parse reads the text of a query.
func Parse(a *Analyzer, text string, mode Mode) (*Query, error) {
	q := &Query{a: a, exact: map[string]int{}, seq: map[string]int{}}
	if mode != Boolean {
		q.root = &node{kind: kindList, op: required}
		return q, q.add(text)
	}
	p := &parser{q: q, text: text}
	var err error
	q.root, err = p.list(0)
	return q, err
}

// add puts the words of a text among those that are asked for.
func (q *Query) add(text string) error {
	return tokens(text, func(word string, chars int) error {
		n, err := q.word(word, chars, false)
		if err != nil || n.kind == kindNothing {
			return err
		}
		for _, c := range q.root.children {
			if c.term == n.term {
				return nil
			}
		}
		q.root.children = append(q.root.children, n)
		return nil
	})
}

// Expand is the query with the words of further texts, up to a number of words.
func (q *Query) Expand(texts []string, most int) error {
	for _, t := range texts {
		if len(q.Terms) >= most {
			return nil
		}
		if err := q.add(t); err != nil {
			return err
		}
	}
	return nil
}

func (q *Query) word(word string, chars int, prefix bool) (*node, error) {
	key, err := q.a.Key(nil, word)
	if err != nil {
		return nil, err
	}
	if !prefix && !q.a.indexed(key, chars) {
		return &node{op: optional}, nil
	}
	if !prefix {
		at, ok := q.exact[string(key)]
		if !ok {
			at = len(q.Terms)
			q.exact[string(key)] = at
			q.Terms = append(q.Terms, Term{Key: key})
		}
		return &node{op: optional, kind: kindWord, term: at}, nil
	}
	key = q.a.prefixOf(key)
	for _, i := range q.begin {
		if string(q.Terms[i].Key) == string(key) {
			return &node{op: optional, kind: kindWord, term: i}, nil
		}
	}
	q.begin = append(q.begin, len(q.Terms))
	q.Terms = append(q.Terms, Term{Key: key, Prefix: true})
	return &node{op: optional, kind: kindWord, term: len(q.Terms) - 1}, nil
}

// phrase is the words of a text one after the other. InnoDB takes one that has a single word which is
// indexed for that word.
func (q *Query) phrase(text string) (*node, error) {
	n := &node{op: optional, kind: kindPhrase}
	var only *node
	err := tokens(text, func(word string, chars int) error {
		w, err := q.word(word, chars, false)
		if err != nil {
			return err
		}
		if w.kind == kindWord {
			only = w
			n.terms = append(n.terms, w.term)
		}
		key, err := q.a.Key(nil, word)
		if err != nil {
			return err
		}
		id, ok := q.seq[string(key)]
		if !ok {
			id = len(q.seq) + 1
			q.seq[string(key)] = id
		}
		n.words = append(n.words, id)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(n.terms) == 0:
		return &node{op: optional}, nil
	case len(n.terms) == 1:
		return only, nil
	}
	return n, nil
}

// parser reads the text of a boolean query.
type parser struct {
	q    *Query
	text string
	at   int
}

// special are the bytes that words of a boolean query end at.
const special = "\"()+-<>~@*"

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func (p *parser) skip() {
	for p.at < len(p.text) && space(p.text[p.at]) {
		p.at++
	}
}

func (p *parser) unexpected() error {
	if p.at >= len(p.text) {
		return &SyntaxError{"$end"}
	}
	return &SyntaxError{"'" + p.text[p.at:p.at+1] + "'"}
}

func (p *parser) list(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, &SyntaxError{"'(', too many levels"}
	}
	n := &node{kind: kindList, op: optional}
	for {
		p.skip()
		if p.at >= len(p.text) {
			if depth > 0 {
				return nil, p.unexpected()
			}
			return n, nil
		}
		op := optional
		switch c := p.text[p.at]; c {
		case ')':
			if depth == 0 {
				return nil, p.unexpected()
			}
			p.at++
			return n, nil
		case '+', '-', '<', '>', '~':
			op = operator(c)
			p.at++
			p.skip()
		}
		child, err := p.item(depth)
		if err != nil {
			return nil, err
		}
		if child == nil {
			continue
		}
		child.op = op
		if child.run && op == required {
			for _, c := range child.children {
				c.op = required
			}
		}
		n.children = append(n.children, child)
	}
}

// item reads a word, a phrase or a list; nil if there is nothing but characters of no word.
func (p *parser) item(depth int) (*node, error) {
	if p.at >= len(p.text) {
		return nil, p.unexpected()
	}
	switch c := p.text[p.at]; {
	case c == '(':
		p.at++
		return p.list(depth + 1)
	case c == '"':
		return p.quoted()
	case strings.IndexByte(special, c) >= 0:
		return nil, p.unexpected()
	}
	start := p.at
	for p.at < len(p.text) && !space(p.text[p.at]) && strings.IndexByte(special, p.text[p.at]) < 0 {
		p.at++
	}
	text := p.text[start:p.at]
	prefix := p.at < len(p.text) && p.text[p.at] == '*'
	if prefix {
		p.at++
	}
	// What one writes without a space may be several words all the same.
	n := &node{kind: kindList, op: optional, run: true}
	var words []string
	_ = tokens(text, func(word string, _ int) error { // the function has no errors
		words = append(words, word)
		return nil
	})
	for i, word := range words {
		w, err := p.q.word(word, utf8.RuneCountInString(word), prefix && i == len(words)-1)
		if err != nil {
			return nil, err
		}
		if len(words) == 1 {
			return w, nil
		}
		if w.kind != kindNothing {
			n.children = append(n.children, w)
		}
	}
	if len(n.children) == 0 && len(words) == 0 {
		return nil, nil
	}
	return n, nil
}

func (p *parser) quoted() (*node, error) {
	p.at++
	text := p.text[p.at:]
	if end := strings.IndexByte(text, '"'); end >= 0 {
		text = text[:end]
		p.at++
	}
	p.at += len(text)
	n, err := p.q.phrase(text)
	if err != nil {
		return nil, err
	}
	at := p.at
	if p.skip(); p.at < len(p.text) && p.text[p.at] == '@' {
		p.at++
		p.skip()
		far, digits := 0, 0
		for ; p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9'; p.at++ {
			far, digits = min(10*far+int(p.text[p.at]-'0'), 1<<20), digits+1
		}
		if digits == 0 {
			return nil, p.unexpected()
		}
		n.within = max(far, 1)
		return n, nil
	}
	p.at = at
	return n, nil
}

// Docs says which entries lead to rows that may match: those of one term, or of all parts, or of any. Nil is
// none.
type Docs struct {
	Term  int // -1 if there are parts
	All   bool
	Parts []*Docs
}

// Docs is the answer for the query. Some of the rows may not match; every row that does is among them.
func (q *Query) Docs() *Docs { return q.root.docs() }

func (n *node) docs() *Docs {
	switch n.kind {
	case kindWord:
		return &Docs{Term: n.term}
	case kindPhrase:
		d := &Docs{Term: -1, All: true}
		seen := map[int]bool{}
		for _, t := range n.terms {
			if !seen[t] {
				d.Parts = append(d.Parts, &Docs{Term: t})
			}
			seen[t] = true
		}
		return d.single()
	case kindList:
		all, some := &Docs{Term: -1, All: true}, &Docs{Term: -1}
		must := false
		for _, c := range n.children {
			d := c.docs()
			switch c.op {
			case required:
				must = true
				if d == nil {
					return nil
				}
				all.Parts = append(all.Parts, d)
			case optional, raised, lowered:
				if d != nil {
					some.Parts = append(some.Parts, d)
				}
			}
		}
		if must {
			return all.single()
		}
		return some.single()
	}
	return nil
}

func (d *Docs) single() *Docs {
	switch len(d.Parts) {
	case 0:
		return nil
	case 1:
		return d.Parts[0]
	}
	return d
}
