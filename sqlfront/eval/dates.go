package eval

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// DateOfNumber makes a text of YYMMDD, YYYYMMDD, YYMMDDhhmmss and YYYYMMDDhhmmss; what is none of these it
// leaves alone.
func DateOfNumber(v any) any {
	var text string
	switch n := v.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		text = fmt.Sprint(n)
	case *apd.Decimal:
		text = n.Text('f')
	case float32, float64:
		text = fmt.Sprintf("%.6f", n)
	default:
		return v
	}
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if strings.Trim(whole, "0") == "" {
		return "0000-00-00"
	}
	if len(whole) > 14 || strings.HasPrefix(whole, "-") {
		return v
	}
	switch n := len(whole); {
	case n < 6:
		whole = strings.Repeat("0", 6-n) + whole
	case n == 7: // the year 0YYY
		whole = "0" + whole
	case n > 8 && n < 12:
		whole = strings.Repeat("0", 12-n) + whole
	case n == 13:
		whole = "0" + whole
	}
	if len(whole) == 6 || len(whole) == 12 { // years of two digits: 70 is 1970, 69 is 2069
		if whole[:2] < "70" {
			whole = "20" + whole
		} else {
			whole = "19" + whole
		}
	}
	date := whole[:4] + "-" + whole[4:6] + "-" + whole[6:8]
	if len(whole) == 8 {
		return date
	}
	date += " " + whole[8:10] + ":" + whole[10:12] + ":" + whole[12:14]
	if fraction != "" {
		date += "." + fraction
	}
	return date
}
