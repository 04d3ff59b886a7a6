package cast

import (
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// Characters is a value as a number of characters.
func Characters(ctx *sql.Context, v any) (int64, error) {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	if text, ok := v.(string); ok {
		n, negative, cut := LeadingInteger(text)
		if cut {
			ctx.Warn(sqlerr.TruncatedWrongValue, "Truncated incorrect INTEGER value: '%s'", Shown(text))
		}
		count := int64(min(n, math.MaxInt32))
		if negative {
			count = -count
		}
		return count, nil
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
	return max(-math.MaxInt32, min(math.MaxInt32, i)), nil
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
