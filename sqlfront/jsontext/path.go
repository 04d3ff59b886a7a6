package jsontext

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path is a path into a document, as MySQL's manual has them:
//
//	$.a  $."a b"  $.*      members
//	$[0]  $[last-1]  $[*]  elements; a value that is no array is one of a single element
//	$[1 to last]           ranges of them
//	$**.a                  in the value and in whatever is below
type Path struct {
	legs []leg
	many bool // it may find several values
}

type legKind uint8

const (
	memberLeg legKind = iota
	anyMemberLeg
	elementLeg
	rangeLeg
	anyElementLeg
	belowLeg
)

type leg struct {
	kind     legKind
	key      string
	from, to index
}

// index is the place of an element, counted from the end if it says last.
type index struct {
	n    int
	last bool
}

// of is the place in an array of that length, which it may not have.
func (i index) of(length int) int {
	if i.last {
		return length - 1 - i.n
	}
	return i.n
}

// PathError says where a path is wrong, in characters from its beginning.
type PathError int

// Error implements error.
func (e PathError) Error() string {
	at := strconv.Itoa(int(e))
	return "Invalid JSON path expression. The error is around character position " + at + "."
}

// Many reports whether the path may find several values, so that what it finds is an array.
func (p *Path) Many() bool { return p.many }

// pathReader reads a path.
type pathReader struct {
	text string
	at   int
}

var errPath = errors.New("jsontext: no path")

// maxLegs bounds a path as MySQL does: no document is deeper.
const maxLegs = 100

// ErrPathDepth says that a path has more legs than a document may have levels.
var ErrPathDepth = errors.New("The JSON document exceeds the maximum depth.")

// paths says of each function where its first path stands, and how many arguments further the next one; 0:
// there is none.
var paths = map[string][2]int{
	"json_array_append": {1, 2}, "json_array_insert": {1, 2}, "json_contains": {2, 0},
	"json_contains_path": {2, 1}, "json_extract": {1, 1}, "json_insert": {1, 2}, "json_keys": {1, 0},
	"json_length": {1, 0}, "json_remove": {1, 1}, "json_replace": {1, 2}, "json_search": {4, 1},
	"json_set": {1, 2}, "json_value": {1, 0},
}

// BoundedPath refuses a path of too many legs as the argument i of a function, as long as it is: who reads
// it has a value in memory for each of them.
func BoundedPath(function string, i int, v any) error {
	at, ok := paths[function]
	text, is := v.(string)
	if !ok || !is || i < at[0] || i > at[0] && (at[1] == 0 || (i-at[0])%at[1] != 0) {
		return nil
	}
	if _, err := ParsePath(text); errors.Is(err, ErrPathDepth) {
		return err
	}
	return nil
}

// ParsePath reads a path; what is none is a PathError.
func ParsePath(text string) (*Path, error) {
	r := &pathReader{text: text}
	p, err := r.path()
	if errors.Is(err, ErrPathDepth) {
		return nil, err
	}
	if err != nil {
		return nil, PathError(utf8.RuneCountInString(text[:min(r.at, len(text))]))
	}
	return p, nil
}

func (r *pathReader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\n\r", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next takes a word, if it is what follows.
func (r *pathReader) next(word string) bool {
	r.space()
	if !strings.HasPrefix(r.text[r.at:], word) {
		return false
	}
	r.at += len(word)
	return true
}

func (r *pathReader) path() (*Path, error) {
	if !r.next("$") {
		return nil, errPath
	}
	p := &Path{}
	for {
		if r.space(); r.at == len(r.text) {
			if n := len(p.legs); n > 0 && p.legs[n-1].kind == belowLeg {
				return nil, errPath
			}
			return p, nil
		}
		if len(p.legs) == maxLegs {
			return nil, ErrPathDepth
		}
		l, err := r.leg()
		if err != nil {
			return nil, err
		}
		p.many = p.many || l.kind != memberLeg && l.kind != elementLeg
		p.legs = append(p.legs, l)
	}
}

func (r *pathReader) leg() (leg, error) {
	switch {
	case r.next("**"):
		return leg{kind: belowLeg}, nil
	case r.next("."):
		if r.next("*") {
			return leg{kind: anyMemberLeg}, nil
		}
		key, err := r.member()
		return leg{kind: memberLeg, key: key}, err
	case !r.next("["):
		return leg{}, errPath
	case r.next("*"):
		if !r.next("]") {
			return leg{}, errPath
		}
		return leg{kind: anyElementLeg}, nil
	}
	from, err := r.index()
	l := leg{kind: elementLeg, from: from}
	if err == nil && r.next("to") {
		l.kind = rangeLeg
		l.to, err = r.index()
		same := l.from.last == l.to.last && l.from.n != l.to.n
		if err == nil && same && (l.from.n > l.to.n) != l.from.last {
			err = errPath // it ends before it begins
		}
	}
	if err == nil && !r.next("]") {
		err = errPath
	}
	return l, err
}

// member is the name of a member: a word, or a text in quotes.
func (r *pathReader) member() (string, error) {
	r.space()
	rest := r.text[r.at:]
	if strings.HasPrefix(rest, `"`) {
		p := &parser{text: rest, taken: func(int64) error { return nil }}
		key, err := p.string()
		r.at += p.at
		return key, err
	}
	end := 0
	for i, c := range rest {
		word := c == '_' || c == '$' || unicode.IsLetter(c)
		if !word && !(i > 0 && (unicode.IsDigit(c) || unicode.Is(unicode.M, c))) {
			break
		}
		end = i + utf8.RuneLen(c)
	}
	r.at += end
	if end == 0 {
		return "", errPath
	}
	return rest[:end], nil
}

func (r *pathReader) index() (index, error) {
	i := index{last: r.next("last")}
	if i.last && !r.next("-") {
		return i, nil
	}
	r.space()
	begin := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	n, err := strconv.ParseUint(r.text[begin:r.at], 10, 32)
	i.n = int(n)
	return i, err
}

// found is a value, and where it is: ** comes to the same one by several ways.
type found struct {
	value any
	at    *place
}

// place is where a value is in a document.
type place struct {
	members  map[string]*place
	elements map[int]*place
	seen     int // the last leg that it was found by
	below    int // the last ** that has been there
}

func (p *place) member(key string) *place {
	if p.members[key] == nil {
		if p.members == nil {
			p.members = map[string]*place{}
		}
		p.members[key] = &place{}
	}
	return p.members[key]
}

func (p *place) element(i int) *place {
	if p.elements[i] == nil {
		if p.elements == nil {
			p.elements = map[int]*place{}
		}
		p.elements[i] = &place{}
	}
	return p.elements[i]
}

// finder follows one path.
type finder struct {
	ctx   context.Context
	steps int
	leg   int // which one, from 1
	out   []found
}

// Find is what a path finds in a document, in its order, each value once.
func (p *Path) Find(ctx context.Context, document any) (values []any, err error) {
	f := &finder{ctx: ctx}
	at := []found{{document, &place{}}}
	for _, l := range p.legs {
		f.leg, f.out = f.leg+1, nil
		for _, v := range at {
			if err := f.follow(l, v); err != nil {
				return nil, err
			}
		}
		at = f.out
	}
	for _, v := range at {
		values = append(values, v.value)
	}
	return values, nil
}

// add takes a value that the leg has found. It hears KILL now and then.
func (f *finder) add(value any, at *place) error {
	if f.steps++; f.steps%1024 == 0 && f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	if at.seen != f.leg {
		at.seen = f.leg
		f.out = append(f.out, found{value, at})
	}
	return nil
}

func (f *finder) follow(l leg, v found) error {
	switch l.kind {
	case memberLeg:
		if m, ok := v.value.(map[string]any); ok {
			if value, ok := m[l.key]; ok {
				return f.add(value, v.at.member(l.key))
			}
		}
		return nil
	case anyMemberLeg:
		m, _ := v.value.(map[string]any)
		for _, key := range keys(m) {
			if err := f.add(m[key], v.at.member(key)); err != nil {
				return err
			}
		}
		return nil
	case belowLeg:
		return f.below(v)
	}
	return f.elements(l, v)
}

func (f *finder) elements(l leg, v found) error {
	array, ok := v.value.([]any)
	if !ok && l.kind != anyElementLeg { // [0] of what is no array is that itself
		array = []any{v.value}
	}
	from, to := l.from.of(len(array)), l.to.of(len(array))
	switch l.kind {
	case elementLeg:
		if to = from; from < 0 {
			return nil
		}
	case anyElementLeg:
		from, to = 0, len(array)-1
	}
	for i := max(from, 0); i <= min(to, len(array)-1); i++ {
		at := v.at
		if ok {
			at = at.element(i)
		}
		if err := f.add(array[i], at); err != nil {
			return err
		}
	}
	return nil
}

// below adds a value and all that is in it, from the top, without recursion: documents are as deep as they
// are.
func (f *finder) below(v found) error {
	todo := []found{v}
	for len(todo) > 0 {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if v.at.below == f.leg {
			continue
		}
		v.at.below = f.leg
		if err := f.add(v.value, v.at); err != nil {
			return err
		}
		first := len(todo)
		switch value := v.value.(type) {
		case map[string]any:
			for _, key := range keys(value) {
				todo = append(todo, found{value[key], v.at.member(key)})
			}
		case []any:
			for i, e := range value {
				todo = append(todo, found{e, v.at.element(i)})
			}
		}
		slices.Reverse(todo[first:])
	}
	return nil
}

// keys are the names of members in MySQL's order: the short ones first.
func keys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	})
	return names
}
