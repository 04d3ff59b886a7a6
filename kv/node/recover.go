package node

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/coord/replicated"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft/host"
)

// Directory is what there is in the directory of a member that is down.
type Directory struct {
	Node    kv.NodeID
	Cluster string
	Shards  int // that the cluster has
	// Others are the nodes that it knew and that were not removed.
	Others   []kv.NodeID
	Replicas []FoundReplica
	// Newest is the latest timestamp of any transaction that has left something in the replicas.
	Newest kv.Timestamp
}

// FoundReplica is a replica in a directory.
type FoundReplica struct {
	Shard kv.ShardID
	host.Found
	Newest kv.Timestamp // commit, of those in its state
}

// openDown opens the store of a node that is down; another process that has it is an error.
func openDown(dir string, fs vfs.FS) (*Node, error) {
	n := &Node{o: Options{Dir: dir, FS: fs}.withDefaults(), stop: func() {}}
	if fs == nil {
		fs = vfs.Default
	}
	if _, err := fs.Stat(dir); err != nil {
		return nil, kv.Errorf(kv.CodeNotFound, "recover", "%s: there is no such directory", dir)
	}
	var err error
	n.engine, err = engine.Open(dir, engine.Options{FS: n.o.FS, SpanPolicy: spanPolicy})
	if err != nil {
		return nil, err
	}
	b, ok, err := n.engine.Get(recordKey())
	if err == nil && ok {
		n.record, err = decodeRecord(b)
	}
	if err == nil && n.record.cluster == "" {
		err = kv.Errorf(kv.CodeForeignData, "recover", "%s is not the directory of a node of a cluster", dir)
	}
	if err == nil {
		n.lives.n, n.book.n = n, n
		err = n.book.open()
	}
	if err != nil {
		return nil, errors.Join(err, n.engine.Close())
	}
	return n, nil
}

// Survey says what there is in the directory of a member that is down. It reads all that transactions have
// written, for the latest timestamps.
func Survey(dir string, fs vfs.FS) (d *Directory, err error) {
	n, err := openDown(dir, fs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.engine.Close()) }()
	d = &Directory{Node: n.record.node, Cluster: n.record.cluster, Shards: n.record.shards}
	for _, id := range sortedNodes(n.book.nodes) {
		if !n.book.nodes[id].Removed {
			d.Others = append(d.Others, id)
		}
	}
	for i := range n.record.shards {
		id := kv.ShardID(i + 1)
		f, ok, err := host.Inspect(n.engine, n.record.node, id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		r := FoundReplica{Shard: id, Found: f}
		for g := kv.GroupTxnWrite; g <= kv.GroupTxnAck; g++ {
			lower, upper := keys.GroupSpan(id, g)
			err := n.engine.Scan(lower, upper, func(k, _ []byte) error {
				ts, err := keys.Version(k)
				if d.Newest = max(d.Newest, ts); g == kv.GroupTxnWrite {
					r.Newest = max(r.Newest, ts)
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		d.Replicas = append(d.Replicas, r)
	}
	return d, nil
}

// Rescue is what becomes of a directory when most of the replicas of some shards are lost.
type Rescue struct {
	From, Cluster string // the cluster that it was a part of, and the one that it is a part of then
	Lost          []kv.NodeID
	Alone         []Only // shards whose only replica is this node's
	Drop          []Only // those whose only one is another node's
	// Coord says what is put into the coordination service, where its shard is kept.
	Coord func(get func(key string) ([]byte, error)) (map[string][]byte, error)
}

// Only names the only replica of a shard, and the term that it has heard of.
type Only struct {
	Shard       kv.ShardID
	Replica     uint64
	Incarnation uint64
	Term        uint64
}

// Apply changes the directory, in one step that is durable when it returns. done says that it was changed so
// before, and is left alone.
func (r *Rescue) Apply(dir string, fs vfs.FS) (done bool, err error) {
	n, err := openDown(dir, fs)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, n.engine.Close()) }()
	switch n.record.cluster {
	case r.Cluster:
		return true, nil
	case r.From:
	default:
		return false, kv.Errorf(kv.CodeForeignData, "recover", "%s belongs to cluster %s, and the plan is "+
			"for %s", dir, n.record.cluster, r.From)
	}
	b := n.engine.NewBatch()
	defer b.Close()
	for _, o := range r.Alone {
		if err := host.Alone(b, n.engine, o.Shard, o.Replica, o.Term); err != nil {
			return false, err
		}
		if o.Shard != MetaShard {
			continue
		}
		set := func(key, value []byte) error { return b.Set(key, value, nil) }
		if err := replicated.Recover(o.Shard, n.engine, set, r.Coord); err != nil {
			return false, err
		}
	}
	for _, o := range r.Drop {
		host.Drop(b, o.Shard, o.Incarnation+1)
	}
	n.record.cluster = r.Cluster
	if err := b.Set(recordKey(), n.record.encode(), nil); err != nil {
		return false, err
	}
	// Nobody calls those that are lost, or listens to them if they are not.
	for _, id := range r.Lost {
		n.book.nodes[id] = Known{Addr: n.book.nodes[id].Addr, Removed: true}
	}
	if err := b.Set(bookKey(), n.book.encode(), nil); err != nil {
		return false, err
	}
	n.engine.Commit(b)
	return false, n.engine.Failed()
}
