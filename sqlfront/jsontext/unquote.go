package jsontext

import (
	"strconv"
	"unicode/utf16"
)

// Unquote is the text that a JSON text in its quotes stands for. Half of a surrogate pair is an error, as in
// MySQL; encoding/json makes U+FFFD of it.
func Unquote(text string) (string, error) {
	p := &parser{text: text, taken: func(int64) error { return nil }}
	if text == "" || text[0] != '"' {
		return "", ErrSyntax
	}
	out, err := p.string()
	if err != nil || p.at != len(text) || halfPair(text) {
		return "", ErrSyntax
	}
	return out, nil
}

// halfPair reports whether there is a surrogate by itself among the escapes of a well-formed text.
func halfPair(text string) bool {
	first := rune(0) // of a pair whose second must follow
	for i := 0; i < len(text); i++ {
		r := rune(0)
		if text[i] == '\\' {
			if i++; text[i] == 'u' {
				n, _ := strconv.ParseUint(text[i+1:i+5], 16, 16) // the text is well-formed
				r, i = rune(n), i+4
			}
		}
		switch {
		case first != 0:
			if utf16.DecodeRune(first, r) == '\uFFFD' {
				return true
			}
			first = 0
		case utf16.IsSurrogate(r) && r < 0xDC00:
			first = r
		case utf16.IsSurrogate(r):
			return true
		}
	}
	return false
}
