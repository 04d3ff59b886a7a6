package record

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"moka/kv"
)

var (
	testColumn = kv.Column{Row: kv.RowKey("\x00\x00\x00\x02bob"), Family: 7, Qualifier: []byte("q")}
	otherRow   = kv.Column{Row: kv.RowKey("\x00\x00\x00\x02joe")}
)

// goldenRecords are the stored formats. What is written down in testdata/golden has been
// stored by somebody: a line may be added, none may change.
func goldenRecords() map[string][]byte {
	lock := func(l Lock) []byte { return l.AppendTo(nil) }
	write := func(w Write, ts kv.Timestamp) []byte { return w.AppendTo(nil, ts) }
	return map[string][]byte{
		"lock primary put": lock(Lock{Kind: KindPut, IsPrimary: true, TTL: 3 * time.Second, MinCommitTS: 8,
			Session: "w1", HasValue: true, Value: []byte("3")}),
		"lock secondary delete": lock(Lock{Kind: KindDelete, Primary: testColumn, TTL: time.Second,
			MinCommitTS: 8}),
		"lock long put": lock(Lock{Kind: KindPut, Primary: testColumn, MinCommitTS: 300}),
		"lock require":  lock(Lock{Kind: KindRequire, Primary: testColumn, MinCommitTS: 8}),
		"lock guard":    lock(Lock{Kind: KindPut, IsPrimary: true, Guard: true, MinCommitTS: 8}),
		"lock observed": lock(Lock{Kind: KindPut, IsPrimary: true, MinCommitTS: 8,
			Observers: []uint32{1, 300},
			Clears:    []Clear{{Observer: 2, Column: otherRow}}, HasValue: true}),
		"lock of a run": lock(Lock{Kind: KindPut, IsPrimary: true, MinCommitTS: 8,
			Observers: []uint32{1}, Depth: 3, HasValue: true, Value: []byte("3")}),
		"lock asynchronous primary": lock(Lock{Kind: KindPut, IsPrimary: true, Async: true, MinCommitTS: 8,
			Secondaries: []kv.Column{testColumn, otherRow}, HasValue: true, Value: []byte("3")}),
		"lock asynchronous secondary": lock(Lock{Kind: KindDelete, Primary: testColumn, Async: true,
			MinCommitTS: 9}),
		"write short": write(Write{Kind: KindPut, StartTS: 7, HasValue: true,
			Value: []byte("3")}, 8),
		"write long":                write(Write{Kind: KindPut, StartTS: 7}, 1000),
		"write delete":              write(Write{Kind: KindDelete, StartTS: 7}, 8),
		"data":                      AppendData(nil, []byte("long")),
		"rollback":                  AppendRollback(nil, 0),
		"lock marker":               AppendRollback(nil, 9),
		"notify":                    AppendNotify(nil, Notification{StartTS: 7}),
		"notify by a run":           AppendNotify(nil, Notification{StartTS: 7, Depth: 3}),
		"notify of several changes": AppendNotify(nil, Notification{StartTS: 7, Since: 5}),
	}
}

// TestGolden: every format is frozen.
func TestGolden(t *testing.T) {
	seen := map[string]bool{}
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, d *datadriven.TestData) string {
		name := strings.TrimSpace(d.Input)
		b, ok := goldenRecords()[name]
		if !ok {
			d.Fatalf(t, "no record %q", name)
		}
		seen[name] = true
		return hex.EncodeToString(b) + "\n"
	})
	for name := range goldenRecords() {
		if !seen[name] {
			t.Errorf("record %q is not in testdata/golden", name)
		}
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blob := rapid.SliceOfN(rapid.Byte(), 1, 40)
		column := func(label string) kv.Column {
			return kv.Column{Row: blob.Draw(t, label), Family: kv.FamilyID(rapid.Byte().Draw(t, label)),
				Qualifier: blob.Draw(t, label)}
		}
		l := &Lock{
			Kind:  Kind(rapid.IntRange(1, 5).Draw(t, "kind")),
			Guard: rapid.Bool().Draw(t, "guard"), IsPrimary: rapid.Bool().Draw(t, "primary"),
			TTL:         time.Duration(rapid.IntRange(0, 1e6).Draw(t, "ttl")) * time.Millisecond,
			MinCommitTS: kv.Timestamp(rapid.Uint64().Draw(t, "min")),
			Session:     rapid.String().Draw(t, "session"), HasValue: rapid.Bool().Draw(t, "has value"),
		}
		if !l.IsPrimary {
			l.Primary = column("primary")
		}
		if l.HasValue {
			l.Value = blob.Draw(t, "value")
		}
		if l.Async = rapid.Bool().Draw(t, "async"); l.Async && l.IsPrimary {
			l.Secondaries = []kv.Column{column("secondary"), column("secondary")}
		}
		if rapid.Bool().Draw(t, "observed") {
			l.Observers = rapid.SliceOfN(rapid.Uint32(), 1, 3).Draw(t, "observers")
			l.Clears = []Clear{{Observer: rapid.Uint32().Draw(t, "observer"), Column: column("clear")}}
		}
		back, err := DecodeLock(l.AppendTo(nil))
		if err != nil || !reflect.DeepEqual(l, back) {
			t.Fatalf("got %+v, %v, want %+v", back, err, l)
		}
		start := kv.Timestamp(rapid.Uint64Range(0, 1<<62).Draw(t, "start"))
		commit := start + 1 + kv.Timestamp(rapid.Uint64Range(0, 1<<40).Draw(t, "delta"))
		w := Write{Kind: KindPut, StartTS: start, HasValue: l.HasValue, Value: l.Value}
		if rapid.Bool().Draw(t, "delete") {
			w = Write{Kind: KindDelete, StartTS: start}
		}
		got, err := DecodeWrite(w.AppendTo(nil, commit), commit)
		if err != nil || !reflect.DeepEqual(w, got) {
			t.Fatalf("got %+v, %v, want %+v", got, err, w)
		}
	})
}

// TestNewerVersionIsRefused: records of a later Moka are not guessed at.
func TestNewerVersionIsRefused(t *testing.T) {
	for name, b := range goldenRecords() {
		b = bytes.Clone(b)
		b[0]++
		var err error
		switch strings.Fields(name)[0] {
		case "lock":
			if name == "lock marker" {
				_, err = DecodeRollback(b)
			} else {
				_, err = DecodeLock(b)
			}
		case "write":
			_, err = DecodeWrite(b, 1000)
		case "data":
			_, err = DecodeData(b)
		case "rollback":
			_, err = DecodeRollback(b)
		case "notify":
			b[0] = notifyVersion + 1
			_, err = DecodeNotify(b)
		}
		if kv.CodeOf(err) != kv.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecode: junk is refused, and what is accepted means one thing.
func FuzzDecode(f *testing.F) {
	for _, b := range goldenRecords() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := DecodeLock(b); err == nil {
			if again, err := DecodeLock(l.AppendTo(nil)); err != nil || !reflect.DeepEqual(l, again) {
				t.Errorf("lock: %+v became %+v, %v", l, again, err)
			}
		}
		if w, err := DecodeWrite(b, 1<<50); err == nil {
			again, err := DecodeWrite(w.AppendTo(nil, 1<<50), 1<<50)
			if err != nil || !reflect.DeepEqual(w, again) {
				t.Errorf("write: %+v became %+v, %v", w, again, err)
			}
		}
		if n, err := DecodeNotify(b); err == nil {
			if again, err := DecodeNotify(AppendNotify(nil, n)); err != nil || n != again {
				t.Errorf("notification: %+v became %+v, %v", n, again, err)
			}
		}
		for _, g := range Groups {
			e, err := Describe(g, 3, kv.Version{Timestamp: 1 << 50, Value: b})
			if err == nil && e.Group == "" {
				t.Errorf("group %d: %+v", g, e)
			}
		}
	})
}
