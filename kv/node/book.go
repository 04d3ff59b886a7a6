package node

import (
	"maps"
	"sync"

	"moka/kv"
	"moka/kv/keys"
	"moka/kv/wire"
)

// Known is what a member of a cluster knows of another node.
type Known struct {
	Addr string // at which it was reached last, or has called from
	// Removed says that the node is no part of the cluster any more, and never will be again.
	Removed bool
}

// book holds the nodes of the cluster, this one not among them. It is kept in the node's own key space: who
// starts finds the others by it, before anything that they share can be read.
type book struct {
	n     *Node
	mu    sync.Mutex
	nodes map[kv.NodeID]Known
	told  func(kv.NodeID, Known)
}

// maxNodes bounds those that a node keeps in mind.
const maxNodes = 1024

const bookVersion = 1

func bookKey() []byte { return keys.AppendNode(nil, keys.NodeBook, nil) }

func (b *book) open() error {
	b.nodes = map[kv.NodeID]Known{}
	v, ok, err := b.n.engine.Get(bookKey())
	if err != nil || !ok {
		return err
	}
	d := wire.NewDecoder(v, bookVersion)
	for range d.Bounded(maxNodes) {
		b.nodes[kv.NodeID(d.Uvarint())] = Known{Removed: d.Bool(), Addr: d.String()}
	}
	return wire.Wrap("book of nodes", d.Finish())
}

func (b *book) save() error {
	if err := b.n.engine.Failed(); err != nil {
		return err
	}
	batch := b.n.engine.NewBatch()
	defer batch.Close()
	if err := batch.Set(bookKey(), b.encode(), nil); err != nil {
		return err
	}
	b.n.engine.Commit(batch)
	return nil
}

func (b *book) encode() []byte {
	v := wire.AppendUvarint([]byte{bookVersion}, uint64(len(b.nodes)))
	for _, id := range sortedNodes(b.nodes) {
		k := b.nodes[id]
		v = wire.AppendString(wire.AppendBool(wire.AppendUvarint(v, uint64(id)), k.Removed), k.Addr)
	}
	return v
}

// put changes what is known of a node, durably, and tells whoever wants to hear of it.
func (b *book) put(id kv.NodeID, change func(Known) Known) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	was, known := b.nodes[id]
	k := change(was)
	if known && k == was || id == b.n.record.node || was.Removed {
		return nil
	}
	if !known && len(b.nodes) >= maxNodes {
		return kv.Errorf(kv.CodeBusy, "node", "%d nodes are known: no more are let in", maxNodes)
	}
	b.nodes[id] = k
	if err := b.save(); err != nil {
		return err
	}
	if b.told != nil {
		b.told(id, k)
	}
	return nil
}

// Nodes are the others that this node knows of.
func (n *Node) Nodes() map[kv.NodeID]Known {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	return maps.Clone(n.book.nodes)
}

// TellNodes has f called with each of the other nodes, now and whenever something changes. It must not
// block, and asks the node nothing.
func (n *Node) TellNodes(f func(kv.NodeID, Known)) {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	n.book.told = f
	for _, id := range sortedNodes(n.book.nodes) {
		f(id, n.book.nodes[id])
	}
}

// LearnNode notes where a node is, as somebody says who may know; what the node has said itself stays.
func (n *Node) LearnNode(id kv.NodeID, addr string) error {
	return n.book.put(id, func(k Known) Known {
		if k.Addr == "" {
			k.Addr = addr
		}
		return k
	})
}

// Met implements raftrpc.Book: a node that has called says where it is.
func (n *Node) Met(from kv.NodeID, addr string) error {
	return n.book.put(from, func(k Known) Known {
		if addr != "" {
			k.Addr = addr
		}
		return k
	})
}

// Gone implements raftrpc.Book.
func (n *Node) Gone(id kv.NodeID) bool {
	n.book.mu.Lock()
	defer n.book.mu.Unlock()
	return n.book.nodes[id].Removed
}

// RemoveNode notes that a node is no part of the cluster any more. It must be so: there is no way back.
func (n *Node) RemoveNode(id kv.NodeID) error {
	if id == n.record.node {
		n.Dismissed(0)
		return nil
	}
	if err := n.lives.forget(id); err != nil {
		return err
	}
	return n.book.put(id, func(k Known) Known { return Known{Addr: k.Addr, Removed: true} })
}

// Dismissed implements raftrpc.Book: this node hears that it was removed, and ends. by is who says so, zero
// for the cluster's own record.
func (n *Node) Dismissed(by kv.NodeID) {
	who := "the cluster's list of nodes"
	if by != 0 {
		who = "node " + itoa(by)
	}
	n.fatal()(kv.Errorf(kv.CodeForeignData, "node", "node %d was removed from cluster %s, says %s: what %s "+
		"holds is out of date, its replicas are on other nodes, and its number never comes back. To have "+
		"this machine in the cluster again start it with --join and an empty --data", n.record.node,
		n.record.cluster, who, n.o.Dir))
}
