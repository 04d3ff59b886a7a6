package shardtest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/keys"
	"moka/kv/memtable"
	"moka/kv/shard"
)

// Options of a Node.
type Options struct {
	// Shards is how many there are, Idle how many of them, the last ones, have no tablet at first.
	Shards, Idle int
	// Splits are tablet boundaries; the tablets between them are dealt to the shards in turn.
	Splits       []kv.RowKey
	Coprocessors []kv.Coprocessor
	// Turn, if set, is asked at each step of a command's proposal; it may block. The context is the command's.
	Turn func(ctx context.Context, s kv.ShardHandle, step Step) Fate
	// StaleAnswers is a mistake to plant: who has lost the lead says that he has not.
	StaleAnswers bool
	// OnCopy, if set, is called while a tablet that moves is frozen and not copied yet. It may block.
	OnCopy func(from, to kv.ShardHandle)
}

// Node is several shards on one disk.
type Node struct {
	o        Options
	registry *shard.Registry

	mu     sync.Mutex
	life   *life
	nextID kv.TabletID
}

// life is a node's from one crash to the next.
type life struct {
	disk   *Disk
	shards []*led
	moving [2]kv.ShardHandle // while a tablet is copied
	over   bool
}

// led is one shard in one leadership.
type led struct {
	*shard.Leadership
	repl *replicator
}

var (
	_ client.Handler  = (*Node)(nil)
	_ client.Locator  = (*Node)(nil)
	_ client.Commands = (*Node)(nil)
)

// nodeID is the number of the only node.
const nodeID kv.NodeID = 1

// Open makes a new node.
func Open(o Options) (*Node, error) {
	registry, err := shard.NewRegistry(o.Coprocessors)
	if err != nil {
		return nil, err
	}
	n := &Node{o: o, registry: registry}
	disk := NewDisk()
	b := disk.NewBatch()
	bounds := append([]kv.RowKey{nil}, o.Splits...)
	slices.SortFunc(bounds, func(a, b kv.RowKey) int { return bytes.Compare(a, b) })
	for i, start := range bounds {
		n.nextID++
		t := kv.Tablet{ID: n.nextID, Generation: 1, Shard: kv.ShardID(i%max(1, o.Shards-o.Idle) + 1), Node: nodeID, Span: kv.Span{Start: start}}
		if i+1 < len(bounds) {
			t.Span.End = bounds[i+1]
		}
		if err := shard.PutTablet(b, t); err != nil {
			return nil, err
		}
	}
	disk.Commit(b)
	return n, n.start(disk)
}

// start begins a life.
func (n *Node) start(disk *Disk) error {
	l := &life{disk: disk}
	disk.OnCommit = func() {
		if from, to := l.moving[0], l.moving[1]; from != nil && n.o.OnCopy != nil {
			l.moving = [2]kv.ShardHandle{} // the first commit of a move is its announcement; the second decides
			n.o.OnCopy(from, to)
		}
	}
	for id := kv.ShardID(1); int(id) <= n.o.Shards; id++ {
		r, err := shard.Open(shard.Options{
			ID: id, Node: nodeID, Engine: disk, Registry: n.registry, Describe: n.describe,
		})
		if err != nil {
			return fmt.Errorf("shard %d: %w", id, err)
		}
		s, err := n.lead(disk, r, 1)
		if err != nil {
			return err
		}
		l.shards = append(l.shards, s)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.life = l
	return nil
}

// lead begins a leadership.
func (n *Node) lead(disk *Disk, s *shard.Replica, term uint64) (*led, error) {
	r := &replicator{n: n, disk: disk, term: term}
	l, err := s.Lead(r)
	if err != nil {
		return nil, fmt.Errorf("shard %d, term %d: %w", s.ID(), term, err)
	}
	r.lead = l
	return &led{l, r}, nil
}

func (n *Node) now() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

func (n *Node) leader(id kv.ShardID) (*life, *led) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id < 1 || int(id) > len(n.life.shards) {
		return n.life, nil
	}
	return n.life, n.life.shards[id-1]
}

// Leader is a shard as it is led now.
func (n *Node) Leader(id kv.ShardID) *shard.Leadership { _, s := n.leader(id); return s.Leadership }

// Handle implements client.Handler. What ends after a crash has not ended for its caller.
func (n *Node) Handle(ctx context.Context, id kv.ShardID, refs []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	c, ok := n.registry.Command(cmd)
	if !ok {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "shardtest", "no command %d", cmd)
	}
	l, s := n.leader(id)
	if s == nil {
		return nil, kv.Errorf(kv.CodeNotFound, "shardtest", "no shard %d", id)
	}
	resp, err := s.Run(ctx, c, refs, req)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case !l.over:
		return resp, err
	case c.Write:
		return nil, kv.Errorf(kv.CodeOutcomeUnknown, c.Name, "the node was killed")
	}
	return nil, kv.Errorf(kv.CodeUnavailable, c.Name, "the node was killed")
}

// Command implements client.Commands.
func (n *Node) Command(id kv.CommandID) (kv.Command, bool) {
	c, ok := n.registry.Command(id)
	if !ok {
		return kv.Command{}, false
	}
	return c.Command, true
}

// Lookup implements client.Locator: METADATA that never lags behind.
func (n *Node) Lookup(_ context.Context, row kv.RowKey) ([]kv.Tablet, error) {
	for _, s := range n.now().shards {
		if t, ok := s.Find(row); ok {
			return []kv.Tablet{t}, nil
		}
	}
	return nil, kv.Errorf(kv.CodeUnavailable, "shardtest", "no shard serves row %x", []byte(row))
}

// Shards implements client.Locator.
func (n *Node) Shards(context.Context) (map[kv.ShardID]client.Shard, error) {
	m := map[kv.ShardID]client.Shard{}
	for i := range n.o.Shards {
		m[kv.ShardID(i+1)] = client.Shard{Node: nodeID}
	}
	return m, nil
}

func (n *Node) describe(refs []kv.TabletRef, rows []kv.RowKey) (found []kv.Tablet) {
	add := func(t kv.Tablet, ok bool) {
		if ok && !slices.ContainsFunc(found, func(x kv.Tablet) bool { return x.ID == t.ID }) {
			found = append(found, t)
		}
	}
	for _, s := range n.now().shards {
		for _, r := range refs {
			add(s.Tablet(r.ID))
		}
		for _, r := range rows {
			add(s.Find(r))
		}
	}
	return found
}

// find returns the tablet that holds a row, and its shard.
func (n *Node) find(row kv.RowKey) (*life, *led, kv.Tablet, error) {
	l := n.now()
	for _, s := range l.shards {
		if t, ok := s.Find(row); ok {
			if s.repl.over() { // who has lost the lead has no tablets to give
				return l, nil, t, s.repl.notLeader()
			}
			return l, s, t, nil
		}
	}
	return l, nil, kv.Tablet{}, kv.Errorf(kv.CodeNotFound, "shardtest", "no shard serves row %x", []byte(row))
}

func alone(ctx context.Context) context.Context { return context.WithValue(ctx, structural{}, true) }

// Split cuts the tablet that holds the row in front of it.
func (n *Node) Split(ctx context.Context, row kv.RowKey) error {
	_, s, t, err := n.find(row)
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.nextID++
	id := n.nextID
	n.mu.Unlock()
	_, _, err = s.Split(alone(ctx), t.ID, row, id)
	return err
}

// Merge joins the tablet that holds the row with the one behind it.
func (n *Node) Merge(ctx context.Context, row kv.RowKey) error {
	_, s, t, err := n.find(row)
	if err != nil {
		return err
	}
	_, _, right, err := n.find(t.Span.End)
	if err != nil {
		return err
	}
	_, err = s.Merge(alone(ctx), t.ID, right.ID)
	return err
}

// Move gives the tablet that holds the row to another shard. Only one tablet moves at a time, and neither shard loses its lead meanwhile: a
// move writes to the log that both share, without asking a replicator.
func (n *Node) Move(ctx context.Context, row kv.RowKey, to kv.ShardID) error {
	l, from, t, err := n.find(row)
	if err != nil {
		return err
	}
	if r := l.shards[to-1].repl; r.over() {
		return r.notLeader()
	}
	l.moving = [2]kv.ShardHandle{from.Leadership, l.shards[to-1].Leadership}
	defer func() { l.moving = [2]kv.ShardHandle{} }()
	_, err = shard.Move(ctx, from.Replica, l.shards[to-1].Replica, t.ID)
	return err
}

// Crash kills the node and starts it again on what is left of its disk. keep is told how many records at the end of the log are not
// durable, and says how many of them are there all the same. Commands that are under way go on in a world that nobody hears of.
func (n *Node) Crash(keep func(unsynced int) int) error {
	l := n.now()
	n.mu.Lock()
	l.over = true
	n.mu.Unlock()
	return n.start(l.disk.crash(keep))
}

// Led reports whether a shard has a leader.
func (n *Node) Led(id kv.ShardID) bool {
	_, s := n.leader(id)
	return !s.repl.over()
}

// Elect makes a new leader of a shard whose leader has lost the lead: the same replica, in another
// leadership. If late, the proposals that were lost are applied before. It reports false while commands of
// the old leadership still run: until they have ended no other may begin.
func (n *Node) Elect(id kv.ShardID, late bool) (bool, error) {
	l, s := n.leader(id)
	select {
	case <-s.Depose():
	default:
		return false, nil
	}
	if err := s.End(); err != nil {
		return false, err
	}
	if late {
		for _, x := range s.repl.late {
			if ok, err := s.Apply(x); err != nil || !ok {
				return false, fmt.Errorf("a proposal that was lost is not applied: %v, %w", ok, err)
			}
		}
		l.disk.Barrier()
	}
	next, err := n.lead(l.disk, s.Replica, s.repl.term+1)
	if err != nil {
		return false, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l.shards[id-1] = next
	return true, nil
}

// imaged is what an in-memory group tells of what it holds, and of what is on disk alone.
type imaged interface {
	Persistent(kv.Span) []memtable.Item
	Held() int
	Spills() map[uint32]kv.Timestamp
}

// CheckImages compares the in-memory groups of a shard, none of whose writes is under way, with their image
// on disk: they are the same, or a restart would change what transactions see. Of a bounded group no more is
// in memory than may be, and what is not is known to be on disk.
func (n *Node) CheckImages(id kv.ShardID) error {
	l, s := n.leader(id)
	for _, g := range n.registry.Groups() {
		if !g.InMemory {
			continue
		}
		image := map[string][]byte{}
		lower, upper := keys.GroupSpan(id, g.ID)
		for _, p := range l.disk.between(lower, upper) {
			image[string(p.key)] = p.value
		}
		var wrong error
		table := s.InMemory(g.ID).(imaged)
		for _, it := range table.Persistent(kv.Span{}) {
			key := string(keys.AppendVersion(keys.AppendColumn(nil, id, it.Address), it.Timestamp))
			value, ok := image[key]
			if delete(image, key); !ok || !bytes.Equal(value, it.Value) {
				wrong = fmt.Errorf(
					"shard %d, group %d: run %d of %x at %v is in memory only (or differs there)", id, g.ID,
					it.Address.Run, []byte(it.Address.Row), it.Timestamp)
			}
		}
		if g.Bound > 0 && table.Held() > g.Bound {
			wrong = fmt.Errorf("shard %d, group %d: %d entries are in memory, and %d may be", id, g.ID,
				table.Held(), g.Bound)
		}
		spills := table.Spills()
		for key := range image {
			k, _, err := keys.Decode([]byte(key), nil)
			if err != nil {
				return err
			}
			if newest, ok := spills[k.Address.Run]; ok && k.Timestamp <= newest {
				continue
			}
			wrong = fmt.Errorf("shard %d, group %d: run %d of %x at %v is on disk only", id, g.ID, k.Address.Run, []byte(k.Address.Row), k.Timestamp)
		}
		if wrong != nil {
			return wrong
		}
	}
	return nil
}
