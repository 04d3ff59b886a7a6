package expr

import (
	"context"
	"math"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
)

// wildcards is the pattern of a LIKE: the weights of its characters under a collation, and the wildcards
// among them. The library's matcher takes as many steps for a long text as the text has characters times the
// pattern, and hears no KILL. Where it fails only the last % matters: what the ones before it took was the
// least that they could, so that no other choice leaves more for what follows.
type wildcards struct {
	pattern   string
	escape    rune
	collation sql.CollationID
	weights   []int32
}

// The wildcards among the weights, which are not negative.
const (
	anyCharacter  = math.MinInt32     // _
	anyCharacters = math.MinInt32 + 1 // %
)

// newWildcards reads a pattern. It is an error if that is no text in the collation's character set.
func newWildcards(pattern string, escape rune, collation sql.CollationID) (*wildcards, error) {
	w := &wildcards{pattern: pattern, escape: escape, collation: collation}
	set := collation.CharacterSet()
	encoder, weight := set.Encoder(), collation.Sorter()
	for rest := pattern; rest != ""; {
		r, n := encoder.NextRune(rest)
		if r == utf8.RuneError && n <= 1 {
			return nil, sql.ErrCharSetInvalidString.New(set.Name(), shortened(pattern))
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
				return nil, sql.ErrCharSetInvalidString.New(set.Name(), shortened(pattern))
			}
			rest = rest[n:]
		}
		w.weights = append(w.weights, weight(r))
	}
	return w, nil
}

// match reports whether a text is like the pattern. It stops when its statement does: a long text is compared
// with a long pattern behind a % as often as it has characters.
func (w *wildcards) match(ctx *sql.Context, text string) (bool, error) {
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

// Eval implements sql.Expression.
func (l *Like) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	text, ok, err := likeText(ctx, l.LeftChild, row)
	if !ok || err != nil {
		return nil, err
	}
	pattern, ok, err := likeText(ctx, l.RightChild, row)
	if !ok || err != nil {
		return nil, err
	}
	escape, err := l.escape(ctx, row)
	if err != nil {
		return nil, err
	}
	w := l.last.Load()
	if w == nil || w.pattern != pattern || w.escape != escape {
		if len(pattern) > large/4 {
			if err := charge(ctx, l, 4*int64(len(pattern))); err != nil {
				return nil, err
			}
		}
		collation, _ := l.CollationCoercibility(ctx)
		if w, err = newWildcards(pattern, escape, collation); err != nil {
			ctx.Warn(mysql.ERInvalidCharacterString, "%s", err)
			return nil, nil
		}
		l.last.Store(w)
	}
	match, err := w.match(ctx, text)
	if err != nil {
		return nil, err
	}
	return match, nil
}

// likeText is an operand; ok is false if it is NULL.
func likeText(ctx *sql.Context, e sql.Expression, row sql.Row) (text string, ok bool, err error) {
	v, err := e.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return "", false, err
	}
	if text, ok = v.(string); !ok {
		text, _, err = types.ConvertToCollatedString(ctx, v, e.Type(ctx)) // the label of an ENUM
	}
	return text, err == nil, err
}

// escape is the character before which another stands for itself.
func (l *Like) escape(ctx *sql.Context, row sql.Row) (rune, error) {
	const usual = '\\'
	if l.Escape == nil {
		return usual, nil
	}
	text, ok, err := likeText(ctx, l.Escape, row)
	switch n := utf8.RuneCountInString(text); {
	case err != nil:
		return 0, err
	case !ok:
		return usual, nil
	case n > 1:
		return 0, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to ESCAPE")
	case n == 0:
		return 0, nil
	}
	r, _ := utf8.DecodeRuneInString(text)
	return r, nil
}

// IsLike is name LIKE pattern, without regard to case.
func IsLike(ctx *sql.Context, name, pattern string) (bool, error) {
	literal := func(s string) sql.Expression { return expression.NewLiteral(s, types.LongText) }
	v, err := ownLike(expression.NewLike(literal(name), literal(pattern),
		nil).(*expression.Like)).Eval(ctx, nil)
	is, _ := v.(bool)
	return is, err
}
