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

	"moka/kv"
	"moka/txn/deadlock"
	"moka/txn/record"
)

var (
	testColumn = kv.Column{Row: kv.RowKey("\x00\x00\x00\x02bob"), Family: 7, Qualifier: []byte("q")}
	otherRow   = kv.Column{Row: kv.RowKey("\x00\x00\x00\x02joe")}
)

// messages has one of each, with every field set.
func messages() map[string]kv.Message {
	lock := lockInfo{column: testColumn, startTS: 7, kind: record.KindPut, guard: true, primary: otherRow, ttl: time.Second, session: "w1"}
	refs := []kv.TabletRef{{ID: 1, Generation: 2}, {ID: 3, Generation: 400}}
	spans := []kv.Span{{Start: testColumn.Row, End: otherRow.Row}, {}}
	mut := &mutation{kind: record.KindPut, column: testColumn, value: []byte("v"), mustNotExist: true, mustExist: true, observers: []uint32{1, 2}, clears: []record.Clear{{Observer: 2, Column: otherRow}}, since: 6, share: true}
	blockers := []deadlock.Holder{{Owner: 5, Note: "conn 1"}, {Owner: 6}}
	edges := []deadlock.Edge{{Waiter: 5, Holder: 6, Note: "a", HolderNote: "b", Column: testColumn}}
	return map[string]kv.Message{
		"get request":        &getRequest{snapshot: 9, columns: []kv.Column{testColumn, otherRow}, bypass: []kv.Timestamp{1, 2}, tablets: refs, known: []decision{{7, 8}}, unchanged: true},
		"get response":       &getResponse{values: []Value{{Data: []byte("x"), OK: true}, {}}, locks: []lockInfo{lock}, unseeded: 5, safePoint: 4},
		"scan request":       &scanRequest{snapshot: 9, span: spans[0], reverse: true, limit: 10, maxBytes: 20, resume: true, after: testColumn, bypass: []kv.Timestamp{1}, tablets: refs},
		"scan response":      &scanResponse{cells: []cell{{testColumn, []byte("x")}}, more: true, last: otherRow, locks: []lockInfo{lock}, unseeded: 5, safePoint: 4},
		"scan since request": &sinceRequest{scan: scanRequest{snapshot: 9, span: spans[0], limit: 10, maxBytes: 20, tablets: refs}, since: 8},
		"scan acks request": &acksRequest{scanRequest{snapshot: 9, span: spans[0], limit: 10, maxBytes: 20,
			tablets: refs, acks: true}},
		"program request":  &programRequest{scan: scanRequest{snapshot: 9, span: spans[0], limit: 10, maxBytes: 20, tablets: refs}, program: []byte("p")},
		"program response": &programResponse{scan: scanResponse{cells: []cell{{testColumn, []byte("x")}}, more: true, last: otherRow}, part: []byte("sum"), examined: 300},
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

// FuzzDecode: junk is refused, and what is accepted means one thing.
func FuzzDecode(f *testing.F) {
	for _, m := range messages() {
		f.Add(m.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
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
