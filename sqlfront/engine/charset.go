package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

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
	case sql.CharacterSet_utf8mb4, sql.CharacterSet_utf16, sql.CharacterSet_utf32, sql.CharacterSet_binary:
		return 0, false
	}
	return c, c.Encoder() != nil
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
		fits, at, err := charset.Spelled(ctx, n.charset, text)
		if err != nil {
			return nil, sqlerr.From(err)
		}
		if at < 0 {
			continue
		}
		name := t.pk.Schema[n.column].Name
		if mode := sql.LoadSqlMode(ctx); !ignore && (mode.ModeEnabled("STRICT_TRANS_TABLES") || mode.ModeEnabled("STRICT_ALL_TABLES")) {
			return nil, sqlerr.New(sqlerr.WrongValueForField, "%s", charset.WrongString(text[at:], name))
		}
		ctx.Warn(sqlerr.WrongValueForField, "%s", charset.WrongString(text[at:], name))
		if same {
			row, same = row.Copy(), false
		}
		row[n.column] = fits
	}
	return row, nil
}
