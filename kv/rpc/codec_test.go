package rpc

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"moka/kv/kvpb"
)

func someBytes(rng *rand.Rand) []byte {
	n := []int{0, 1, 100, apart - 1, apart, inPlace - 1, inPlace, 3*inPlace + 7, 70 << 10}[rng.IntN(9)]
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	if n == 0 {
		return nil
	}
	return b
}

func someRequests(rng *rand.Rand) *kvpb.BatchRequest {
	m := &kvpb.BatchRequest{}
	for range rng.IntN(6) {
		r := &kvpb.Request{Id: rng.Uint64() >> rng.IntN(64), Shard: rng.Uint32() >> rng.IntN(33), Command: uint32(rng.IntN(3)), Message: someBytes(rng)}
		for range rng.IntN(3) {
			r.Tablets = append(r.Tablets, &kvpb.TabletRef{Id: rng.Uint64() >> rng.IntN(64), Generation: uint64(rng.IntN(2))})
		}
		if rng.IntN(2) == 0 {
			r.TimeoutNanos = int64(rng.Uint64()) >> rng.IntN(60)
		}
		m.Requests = append(m.Requests, r)
	}
	for range rng.IntN(4) {
		m.Cancels = append(m.Cancels, rng.Uint64()>>rng.IntN(64))
	}
	return m
}

func someResponses(rng *rand.Rand) *kvpb.BatchResponse {
	m := &kvpb.BatchResponse{Draining: rng.IntN(2) == 0}
	for range rng.IntN(6) {
		r := &kvpb.Response{Id: rng.Uint64() >> rng.IntN(64), Message: someBytes(rng)}
		if rng.IntN(3) == 0 {
			r.Error = &kvpb.Error{Code: uint32(rng.IntN(30)), Op: "op", Msg: "a message", Tablets: []*kvpb.Tablet{{Id: 5, Start: []byte("a"), End: []byte("b"), Shard: 3, Node: math.MaxUint64}}}
		}
		m.Responses = append(m.Responses, r)
	}
	return m
}

// pieces cuts a frame as the network does.
func pieces(rng *rand.Rand, b []byte) (s mem.BufferSlice) {
	for len(b) > 0 {
		n := min(len(b), 1+rng.IntN([]int{2, 20, 16 << 10}[rng.IntN(3)]))
		s = append(s, mem.SliceBuffer(b[:n]))
		b = b[n:]
	}
	return s
}

// What we write is what protobuf writes, and each reads the other's, however the frame is cut.
func TestCodecIsProtobuf(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	c := newCodec()
	for range 400 {
		for _, pair := range [][2]proto.Message{{someRequests(rng), &kvpb.BatchRequest{}}, {someResponses(rng), &kvpb.BatchResponse{}}} {
			m, back := pair[0], pair[1]
			want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := c.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if got := ours.Materialize(); !bytes.Equal(got, want) {
				t.Fatalf("%v\nis %x\nand not %x", m, got, want)
			}
			if err := c.Unmarshal(pieces(rng, want), back); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(m, back) {
				t.Fatalf("%v\nreads as %v", m, back)
			}
		}
	}
}

// Messages lie apart from each other, so that one may be kept or grown without harm to the next.
func TestCodecMessagesAreApart(t *testing.T) {
	m := &kvpb.BatchResponse{}
	for i := range 5 {
		m.Responses = append(m.Responses, &kvpb.Response{Id: uint64(i + 1), Message: bytes.Repeat([]byte{byte(i)}, 10+i*200)})
	}
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back kvpb.BatchResponse
	if err := newCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(b)}, &back); err != nil {
		t.Fatal(err)
	}
	clear(b) // gRPC uses it again
	for _, r := range back.Responses {
		_ = append(r.Message, 0xff)
	}
	if !proto.Equal(m, &back) {
		t.Fatalf("%v has become %v", m, &back)
	}
}

func TestCodecGolden(t *testing.T) {
	req := &kvpb.BatchRequest{
		Requests: []*kvpb.Request{{Id: 7, Shard: 1, Command: 300, Tablets: []*kvpb.TabletRef{{Id: 4, Generation: 2}}, Message: []byte("hi"), TimeoutNanos: 5}},
		Cancels:  []uint64{3, 300},
	}
	resp := &kvpb.BatchResponse{Responses: []*kvpb.Response{{Id: 7, Message: []byte("ho")}, {Id: 8, Error: &kvpb.Error{Code: 2}}}, Draining: true}
	for m, want := range map[proto.Message]string{
		req:  "0a13" + "0807" + "1001" + "18ac02" + "220408041002" + "2a026869" + "3005" + "1203" + "03ac02",
		resp: "0a06" + "0807" + "1202686f" + "0a06" + "0808" + "1a020802" + "1001",
	} {
		b, err := newCodec().Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(b.Materialize()); got != want {
			t.Errorf("%v is %s, expected %s", m, got, want)
		}
	}
}

// What is not known is passed over, as protobuf does; what is damaged is an error and never a panic or a large allocation.
func FuzzCodec(f *testing.F) {
	rng := rand.New(rand.NewPCG(2, 9))
	for range 20 {
		a, _ := proto.Marshal(someRequests(rng))
		b, _ := proto.Marshal(someResponses(rng))
		f.Add(a, uint64(1))
		f.Add(b, uint64(2))
		f.Add(protowire.AppendBytes(protowire.AppendTag(a, 99, protowire.BytesType), []byte("news")), uint64(3))
		f.Add(protowire.AppendFixed32(protowire.AppendTag(b, 98, protowire.Fixed32Type), 1), uint64(4))
	}
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		c := newCodec()
		for _, pair := range [][2]proto.Message{{&kvpb.BatchRequest{}, &kvpb.BatchRequest{}}, {&kvpb.BatchResponse{}, &kvpb.BatchResponse{}}} {
			ours, theirs := pair[0], pair[1]
			err := c.Unmarshal(pieces(rng, b), ours)
			want := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, theirs)
			if err != nil {
				continue // protobuf also knows groups and other numbers for the same tag
			}
			if want == nil && !proto.Equal(ours, theirs) {
				t.Fatalf("%d bytes are\n%.300v\nprotobuf says\n%.300v", len(b), ours, theirs)
			}
		}
	})
}
