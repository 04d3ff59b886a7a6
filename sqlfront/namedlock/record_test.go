package namedlock

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// The record is in people's stores: another encoding is another version.
func TestGoldenRecord(t *testing.T) {
	r := record{owner{0x0102030405060708, 9}, 77, 1_700_000_000_000}
	const want = "0101020304050607080000000000000009" + "0000004d" + "0000018bcfe56800"
	if got := hex.EncodeToString(r.encode()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(record{owner{1, 2}, 3, 4}.encode())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := decode(b); err == nil && !bytes.Equal(r.encode(), b) {
			t.Errorf("%x is read as %+v", b, r)
		}
	})
}
