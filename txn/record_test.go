package txn

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"moka/kv"
	"moka/txn/deadlock"
)

var (
	testColumn = kv.Column{Row: kv.RowKey("\x00\x00\x00\x02bob"), Family: 7, Qualifier: []byte("q")}
	otherRow   = kv.Column{Row: kv.RowKey("\x00\x00\x00\x02joe")}
)

// goldenRecords are the stored formats; goldenMessages those on the wire. What is written down in testdata/golden has been
// stored by somebody: a line may be added, none may change.
func goldenRecords() map[string][]byte {
	lock := func(l lockRecord) []byte { return l.appendTo(nil) }
	write := func(w writeRecord, ts kv.Timestamp) []byte { return w.appendTo(nil, ts) }
	return map[string][]byte{
		"lock primary put":      lock(lockRecord{kind: kindPut, isPrimary: true, ttl: 3 * time.Second, minCommitTS: 8, session: "w1", hasValue: true, value: []byte("3")}),
		"lock secondary delete": lock(lockRecord{kind: kindDelete, primary: testColumn, ttl: time.Second, minCommitTS: 8}),
		"lock long put":         lock(lockRecord{kind: kindPut, primary: testColumn, minCommitTS: 300}),
		"lock require":          lock(lockRecord{kind: kindRequire, primary: testColumn, minCommitTS: 8}),
		"lock guard":            lock(lockRecord{kind: kindPut, isPrimary: true, guard: true, minCommitTS: 8}),
		"lock observed": lock(lockRecord{kind: kindPut, isPrimary: true, minCommitTS: 8, observers: []uint32{1, 300},
			clears: []ClearNotify{{Observer: 2, Column: otherRow}}, hasValue: true}),
		"lock of a run": lock(lockRecord{kind: kindPut, isPrimary: true, minCommitTS: 8,
			observers: []uint32{1}, depth: 3, hasValue: true, value: []byte("3")}),
		"lock asynchronous primary":   lock(lockRecord{kind: kindPut, isPrimary: true, async: true, minCommitTS: 8, secondaries: []kv.Column{testColumn, otherRow}, hasValue: true, value: []byte("3")}),
		"lock asynchronous secondary": lock(lockRecord{kind: kindDelete, primary: testColumn, async: true, minCommitTS: 9}),
		"write short":                 write(writeRecord{kind: kindPut, startTS: 7, hasValue: true, value: []byte("3")}, 8),
		"write long":                  write(writeRecord{kind: kindPut, startTS: 7}, 1000),
		"write delete":                write(writeRecord{kind: kindDelete, startTS: 7}, 8),
		"data":                        appendData(nil, []byte("long")),
		"rollback":                    appendRollback(nil, 0),
		"lock marker":                 appendRollback(nil, 9),
		"notify":                      appendNotify(nil, Notification{StartTS: 7}),
		"notify by a run":             appendNotify(nil, Notification{StartTS: 7, Depth: 3}),
		"notify of several changes":   appendNotify(nil, Notification{StartTS: 7, Since: 5}),
	}
}

// messages has one of each, with every field set.
func messages() map[string]kv.Message {
	lock := lockInfo{column: testColumn, startTS: 7, kind: kindPut, guard: true, primary: otherRow, ttl: time.Second, session: "w1"}
	refs := []kv.TabletRef{{ID: 1, Generation: 2}, {ID: 3, Generation: 400}}
	spans := []kv.Span{{Start: testColumn.Row, End: otherRow.Row}, {}}
	mut := &mutation{kind: kindPut, column: testColumn, value: []byte("v"), mustNotExist: true, mustExist: true, observers: []uint32{1, 2}, clears: []ClearNotify{{2, otherRow}}, since: 6, share: true}
	blockers := []deadlock.Holder{{Owner: 5, Note: "conn 1"}, {Owner: 6}}
	edges := []deadlock.Edge{{Waiter: 5, Holder: 6, Note: "a", HolderNote: "b", Column: testColumn}}
	return map[string]kv.Message{
		"get request":        &getRequest{snapshot: 9, columns: []kv.Column{testColumn, otherRow}, bypass: []kv.Timestamp{1, 2}, tablets: refs, known: []decision{{7, 8}}, unchanged: true},
		"get response":       &getResponse{values: []Value{{Data: []byte("x"), OK: true}, {}}, locks: []lockInfo{lock}, unseeded: 5, safePoint: 4},
		"scan request":       &scanRequest{snapshot: 9, span: spans[0], reverse: true, limit: 10, maxBytes: 20, resume: true, after: testColumn, bypass: []kv.Timestamp{1}, tablets: refs},
		"scan response":      &scanResponse{cells: []cell{{testColumn, []byte("x")}}, more: true, last: otherRow, locks: []lockInfo{lock}, unseeded: 5, safePoint: 4},
		"scan since request": &sinceRequest{scan: scanRequest{snapshot: 9, span: spans[0], limit: 10, maxBytes: 20, tablets: refs}, since: 8},
		"program request":    &programRequest{scan: scanRequest{snapshot: 9, span: spans[0], limit: 10, maxBytes: 20, tablets: refs}, program: []byte("p")},
		"program response":   &programResponse{scan: scanResponse{cells: []cell{{testColumn, []byte("x")}}, more: true, last: otherRow}, part: []byte("sum"), examined: 300},
		"write request of a run": &writeRequest{startTS: 7, primary: otherRow, session: "w1", ttl: time.Second,
			mutations: []*mutation{mut}, tablets: refs, depth: 3},
		"write request":        &writeRequest{startTS: 7, primary: otherRow, session: "w1", ttl: time.Second, mutations: []*mutation{mut}, tablets: refs, floor: 8, owner: 4, async: true, secondaries: []kv.Column{testColumn}},
		"write response":       &writeResponse{outcome: outcomeLocked, commitTS: 8, column: testColumn, locks: []lockInfo{lock, lock}, incarnation: 6, minCommitTS: 9},
		"commit request":       &commitRequest{startTS: 7, commitTS: 8, primary: testColumn, spans: spans, tablets: refs},
		"rollback request":     &rollbackRequest{startTS: 7, primary: testColumn, columns: []kv.Column{otherRow}, spans: spans},
		"status request":       &statusRequest{primary: testColumn, startTS: 7, push: 9, now: 10, force: true, expired: true, rollback: true},
		"status response":      &statusResponse{fate: fateCommitted, commitTS: 8, pushed: true, async: true, minCommitTS: 7, secondaries: []kv.Column{otherRow}},
		"latest request":       &latestRequest{columns: []kv.Column{testColumn, otherRow}, tablets: refs},
		"latest response":      &latestResponse{blocked: true, values: []Value{{Data: []byte("x"), OK: true}, {}}},
		"secondaries request":  &secondariesRequest{startTS: 7, columns: []kv.Column{testColumn}, final: true},
		"secondaries response": &secondariesResponse{found: secondariesLocked, commitTS: 8},
		"resolve request":      &resolveRequest{decisions: []decision{{7, 8}, {9, 0}}, spans: spans, primaries: []kv.Column{testColumn}},
		"resolve response":     &resolveResponse{resolved: 3},
		"heartbeat request":    &heartbeatRequest{primary: testColumn, startTS: 7, ttl: time.Second},
		"heartbeat response":   &heartbeatResponse{found: true},
		"scan locks request":   &scanLocksRequest{max: 9, limit: 10},
		"scan locks response":  &scanLocksResponse{locks: []lockInfo{lock}},
		"seed request":         &seedRequest{incarnation: 77, tablets: refs, ts: 9},
		"empty":                &empty{},
		"lock request":         &lockRequest{owner: 5, session: "w1", note: "conn 1", ttl: time.Second, shared: true, wait: true, since: 7, columns: []kv.Column{testColumn, otherRow}, tablets: refs, read: true},
		"lock response":        &lockResponse{status: lockConflict, done: 2, fresh: true, blockers: blockers, locks: []lockInfo{lock}, commitTS: 9, exists: true, values: []Value{{Data: []byte("v"), OK: true}, {}}},
		"await request":        &awaitRequest{owner: 5, column: testColumn, ttl: time.Second, slice: 2 * time.Second, leave: true, giveBack: true, seen: []kv.Timestamp{3, 4}},
		"await response":       &awaitResponse{state: waitOn, blockers: blockers},
		"owners":               &ownersRequest{owners: []kv.Timestamp{5, 6}, ttl: time.Second},
		"detect request": &detectRequest{deadlock.Wait{
			Waiter: 5, Note: "conn 1", Column: testColumn, WaitsOn: blockers, TTL: time.Second, Confirm: true,
		}},
		"detect response":     &detectResponse{cycle: edges},
		"safe point request":  &safePointRequest{safePoint: 9, row: testColumn.Row},
		"safe point response": &safePointResponse{locked: true},
		"collect request":     &collectRequest{safePoint: 9, row: testColumn.Row, span: spans[0], resume: true, after: testColumn},
		"collect response":    &collectResponse{untold: true, more: true, last: testColumn, columns: 1, versions: 2, tombstones: 3},
		"limit":               &limitRequest{limit: 300},
		"list locks response": &listLocksResponse{locks: []RowLock{{Column: testColumn, Owner: 5, Session: "w1", Note: "conn 1", Shared: true, Waiting: true, Age: time.Second, WaitsFor: []kv.Timestamp{3}}}},
		"deadlocks response":  &deadlocksResponse{deadlocks: []deadlock.Deadlock{{ID: 1, Time: time.UnixMilli(1700000000000), Victim: 5, Cycle: edges}}},
	}
}

func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, d *datadriven.TestData) string {
		name := strings.TrimSpace(d.Input)
		if d.Cmd == "record" {
			b, ok := goldenRecords()[name]
			if !ok {
				d.Fatalf(t, "no record %q", name)
			}
			return hex.EncodeToString(b) + "\n"
		}
		m, ok := messages()[name]
		if !ok {
			d.Fatalf(t, "no message %q", name)
		}
		return hex.EncodeToString(m.AppendTo(nil)) + "\n"
	})
}

// TestGoldenIsComplete: every format is frozen.
func TestGoldenIsComplete(t *testing.T) {
	seen := map[string]bool{}
	datadriven.RunTest(t, "testdata/golden", func(_ *testing.T, d *datadriven.TestData) string {
		seen[strings.TrimSpace(d.Input)] = true
		return d.Expected
	})
	for name := range goldenRecords() {
		if !seen[name] {
			t.Errorf("record %q is not in testdata/golden", name)
		}
	}
	for name := range messages() {
		if !seen[name] {
			t.Errorf("message %q is not in testdata/golden", name)
		}
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	for name, m := range messages() {
		b := m.AppendTo([]byte("kept"))
		if !bytes.HasPrefix(b, []byte("kept")) {
			t.Errorf("%s: does not append", name)
		}
		back := reflect.New(reflect.TypeOf(m).Elem()).Interface().(kv.Message)
		if err := back.Decode(b[4:]); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(m, back) {
			t.Errorf("%s: got %+v, want %+v", name, back, m)
		}
		for n := range len(b) - 4 { // cut off anywhere, it is refused
			// Without its depth, which is not sent where it is zero, a request is a client's.
			whole := name == "write request of a run" && n == len(b)-4-1
			if err := back.Decode(b[4 : 4+n]); (err == nil) != whole {
				t.Errorf("%s: %d of %d bytes: %v", name, n, len(b)-4, err)
			}
		}
		if _, none := m.(*empty); !none {
			if err := back.Decode(append(b[4:len(b):len(b)], 0)); err == nil {
				t.Errorf("%s: a byte too many decodes", name)
			}
		}
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blob := rapid.SliceOfN(rapid.Byte(), 1, 40)
		column := func(label string) kv.Column {
			return kv.Column{Row: blob.Draw(t, label), Family: kv.FamilyID(rapid.Byte().Draw(t, label)), Qualifier: blob.Draw(t, label)}
		}
		l := &lockRecord{
			kind: kind(rapid.IntRange(1, 5).Draw(t, "kind")), guard: rapid.Bool().Draw(t, "guard"), isPrimary: rapid.Bool().Draw(t, "primary"),
			ttl: time.Duration(rapid.IntRange(0, 1e6).Draw(t, "ttl")) * time.Millisecond, minCommitTS: kv.Timestamp(rapid.Uint64().Draw(t, "min")),
			session: rapid.String().Draw(t, "session"), hasValue: rapid.Bool().Draw(t, "has value"),
		}
		if !l.isPrimary {
			l.primary = column("primary")
		}
		if l.hasValue {
			l.value = blob.Draw(t, "value")
		}
		if l.async = rapid.Bool().Draw(t, "async"); l.async && l.isPrimary {
			l.secondaries = []kv.Column{column("secondary"), column("secondary")}
		}
		if rapid.Bool().Draw(t, "observed") {
			l.observers = rapid.SliceOfN(rapid.Uint32(), 1, 3).Draw(t, "observers")
			l.clears = []ClearNotify{{rapid.Uint32().Draw(t, "observer"), column("clear")}}
		}
		back, err := decodeLock(l.appendTo(nil))
		if err != nil || !reflect.DeepEqual(l, back) {
			t.Fatalf("got %+v, %v, want %+v", back, err, l)
		}
		start := kv.Timestamp(rapid.Uint64Range(0, 1<<62).Draw(t, "start"))
		commit := start + 1 + kv.Timestamp(rapid.Uint64Range(0, 1<<40).Draw(t, "delta"))
		w := writeRecord{kind: kindPut, startTS: start, hasValue: l.hasValue, value: l.value}
		if rapid.Bool().Draw(t, "delete") {
			w = writeRecord{kind: kindDelete, startTS: start}
		}
		got, err := decodeWrite(w.appendTo(nil, commit), commit)
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
				_, err = decodeRollback(b)
			} else {
				_, err = decodeLock(b)
			}
		case "write":
			_, err = decodeWrite(b, 1000)
		case "data":
			_, err = decodeData(b)
		case "rollback":
			_, err = decodeRollback(b)
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
	for _, m := range messages() {
		f.Add(m.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := decodeLock(b); err == nil {
			if again, err := decodeLock(l.appendTo(nil)); err != nil || !reflect.DeepEqual(l, again) {
				t.Errorf("lock: %+v became %+v, %v", l, again, err)
			}
		}
		if w, err := decodeWrite(b, 1<<50); err == nil {
			if again, err := decodeWrite(w.appendTo(nil, 1<<50), 1<<50); err != nil || !reflect.DeepEqual(w, again) {
				t.Errorf("write: %+v became %+v, %v", w, again, err)
			}
		}
		for name, m := range messages() {
			fresh := func() kv.Message { return reflect.New(reflect.TypeOf(m).Elem()).Interface().(kv.Message) }
			got, again := fresh(), fresh()
			if got.Decode(b) != nil {
				continue
			}
			if err := again.Decode(got.AppendTo(nil)); err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", again) && !strings.HasPrefix(name, "write request") {
				t.Errorf("%s: %+v became %+v, %v", name, got, again, err)
			}
		}
	})
}
