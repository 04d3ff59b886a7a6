package icu

import (
	"errors"
	"testing"
)

func TestReplacement(t *testing.T) {
	const text = "xabcy" // of which abc has matched (a)(b)?(?<c>c)(d)?
	at := []int{1, 4, 1, 2, 2, 3, 3, 4, -1, -1}
	names := []string{"", "", "", "c", ""}
	for _, c := range []struct {
		replacement, want string
		err               error
	}{
		{"", "", nil}, {"plain", "plain", nil}, {"[$0]", "[abc]", nil}, {"$2$1", "ba", nil},
		{"$12", "a2", nil}, {"<$4>", "<>", nil}, {"$5", "", ErrGroup}, {"$9x", "", ErrGroup},
		{"$", "", ErrName},
		{"$x", "", ErrName}, {"${c}!", "c!", nil}, {"${d}", "", ErrName}, {"${c", "", ErrName},
		{"${}", "", ErrName},
		{`\$1`, "$1", nil}, {`\\$1`, `\a`, nil}, {`\n\é`, "né", nil}, {`a\`, "a", nil},
		{`\u00e9\U0001F600`, "é😀", nil},
		{`\u00`, "u00", nil}, {"$é", "", ErrName}, {"$0$0", "abcabc", nil},
	} {
		r, err := NewReplacement(c.replacement, names)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.replacement, err, c.err)
		}
		if err != nil {
			continue
		}
		got := string(r.Append([]byte("·"), text, at))
		if got != "·"+c.want || r.Len(at) != len(c.want) {
			t.Errorf("%s: %s of %d bytes, want %s", c.replacement, got, r.Len(at), c.want)
		}
	}
}
