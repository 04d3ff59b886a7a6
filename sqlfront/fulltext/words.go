package fulltext

import (
	"context"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/rowenc"
)

// InnoDB's defaults of innodb_ft_min_token_size and innodb_ft_max_token_size, in characters.
const (
	MinLength = 3
	MaxLength = 84
)

// stopwords is InnoDB's default list (information_schema.INNODB_FT_DEFAULT_STOPWORD).
var stopwords = []string{
	"a", "about", "an", "are", "as", "at", "be", "by", "com", "de", "en", "for", "from", "how", "i", "in",
	"is", "it", "la", "of", "on",
	"or", "that", "the", "this", "to", "was", "what", "when", "where", "who", "will", "with", "und", "www",
}

// Analyzer finds words of texts of one collation. It has no state and serves all sessions.
type Analyzer struct {
	codec *rowenc.KeyCodec
	end   int // bytes that end a key: without them it is the key of all words that begin so
	stop  map[string]bool
}

// NewAnalyzer returns the analyzer of a collation.
func NewAnalyzer(collation sql.CollationID) (*Analyzer, error) {
	typ, err := types.CreateString(sqltypes.Text, types.LongTextBlobMax/collation.CharacterSet().MaxLength(),
		collation)
	if err != nil {
		return nil, err
	}
	codec, err := rowenc.NewKeyCodec([]rowenc.KeyPart{{Type: typ}})
	if err != nil {
		return nil, err
	}
	a := &Analyzer{codec: codec, stop: map[string]bool{}}
	empty, err := codec.Encode(context.Background(), nil, "")
	if err != nil {
		return nil, err
	}
	a.end = len(empty) - 1 // behind the tag
	for _, w := range stopwords {
		key, err := a.Key(nil, w)
		if err != nil {
			return nil, err
		}
		a.stop[string(key)] = true
	}
	return a, nil
}

// Codec is the codec of keys of words: what an entry's key begins with.
func (a *Analyzer) Codec() *rowenc.KeyCodec { return a.codec }

// Key appends the key of a word.
func (a *Analyzer) Key(dst []byte, word string) ([]byte, error) {
	dst, err := a.codec.Encode(context.Background(), dst, word)
	if err != nil {
		return nil, fmt.Errorf("fulltext: word %q: %w", word, err)
	}
	return dst, nil
}

// prefixOf is what the keys of all words begin with that begin with the word of that key.
func (a *Analyzer) prefixOf(key []byte) []byte { return key[:len(key)-a.end] }

// indexed reports whether entries are made for a word of so many characters.
func (a *Analyzer) indexed(key []byte, chars int) bool {
	return chars >= MinLength && chars <= MaxLength && !a.stop[string(key)]
}

// Words adds up how often texts have each word that is indexed, by key.
func (a *Analyzer) Words(texts []string, counts map[string]int) error {
	var key []byte
	for _, text := range texts {
		err := tokens(text, func(word string, chars int) (err error) {
			if chars < MinLength || chars > MaxLength {
				return nil
			}
			if key, err = a.Key(key[:0], word); err == nil && !a.stop[string(key)] {
				counts[string(key)]++
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tokens hands the words of a text over, short ones and stopwords too.
func tokens(text string, f func(word string, chars int) error) error {
	start, chars := -1, 0
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		if wordRune(r, n) {
			if start < 0 {
				start, chars = i, 0
			}
			chars++
		} else if start >= 0 {
			if err := f(text[start:i], chars); err != nil {
				return err
			}
			start = -1
		}
		i += n
	}
	if start >= 0 {
		return f(text[start:], chars)
	}
	return nil
}

func wordRune(r rune, size int) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	case r == utf8.RuneError && size == 1:
		return false
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}
