package infoschema

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

var quoter = strings.NewReplacer("'", "''", `\`, `\\`, "\n", `\n`, "\r", `\r`, "\x00", `\0`)

// QuoteText writes a text as a constant of a statement that is shown, as SHOW CREATE does. Whatever is shown
// is read back sooner or later, by who restores a dump, with rights that its author has not: a quote or a
// backslash that came through would end the constant, and what is behind it be a statement.
func QuoteText(s string) string { return "'" + quoter.Replace(s) + "'" }

// ElementsText is the type of an ENUM or a SET with its elements, without its character set; ok is false for
// other types. The library's own text doubles quotes and forgets backslashes.
func ElementsText(t sql.Type) (text string, ok bool) {
	kind, values := "enum", []string(nil)
	switch t := t.(type) {
	case sql.EnumType:
		values = t.Values()
	case sql.SetType:
		kind, values = "set", t.Values()
	default:
		return "", false
	}
	return ElementsOf(kind, values), true
}

// ElementsOf is ElementsText of elements.
func ElementsOf(kind string, values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = QuoteText(v)
	}
	return kind + "(" + strings.Join(quoted, ",") + ")"
}
