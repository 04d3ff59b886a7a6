// Package charset translates between the character set that a client speaks (character_set_client,
// character_set_results) and UTF-8, which is all that the server works with.
//
// Statements and parameters are decoded where they come in, results and messages are encoded where they go
// out (sqlfront/conn). A column's character set is another matter: its texts are UTF-8 in storage, and the
// set says which characters there may be. So a client may speak sets that no column can have (koi8r, gbk,
// big5): Transport says which those are.
package charset

import (
	"context"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/dolthub/go-mysql-server/sql"
)

// encodings are the sets that golang.org/x/text knows, by MySQL's names. Of those that are not here
// go-mysql-server knows some (dec8, swe7, armscii8, geostd8); nobody knows hp8, keybcs2 and macce.
var encodings = map[string]encoding.Encoding{
	"latin1":   charmap.Windows1252, // MySQL's latin1 is Windows' code page
	"latin2":   charmap.ISO8859_2,
	"latin5":   charmap.ISO8859_9,
	"latin7":   charmap.ISO8859_13,
	"greek":    charmap.ISO8859_7,
	"hebrew":   charmap.ISO8859_8,
	"tis620":   charmap.Windows874,
	"koi8r":    charmap.KOI8R,
	"koi8u":    charmap.KOI8U,
	"cp850":    charmap.CodePage850,
	"cp852":    charmap.CodePage852,
	"cp866":    charmap.CodePage866,
	"cp1250":   charmap.Windows1250,
	"cp1251":   charmap.Windows1251,
	"cp1256":   charmap.Windows1256,
	"cp1257":   charmap.Windows1257,
	"macroman": charmap.Macintosh,
	"big5":     traditionalchinese.Big5,
	"gb2312":   simplifiedchinese.GBK, // which contains it
	"gbk":      simplifiedchinese.GBK,
	"gb18030":  simplifiedchinese.GB18030,
	"sjis":     japanese.ShiftJIS,
	"cp932":    japanese.ShiftJIS,
	"ujis":     japanese.EUCJP,
	"eucjpms":  japanese.EUCJP,
	"euckr":    korean.EUCKR,
	"utf16":    unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"utf16le":  unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"ucs2":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"utf32":    utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
}

// Codec translates between a character set and UTF-8. The nil Codec is that of sets that need no translation.
type Codec struct {
	id  sql.CharacterSetID
	enc encoding.Encoding // nil: by go-mysql-server's encoder
}

// Of returns the codec of a character set by its name. It is nil for UTF-8, for binary, and for no name
// (NULL); ok is false for a set that cannot be translated.
func Of(name string) (c *Codec, ok bool) {
	name = strings.ToLower(name)
	switch name {
	case "", "utf8mb4", "utf8mb3", "utf8", "binary":
		return nil, true
	}
	id, err := sql.ParseCharacterSet(name)
	if err != nil {
		return nil, false
	}
	if enc := encodings[name]; enc != nil {
		return &Codec{id, enc}, true
	}
	return &Codec{id, nil}, id.Encoder() != nil
}

// Storable reports whether columns, literals and conversions may have the character set:
// go-mysql-server can work with it.
func Storable(id sql.CharacterSetID) bool {
	return id.Encoder() != nil && id.BinaryCollation().Sorter() != nil &&
		id.DefaultCollation().Sorter() != nil
}

// Transport reports whether the character set, by its name, is one that a client may speak and no column
// have.
func Transport(name string) bool {
	c, ok := Of(name)
	return ok && c != nil && !Storable(c.id)
}

// Wide reports whether characters have several bytes each, also those of ASCII: no client may send
// statements in such a set.
func Wide(name string) bool {
	switch strings.ToLower(name) {
	case "utf16", "utf16le", "utf32", "ucs2":
		return true
	}
	return false
}

// Quotes reports whether a byte of the set's longer characters may be that of a backslash or a quote, as
// in gbk \xbf\x5c: such statements cannot be read without knowing the set.
func Quotes(name string) bool {
	switch strings.ToLower(name) {
	case "big5", "gbk", "gb18030", "sjis", "cp932":
		return true
	}
	return false
}

// Collation is the set's default collation, by whose number the metadata of results names the set.
func (c *Codec) Collation() sql.CollationID { return c.id.DefaultCollation() }

// Decode returns the text in UTF-8; what the set does not have becomes U+FFFD, or '?' where the set has not
// that either.
func (c *Codec) Decode(text string) string {
	if c == nil || c.sameBytes(text) {
		return text
	}
	if c.enc == nil {
		if b, ok := c.id.Encoder().Decode([]byte(text)); ok && utf8.Valid(b) {
			return string(b)
		}
		return c.each(text)
	}
	out, err := c.enc.NewDecoder().String(text)
	if err != nil { // decoders replace what they do not know: not reached
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return out
}

// each decodes byte by byte, with '?' for those that the set does not have: it has to have what comes of
// them, as the literals of the statement are of the set, and functions ask for their bytes.
func (c *Codec) each(text string) string {
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		b, ok := c.id.Encoder().Decode([]byte{text[i]})
		if !ok || !utf8.Valid(b) {
			b = []byte("?")
		}
		out = append(out, b...)
	}
	return string(out)
}

// Encode returns the UTF-8 text in the character set, with '?' for what the set does not have, as MySQL does.
func (c *Codec) Encode(text []byte) []byte {
	if c == nil || !Wide(c.id.Name()) && isASCII(text) && c.enc != nil {
		return text
	}
	if c.enc == nil {
		return c.id.Encoder().EncodeReplaceUnknown([]byte(strings.ToValidUTF8(string(text), "?")))
	}
	encoder := c.enc.NewEncoder()
	if out, err := encoder.Bytes(text); err == nil {
		return out
	}
	out := make([]byte, 0, len(text))
	for i, n := 0, 0; i < len(text); i += n {
		_, n = utf8.DecodeRune(text[i:])
		b, err := encoder.Bytes(text[i : i+n])
		if err != nil {
			encoder.Reset()
			b, _ = encoder.Bytes([]byte("?")) // which every set has
		}
		out = append(out, b...)
	}
	return out
}

// sameBytes reports whether the text is the same in UTF-8: ASCII, but for the sets that are
// not ASCII's supersets.
func (c *Codec) sameBytes(text string) bool {
	if c.enc == nil || Wide(c.id.Name()) {
		return false
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Has reports whether the character set has a character.
func Has(c sql.CharacterSetID, r string) bool {
	if c == sql.CharacterSet_utf8mb3 {
		return len(r) <= 3
	}
	_, ok := c.Encoder().EncodeRune([]byte(r))
	return ok
}

// askEvery is after how many bytes Spelled asks whether its statement is to end.
const askEvery = 64 << 10

// Spelled returns the text with '?' for what the character set does not have, and where that is; -1 if it has
// all.
func Spelled(ctx context.Context, c sql.CharacterSetID, text string) (string, int, error) {
	first := -1
	var b strings.Builder
	ask := askEvery
	for i, n := 0, 0; i < len(text); i += n {
		if i >= ask {
			if ask += askEvery; ctx.Err() != nil {
				return "", 0, context.Cause(ctx)
			}
		}
		if n = 1; text[i] >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(text[i:])
		}
		switch known := text[i] < utf8.RuneSelf || Has(c, text[i:i+n]); {
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
		return text, -1, nil
	}
	return b.String(), first, nil
}

// All are the character sets that texts can have: what SHOW CHARACTER SET lists.
func All() (list []sql.CharacterSetID) {
	it := sql.NewCharacterSetsIterator()
	for cs, ok := it.Next(); ok; cs, ok = it.Next() {
		if Storable(cs.ID) {
			list = append(list, cs.ID)
		}
	}
	return list
}
