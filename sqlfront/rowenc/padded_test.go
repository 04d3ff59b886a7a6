package rowenc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"pgregory.net/rapid"
)

var padding = []sql.CollationID{
	sql.Collation_utf8mb4_general_ci, sql.Collation_utf8mb4_unicode_ci, sql.Collation_utf8mb4_bin,
	sql.Collation_latin1_swedish_ci, sql.Collation_ascii_bin,
}

// padded is MySQL's definition: the shorter of the two has spaces behind it.
func padded(c sql.CollationID, a, b string) int {
	x, y := []rune(a), []rune(b)
	for i := range max(len(x), len(y)) {
		p, q := ' ', ' '
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		v, w := c.Sorter()(p), c.Sorter()(q)
		switch {
		case v < w:
			return -1
		case v > w:
			return 1
		}
	}
	return 0
}

func TestPads(t *testing.T) {
	for _, c := range padding {
		if !Pads(c) {
			t.Errorf("%s does not pad", c.Name())
		}
	}
	for _, c := range []sql.CollationID{sql.Collation_utf8mb4_0900_ai_ci, sql.Collation_utf8mb4_0900_bin,
		sql.Collation_utf8mb4_0900_as_cs, sql.Collation_binary} {
		if Pads(c) {
			t.Errorf("%s pads", c.Name())
		}
	}
}

// The order of padded keys is that of the strings with spaces behind them; each key has its length in it,
// and another may follow.
func TestPaddedKeyOrder(t *testing.T) {
	few := rapid.StringOfN(rapid.SampledFrom([]rune("aAb \t\x00\x1f!\u00a0é")), 0, 6, -1)
	for _, c := range padding {
		t.Run(c.Name(), func(t *testing.T) {
			typ := collated("varchar", 64, c)
			k := mustKey(t, KeyPart{Type: typ, PadSpace: true}, KeyPart{Type: types.Int64})
			if k.Decodable(0) {
				t.Error("a padded key claims to hold its string")
			}
			rapid.Check(t, func(t *rapid.T) {
				draw := func(label string) string {
					if rapid.Bool().Draw(t, label+" any") {
						s := text().Draw(t, label).(string)
						if utf8.ValidString(s) {
							return s
						}
					}
					return few.Draw(t, label)
				}
				a, b := draw("a"), draw("b")
				ka, err := k.Encode(ctx, nil, a, int64(7))
				if err != nil {
					t.Fatal(err)
				}
				kb, err := k.Encode(ctx, nil, b, int64(7))
				if err != nil {
					t.Fatal(err)
				}
				if got, want := bytes.Compare(ka, kb), padded(c, a, b); got != want {
					t.Fatalf("%q (%x) and %q (%x): keys compare as %d, strings as %d", a, ka, b, kb,
						got, want)
				}
				got := []any{"untouched", nil}
				rest, err := k.Decode(append(ka, "tail"...), got)
				if err != nil || string(rest) != "tail" || got[1] != int64(7) || got[0] != "untouched" {
					t.Fatalf("%q (%x): second part %v, rest %x, %v", a, ka, got, rest, err)
				}
				if key, ok := Key(nil, c, a); !ok || !bytes.HasPrefix(ka, key) {
					t.Fatalf("Key(%q) is %x, of a codec %x", a, key, ka)
				}
				// A prefix is one for each string that begins with it, and for no other.
				if prefix, ok := PrefixKeyOf(typ, a); ok && a != "" {
					whole, _ := KeyOf(ctx, typ, a+b)
					if !bytes.HasPrefix(whole, prefix) {
						t.Fatalf("%q begins with %q, its key %x not with %x", a+b, a, whole, prefix)
					}
				} else if a != "" && padded(c, a[strings.LastIndexFunc(a, func(rune) bool {
					return true
				}):], " ") != 0 {
					t.Fatalf("%q has no prefix key", a)
				}
			})
		})
	}
}

func TestPaddedGolden(t *testing.T) {
	var b strings.Builder
	for _, c := range padding[:4] {
		typ := collated("varchar", 30, c)
		fmt.Fprintf(&b, "%s\n", label(typ))
		k := mustKey(t, KeyPart{Type: typ, PadSpace: true})
		for _, v := range []string{"", " ", "a", "A ", "a b", "a\tb", "a \t", "Straße  ", "a\x00b", "日本"} {
			key, err := k.Encode(ctx, nil, v)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %-20q %x\n", v, key)
		}
		f, _ := FieldTypeOf(typ)
		fmt.Fprintf(&b, "  field type           %x\n", f.AppendTo(nil))
	}
	golden(t, "padded.golden", b.String())
}

// Junk is refused.
func TestPaddedJunk(t *testing.T) {
	for _, c := range padding {
		k := mustKey(t, KeyPart{Type: collated("varchar", 30, c), PadSpace: true})
		key, err := k.Encode(ctx, nil, "a b ")
		if err != nil {
			t.Fatal(err)
		}
		for n := range key {
			if _, err := k.Decode(key[:n], make([]any, 1)); err == nil {
				t.Errorf("%s: the first %d bytes of %x were taken for a key", c.Name(), n, key)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			_, _ = k.Decode(rapid.SliceOf(rapid.Byte()).Draw(t, "junk"), make([]any, 1))
		})
	}
}
