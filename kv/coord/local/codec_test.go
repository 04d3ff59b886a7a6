package local

import (
	"encoding/hex"
	"reflect"
	"testing"
	"time"

	"moka/kv/coord"
	"moka/kv/coord/internal/core"
)

// The bytes on disk, frozen. A change here needs a new version and a way to read the old one.
func TestGolden(t *testing.T) {
	p := []byte{0x01, 'c'}
	for name, tc := range map[string]struct {
		got  []byte
		want string
	}{
		"meta key":         {metaKey(p), "01636d00"},
		"meta":             {encodeMeta(0x0102), "010000000000000102"},
		"key key":          {keyKey(p, "n/7"), "01636b6e2f3700"},
		"key":              {encodeKV(coord.KV{Key: "n/7", Value: []byte("v"), CreateRev: 1, ModRev: 300, Session: 2}), "0101ac020276"},
		"session key":      {sessionKey(p, 0x0102), "016373000000000000010200"},
		"session":          {encodeSession(core.SessionRecord{ID: 9, TTL: 3 * time.Second}), "010080bcc1960b"},
		"detached session": {encodeSession(core.SessionRecord{ID: 9, TTL: 3 * time.Second, Detached: true}), "010180bcc1960b"},
	} {
		if got := hex.EncodeToString(tc.got); got != tc.want {
			t.Errorf("%s is %s, want %s", name, got, tc.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encodeMeta(7))
	f.Add(encodeKV(coord.KV{Value: []byte("value"), CreateRev: 3, ModRev: 1 << 40, Session: 2}))
	f.Add(encodeSession(core.SessionRecord{TTL: time.Minute, Detached: true}))
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		// Junk is refused or has one meaning: what was read is what writing it brings back.
		if kv, err := decodeKV("k", b); err == nil {
			if again, err := decodeKV("k", encodeKV(kv)); err != nil || !reflect.DeepEqual(kv, again) {
				t.Errorf("key %+v became %+v, %v", kv, again, err)
			}
		}
		if r, err := decodeSession(5, b); err == nil {
			if again, err := decodeSession(5, encodeSession(r)); err != nil || r != again {
				t.Errorf("session %+v became %+v, %v", r, again, err)
			}
		}
		if rev, err := decodeMeta(b); err == nil {
			if again, err := decodeMeta(encodeMeta(rev)); err != nil || rev != again {
				t.Errorf("revision %d became %d, %v", rev, again, err)
			}
		}
	})
}
