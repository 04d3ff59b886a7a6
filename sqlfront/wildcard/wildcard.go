package wildcard

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// askEvery is how many steps go by between two questions whether the statement is to end, shown how much of a
// pattern an error has.
const (
	askEvery = 1 << 10
	shown    = 128
)

// Pattern is the pattern of a LIKE: the weights of its characters under a collation, and the wildcards
// among them. The library's matcher takes as many steps for a long text as the text has characters times the
// pattern, and hears no KILL. Where it fails only the last % matters: what the ones before it took was the
// least that they could, so that no other choice leaves more for what follows.
type Pattern struct {
	Text      string
	Escape    rune
	collation sql.CollationID
	weights   []int32
}

// The wildcards among the weights, which are not negative.
const (
	anyCharacter  = math.MinInt32     // _
	anyCharacters = math.MinInt32 + 1 // %
)

// New reads a pattern. It is an error if that is no text in the collation's character set.
func New(pattern string, escape rune, collation sql.CollationID) (*Pattern, error) {
	w := &Pattern{Text: pattern, Escape: escape, collation: collation}
	set := collation.CharacterSet()
	encoder, weight := set.Encoder(), collation.Sorter()
	for rest := pattern; rest != ""; {
		r, n := encoder.NextRune(rest)
		if r == utf8.RuneError && n <= 1 {
			return nil, sql.ErrCharSetInvalidString.New(set.Name(), pattern[:min(len(pattern), shown)])
		}
		rest = rest[n:]
		switch r {
		case '_':
			w.weights = append(w.weights, anyCharacter)
			continue
		case '%':
			if last := len(w.weights) - 1; last < 0 || w.weights[last] != anyCharacters {
				w.weights = append(w.weights, anyCharacters)
			}
			continue
		case escape:
			if r, n = encoder.NextRune(rest); r == utf8.RuneError && n <= 1 {
				return nil, sql.ErrCharSetInvalidString.New(set.Name(), pattern[:min(len(pattern), shown)])
			}
			rest = rest[n:]
		}
		w.weights = append(w.weights, weight(r))
	}
	return w, nil
}

// Match reports whether a text is like the pattern. It stops when its statement does: a long text is compared
// with a long pattern behind a % as often as it has characters.
func (w *Pattern) Match(ctx *sql.Context, text string) (bool, error) {
	encoder, weight := w.collation.CharacterSet().Encoder(), w.collation.Sorter()
	at, node := 0, 0
	againAt, againNode := 0, -1 // where to go on with one character more for the last %
	for steps := 1; ; steps++ {
		if steps%askEvery == 0 && ctx.Err() != nil {
			return false, sqlerr.From(context.Cause(ctx))
		}
		switch {
		case node < len(w.weights) && w.weights[node] == anyCharacters:
			if node++; node == len(w.weights) {
				return true, nil
			}
			againAt, againNode = at, node
			continue
		case at == len(text):
			return node == len(w.weights), nil // with more for the % there would be still less for the rest
		case node < len(w.weights):
			r, n := encoder.NextRune(text[at:])
			if r == utf8.RuneError && n <= 1 {
				return false, nil
			}
			if want := w.weights[node]; want == anyCharacter || want == weight(r) {
				at, node = at+n, node+1
				continue
			}
		}
		if againNode < 0 {
			return false, nil
		}
		r, n := encoder.NextRune(text[againAt:])
		if r == utf8.RuneError && n <= 1 {
			return false, nil
		}
		againAt += n
		at, node = againAt, againNode
	}
}

// IsPrefix reports whether a pattern without escapes has no wildcard but a % at its end.
func IsPrefix(pattern string) bool {
	return !strings.ContainsAny(strings.TrimSuffix(pattern, "%"), "%_")
}

// LiteralPrefix is what a text starts with that is like the pattern, and the pattern from its first wildcard
// on.
func LiteralPrefix(pattern string) (prefix, rest string) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '%' || c == '_':
			return b.String(), pattern[i:]
		case c == '\\' && i+1 < len(pattern):
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String(), ""
}
