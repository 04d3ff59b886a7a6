// Package jsontext parses the texts of JSON documents of clients.
//
// encoding/json makes a gigabyte of thirty megabytes of `{},{},{},…`, asks nobody, and hears no KILL until it
// is done. Parse makes the same values, tells its caller what memory they take while they are made, and
// stops when the caller says so.
package jsontext

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Errors of texts that are no documents.
var (
	// ErrSyntax is the error of a text that is none. encoding/json finds it, too, before it makes
	// anything, and has the words for it.
	ErrSyntax = errors.New("jsontext: not a JSON text")
	// ErrNumber is the error of a number that no float64 can be. encoding/json makes the rest of the
	// document all the same.
	ErrNumber = errors.New("jsontext: a number out of range")
)

// maxDepth is how deep encoding/json reads.
const maxDepth = 10_000

// tellEvery is after how many bytes, of text or of memory, the caller is told.
const tellEvery = 64 << 10

// What values take in memory, by the sizes of the runtime's allocations.
const (
	boxed    = 8   // a number behind an interface
	header   = 16  // of a text behind an interface
	list     = 24  // an empty array behind an interface
	slot     = 16  // an element of an array
	object   = 48  // an empty map
	group    = 280 // its first eight members
	table    = 640 // what the ninth makes of that
	member   = 96  // each further one, with what is empty of the table
	smallMap = 8
)

// Parse returns the values of a document as encoding/json.Unmarshal makes them for an any. It calls
// taken with the memory that it has made so far, about, at least once for tellEvery bytes of it and of
// the text, and stops with the error of that.
func Parse(text string, taken func(bytes int64) error) (any, error) {
	p := &parser{text: text, taken: taken}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, ErrSyntax
	}
	return v, p.tell()
}

type parser struct {
	text  string
	at    int
	taken func(int64) error
	// made is the memory of what is there; toldMade and toldAt are what it and at were when the caller was
	// told last.
	made, toldMade int64
	toldAt         int
}

// make counts n bytes of memory.
func (p *parser) make(n int64) error {
	p.made += n
	if p.made-p.toldMade < tellEvery && p.at-p.toldAt < tellEvery {
		return nil
	}
	return p.tell()
}

func (p *parser) tell() error {
	p.toldMade, p.toldAt = p.made, p.at
	return p.taken(p.made)
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next takes a byte if it is c.
func (p *parser) next(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// word takes a word.
func (p *parser) word(w string, v any) (any, error) {
	if !strings.HasPrefix(p.text[p.at:], w) {
		return nil, ErrSyntax
	}
	p.at += len(w)
	return v, nil
}

func (p *parser) value(depth int) (any, error) {
	if p.at == len(p.text) {
		return nil, ErrSyntax
	}
	switch c := p.text[p.at]; {
	case c == '{' || c == '[':
		if depth == maxDepth {
			return nil, ErrSyntax
		}
		if p.at++; c == '{' {
			return p.object(depth + 1)
		}
		return p.array(depth + 1)
	case c == '"':
		s, err := p.string()
		if err != nil {
			return nil, err
		}
		if s == "" {
			return s, nil
		}
		return s, p.make(header + int64(len(s)+15)&^15)
	case c == 't':
		return p.word("true", true)
	case c == 'f':
		return p.word("false", false)
	case c == 'n':
		return p.word("null", nil)
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	}
	return nil, ErrSyntax
}

func (p *parser) array(depth int) (any, error) {
	vs := []any{}
	err := p.make(list)
	if p.space(); p.next(']') || err != nil {
		return vs, err
	}
	for {
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		was := cap(vs)
		vs = append(vs, v)
		if err := p.make(slot * int64(cap(vs)-was)); err != nil {
			return nil, err
		}
		if p.space(); p.next(']') {
			return vs, nil
		}
		if !p.next(',') {
			return nil, ErrSyntax
		}
	}
}

func (p *parser) object(depth int) (any, error) {
	vs := map[string]any{}
	err := p.make(object)
	if p.space(); p.next('}') || err != nil {
		return vs, err
	}
	for {
		p.space()
		if p.at == len(p.text) || p.text[p.at] != '"' {
			return nil, ErrSyntax
		}
		k, err := p.string()
		if err != nil {
			return nil, err
		}
		if p.space(); !p.next(':') {
			return nil, ErrSyntax
		}
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		n := int64(0)
		if was := len(vs); was < len(put(vs, k, v)) {
			n = grown(was) + int64(len(k)+7)&^7
		}
		if err := p.make(n); err != nil {
			return nil, err
		}
		if p.space(); p.next('}') {
			return vs, nil
		}
		if !p.next(',') {
			return nil, ErrSyntax
		}
	}
}

func put(vs map[string]any, k string, v any) map[string]any {
	vs[k] = v
	return vs
}

// grown is what a map of n members takes for one more.
func grown(n int) int64 {
	switch {
	case n == 0:
		return group
	case n < smallMap:
		return 0
	case n == smallMap:
		return table + member
	}
	return member
}

// string takes a text with its quotes. What is not plain ASCII or well-formed UTF-8 without escapes
// is encoding/json's.
func (p *parser) string() (string, error) {
	from := p.at
	plain := true
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			token := p.text[from:p.at]
			if plain {
				return strings.Clone(token[1 : len(token)-1]), nil
			}
			var s string
			if json.Unmarshal([]byte(token), &s) != nil {
				return "", ErrSyntax
			}
			return s, nil
		case c == '\\':
			plain = false
			p.at++
		case c < ' ':
			return "", ErrSyntax
		case c >= 0x80:
			plain = false
		}
	}
	return "", ErrSyntax
}

func (p *parser) digits() bool {
	from := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	return p.at > from
}

func (p *parser) number() (any, error) {
	from := p.at
	p.next('-')
	if !p.next('0') && !p.digits() {
		return nil, ErrSyntax
	}
	if p.next('.') && !p.digits() {
		return nil, ErrSyntax
	}
	if p.next('e') || p.next('E') {
		if !p.next('+') {
			p.next('-')
		}
		if !p.digits() {
			return nil, ErrSyntax
		}
	}
	f, err := strconv.ParseFloat(p.text[from:p.at], 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, ErrNumber
	}
	return f, p.make(boxed)
}

// Charged is a session that answers for the memory of its statement (expr.Charged).
type Charged interface {
	ChargeValue(ctx *sql.Context, by any, n int64) error
}

// Arguments says of each function how many of its arguments in front are documents. What stands behind
// is paths, or values that become parts of a document, where a text is a text.
var Arguments = map[string]int{
	"json_array_append": 1, "json_array_insert": 1, "json_contains": 2, "json_contains_path": 1,
	"json_depth": 1, "json_extract": 1, "json_insert": 1, "json_keys": 1, "json_length": 1,
	"json_merge":       math.MaxInt,
	"json_merge_patch": math.MaxInt, "json_merge_preserve": math.MaxInt, "json_overlaps": 2, "json_pretty": 1,
	"json_remove": 1, "json_replace": 1, "json_search": 1, "json_set": 1, "json_valid": 1, "json_value": 1,
}

// short is up to how long texts are left to the library: nobody is charged for them.
const short = 64 << 10

// tooGreat is a text with a number out of range, of which the library says the same as of a long one.
const tooGreat = "1e999"

// Document is the document of a long text that a function or JSON_TABLE is about to parse: in place of v,
// which is whatever it was if it is short, or no text, or no document. The statement is charged for it in
// the name of by, in place of what by was charged for before, and beside the bytes of the others; n is the
// charge for it alone.
func Document(ctx *sql.Context, by any, others int64, v any) (doc any, n int64, err error) {
	text, ok := v.(string)
	if !ok {
		b, _ := v.([]byte)
		text = string(b)
	}
	if len(text) <= short {
		return v, 0, nil
	}
	s, _ := ctx.Session.(Charged)
	val, err := Parse(text, func(bytes int64) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if n = bytes; s == nil {
			return nil
		}
		return s.ChargeValue(ctx, by, others+n)
	})
	switch {
	case errors.Is(err, ErrSyntax):
		return v, n, nil
	case errors.Is(err, ErrNumber):
		return tooGreat, n, nil
	case err != nil:
		return nil, n, err
	}
	return types.JSONDocument{Val: val}, n, nil
}
