package builtin

import (
	"context"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// askEvery is after how many delimiters SUBSTRING_INDEX asks whether its statement is to end.
const askEvery = 1 << 12

// substringIndex is SUBSTRING_INDEX: what stands before the delimiter of that number, or, if the number is
// negative, behind the one of that number from the end. Delimiters are told apart from the left either way,
// as MySQL does in a character set of several bytes.
//
// The library splits the text at all its delimiters and joins what it wants: sixteen bytes for each, which
// nobody is charged for. This one makes nothing: it counts where it must, and cuts.
func substringIndex(ctx *sql.Context, args []any) (any, error) {
	text, delim, count := args[0].(string), args[1].(string), args[2].(int64)
	if delim == "" || count == 0 {
		return "", nil
	}
	if count > 0 {
		_, at, err := skipDelimiters(ctx, text, delim, count-1)
		if err != nil {
			return nil, err
		}
		if n := strings.Index(text[at:], delim); n >= 0 {
			return text[:at+n], nil
		}
		return text, nil
	}
	all, _, err := skipDelimiters(ctx, text, delim, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	// With n delimiters there are n+1 parts, of which -count are wanted. Of the least integer there is no
	// opposite; there are never so many.
	before := all + 1 + count
	if count == math.MinInt64 || before <= 0 {
		return text, nil
	}
	_, at, err := skipDelimiters(ctx, text, delim, before)
	return text[at:], err
}

// skipDelimiters says where the text goes on behind so many delimiters, or behind the last if there are
// fewer, and how many it has skipped.
func skipDelimiters(ctx *sql.Context, text, delim string, most int64) (n int64, at int, err error) {
	for ; n < most; n++ {
		if n%askEvery == askEvery-1 && ctx.Err() != nil {
			return n, at, sqlerr.From(context.Cause(ctx))
		}
		i := strings.Index(text[at:], delim)
		if i < 0 {
			break
		}
		at += i + len(delim)
	}
	return n, at, nil
}
