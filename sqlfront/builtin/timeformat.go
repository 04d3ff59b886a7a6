package builtin

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// timeFormat is TIME_FORMAT. The library's has the hours of a day alone, none below zero, and neither %k nor
// %l. What asks for the name or the number of a day has none in a time: NULL.
func timeFormat(_ *sql.Context, args []any) (any, error) {
	span, format := args[0].(types.Timespan), args[1].(string)
	micros := int64(span)
	var b strings.Builder
	if micros < 0 {
		micros = -micros
		b.WriteByte('-')
	}
	seconds := micros / 1_000_000
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	twelve, half := (h+11)%12+1, "AM"
	if h%24 >= 12 {
		half = "PM"
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i == len(format)-1 {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 'H':
			fmt.Fprintf(&b, "%02d", h)
		case 'k':
			fmt.Fprint(&b, h)
		case 'h', 'I':
			fmt.Fprintf(&b, "%02d", twelve)
		case 'l':
			fmt.Fprint(&b, twelve)
		case 'i':
			fmt.Fprintf(&b, "%02d", m)
		case 's', 'S':
			fmt.Fprintf(&b, "%02d", s)
		case 'f':
			fmt.Fprintf(&b, "%06d", micros%1_000_000)
		case 'p':
			b.WriteString(half)
		case 'r':
			fmt.Fprintf(&b, "%02d:%02d:%02d %s", twelve, m, s, half)
		case 'T':
			fmt.Fprintf(&b, "%02d:%02d:%02d", h, m, s)
		case 'm', 'd', 'y':
			b.WriteString("00")
		case 'c', 'e':
			b.WriteByte('0')
		case 'Y':
			b.WriteString("0000")
		case 'M', 'b', 'W', 'a', 'D', 'j', 'U', 'u', 'V', 'v', 'X', 'x', 'w':
			return nil, nil
		default:
			b.WriteByte(format[i])
		}
	}
	return b.String(), nil
}
