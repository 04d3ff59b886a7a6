package rpc

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec behind ours
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"moka/kv"
	"moka/kv/kvpb"
)

// codec writes and reads the two messages of the batch stream by hand, as protobuf would: the bytes are those of kv.proto, so either end
// may use the generated code instead. By hand, because that one copies each command's message twice on its way out and twice on its way in.
//
//	out   0a len 08 id 12 len | message, in place | 0a len 08 id 12 len | message, in place …      large messages are not copied
//	in    the stream's pieces ──────────────────────► memory of each message                        and copied once
//
// Everything else, and the errors within, is left to protobuf.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2("proto")} }

const (
	// inPlace is the size from which on a message is sent from where it lies.
	inPlace = 4 << 10
	// apart is the size from which on a received message has memory of its own, which whoever decodes it may keep. Smaller ones share pieces.
	apart = 512
	// piece is the memory that small messages share.
	piece = 16 << 10
)

var errFrame = errors.New("rpc: the frame is damaged")

// Marshal implements encoding.CodecV2. It takes the messages of the commands over: they are recycled when they are sent.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	switch m := v.(type) {
	case *kvpb.BatchRequest:
		return marshalRequests(m), nil
	case *kvpb.BatchResponse:
		return marshalResponses(m)
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch m := v.(type) {
	case *kvpb.BatchRequest:
		return unmarshalRequests(data, m)
	case *kvpb.BatchResponse:
		return unmarshalResponses(data, m)
	}
	return c.CodecV2.Unmarshal(data, v)
}

// Wire types and tags of kv.proto.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5

	tagRequests = 1<<3 | wireBytes
	tagCancels  = 2<<3 | wireBytes

	tagID       = 1<<3 | wireVarint
	tagShard    = 2<<3 | wireVarint
	tagCommand  = 3<<3 | wireVarint
	tagTablets  = 4<<3 | wireBytes
	tagMessage  = 5<<3 | wireBytes
	tagTimeout  = 6<<3 | wireVarint
	tagTabletID = 1<<3 | wireVarint
	tagTabletGn = 2<<3 | wireVarint

	tagResponses = 1<<3 | wireBytes
	tagDraining  = 2<<3 | wireVarint
	tagAnswer    = 2<<3 | wireBytes
	tagError     = 3<<3 | wireBytes
)

func varintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// varintField is the size of a field with a one-byte tag; zero values are not written.
func varintField(v uint64) int {
	if v == 0 {
		return 0
	}
	return 1 + varintLen(v)
}

func bytesField(n int) int { return 1 + varintLen(uint64(n)) + n }

// frame collects what is sent: what is written goes to head, what lies elsewhere between two parts of it.
type frame struct {
	head []byte // its capacity is all that will be written: it never moves
	from int    // the beginning of the part that is not in out yet
	out  mem.BufferSlice
}

func (f *frame) varint(tag byte, v uint64) {
	if v != 0 {
		f.head = binary.AppendUvarint(append(f.head, tag), v)
	}
}

func (f *frame) length(tag byte, n int) {
	f.head = binary.AppendUvarint(append(f.head, tag), uint64(n))
}

func (f *frame) message(tag byte, b []byte) {
	if len(b) == 0 {
		return
	}
	f.length(tag, len(b))
	if len(b) < inPlace {
		f.head = append(f.head, b...)
		return
	}
	f.cut()
	f.out = append(f.out, mem.NewBuffer(&b, recycled{}))
}

func (f *frame) cut() {
	if n := len(f.head); n > f.from {
		f.out = append(f.out, mem.SliceBuffer(f.head[f.from:n:n]))
		f.from = n
	}
}

// written is how much of a message's field frame.message writes to head.
func written(n int) int {
	switch {
	case n == 0:
		return 0
	case n < inPlace:
		return bytesField(n)
	}
	return 1 + varintLen(uint64(n))
}

func tabletLen(t *kvpb.TabletRef) int { return varintField(t.GetId()) + varintField(t.GetGeneration()) }

// requestLen is the size of a request without the field of its message.
func requestLen(r *kvpb.Request) int {
	n := varintField(r.GetId()) + varintField(uint64(r.GetShard())) + varintField(uint64(r.GetCommand())) + varintField(uint64(r.GetTimeoutNanos()))
	for _, t := range r.GetTablets() {
		n += bytesField(tabletLen(t))
	}
	return n
}

func marshalRequests(m *kvpb.BatchRequest) mem.BufferSlice {
	size, cancels := 0, 0
	for _, r := range m.GetRequests() {
		n := requestLen(r)
		size += 1 + varintLen(uint64(n+messageField(len(r.GetMessage())))) + n + written(len(r.GetMessage()))
	}
	for _, id := range m.GetCancels() {
		cancels += varintLen(id)
	}
	if cancels > 0 {
		size += bytesField(cancels)
	}
	f := frame{head: make([]byte, 0, size)}
	for _, r := range m.GetRequests() {
		f.length(tagRequests, requestLen(r)+messageField(len(r.GetMessage())))
		f.varint(tagID, r.GetId())
		f.varint(tagShard, uint64(r.GetShard()))
		f.varint(tagCommand, uint64(r.GetCommand()))
		for _, t := range r.GetTablets() {
			f.length(tagTablets, tabletLen(t))
			f.varint(tagTabletID, t.GetId())
			f.varint(tagTabletGn, t.GetGeneration())
		}
		f.message(tagMessage, r.GetMessage())
		f.varint(tagTimeout, uint64(r.GetTimeoutNanos()))
	}
	if cancels > 0 {
		f.length(tagCancels, cancels)
		for _, id := range m.GetCancels() {
			f.head = binary.AppendUvarint(f.head, id)
		}
	}
	f.cut()
	return f.out
}

func messageField(n int) int {
	if n == 0 {
		return 0
	}
	return bytesField(n)
}

func marshalResponses(m *kvpb.BatchResponse) (mem.BufferSlice, error) {
	size := 2
	var errs map[int][]byte // few responses have one
	for i, r := range m.GetResponses() {
		n := varintField(r.GetId())
		if e := r.GetError(); e != nil {
			b, err := proto.Marshal(e)
			if err != nil {
				return nil, err
			}
			if errs == nil {
				errs = map[int][]byte{}
			}
			errs[i] = b
			n += bytesField(len(b))
		}
		size += 1 + varintLen(uint64(n+messageField(len(r.GetMessage())))) + n + written(len(r.GetMessage()))
	}
	f := frame{head: make([]byte, 0, size)}
	for i, r := range m.GetResponses() {
		n := varintField(r.GetId()) + messageField(len(r.GetMessage()))
		e, failed := errs[i]
		if failed {
			n += bytesField(len(e))
		}
		f.length(tagResponses, n)
		f.varint(tagID, r.GetId())
		f.message(tagAnswer, r.GetMessage())
		if failed {
			f.length(tagError, len(e))
			f.head = append(f.head, e...)
		}
	}
	if m.GetDraining() {
		f.varint(tagDraining, 1)
	}
	f.cut()
	return f.out, nil
}

// cursor reads a frame that lies in several pieces, which are gone when Unmarshal returns.
type cursor struct {
	cur   []byte
	rest  mem.BufferSlice
	left  int    // of the whole frame
	small []byte // where small messages go
	bad   bool
}

func newCursor(data mem.BufferSlice) cursor {
	return cursor{rest: data, left: data.Len()}
}

func (c *cursor) fail() {
	c.bad, c.left, c.cur, c.rest = true, 0, nil, nil
}

// more makes cur non-empty.
func (c *cursor) more() bool {
	for len(c.cur) == 0 {
		if len(c.rest) == 0 {
			c.fail()
			return false
		}
		c.cur, c.rest = c.rest[0].ReadOnlyData(), c.rest[1:]
	}
	return true
}

func (c *cursor) varint() uint64 {
	if v, n := binary.Uvarint(c.cur); n > 0 {
		c.cur, c.left = c.cur[n:], c.left-n
		return v
	}
	var v uint64
	for shift := 0; shift < 70 && c.more(); shift += 7 {
		b := c.cur[0]
		c.cur, c.left = c.cur[1:], c.left-1
		if shift == 63 && b > 1 {
			break
		}
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return v
		}
	}
	c.fail()
	return 0
}

// length reads that of a field within what ends when end bytes of the frame are left, and returns how many are left behind the field.
func (c *cursor) length(end int) (behind int) {
	n := c.varint()
	if c.bad || n > uint64(c.left-end) {
		c.fail()
		return 0
	}
	return c.left - int(n)
}

// copyTo reads len(b) bytes, which are known to be there.
func (c *cursor) copyTo(b []byte) {
	for len(b) > 0 && c.more() {
		n := copy(b, c.cur)
		b, c.cur, c.left = b[n:], c.cur[n:], c.left-n
	}
}

// message reads n bytes into memory that stays.
func (c *cursor) message(n int) []byte {
	if n == 0 || c.bad {
		return nil
	}
	var b []byte
	if n >= apart {
		b = make([]byte, n)
	} else {
		if n > cap(c.small)-len(c.small) {
			c.small = make([]byte, 0, max(n, min(piece, c.left)))
		}
		at := len(c.small)
		c.small = c.small[:at+n]
		b = c.small[at : at+n : at+n]
	}
	c.copyTo(b)
	return b
}

// skip passes over a field that this release does not know.
func (c *cursor) skip(tag uint64, end int) {
	var n uint64
	switch tag & 7 {
	case wireVarint:
		c.varint()
	case wireFixed8:
		n = 8
	case wireFixed4:
		n = 4
	case wireBytes:
		n = c.varint()
	default:
		c.fail()
	}
	if c.bad || n > uint64(c.left-end) {
		c.fail()
		return
	}
	for n > 0 && c.more() {
		k := min(n, uint64(len(c.cur)))
		c.cur, c.left, n = c.cur[k:], c.left-int(k), n-k
	}
}

// done reports whether what ends with end bytes left is read; passing over its end is an error.
func (c *cursor) done(end int) bool {
	if c.left < end {
		c.fail()
	}
	return c.bad || c.left == end
}

func (c *cursor) err() error {
	if c.bad {
		return errFrame
	}
	return nil
}

func unmarshalRequests(data mem.BufferSlice, m *kvpb.BatchRequest) error {
	c := newCursor(data)
	for !c.done(0) {
		switch tag := c.varint(); tag {
		case tagRequests:
			m.Requests = append(m.Requests, c.request(c.length(0)))
		case tagCancels:
			for end := c.length(0); !c.done(end); {
				m.Cancels = append(m.Cancels, c.varint())
			}
		case 2<<3 | wireVarint: // not packed, which is as good
			m.Cancels = append(m.Cancels, c.varint())
		default:
			c.skip(tag, 0)
		}
	}
	return c.err()
}

func (c *cursor) request(end int) *kvpb.Request {
	r := &kvpb.Request{}
	for !c.done(end) {
		switch tag := c.varint(); tag {
		case tagID:
			r.Id = c.varint()
		case tagShard:
			r.Shard = uint32(c.varint())
		case tagCommand:
			r.Command = uint32(c.varint())
		case tagTablets:
			r.Tablets = append(r.Tablets, c.tablet(c.length(end)))
		case tagMessage:
			behind := c.length(end)
			r.Message = c.message(c.left - behind)
		case tagTimeout:
			r.TimeoutNanos = int64(c.varint())
		default:
			c.skip(tag, end)
		}
	}
	return r
}

func (c *cursor) tablet(end int) *kvpb.TabletRef {
	t := &kvpb.TabletRef{}
	for !c.done(end) {
		switch tag := c.varint(); tag {
		case tagTabletID:
			t.Id = c.varint()
		case tagTabletGn:
			t.Generation = c.varint()
		default:
			c.skip(tag, end)
		}
	}
	return t
}

func unmarshalResponses(data mem.BufferSlice, m *kvpb.BatchResponse) error {
	c := newCursor(data)
	for !c.done(0) {
		switch tag := c.varint(); tag {
		case tagResponses:
			r, err := c.response(c.length(0))
			if err != nil {
				return err
			}
			m.Responses = append(m.Responses, r)
		case tagDraining:
			m.Draining = c.varint() != 0
		default:
			c.skip(tag, 0)
		}
	}
	return c.err()
}

func (c *cursor) response(end int) (*kvpb.Response, error) {
	r := &kvpb.Response{}
	for !c.done(end) {
		switch tag := c.varint(); tag {
		case tagID:
			r.Id = c.varint()
		case tagAnswer:
			behind := c.length(end)
			r.Message = c.message(c.left - behind)
		case tagError:
			behind := c.length(end)
			if r.Error == nil {
				r.Error = &kvpb.Error{}
			}
			if b := c.message(c.left - behind); !c.bad {
				if err := (proto.UnmarshalOptions{Merge: true, DiscardUnknown: true}).Unmarshal(b, r.Error); err != nil {
					return nil, err
				}
			}
		default:
			c.skip(tag, end)
		}
	}
	return r, nil
}

// recycled is the memory of large messages that have been sent; gRPC gives it back.
type recycled struct{}

var recycling sync.Pool // of *[]byte

// recycleMax keeps one huge message from staying in memory for the rest of the day.
const recycleMax = 8 << 20

// Get implements mem.BufferPool.
func (recycled) Get(n int) *[]byte {
	if b, ok := recycling.Get().(*[]byte); ok && cap(*b) >= n {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n, (n+(64<<10)-1)&^(64<<10-1))
	return &b
}

// Put implements mem.BufferPool.
func (recycled) Put(b *[]byte) {
	if cap(*b) >= 64<<10 && cap(*b) <= recycleMax {
		recycling.Put(b)
	}
}

// encode returns a message's wire form, in memory that Marshal recycles.
func encode(m kv.Message) []byte {
	if s, ok := m.(kv.Sizer); ok {
		if n := s.SizeHint(); n >= 64<<10 {
			return m.AppendTo((*recycled{}.Get(n))[:0])
		}
	}
	return kv.Encode(m)
}

// decode reads a message's wire form, which is the message's from now on if it is large and wants it.
func decode(m kv.Message, b []byte) error {
	if o, ok := m.(kv.OwnDecoder); ok && len(b) >= apart {
		return o.DecodeOwn(b)
	}
	return m.Decode(b)
}
