package charset

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
)

// TestBytes: each set's bytes are those that MySQL has for the character (as HEX(CONVERT(… USING set)) of
// MariaDB 10.11 shows them).
func TestBytes(t *testing.T) {
	for _, c := range []struct{ set, text, hex string }{
		{"latin1", "é€", "e980"}, {"latin2", "ł", "b3"}, {"latin5", "ğ", "f0"}, {"latin7", "ķ", "ed"},
		{"koi8r", "я", "d1"}, {"koi8u", "ї", "a7"}, {"cp1250", "ł", "b3"}, {"cp1251", "я", "ff"},
		{"cp866", "я", "ef"},
		{"greek", "ω", "f9"}, {"hebrew", "א", "e0"}, {"tis620", "ก", "a1"}, {"cp850", "é", "82"},
		{"cp852", "ł", "88"},
		{"macroman", "é", "8e"}, {"big5", "中", "a4a4"}, {"gbk", "中", "d6d0"}, {"gb2312", "中", "d6d0"},
		{"gb18030", "中", "d6d0"}, {"sjis", "ソ", "835c"}, {"cp932", "日", "93fa"}, {"ujis", "日", "c6fc"},
		{"euckr", "한", "c7d1"}, {"utf16", "é", "00e9"}, {"ucs2", "é", "00e9"}, {"utf32", "é", "000000e9"},
		{"dec8", "é", "e9"},
	} {
		codec, ok := Of(c.set)
		if !ok {
			t.Errorf("%s: unknown", c.set)
			continue
		}
		if got := fmt.Sprintf("%x", codec.Encode([]byte(c.text))); got != c.hex {
			t.Errorf("%s: %s is %s, want %s", c.set, c.text, got, c.hex)
		}
		if got := codec.Decode(string(codec.Encode([]byte("a" + c.text + "'")))); got != "a"+c.text+"'" {
			t.Errorf("%s: %q comes back as %q", c.set, c.text, got)
		}
	}
}

// TestUnknown: a character that the set does not have is a question mark, and the others stay.
func TestUnknown(t *testing.T) {
	for set, want := range map[string]string{"latin1": "a?\xe9", "koi8r": "a??", "gbk": "a\xc8\xd5\xa8\xa6",
		"dec8": "a?\xe9"} {
		codec, _ := Of(set)
		if got := string(codec.Encode([]byte("a日é"))); got != want {
			t.Errorf("%s: %q, want %q", set, got, want)
		}
	}
	if codec, ok := Of("koi8r"); !ok || codec.Decode("abc") != "abc" || !Transport("koi8r") ||
		Transport("latin1") || Transport("utf8mb4") {
		t.Error("koi8r is a set that clients may speak, and columns not have")
	}
	for _, set := range []string{"hp8", "keybcs2", "macce", "nosuch"} {
		if _, ok := Of(set); ok {
			t.Errorf("%s is translated", set)
		}
	}
	for _, set := range []string{"", "utf8", "utf8mb3", "utf8mb4", "binary"} {
		if codec, ok := Of(set); !ok || codec != nil {
			t.Errorf("%s needs a translation", set)
		}
	}
}

// FuzzCodec: whatever a client sends becomes valid UTF-8, in all sets, without a panic.
func FuzzCodec(f *testing.F) {
	f.Add("a\xe9\x81\x5c'")
	f.Add("\xff\xfe\x00")
	f.Fuzz(func(t *testing.T, text string) {
		for it, set, ok := iterate(); ok; set, ok = it.Next() {
			codec, known := Of(set.Name)
			if !known || codec == nil {
				continue
			}
			if out := codec.Decode(text); !utf8.ValidString(out) {
				t.Errorf("%s: %q becomes %q", set.Name, text, out)
			}
			codec.Encode([]byte(text))
		}
	})
}

func iterate() (*sql.CharacterSetsIterator, sql.CharacterSet, bool) {
	it := sql.NewCharacterSetsIterator()
	set, ok := it.Next()
	return it, set, ok
}
