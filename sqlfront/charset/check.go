package charset

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// Check refuses, for the variables that name character sets and collations, what the server cannot work
// with (1115, 1273, 1231). What a client speaks is translated on its way, and may be more than columns and
// literals can have.
func Check(variable string, value any) error {
	name, ok := value.(string)
	if !ok {
		return nil // NULL, DEFAULT, or what the variable's type refuses
	}
	variable = strings.ToLower(variable)
	switch variable {
	case "character_set_client":
		if Wide(name) {
			return sqlerr.New(sqlerr.WrongValueForVariable, "Variable '%s' can't be set to the value of '%s'",
				variable, name)
		}
		fallthrough
	case "character_set_results":
		_, ok := Of(name)
		if _, err := sql.ParseCharacterSet(name); ok || err != nil {
			return nil // or the variable's type says what is wrong
		}
	case "character_set_connection", "character_set_server", "character_set_database",
		"character_set_filesystem":
		if id, err := sql.ParseCharacterSet(name); err != nil || Storable(id) {
			return nil
		}
	case "collation_connection", "collation_server", "collation_database":
		id, err := sql.ParseCollation("", name, false)
		if err != nil || id.Sorter() != nil && Storable(id.CharacterSet()) {
			return nil
		}
		return sqlerr.New(sqlerr.UnknownCollation, "Unknown collation: '%s'", name)
	default:
		return nil
	}
	return sqlerr.New(sqlerr.UnknownCharset, "Unknown character set: '%s'", name)
}

// WrongString words the 1366 of a column that has not the character that a text goes on with.
func WrongString(from, column string) string {
	var b strings.Builder
	for i := 0; i < len(from) && i < 6; i++ {
		if c := from[i]; c < utf8.RuneSelf && c >= ' ' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, `\x%02X`, c)
		}
	}
	if len(from) > 6 {
		b.WriteString("...")
	}
	return fmt.Sprintf("Incorrect string value: '%s' for column '%s' at row 1", b.String(), column)
}
