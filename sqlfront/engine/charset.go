package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"moka/sqlfront/charset"
	"moka/sqlfront/sqlerr"
)

// Texts are UTF-8 in here, whatever the character set of their column. The set says which characters there are: the library lets any in,
// and panics or fails when it has to write one that the set does not have (HEX, results in that set).

// narrowText is a column whose character set has not all characters.
type narrowText struct {
	column  int
	charset sql.CharacterSetID
}

// narrowColumn reports whether values of the type have to be looked at.
func narrowColumn(t sql.Type) (sql.CharacterSetID, bool) {
	s, ok := t.(sql.StringType)
	if !ok || !types.IsTextOnly(t) {
		return 0, false
	}
	c := s.Collation().CharacterSet()
	switch c {
	case sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3, sql.CharacterSet_utf16, sql.CharacterSet_utf32, sql.CharacterSet_binary:
		return 0, false
	}
	return c, c.Encoder() != nil
}

// checkCharset refuses, for the variables that name character sets and collations, what the server cannot work with (1115, 1273, 1231). What a
// client speaks is translated on its way, and may be more than columns and literals can have.
func checkCharset(variable string, value any) error {
	name, ok := value.(string)
	if !ok {
		return nil // NULL, DEFAULT, or what the variable's type refuses
	}
	variable = strings.ToLower(variable)
	switch variable {
	case "character_set_client":
		if charset.Wide(name) {
			return sqlerr.New(sqlerr.WrongValueForVariable, "Variable '%s' can't be set to the value of '%s'", variable, name)
		}
		fallthrough
	case "character_set_results":
		_, ok := charset.Of(name)
		if _, err := sql.ParseCharacterSet(name); ok || err != nil {
			return nil // or the variable's type says what is wrong
		}
	case "character_set_connection", "character_set_server", "character_set_database", "character_set_filesystem":
		if id, err := sql.ParseCharacterSet(name); err != nil || charset.Storable(id) {
			return nil
		}
	case "collation_connection", "collation_server", "collation_database":
		if id, err := sql.ParseCollation("", name, false); err != nil || id.Sorter() != nil && charset.Storable(id.CharacterSet()) {
			return nil
		}
		return sqlerr.New(sqlerr.UnknownCollation, "Unknown collation: '%s'", name)
	default:
		return nil
	}
	return sqlerr.New(sqlerr.UnknownCharset, "Unknown character set: '%s'", name)
}

// fitCharsets refuses texts with characters that their column's character set does not have (1366), or under a lenient SQL mode writes
// for an INSERT IGNORE writes question marks.
func (t *Table) fitCharsets(ctx *sql.Context, row sql.Row, ignore bool) (sql.Row, error) {
	same := true
	for _, n := range t.narrow {
		text, ok := row[n.column].(string)
		if !ok {
			continue
		}
		fits, at := charset.Spelled(n.charset, text)
		if at < 0 {
			continue
		}
		name := t.pk.Schema[n.column].Name
		if mode := sql.LoadSqlMode(ctx); !ignore && (mode.ModeEnabled("STRICT_TRANS_TABLES") || mode.ModeEnabled("STRICT_ALL_TABLES")) {
			return nil, wrongString(text[at:], name)
		}
		ctx.Warn(sqlerr.WrongValueForField, "%s", wrongString(text[at:], name).Message)
		if same {
			row, same = row.Copy(), false
		}
		row[n.column] = fits
	}
	return row, nil
}

func wrongString(from, column string) *mysql.SQLError {
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
	return sqlerr.New(sqlerr.WrongValueForField, "Incorrect string value: '%s' for column '%s' at row 1", b.String(), column)
}
