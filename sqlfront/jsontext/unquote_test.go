package jsontext

import "testing"

func TestUnquote(t *testing.T) {
	for text, want := range map[string]string{
		`""`: "", `"abc"`: "abc", `"a\"b\\\/"`: `a"b\/`, `"\u00e9\ud83d\ude00x"`: "é😀x", `"😀"`: "😀",
		`"\\ud800"`: `\ud800`,
	} {
		if got, err := Unquote(text); got != want || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{
		``, `"`, `abc`, `"a`, `"\"`, `"a"b"`, `"a" `, `"\x"`, `"\u00"`, `"\u00zz"`, `"\ud800"`, `"\ud83d"`,
		`"\ude00"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`, `"\ude00\ud83d"`, `"\ud83d\ud83d\ude00"`,
		"\"\n\"",
	} {
		if got, err := Unquote(text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}
