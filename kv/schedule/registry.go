package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"moka/kv"
	"moka/kv/coord"
)

// Keys of the coordination service.
const (
	prefix      = "moka/nodes/"
	idPrefix    = prefix + "id/"      // a node: stays for ever, also of one that was removed
	upPrefix    = prefix + "up/"      // upRoom or a Disk; goes with the session of the node's process
	nextKey     = prefix + "next"     // the number of the next node that joins
	replicasKey = prefix + "replicas" // how many each shard is to have
	shardsKey   = prefix + "shards"   // where the replicas are: a hint for those that have none
)

// Disk is how much room a node's disk has.
type Disk string

// Disks of nodes. What adds is refused on one that is full.
const (
	Roomy Disk = ""
	Short Disk = "short"
	Full  Disk = "full"
)

// upRoom is what a node that is up says of a disk with room. Releases that know only this take all for it.
const upRoom = "1"

// State is what is to become of a node.
type State string

// States of nodes. One that was removed never comes back.
const (
	Up       State = ""
	Draining State = "draining" // leads nothing
	Leaving  State = "leaving"  // its replicas go elsewhere
	Removed  State = "removed"
)

func (s State) String() string {
	if s == Up {
		return "up"
	}
	return string(s)
}

// Node is one as the cluster knows it.
type Node struct {
	ID   kv.NodeID `json:"-"`
	Addr string    `json:"addr"`
	SQL  string    `json:"sql,omitempty"`
	// Zone is what the node shares with others that may fail together, as it says itself.
	Zone  string `json:"zone,omitempty"`
	State State  `json:"state,omitempty"`
	// Patience is for how long it may be silent the next time, if that is longer than others may: for
	// maintenance. Its next start ends it.
	Patience time.Duration `json:"patience,omitempty"`
	Here     bool          `json:"-"` // its process has a session
	Disk     Disk          `json:"-"` // what it says of its disk, if it is

	rev coord.Revision
}

// Registry is the list of nodes, at one revision.
type Registry struct {
	Nodes    []Node // by number
	Replicas int    // that a shard is to have; zero if nobody has said yet
	// Shards says where replicas are, and were led, as the scheduler has seen it last.
	Shards []Placed

	next    kv.NodeID
	nextRev coord.Revision
	shards  string
}

// Placed is where a shard's replicas are.
type Placed struct {
	ID     kv.ShardID  `json:"id"`
	Leader kv.NodeID   `json:"leader"`
	Term   uint64      `json:"term"`
	Nodes  []kv.NodeID `json:"nodes"`
}

// Node returns a node of the list.
func (r *Registry) Node(id kv.NodeID) (Node, bool) {
	by := func(n Node, id kv.NodeID) int { return cmp.Compare(n.ID, id) }
	i, ok := slices.BinarySearchFunc(r.Nodes, id, by)
	if !ok {
		return Node{}, false
	}
	return r.Nodes[i], true
}

// Read reads the list.
func Read(ctx context.Context, c coord.Service) (*Registry, error) {
	all, _, err := c.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	r, up := &Registry{}, map[kv.NodeID]string{}
	for _, x := range all {
		var err error
		if text, ok := strings.CutPrefix(x.Key, idPrefix); ok {
			n := Node{rev: x.ModRev}
			n.ID, err = number(text)
			if err == nil {
				err = json.Unmarshal(x.Value, &n)
			}
			r.Nodes = append(r.Nodes, n)
		} else if text, ok := strings.CutPrefix(x.Key, upPrefix); ok {
			var id kv.NodeID
			id, err = number(text)
			up[id] = string(x.Value)
		}
		switch x.Key {
		case nextKey:
			r.nextRev = x.ModRev
			r.next, err = number(string(x.Value))
		case replicasKey:
			r.Replicas, err = strconv.Atoi(string(x.Value))
		case shardsKey:
			r.shards = string(x.Value)
			err = json.Unmarshal(x.Value, &r.Shards)
		}
		if err != nil {
			return nil, fmt.Errorf("the cluster's list of nodes has a %s that makes no sense: %w", x.Key,
				err)
		}
	}
	slices.SortFunc(r.Nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	for i := range r.Nodes {
		n := &r.Nodes[i]
		says, here := up[n.ID]
		n.Here = here
		if says != upRoom {
			n.Disk = Disk(says)
		}
	}
	return r, nil
}

func number(s string) (kv.NodeID, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	return kv.NodeID(n), err
}

func key(prefix string, id kv.NodeID) string { return prefix + strconv.FormatUint(uint64(id), 10) }

func (n Node) put() coord.Op {
	v, err := json.Marshal(n)
	if err != nil {
		panic(err) // of strings
	}
	return coord.Put(key(idPrefix, n.ID), v)
}

// again reports whether a change lost against another one, or nobody knows: then the list is read anew.
func again(err error) bool {
	return errors.Is(err, coord.ErrConflict) || errors.Is(err, coord.ErrOutcomeUnknown)
}

// Join gives a new node its number, greater than all of those that are known to be nodes and that nobody
// else is ever given. Of a node that is not heard of again the number is lost.
func Join(ctx context.Context, c coord.Service, addr, sql string, known []kv.NodeID) (kv.NodeID, error) {
	for {
		r, err := Read(ctx, c)
		if err != nil {
			return 0, err
		}
		id := max(r.next, 1)
		for _, n := range r.Nodes {
			id = max(id, n.ID+1)
		}
		for _, n := range known {
			id = max(id, n+1)
		}
		next := []byte(strconv.FormatUint(uint64(id)+1, 10))
		_, err = c.Txn(ctx, []coord.Cond{coord.AtModRev(nextKey, r.nextRev), coord.Absent(key(idPrefix, id))},
			[]coord.Op{coord.Put(nextKey, next), Node{ID: id, Addr: addr, SQL: sql}.put()})
		if err == nil || !again(err) {
			return id, err
		}
	}
}

// ErrRemoved says that a node is none any more.
var ErrRemoved = errors.New("the node was removed from the cluster")

// Register says where a node is, and that it is up for as long as its session lives, with such a disk.
func Register(ctx context.Context, c coord.Service, r *Registry, self Node, session coord.SessionID) error {
	n, known := r.Node(self.ID)
	if n.State == Removed {
		return ErrRemoved
	}
	var conds []coord.Cond
	var ops []coord.Op
	up, err := c.Get(ctx, key(upPrefix, self.ID))
	if err != nil && !errors.Is(err, coord.ErrNotFound) {
		return err
	}
	self.State, self.Patience = n.State, n.Patience
	says := cmp.Or(string(self.Disk), upRoom)
	if up.Session != session {
		self.Patience = 0
	}
	if up.Session != session || string(up.Value) != says {
		ops = append(ops, coord.PutEphemeral(key(upPrefix, self.ID), []byte(says), session))
	}
	if !known || n.Addr != self.Addr || n.SQL != self.SQL || n.Zone != self.Zone ||
		n.Patience != self.Patience {
		conds = append(conds, coord.AtModRev(key(idPrefix, self.ID), n.rev))
		ops = append(ops, self.put())
	}
	if len(ops) == 0 {
		return nil
	}
	if _, err = c.Txn(ctx, conds, ops); again(err) {
		return nil // the next turn sees
	}
	return err
}

// SetState says what is to become of a node: check refuses what must not be.
func SetState(
	ctx context.Context, c coord.Service, id kv.NodeID, to State, check func(*Registry, Node) error,
) error {
	return change(ctx, c, id, func(r *Registry, n *Node) (bool, error) {
		if n.State == to {
			return false, nil
		}
		err := check(r, *n)
		n.State = to
		return true, err
	})
}

// SetPatience says for how long a node may be silent the next time.
func SetPatience(ctx context.Context, c coord.Service, id kv.NodeID, d time.Duration) error {
	return change(ctx, c, id, func(_ *Registry, n *Node) (bool, error) {
		if n.State == Removed {
			return false, ErrRemoved
		}
		changed := n.Patience != d
		n.Patience = d
		return changed, nil
	})
}

// change writes a node's record anew if f has changed it.
func change(
	ctx context.Context, c coord.Service, id kv.NodeID, f func(*Registry, *Node) (bool, error),
) error {
	for {
		r, err := Read(ctx, c)
		if err != nil {
			return err
		}
		n, ok := r.Node(id)
		if !ok {
			return fmt.Errorf("there is no node %d", id)
		}
		if changed, err := f(r, &n); err != nil || !changed {
			return err
		}
		_, err = c.Txn(ctx, []coord.Cond{coord.AtModRev(key(idPrefix, id), n.rev)}, []coord.Op{n.put()})
		if err == nil || !again(err) {
			return err
		}
	}
}

// publish writes what others want to know, if it has changed.
func publish(ctx context.Context, c coord.Service, r *Registry, replicas int, shards []Placed) error {
	v, err := json.Marshal(shards)
	if err != nil {
		return err
	}
	var ops []coord.Op
	if string(v) != r.shards {
		ops = append(ops, coord.Put(shardsKey, v))
	}
	if r.Replicas != replicas {
		ops = append(ops, coord.Put(replicasKey, []byte(strconv.Itoa(replicas))))
	}
	if len(ops) == 0 {
		return nil
	}
	_, err = c.Txn(ctx, nil, ops)
	return err
}

// Recovered is what the list of nodes becomes when some are lost for good, and the rest begins with one
// replica of each shard: the lost ones are no nodes any more, numbers go on at next at least, and there are
// to be three replicas again as soon as there are three nodes. get reads keys of the coordination service.
func Recovered(
	get func(key string) ([]byte, error), lost []kv.NodeID, next kv.NodeID,
) (map[string][]byte, error) {
	put := map[string][]byte{replicasKey: []byte("1")}
	for _, id := range lost {
		var n Node
		v, err := get(key(idPrefix, id))
		if err == nil && v != nil {
			err = json.Unmarshal(v, &n)
		}
		if err != nil {
			return nil, err
		}
		n.State = Removed
		if put[key(idPrefix, id)], err = json.Marshal(n); err != nil {
			return nil, err
		}
	}
	v, err := get(nextKey)
	if err != nil {
		return nil, err
	}
	if v != nil {
		was, err := number(string(v))
		if err != nil {
			return nil, err
		}
		next = max(next, was)
	}
	put[nextKey] = []byte(strconv.FormatUint(uint64(next), 10))
	return put, nil
}
