package identifier

import (
	"errors"
	"strings"
	"testing"
	"unicode"
)

// TestLetters: to all letters but those that are refused, and those that are replaced, both rules say the
// same, and none is refused without need.
func TestLetters(t *testing.T) {
	taken := func(r rune) bool { return Check(Meant(string(r))) == nil && Meant(string(r)) == string(r) }
	cased := func(r rune) bool { return unicode.SimpleFold(r) != r || unicode.ToLower(r) != r }
	lower := map[rune][]rune{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if cased(r) && taken(r) {
			l := unicode.ToLower(r)
			lower[l] = append(lower[l], r)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !cased(r) {
			continue
		}
		alike := true
		for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
			if taken(x) && unicode.ToLower(x) != unicode.ToLower(r) {
				alike = false
			}
		}
		for _, x := range lower[unicode.ToLower(r)] {
			if !strings.EqualFold(string(x), string(r)) {
				alike = false
			}
		}
		if taken(r) != alike {
			t.Errorf("%U %c: taken %v, alike %v", r, r, taken(r), alike)
		}
	}
}

// TestMeant: what stands for other letters becomes them, in as many bytes.
func TestMeant(t *testing.T) {
	for name, want := range map[string]string{
		"τίτλος": "τίτλοσ", "5µs": "5μs", "plain": "plain", "größe": "größe",
	} {
		got := Meant(name)
		if got != want || len(got) != len(name) || Check(got) != nil {
			t.Errorf("%s is %s, %v", name, got, Check(got))
		}
	}
	var e *LetterError
	err := Check("paſs")
	if !errors.As(err, &e) || e.Letter != 'ſ' || !strings.Contains(err.Error(), "U+017F") {
		t.Errorf("%v", err)
	}
	if !Mentions("select 'ſ'") || Mentions("select 'größe', 'ИМЯ'") || Mentions("plain") {
		t.Error("Mentions")
	}
}
