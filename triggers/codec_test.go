package triggers

import (
	"encoding/hex"
	"reflect"
	"testing"

	"moka/kv"
)

func sampleColumn() kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, []byte("alice")), Family: 3, Qualifier: []byte("bal")}
}

func sampleMessages() map[string]kv.Message {
	d := delivery{Observer: 7, Column: sampleColumn(), CommitTS: 1000, OldestTS: 900, Attempts: 2}
	return map[string]kv.Message{
		"fetch request": &fetchRequest{Worker: "w1", Observers: []ObserverID{7, 300}, Credits: 16,
			WaitMillis: 5000, LeaseMillis: 10000, Done: []delivery{d}},
		"fetch response": &fetchResponse{
			Deliveries: []delivery{d, {Observer: 8, Column: kv.Column{Row: kv.RowKey("r")}}}},
		"settle request": &settleRequest{Kind: settleFail, Observer: 7, Column: sampleColumn(), UpTo: 5,
			Attempts: 3, Error: "no such table", RetryMillis: 100},
		"backlog request": &backlogRequest{Observer: 7, Limit: 10, List: listParked},
		"list of all":     &backlogRequest{Observer: 7, Limit: 10, List: listAll, From: kv.RowKey("a")},
		"drop request":    &dropRequest{7, []kv.Column{sampleColumn(), {Row: kv.RowKey("r")}}},
		"backlog response": &backlogResponse{Counts: []backlogCount{{7, 5, 1, 900}},
			Items: []backlogItem{{d, "boom", true}}},
		"sweep request": &sweepRequest{Worker: "w1", Observer: 7, Start: kv.RowKey("a"), Limit: 512,
			Before: 77},
		"sweep response": &sweepResponse{Claimed: true, Seen: 3, Queued: 2, Next: kv.RowKey("b")},
		"empty":          &empty{},
		"pending request": &pendingRequest{Until{UpTo: 9, Deep: true, ParkedAfter: 5},
			[]Watch{{7, kv.Span{Start: kv.RowKey("a"), End: kv.RowKey("b")}}}},
		"pending response": &pendingResponse{map[ObserverID]Pending{7: {Waiting: true, Parked: true}}},
	}
}

// golden pins the wire and disk forms: a change of any of these lines breaks processes of the version before.
var golden = map[string]string{
	"fetch request":    "010277310207ac02108827904e01070900000002616c696365030362616ce807840702",
	"ack":              "0100000000000003e8",
	"ack, moved":       "0200000000000003e801726f77",
	"ack, moved, gone": "0200000000000003e800",
	"meta":             "01018407028827076e6f2067756c70",
	"sweep request":    "0102773107016180044d",
	"backlog request":  "01070a01",
	"list of all":      "01070a030161",
	"drop request":     "0107020900000002616c696365030362616c01720000",
	"empty":            "01",
	"ack column":       "000000070362616c",
	"settle request":   "0102070900000002616c696365030362616c05030d6e6f2073756368207461626c6564",
	"fetch response":   "0102070900000002616c696365030362616ce8078407020801720000000000",
	"backlog response": "0101070501840701070900000002616c696365030362616ce80784070204626f6f6d01",
	"sweep response":   "010103020162",
	"pending request":  "01090501010701610162",
	"pending response": "01010703",
}

func TestGolden(t *testing.T) {
	got := map[string]string{
		"ack":              hex.EncodeToString(encodeAck(1000)),
		"ack, moved":       hex.EncodeToString(encodeSeen(1000, Seen{Value: []byte("row"), OK: true})),
		"ack, moved, gone": hex.EncodeToString(encodeSeen(1000, Seen{})),
		"meta": hex.EncodeToString(
			meta{Parked: true, UpTo: 900, Attempts: 2, NotBefore: 5000, Error: "no gulp"}.encode()),
		"ack column": hex.EncodeToString(AckColumn(7, sampleColumn()).Qualifier),
	}
	for name, m := range sampleMessages() {
		got[name] = hex.EncodeToString(m.AppendTo(nil))
	}
	if !reflect.DeepEqual(got, golden) {
		for name, g := range got {
			if golden[name] != g {
				t.Errorf("%q: %q,", name, g)
			}
		}
	}
}

func TestMessagesRoundTrip(t *testing.T) {
	for name, m := range sampleMessages() {
		back := reflect.New(reflect.TypeOf(m).Elem()).Interface().(kv.Message)
		b := m.AppendTo(nil)
		if err := back.Decode(b); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(m, back) {
			t.Errorf("%s: %+v became %+v", name, m, back)
		}
		for cut := range b {
			if err := back.Decode(b[:cut]); err == nil {
				t.Errorf("%s: %d of %d bytes decode without an error", name, cut, len(b))
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, m := range sampleMessages() {
		f.Add(m.AppendTo(nil))
	}
	f.Add(meta{Attempts: 1}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, m := range sampleMessages() {
			back := reflect.New(reflect.TypeOf(m).Elem()).Interface().(kv.Message)
			if err := back.Decode(b); err != nil {
				continue
			}
			again := reflect.New(reflect.TypeOf(m).Elem()).Interface().(kv.Message)
			if err := again.Decode(back.AppendTo(nil)); err != nil || !reflect.DeepEqual(back, again) {
				t.Errorf("%s: what decodes from %x does not survive a second round: %v", name, b, err)
			}
		}
		_, _ = decodeMeta(b)
		if ts, s, err := decodeAck(b); err == nil && s != nil && !reflect.DeepEqual(encodeSeen(ts, *s), b) {
			t.Errorf("an acknowledgement %x does not survive", b)
		}
	})
}
