package collate

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/sqlerr"
)

// CutsSpaces reports whether a column loses the spaces that are too many for it, whatever the SQL mode,
// rather than refuse the text.
func CutsSpaces(t sql.Type) bool {
	s, ok := t.(sql.StringType)
	return ok && types.IsTextOnly(s)
}

// WithoutSurplus takes the spaces away from the end of a text that are behind the length of its column. Of a
// CHAR nobody will miss them; anything else gets a note.
func WithoutSurplus(ctx *sql.Context, col *sql.Column, v any, at uint64) any {
	text, ok := v.(string)
	t := col.Type.(sql.StringType)
	if !ok || len(text) == 0 || text[len(text)-1] != ' ' {
		return v
	}
	cut := 0
	switch t.Type() {
	case sqltypes.Char, sqltypes.VarChar:
		most := t.MaxCharacterLength()
		if int64(len(text)) <= most || int64(utf8.RuneCountInString(text)) <= most {
			return v
		}
		for n := int64(0); n < most; n++ {
			_, size := utf8.DecodeRuneInString(text[cut:])
			cut += size
		}
	default:
		if int64(len(text)) <= t.MaxByteLength() {
			return v
		}
		cut = int(t.MaxByteLength())
	}
	if strings.TrimRight(text[cut:], " ") != "" {
		return v // which is refused, or cut with a warning
	}
	if t.Type() != sqltypes.Char {
		ctx.Session.Warn(&sql.Warning{Level: "Note", Code: sqlerr.DataTruncated,
			Message: "Data truncated for column '" + col.Name + "' at row " + strconv.FormatUint(at, 10)})
	}
	return text[:cut]
}
