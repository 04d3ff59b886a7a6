package rowenc

import (
	"context"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
)

// Pads reports whether a collation compares as if the shorter of two strings were padded with spaces: MySQL's
// PAD SPACE, which all collations have but binary and those by Unicode 9 (utf8mb4_0900_*).
func Pads(c sql.CollationID) bool { p := pads(); return int(c) < len(p) && p[c] }

var pads = sync.OnceValue(func() (p []bool) {
	for it := sql.NewCollationsIterator(); ; {
		c, ok := it.Next()
		if !ok {
			return p
		}
		for len(p) <= int(c.ID) {
			p = append(p, false)
		}
		p[c.ID] = c.PadAttribute == "PAD SPACE"
	}
})

// What follows a space in a padded key; see the drawing at KeyCodec.
const (
	padLower   = 0x01
	padEnd     = 0x02
	padGreater = 0x03
)

// appendPadded writes the weights of all characters, and of the spaces which of them they stand before. A
// character that weighs as a space is one.
func (w *weigher) appendPadded(dst []byte, s string) []byte {
	spaces := 0
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r == ' ' {
			spaces++
			i++
			continue
		}
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		} else if form := w.ascii[r]; r > ' ' && byte(form) == 1 && w.space < weight1Max &&
			form > uint32(w.spaceForm[0])<<24|0xFF {
			// most characters of most strings
			dst = append(w.appendSpaces(dst, spaces, padGreater), byte(form>>24))
			spaces = 0
			i++
			continue
		}
		i += n
		v := w.sorter(r)
		switch {
		case v == w.space:
			spaces++
			continue
		case v < w.space:
			dst = w.appendSpaces(dst, spaces, padLower)
		default:
			dst = w.appendSpaces(dst, spaces, padGreater)
		}
		spaces = 0
		dst = appendWeight(dst, v)
	}
	return append(append(dst, w.spaceForm...), padEnd)
}

func (w *weigher) appendSpaces(dst []byte, n int, mark byte) []byte {
	for range n {
		dst = append(append(dst, w.spaceForm...), mark)
	}
	return dst
}

// appendPadded is the same for the bytes of UTF-8.
func appendPadded(dst []byte, s string) []byte {
	s = strings.TrimRight(s, " ")
	spaces := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == ' ' {
			spaces++
			continue
		}
		mark := byte(padGreater)
		if c < ' ' {
			mark = padLower
		}
		for ; spaces > 0; spaces-- {
			dst = append(dst, ' ', mark)
		}
		dst = append(dst, c)
	}
	return append(dst, ' ', padEnd)
}

func (p *part) spaceForm() []byte {
	if p.weigher != nil {
		return p.weigher.spaceForm
	}
	return []byte{' '}
}

// skipPadded returns the length of a padded string with its end, -1 if it has none.
func (p *part) skipPadded(b []byte) int {
	space := p.spaceForm()
	for i := 0; i < len(b); {
		n := 1
		if p.weigher != nil {
			if n = weightSize(b[i]); n < 0 {
				return -1
			}
		}
		if i+n > len(b) {
			return -1
		}
		at := i
		i += n
		if string(b[at:i]) != string(space) {
			continue
		}
		if i == len(b) {
			return -1
		}
		switch b[i] {
		case padEnd:
			return i + 1
		case padLower, padGreater:
			i++
		default:
			return -1
		}
	}
	return -1
}

// endsInSpace reports whether the last character of s is a space, or weighs as one.
func (p *part) endsInSpace(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && (r == ' ' || p.weigher != nil && p.weigher.sorter(r) == p.weigher.space)
}

// looseCut places a bound among keys that have their spaces, for values that are compared without. What is at
// most v there begins, here, with v without its spaces, or is less than it; what is at least v there is here
// not less than the part of v before its first character that is less than a space. So the bound has keys on
// its inner side that have to be looked at.
func (p *part) looseCut(ctx context.Context, here []byte, value any, lower bool) (cutKey, error) {
	s, ok := value.(string)
	if !ok {
		v, in, err := canonical(ctx, p.typ, value)
		if err != nil && in == sql.InRange {
			return cutKey{}, err
		}
		if s, ok = v.(string); !ok {
			if lower {
				return cutKey{key: append(here, tagValue)}, nil
			}
			return cutKey{key: append(here, tagAfter)}, nil
		}
	}
	if p.prefix > 0 {
		s = firstRunes(s, p.prefix)
	}
	if lower {
		for i, r := range s {
			if r < ' ' && r != utf8.RuneError || p.weigher != nil && p.weigher.sorter(r) < p.weigher.space {
				s = s[:i]
				break
			}
		}
	}
	for p.endsInSpace(s) {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	key, _ := p.appendText(here, s)
	if p.weigher != nil {
		key = key[:len(key)-1]
	} else {
		key = key[:len(key)-2]
	}
	if !lower {
		key = append(key, tagAfter)
	}
	return cutKey{key: key}, nil
}
