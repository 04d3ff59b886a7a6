package rowenc

import (
	"slices"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
)

// byCodePoint lists the collations that order exactly as the bytes of UTF-8 do, so that their keys hold the
// string itself and can be decoded. TestByCodePoint walks all characters to prove it.
func byCodePoint(c sql.CollationID) bool {
	return c == sql.Collation_utf8mb4_0900_bin || c == sql.Collation_utf8mb4_bin
}

// weigher turns a string into the engine's weights. The engine computes a weight by a map lookup and a chain
// of comparisons; the ASCII part, which is most of most keys, is taken from a table here.
type weigher struct {
	sorter sql.CollationSorter
	// ascii holds the weights of ASCII characters as they are written: the bytes from the highest down, their
	// number in the lowest byte. Longer forms, which no collation has for ASCII, are 0 and taken from sorter.
	ascii [utf8.RuneSelf]uint32
	// space is the weight of a space, and how it is written.
	space     int32
	spaceForm []byte
}

func newWeigher(c sql.CollationID) *weigher {
	w := &weigher{sorter: c.Sorter()}
	if w.sorter == nil {
		return nil
	}
	w.space = w.sorter(' ')
	w.spaceForm = appendWeight(nil, w.space)
	for r := range w.ascii {
		form := appendWeight(nil, w.sorter(rune(r)))
		if len(form) > 3 {
			continue
		}
		for i, b := range form {
			w.ascii[r] |= uint32(b) << (24 - 8*i)
		}
		w.ascii[r] |= uint32(len(form))
	}
	return w
}

// The weight classes; see the drawing at KeyCodec.
const (
	weightEnd      = 0x00
	weightNegative = 0x01
	weight1Base    = 0x02
	weight2Lead    = 0xC0
	weight3Lead    = 0xE0
	weight5Lead    = 0xFC

	weight1Max = weight2Lead - weight1Base                  // 0xBE
	weight2Max = weight1Max + (weight3Lead-weight2Lead)<<8  // 0x20BE
	weight3Max = weight2Max + (weight5Lead-weight3Lead)<<16 // 0x1C20BE
)

// append writes the weights of all characters. Malformed UTF-8 weighs as U+FFFD, byte by byte, as in
// the engine's comparison.
func (w *weigher) append(dst []byte, s string) []byte {
	dst = slices.Grow(dst, 2*len(s)+1)
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && w.ascii[c] != 0 {
			switch form := w.ascii[c]; byte(form) {
			case 1:
				dst = append(dst, byte(form>>24))
			case 2:
				dst = append(dst, byte(form>>24), byte(form>>16))
			default:
				dst = append(dst, byte(form>>24), byte(form>>16), byte(form>>8))
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = appendWeight(dst, w.sorter(r))
		i += n
	}
	return append(dst, weightEnd)
}

func appendWeight(dst []byte, w int32) []byte {
	switch {
	case w < 0:
		return append(dst, weightNegative, byte(uint32(w)>>24), byte(uint32(w)>>16),
			byte(uint32(w)>>8), byte(w))
	case w < weight1Max:
		return append(dst, weight1Base+byte(w))
	case w < weight2Max:
		w -= weight1Max
		return append(dst, weight2Lead+byte(w>>8), byte(w))
	case w < weight3Max:
		w -= weight2Max
		return append(dst, weight3Lead+byte(w>>16), byte(w>>8), byte(w))
	default:
		return append(dst, weight5Lead, byte(w>>24), byte(w>>16), byte(w>>8), byte(w))
	}
}

// skipWeights returns the length of a weight string with its end, -1 if it has none.
func skipWeights(b []byte) int {
	for i := 0; i < len(b); {
		if b[i] == weightEnd {
			return i + 1
		}
		n := weightSize(b[i])
		if n < 0 {
			return -1
		}
		i += n
	}
	return -1
}

// weightSize is the length of the weight that begins with lead, -1 if none does.
func weightSize(lead byte) int {
	switch {
	case lead == weightEnd:
		return -1
	case lead == weightNegative || lead == weight5Lead:
		return 5
	case lead < weight2Lead:
		return 1
	case lead < weight3Lead:
		return 2
	case lead < weight5Lead:
		return 3
	}
	return -1
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
