package expr

import (
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/wildcard"
)

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
	if w == nil || w.Text != pattern || w.Escape != escape {
		if len(pattern) > large/4 {
			if err := charge(ctx, l, 4*int64(len(pattern))); err != nil {
				return nil, err
			}
		}
		collation, _ := l.CollationCoercibility(ctx)
		if w, err = wildcard.New(pattern, escape, collation); err != nil {
			ctx.Warn(mysql.ERInvalidCharacterString, "%s", err)
			return nil, nil
		}
		l.last.Store(w)
	}
	match, err := w.Match(ctx, text)
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
