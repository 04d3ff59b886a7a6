package charset

import (
	"fmt"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// Text is the text that bytes are in a character set; ok is false if they are none.
func Text(set sql.CharacterSetID, b []byte) (text string, ok bool) {
	unit := 1
	switch set {
	case sql.CharacterSet_utf16, sql.CharacterSet_ucs2:
		unit = 2
	case sql.CharacterSet_utf32:
		unit = 4
	}
	if short := len(b) % unit; short > 0 {
		// The first character has lost its zeros, as in CHAR(191 USING utf16).
		b = append(make([]byte, unit-short, unit-short+len(b)), b...)
	}
	out, ok := set.Encoder().Decode(b)
	if !ok || !utf8.Valid(out) {
		return "", false
	}
	return string(out), true
}

// Malformed says that bytes are no text in a character set (1300).
func Malformed(set sql.CharacterSetID, b []byte) string {
	return fmt.Sprintf("Invalid %s character string: '%X'", set.Name(), b[:min(len(b), 6)])
}

// Unknown is the error of a character set that texts cannot have.
func Unknown(set sql.CharacterSetID) error {
	return sqlerr.New(sqlerr.UnknownCharset, "Unknown character set: '%s'", set.Name())
}

// CharacterLength says how many bytes the first character of an encoded text has.
func CharacterLength(set sql.CharacterSetID) func(b []byte) int {
	switch set {
	case sql.CharacterSet_utf8mb4, sql.CharacterSet_utf8mb3:
		return func(b []byte) int {
			_, n := utf8.DecodeRune(b)
			return n
		}
	case sql.CharacterSet_utf32:
		return func([]byte) int { return 4 }
	case sql.CharacterSet_utf16:
		return func(b []byte) int {
			if b[0]>>2 == 0xD8>>2 { // the first half of a pair
				return 4
			}
			return 2
		}
	}
	return func([]byte) int { return 1 }
}
