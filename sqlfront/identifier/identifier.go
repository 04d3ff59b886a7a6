// Package identifier is which letters names may have.
//
// Names are compared without case, and by two rules: that both are the same in lower case, by which the
// catalog finds what has a name and rights are judged, and that of Unicode's simple folding, by which the
// library finds most columns. For nearly all letters the rules say the same. Where they do not a name is one
// thing to who judges and another to who reads: a view that hid pass answered paſs (the long s folds to s,
// and is in lower case already), a trigger on ſx was fired for the table sx, and hİd was hid for the one and
// not for the other. Each rule can be mended where it is used, and the next place is forgotten; so these
// letters are in no name. Two of them are written a lot, the final sigma and the micro sign: to a name they
// are the letters that they fold to. MySQL has one rule, and takes ς and σ for two letters.
//
// What a name was made of before is not asked: it cannot be written any more.
package identifier

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ambiguous are the letters to which the rules do not say the same, in the order of their numbers;
// TestLetters looks at all that there are.
const ambiguous = "µİſ\u0345ςϐϑϕϖϰϱϵ\u1c80\u1c81\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88ẛ\u1fbe"

// meant are those that stand for others, which take as many bytes.
var meant = strings.NewReplacer("ς", "σ", "µ", "\u03bc")

// Mentions reports whether a text has such a letter anywhere; nearly none has.
func Mentions(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return strings.ContainsAny(text[i:], ambiguous)
		}
	}
	return false
}

// Meant is a name with the letters that stand for others replaced; it has as many bytes as before.
func Meant(name string) string { return meant.Replace(name) }

// Check refuses a name with a letter that names may not have.
func Check(name string) error {
	i := strings.IndexAny(name, ambiguous)
	if i < 0 {
		return nil
	}
	r, _ := utf8.DecodeRuneInString(name[i:])
	return &LetterError{Name: name, Letter: r}
}

// LetterError says which letter of a name is not for names.
type LetterError struct {
	Name   string
	Letter rune
}

func (e *LetterError) Error() string {
	name := e.Name
	if len(name) > 192 {
		name = strings.ToValidUTF8(name[:192], "") + "..."
	}
	return fmt.Sprintf("Invalid character in the name '%s': U+%04X, which only some comparisons without "+
		"case take for another letter, is in no name", name, e.Letter)
}
