package moment

import (
	"strconv"
	"strings"
	"time"
)

// maxZoneName is how long the name of a zone may be, as in MySQL: to look a longer one up took 25 times its
// bytes.
const maxZoneName = 64

// Zone reads what time_zone may be: '+05:30', from -13:59 to +14:00, or the name of a zone, which is not
// case-sensitive. known is the one way in which it is written.
func Zone(name string) (loc *time.Location, known string, ok bool) {
	if name == "" || len(name) > maxZoneName || strings.EqualFold(name, "Local") {
		return nil, "", false
	}
	if name[0] == '+' || name[0] == '-' {
		hours, minutes, colon := strings.Cut(name[1:], ":")
		h, err := strconv.ParseUint(hours, 10, 8)
		m, err2 := strconv.ParseUint(minutes, 10, 8)
		at := int(h)*60 + int(m)
		if !colon || err != nil || err2 != nil || len(hours) > 2 || len(minutes) != 2 || m > 59 ||
			at > 14*60 || name[0] == '-' && at >= 14*60 {
			return nil, "", false
		}
		sign := name[:1]
		if at == 0 {
			sign = "+"
		}
		known = sign + pad2(int(h)) + ":" + pad2(int(m))
		if sign == "-" {
			at = -at
		}
		return time.FixedZone(known, at*60), known, true
	}
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '/' })
	for i, p := range parts {
		words := strings.Split(p, "_")
		for j, w := range words {
			if w != "" {
				words[j] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		parts[i] = strings.Join(words, "_")
	}
	for _, n := range []string{name, strings.Join(parts, "/"), strings.ToUpper(name)} {
		if loc, err := time.LoadLocation(n); err == nil {
			return loc, n, true
		}
	}
	return nil, "", false
}

func pad2(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}
