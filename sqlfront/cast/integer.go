package cast

import (
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// Characters is a value as a number of characters, which is no more than any text has.
func Characters(ctx *sql.Context, v any) (int64, error) {
	n, err := Integer(ctx, v)
	return max(-math.MaxInt32, min(math.MaxInt32, n)), err
}

// Integer is a value as the integer that is nearest to it. A text that is none counts as what it begins with,
// with a warning, as everywhere.
func Integer(ctx *sql.Context, v any) (int64, error) {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	if text, ok := v.(string); ok {
		n, negative, cut := LeadingInteger(text)
		if cut {
			ctx.Warn(sqlerr.TruncatedWrongValue, "Truncated incorrect INTEGER value: '%s'", Shown(text))
		}
		if n = min(n, math.MaxInt64); negative {
			return -int64(n), nil
		}
		return int64(n), nil
	}
	if span, ok := v.(types.Timespan); ok { // 10:11:12 is 101112
		digits, err := strconv.ParseFloat(strings.ReplaceAll(span.String(), ":", ""), 64)
		return int64(math.Round(digits)), err
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil {
		return 0, err
	}
	i, _ := n.(int64)
	return i, nil
}

// LeadingInteger is the integer that a text begins with, within 64 bits, and whether the text is anything
// else.
func LeadingInteger(s string) (n uint64, negative, cut bool) {
	rest := strings.TrimLeft(s, " \t") // other white space is none before a number
	negative = strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(rest[:end], 10, 64)
	cut = end == 0 || strings.Trim(rest[end:], " \t\n\v\f\r\x00") != ""
	switch {
	case end > 0 && err != nil: // too large: ParseUint made the largest of it
		cut = true
		if negative {
			n = 1 << 63
		}
	case negative && n > 1<<63:
		n, cut = 1<<63, true
	}
	return n, negative, cut
}

// mostShown is how many bytes of a value a warning shows.
const mostShown = 128

// Shown is what a warning shows of a value.
func Shown(value string) string {
	if len(value) > mostShown {
		value = strings.ToValidUTF8(value[:mostShown], "")
	}
	return value
}
