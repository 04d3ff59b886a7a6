package icu

import (
	"regexp"
	"testing"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{`^[[:alpha:]]+$`, "é日本", true}, {`^\w+$`, "Ünï_9", true}, {`\W`, "é", false},
		{`^[^\d]$`, "٣", false},
		{`^\d$`, "٣", true}, {`[[:^alpha:]]`, "é", false}, {`^[]\w]+$`, "]é", true}, {`^[^]x]$`, "]", false},
		{`^\Q\w[\E$`, `\w[`, true}, {`^[[:alnum:]-]+$`, "ä-1", true}, {`^\s$`, "\u00a0", true},
		{`^[[:xdigit:]]+$`, "aF09", true}, {`^\\w$`, `\w`, true}, {`[[:upper:]]`, "É", true},
		{`^\S+$`, "é", true}, {`^[[:xdigit:]\w]$`, "é", true}, {`^[[:xdigit:]\w]$`, "]", false},
		{`^(\p{L}|\d)+$`, "é1", true},
	} {
		if got := regexp.MustCompile(Pattern(c.pattern)).MatchString(c.text); got != c.want {
			t.Errorf("%s as %s: %q %v, want %v", c.pattern, Pattern(c.pattern), c.text, got, c.want)
		}
	}
}

// FuzzPattern: what the machine understands it understands afterwards.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{`[[:alpha:]]`, `[a\]`, `\Q`, `[`, `[^]`, `[[:`, `\w\`, `[\w-z]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		_, err := regexp.Compile(p)
		if _, after := regexp.Compile(Pattern(p)); err == nil && after != nil {
			t.Errorf("%q became %q: %v", p, Pattern(p), after)
		}
	})
}
