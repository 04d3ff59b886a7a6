package raft

import (
	"encoding/binary"
	"hash/crc32"

	"moka/kv"
)

// The limits of what travels in one entry.
const (
	MaxEntry      = 8 << 20   // bytes of one entry; a command may fill it alone
	entryCommands = 64        // commands in one entry
	entryBytes    = 256 << 10 // bytes at which an entry is not filled any further
	commandRefs   = 4096      // tablets that one command names
)

const entryVersion = 1

// Entry flags.
const (
	// Structure says that tablets change: every replica reads its table of tablets again.
	Structure = 1 << iota
	// Check says that replicas are to be compared behind this entry: what follows it comes in a turn of its
	// own (Applied.Check). It changes nothing. Releases before it was made take the flag, and do nothing.
	Check

	knownFlags = Structure | Check
)

// Command is one command's effect: the batch, and the tablets under whose generations it was evaluated.
type Command struct {
	Tablets []kv.TabletRef
	Batch   []byte
}

// Entry is what an entry of the log holds.
//
//	| version 1 | flags 1 B | term uv | lead uv | seq uv | truncated uv | n uv | n × command | crc32c 4 B |
//	command: | tablets uv | { tablet uv | generation uv } | len uv | batch |
//
// (Term, Lead, Seq) names the proposal, once and for all: a leadership never hands one out twice. The term is compared with the one
// that the log gives the entry (R7), so a stale evaluation that found its way into the log is seen by every replica alike.
type Entry struct {
	Flags byte
	Term  uint64 // in which the commands were evaluated
	Lead  uint64 // the leadership within the term
	Seq   uint64 // of the entry within its leadership; the first is its barrier
	// Truncated, if not zero, is the last index that all replicas may forget.
	Truncated uint64
	Commands  []Command
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the entry's bytes to b.
func (e *Entry) Append(b []byte) []byte {
	start := len(b)
	b = append(b, entryVersion, e.Flags)
	for _, v := range [...]uint64{e.Term, e.Lead, e.Seq, e.Truncated, uint64(len(e.Commands))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, c := range e.Commands {
		b = binary.AppendUvarint(b, uint64(len(c.Tablets)))
		for _, t := range c.Tablets {
			b = binary.AppendUvarint(b, uint64(t.ID))
			b = binary.AppendUvarint(b, t.Generation)
		}
		b = binary.AppendUvarint(b, uint64(len(c.Batch)))
		b = append(b, c.Batch...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

func corrupt(what string) error {
	return kv.Errorf(kv.CodeCorrupt, "raft.Decode", "%s", what)
}

// fields reads numbers one after the other; the first that is not there spoils all that follow.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) uvarint() uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 {
		f.bad, f.b = true, nil
		return 0
	}
	f.b = f.b[n:]
	return v
}

func (f *fields) bytes(n uint64) []byte {
	if n > uint64(len(f.b)) {
		f.bad, f.b = true, nil
		return nil
	}
	b := f.b[:n:n]
	f.b = f.b[n:]
	return b
}

// DecodeEntry reads what Append wrote. Batches lie in b. A version that this binary does not know is an error, never a guess: the
// replica has to stop rather than go on without the entry.
func DecodeEntry(b []byte) (e Entry, err error) {
	if len(b) < 2+5+4 {
		return e, corrupt("an entry is cut short")
	}
	if b[0] != entryVersion {
		return e, kv.Errorf(kv.CodeCorrupt, "raft.Decode", "an entry of version %d; this binary knows version %d", b[0], entryVersion)
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return e, corrupt("an entry's checksum is wrong")
	}
	if e.Flags = b[1]; e.Flags&^knownFlags != 0 {
		return e, corrupt("an entry has flags that this binary does not know")
	}
	f := &fields{b: body[2:]}
	e.Term, e.Lead, e.Seq, e.Truncated = f.uvarint(), f.uvarint(), f.uvarint(), f.uvarint()
	n := f.uvarint()
	if n > entryCommands {
		return e, corrupt("an entry has too many commands")
	}
	for range n {
		refs := f.uvarint()
		if refs > commandRefs {
			return e, corrupt("a command names too many tablets")
		}
		var c Command
		for range refs {
			c.Tablets = append(c.Tablets, kv.TabletRef{ID: kv.TabletID(f.uvarint()), Generation: f.uvarint()})
		}
		c.Batch = f.bytes(f.uvarint())
		e.Commands = append(e.Commands, c)
	}
	if f.bad || len(f.b) != 0 {
		return e, corrupt("an entry does not end where it should")
	}
	return e, nil
}
