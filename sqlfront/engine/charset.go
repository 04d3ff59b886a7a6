package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"

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

// has reports whether the character set has a character.
func has(c sql.CharacterSetID, r string) bool {
	_, ok := c.Encoder().EncodeRune([]byte(r))
	return ok
}

// spelledIn returns the text with '?' for what the character set does not have, and where that is; -1 if it has all.
func spelledIn(c sql.CharacterSetID, text string) (string, int) {
	first := -1
	var b strings.Builder
	for i, n := 0, 0; i < len(text); i += n {
		if n = 1; text[i] >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(text[i:])
		}
		switch known := text[i] < utf8.RuneSelf || has(c, text[i:i+n]); {
		case !known && first < 0:
			first = i
			b.WriteString(text[:i])
			b.WriteByte('?')
		case !known:
			b.WriteByte('?')
		case first >= 0:
			b.WriteString(text[i : i+n])
		}
	}
	if first < 0 {
		return text, -1
	}
	return b.String(), first
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
		fits, at := spelledIn(n.charset, text)
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

// convertUsing is CONVERT(… USING …). The library's makes bytes of the other character set, which everything else takes for UTF-8, and
// an empty text of a number.
type convertUsing struct{ *expression.ConvertUsing }

var (
	_ sql.Expression         = convertUsing{}
	_ sql.CollationCoercible = convertUsing{}
)

// Type implements sql.Expression.
func (c convertUsing) Type(ctx *sql.Context) sql.Type {
	if t := c.Child.Type(ctx); types.IsTextOnly(t) {
		return c.ConvertUsing.Type(ctx)
	}
	if c.TargetCharSet == sql.CharacterSet_binary {
		return types.LongBlob
	}
	return types.CreateLongText(c.TargetCharSet.DefaultCollation())
}

// Eval implements sql.Expression.
func (c convertUsing) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	text, ok := v.(string)
	switch b := v.(type) {
	case string:
	case []byte: // bytes of the other character set
		if c.TargetCharSet == sql.CharacterSet_binary {
			return b, nil
		}
		unit := 1
		switch c.TargetCharSet {
		case sql.CharacterSet_utf16, sql.CharacterSet_ucs2:
			unit = 2
		case sql.CharacterSet_utf32:
			unit = 4
		}
		if short := len(b) % unit; short > 0 { // the first character has lost its zeros, as in CHAR(191 USING utf16)
			b = append(make([]byte, unit-short, unit-short+len(b)), b...)
		}
		decoded, ok := c.TargetCharSet.Encoder().Decode(b)
		if !ok || !utf8.Valid(decoded) {
			ctx.Warn(sqlerr.InvalidCharacterString, "Invalid %s character string: '%X'", c.TargetCharSet.Name(), b[:min(len(b), 6)])
			return nil, nil
		}
		return string(decoded), nil
	default:
		if v, _, err = types.LongText.Convert(ctx, v); err != nil {
			return nil, err
		}
		if text, ok = v.(string); !ok {
			return nil, nil
		}
	}
	switch c.TargetCharSet {
	case sql.CharacterSet_binary, sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3, sql.CharacterSet_utf16, sql.CharacterSet_utf32:
		return text, nil
	}
	text, _ = spelledIn(c.TargetCharSet, text)
	return text, nil
}

// WithChildren implements sql.Expression.
func (c convertUsing) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.ConvertUsing.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return convertUsing{e.(*expression.ConvertUsing)}, nil
}

// charUsing is CHAR(… USING …).
type charUsing struct {
	convertUsing
	typ sql.Type
}

// newCharUsing takes the name of the character set and the numbers.
func newCharUsing(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) < 2 {
		return nil, sql.ErrInvalidArgumentNumber.New("CHAR", "1 or more", 0)
	}
	name, ok := args[0].(*expression.Literal)
	if !ok {
		return nil, sql.ErrInvalidArgumentDetails.New("CHAR", args[0].String())
	}
	set, err := sql.ParseCharacterSet(fmt.Sprint(name.Value()))
	if err != nil {
		return nil, err
	}
	if !charset.Storable(set) {
		return nil, sqlerr.New(sqlerr.UnknownCharset, "Unknown character set: '%s'", set.Name())
	}
	typ, err := types.CreateString(sqltypes.VarChar, 4*int64(len(args)-1), set.DefaultCollation())
	if err != nil {
		return nil, err
	}
	char, err := function.NewChar(ctx, args[1:]...)
	if err != nil {
		return nil, err
	}
	return charUsing{convertUsing{expression.NewConvertUsing(char, set)}, typ}, nil
}

// Type implements sql.Expression.
func (c charUsing) Type(*sql.Context) sql.Type { return c.typ }

// String implements sql.Expression.
func (c charUsing) String() string {
	return strings.TrimSuffix(c.Child.String(), ")") + " USING " + c.TargetCharSet.Name() + ")"
}

// WithChildren implements sql.Expression.
func (c charUsing) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.convertUsing.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return charUsing{e.(convertUsing), c.typ}, nil
}

// charsets are the character sets that texts can have: what SHOW CHARACTER SET lists. The library's list for information_schema has one.
func charsets() (list []sql.CharacterSetID) {
	it := sql.NewCharacterSetsIterator()
	for cs, ok := it.Next(); ok; cs, ok = it.Next() {
		if charset.Storable(cs.ID) {
			list = append(list, cs.ID)
		}
	}
	return list
}
