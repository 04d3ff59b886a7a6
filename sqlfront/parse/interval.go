package parse

import (
	"regexp"
	"strconv"
	"strings"
)

// composite are the units of INTERVAL that the grammar does not know: how many of the smallest unit the parts of its text are, from the
// last one on, and that unit.
var composite = map[string]struct {
	unit  string
	parts []int64
}{
	"year_month":         {"month", []int64{1, 12}},
	"day_hour":           {"hour", []int64{1, 24}},
	"day_minute":         {"minute", []int64{1, 60, 24 * 60}},
	"day_second":         {"second", []int64{1, 60, 3600, 24 * 3600}},
	"hour_minute":        {"minute", []int64{1, 60}},
	"hour_second":        {"second", []int64{1, 60, 3600}},
	"minute_second":      {"second", []int64{1, 60}},
	"day_microsecond":    {"microsecond", []int64{1, 1e6, 60e6, 3600e6, 24 * 3600e6}},
	"hour_microsecond":   {"microsecond", []int64{1, 1e6, 60e6, 3600e6}},
	"minute_microsecond": {"microsecond", []int64{1, 1e6, 60e6}},
	"second_microsecond": {"microsecond", []int64{1, 1e6}},
}

var numbers = regexp.MustCompile(`\d+`)

// compositeInterval replaces INTERVAL '1:30' MINUTE_SECOND by INTERVAL 90 SECOND; l stands behind INTERVAL. Only a constant can be.
func (r *rewriter) compositeInterval(l lexer) {
	value := l.next()
	unit := l.next()
	c, ok := composite[strings.ToLower(l.text(unit))]
	if !ok || value.kind != str && value.kind != num {
		return
	}
	text := strings.Trim(l.text(value), `'" `)
	found := numbers.FindAllString(text, -1)
	if len(found) == 0 || len(found) > len(c.parts) {
		return
	}
	var n int64
	for i, part := range found {
		if i == len(found)-1 && strings.HasSuffix(c.unit, "microsecond") && len(found) > 1 && strings.Contains(text, ".") {
			part = (part + "000000")[:6] // '1.5' is half a second
		}
		v, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return
		}
		n += v * c.parts[len(found)-1-i]
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign = "-"
	}
	r.edits.replace(value.start, unit.end, sign+strconv.FormatInt(n, 10)+" "+c.unit)
}
