// Package recovery makes a cluster of what is left when most of the replicas of its shards are lost for good.
//
// Raft does not go on then, and it is right: what is left may lack what the lost ones have acknowledged, and
// nobody can tell. Whoever goes on all the same says so, and is told what may be missing:
//
//	directories of nodes that are down ─► node.Survey ─► Make: a plan, for people to read
//	the plan, and the directories again ─► Apply: one synced batch for each
//
// Of each shard one replica stays, the one that has the most, alone and under a new number. The cluster gets
// another id, so that lost nodes that come back after all speak to nobody.
package recovery

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"moka/kv"
	"moka/kv/node"
	"moka/kv/raft"
)

// Plan says what becomes of what is left.
type Plan struct {
	Format   int
	From     string // the cluster's id, and the one that it gets
	Cluster  string
	Nodes    []kv.NodeID // whose directories are there
	Lost     []kv.NodeID
	NextNode kv.NodeID
	Ceiling  kv.Timestamp // no timestamp up to it is given out
	Shards   []Shard
}

// Shard is what becomes of one.
type Shard struct {
	Shard   kv.ShardID
	Node    kv.NodeID // has the replica that stays
	Replica uint64    // its number then
	Term    uint64    // that it has heard of then
	Whole   bool      // most of the voters are there: nothing of it is lost
	Missing []kv.NodeID
	Found   []Replica
}

// Replica is one that was found.
type Replica struct {
	Node      kv.NodeID
	Replica   uint64
	LastIndex uint64
	LastTerm  uint64
	Applied   uint64
	Newest    kv.Timestamp
}

const format = 1

func replica(d *node.Directory, r *node.FoundReplica) Replica {
	return Replica{d.Node, r.Replica, r.LastIndex, r.LastTerm, r.Applied, r.Newest}
}

// ahead is how far timestamps go on behind everything that is known: oracles reserve some seconds, and clocks
// differ.
const ahead = time.Minute

func refuse(text string, args ...any) error {
	return kv.Errorf(kv.CodeInvalidArgument, "recover", text, args...)
}

// Make plans for directories, of all nodes that are left. cluster is an id that no cluster has had.
func Make(ds []*node.Directory, cluster string, now time.Time) (*Plan, error) {
	if len(ds) == 0 {
		return nil, refuse("name the directories of all nodes that are left")
	}
	p := &Plan{Format: format, From: ds[0].Cluster, Cluster: cluster}
	known := map[kv.NodeID]bool{}
	newest := kv.Timestamp(0)
	for _, d := range ds {
		if d.Cluster != p.From || d.Shards != ds[0].Shards {
			return nil, refuse("the directories are of different clusters, %s and %s", p.From, d.Cluster)
		}
		if slices.Contains(p.Nodes, d.Node) {
			return nil, refuse("two directories are of node %d", d.Node)
		}
		p.Nodes = append(p.Nodes, d.Node)
		newest = max(newest, d.Newest)
		for _, id := range d.Others {
			known[id] = true
		}
		for _, r := range d.Replicas {
			for _, id := range r.Members.Nodes() {
				known[id] = true
			}
		}
	}
	slices.Sort(p.Nodes)
	for id := range known {
		if !slices.Contains(p.Nodes, id) {
			p.Lost = append(p.Lost, id)
		}
		p.NextNode = max(p.NextNode, id+1)
	}
	p.NextNode = max(p.NextNode, p.Nodes[len(p.Nodes)-1]+1)
	slices.Sort(p.Lost)
	p.Ceiling = max(newest, kv.TimestampAt(now)) + kv.NewTimestamp(ahead.Milliseconds(), 0)
	whole := true
	for i := range ds[0].Shards {
		s, err := p.shard(kv.ShardID(i+1), ds)
		if err != nil {
			return nil, err
		}
		whole = whole && s.Whole
		p.Shards = append(p.Shards, *s)
	}
	if whole {
		return nil, refuse("most of the replicas of every shard are there: start these nodes, and nothing " +
			"is lost")
	}
	return p, nil
}

// shard picks the replica that stays: the greatest last term and index, as a vote would.
func (p *Plan) shard(id kv.ShardID, ds []*node.Directory) (*Shard, error) {
	s := &Shard{Shard: id}
	var best *node.FoundReplica
	var next uint64
	better := func(a, b *node.FoundReplica) bool {
		return b == nil ||
			cmp.Or(cmp.Compare(a.LastTerm, b.LastTerm), cmp.Compare(a.LastIndex, b.LastIndex)) > 0
	}
	there := map[uint64]bool{}
	for _, d := range ds {
		for i := range d.Replicas {
			r := &d.Replicas[i]
			if r.Shard != id {
				continue
			}
			there[r.Replica] = true
			s.Found = append(s.Found, replica(d, r))
			if better(r, best) {
				best, s.Node = r, d.Node
			}
			next = max(next, r.Members.Next, raft.Incarnation(r.Replica)+1)
			s.Term = max(s.Term, r.Term)
		}
	}
	if best == nil {
		return nil, refuse("shard %d has no replica in any of these directories: its rows are lost, and a "+
			"database without them is none. Name the directories of all nodes that are left, or restore a "+
			"backup", id)
	}
	m := best.Members
	s.Whole = most(m.Voters, there) && (len(m.Outgoing) == 0 || most(m.Outgoing, there))
	for _, r := range m.All() {
		if n := raft.Node(r); !there[r] && !slices.Contains(s.Missing, n) {
			s.Missing = append(s.Missing, n)
		}
		next = max(next, raft.Incarnation(r)+1)
	}
	// A step that is under way may have added some that this one has not heard of.
	s.Replica, s.Term = raft.Number(s.Node, next+missed), s.Term+missed
	return s, nil
}

// missed is more than what lost replicas can have given out meanwhile, of terms and of numbers.
const missed = 1 << 10

func most(voters []uint64, there map[uint64]bool) bool {
	n := 0
	for _, v := range voters {
		if there[v] {
			n++
		}
	}
	return n > len(voters)/2
}

// Write tells people what the plan does, and what may be lost by it.
func (p *Plan) Write(w io.Writer) error {
	var err error
	say := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintf(w, format+"\n", args...)
		}
	}
	say("UNSAFE RECOVERY of cluster %s", p.From)
	say("")
	say("Nodes %v are given up for good, nodes %v go on as cluster %s.", p.Lost, p.Nodes, p.Cluster)
	say("Copy these directories first. If one of the lost nodes can be had back, stop here: with it most")
	say("of the replicas may be there again, and nothing is lost.")
	say("")
	for i := range p.Shards {
		s := &p.Shards[i]
		for _, r := range s.Found {
			fate := "is deleted"
			if r.Node == s.Node {
				fate = "stays, alone"
			}
			say("shard %d  node %d %s: entries up to %d of term %d, newest commit %s", s.Shard, r.Node, fate,
				r.LastIndex, r.LastTerm, when(r.Newest))
		}
		if s.Whole {
			say("shard %d  most of its replicas are here: nothing of it is lost", s.Shard)
			continue
		}
		say("shard %d  MAY BE LOST: all that nodes %v have acknowledged behind that entry", s.Shard,
			s.Missing)
	}
	say("")
	say("A transaction that changed rows of several shards may be there in one and missing in another: an")
	say("index may disagree with its table, a sum with its parts, and what observers did with what they saw.")
	say("CHECK TABLE all tables afterwards, and compare what else you know.")
	say("Timestamps go on at %s.", when(p.Ceiling))
	return err
}

func when(ts kv.Timestamp) string {
	if ts == 0 {
		return "none"
	}
	return ts.Time().UTC().Format(time.RFC3339Nano)
}

// Apply changes one of the directories that the plan was made for, as far as nothing has happened in it
// since. done says that it had been changed so before. coord says what the coordination service is to have.
func (p *Plan) Apply(
	dir string, coord func(get func(key string) ([]byte, error)) (map[string][]byte, error),
) (d *node.Directory, done bool, err error) {
	if p.Format != format {
		return nil, false, refuse("the plan is of format %d, and this binary knows format %d", p.Format,
			format)
	}
	if d, err = node.Survey(dir, nil); err != nil {
		return nil, false, err
	}
	if d.Cluster != p.Cluster {
		if err := p.same(dir, d); err != nil {
			return d, false, err
		}
	}
	r := node.Rescue{From: p.From, Cluster: p.Cluster, Lost: p.Lost, Coord: coord}
	for _, s := range p.Shards {
		o := node.Only{Shard: s.Shard, Replica: s.Replica, Incarnation: raft.Incarnation(s.Replica),
			Term: s.Term}
		if s.Node == d.Node {
			r.Alone = append(r.Alone, o)
		} else {
			r.Drop = append(r.Drop, o)
		}
	}
	done, err = r.Apply(dir, nil)
	return d, done, err
}

// same sees that a directory is as it was when the plan was made.
func (p *Plan) same(dir string, d *node.Directory) error {
	var now, then []Replica
	for _, r := range d.Replicas {
		now = append(now, replica(d, &r))
	}
	for _, s := range p.Shards {
		for _, r := range s.Found {
			if r.Node == d.Node {
				then = append(then, r)
			}
		}
	}
	if d.Cluster != p.From || !slices.Contains(p.Nodes, d.Node) || !slices.Equal(now, then) {
		return refuse("%s, of node %d, is not as it was when the plan was made: make another one", dir,
			d.Node)
	}
	return nil
}
