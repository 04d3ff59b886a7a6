package node

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"moka/kv"
	"moka/kv/keys"
	"moka/kv/wire"
)

// life is one start of a member of a cluster. Each has a greater number than the one before on the
// same directory, and an id, for a directory that was put back to an older state counts the same
// numbers again.
type life struct {
	starts uint64
	id     uint64
}

// lives are the latest of all members as far as this one has heard (R20). What a member has promised
// to others, votes and entries, is in its directory; if that is put back to an older state it has
// forgotten promises that others count on, and acknowledged changes are lost. So members tell each
// other all that they know before they take a message, and one that hears of a later life of its own
// stops. (A directory put back to a state of its last life is not noticed.)
type lives struct {
	n     *Node
	mu    sync.Mutex
	known map[kv.NodeID]life
}

func livesKey() []byte { return keys.AppendNode(nil, keys.NodeLives, nil) }

const livesVersion = 1

// open begins this node's next life.
func (l *lives) open() error {
	b, ok, err := l.n.engine.Get(livesKey())
	if err != nil {
		return err
	}
	l.known = map[kv.NodeID]life{}
	if ok {
		d := wire.NewDecoder(b, livesVersion)
		for range d.Bounded(maxMembers) {
			l.known[kv.NodeID(d.Uvarint())] = life{d.Uvarint(), d.Uvarint()}
		}
		if err := d.Finish(); err != nil {
			return wire.Wrap("record of starts", err)
		}
	}
	var id [8]byte
	_, _ = rand.Read(id[:])
	self := l.n.record.node
	l.known[self] = life{l.known[self].starts + 1, binary.BigEndian.Uint64(id[:])}
	return l.save()
}

// save makes durable what is known.
func (l *lives) save() error {
	b := wire.AppendUvarint([]byte{livesVersion}, uint64(len(l.known)))
	for _, id := range l.members() {
		b = wire.AppendUvarint(b, uint64(id))
		b = wire.AppendUvarint(wire.AppendUvarint(b, l.known[id].starts), l.known[id].id)
	}
	if err := l.n.engine.Failed(); err != nil {
		return err
	}
	batch := l.n.engine.NewBatch()
	defer batch.Close()
	if err := batch.Set(livesKey(), b, nil); err != nil {
		return err
	}
	l.n.engine.Commit(batch)
	return nil
}

// forget takes a node off the list that is none any more.
func (l *lives) forget(id kv.NodeID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.known[id]; !known {
		return nil
	}
	delete(l.known, id)
	return l.save()
}

func (l *lives) members() (ids []kv.NodeID) {
	for id := range l.known {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Lives is what this node tells others of the members' starts.
func (n *Node) Lives() string {
	l := &n.lives
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, id := range l.members() {
		all = append(all, fmt.Sprintf("%d=%d.%016x", id, l.known[id].starts, l.known[id].id))
	}
	return strings.Join(all, ",")
}

// HearLives takes what another member tells, durably, before anything else of it is taken. An error
// refuses it: its directory was put back to an older state, or this one's was; then this node stops.
// An empty text is of a release that does not tell.
func (n *Node) HearLives(from kv.NodeID, text string) error {
	heard, err := parseLives(text)
	if err != nil {
		return err
	}
	if err := n.lives.hear(from, heard); err != nil {
		if kv.CodeOf(err) == kv.CodeForeignData {
			n.fatal()(err)
		}
		return err
	}
	return nil
}

func (l *lives) hear(from kv.NodeID, heard map[kv.NodeID]life) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	self := l.n.record.node
	own := l.known[self]
	if h := heard[self]; h.starts > 0 && own.starts == 1 && h.id != own.id {
		return kv.Errorf(kv.CodeForeignData, "node", "node %d of this cluster has had another directory "+
			"than %s, as node %d has seen: what that promised to the other nodes is lost with it, so a new "+
			"one may not take its place: start it with the directory that it had, or, if that is lost, add "+
			"a new node (--join) and take this one out (moka ctl decommission %d)", self, l.n.o.Dir, from,
			self)
	} else if h.starts > own.starts || h.starts == own.starts && h.id != own.id {
		return kv.Errorf(kv.CodeForeignData, "node", "%s is older than what node %d has seen of "+
			"this node (its start number %d, and this is number %d): it was put back from a copy, and has "+
			"forgotten what this node has promised to the others since. Start the node with the directory "+
			"that it had last; if that is lost leave the node off, the others go on without it",
			l.n.o.Dir, from, h.starts, own.starts)
	}
	if h, known := heard[from], l.known[from]; h.starts < known.starts && h.starts > 0 ||
		h.starts == known.starts && h.id != known.id {
		return kv.Errorf(kv.CodeUnavailable, "node", "node %d is at start number %d with a directory "+
			"that was put back from a copy, for start number %d of it was seen before: it is not listened to",
			from, h.starts, known.starts)
	}
	changed := false
	for id, h := range heard {
		if id != self && !l.n.Gone(id) && h.starts > l.known[id].starts && len(l.known) < maxMembers {
			l.known[id], changed = h, true
		}
	}
	if changed {
		return l.save()
	}
	return nil
}

func parseLives(text string) (map[kv.NodeID]life, error) {
	all := map[kv.NodeID]life{}
	if text == "" {
		return all, nil
	}
	for s := range strings.SplitSeq(text, ",") {
		id, rest, _ := strings.Cut(s, "=")
		starts, nonce, _ := strings.Cut(rest, ".")
		n, err1 := strconv.ParseUint(id, 10, 32)
		k, err2 := strconv.ParseUint(starts, 10, 63)
		b, err3 := hex.DecodeString(nonce)
		if cmp.Or(err1, err2, err3) != nil || len(b) != 8 || len(all) == maxMembers {
			return nil, kv.Errorf(kv.CodeInvalidArgument, "node", "%q does not say how often nodes "+
				"were started", text)
		}
		all[kv.NodeID(n)] = life{k, binary.BigEndian.Uint64(b)}
	}
	return all, nil
}
