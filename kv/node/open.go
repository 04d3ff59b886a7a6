package node

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/shard"
	"moka/kv/wire"
)

// MetaShard is the shard that holds METADATA; it is never moved.
const MetaShard kv.ShardID = 1

// The node's record, under a node-local key:
//
//	+-----------+---------------+-----------------+----------------------------+
//	| version 1 | node uvarint  | shards uvarint  | next tablet number uvarint |
//	+-----------+---------------+-----------------+----------------------------+
//	| version 3   in a cluster: the same, then     | cluster string, members    |
//	| version 2   the same, of a release in which node 1 had the coordination service for itself
//
// The tablet number is a high-water mark: all below it may have been given out.
type record struct {
	node       kv.NodeID
	shards     int
	nextTablet uint64
	membership
}

const (
	recordVersion  = 1
	clusterVersion = 3
	aloneVersion   = 2
)

// tabletReserve is how many tablet numbers are made durable at a time.
const tabletReserve = 1024

func (r record) encode() []byte {
	b := []byte{recordVersion}
	if r.cluster != "" {
		b[0] = clusterVersion
	}
	b = wire.AppendUvarint(b, uint64(r.node))
	b = wire.AppendUvarint(b, uint64(r.shards))
	b = wire.AppendUvarint(b, r.nextTablet)
	if r.cluster != "" {
		b = r.membership.appendTo(b)
	}
	return b
}

func decodeRecord(b []byte) (record, error) {
	version := byte(recordVersion)
	if len(b) > 0 && (b[0] == clusterVersion || b[0] == aloneVersion) {
		version = b[0]
	}
	d := wire.NewDecoder(b, version)
	r := record{node: kv.NodeID(d.Uvarint()), shards: int(d.Bounded(maxShards)), nextTablet: d.Uvarint()}
	if version != recordVersion {
		r.membership.decode(&d)
	}
	return r, wire.Wrap("node record", d.Finish())
}

// maxShards bounds --shards: each has in-memory groups and coprocessor states of its own, and a node wants 8 to 16.
const maxShards = 1024

func recordKey() []byte { return keys.AppendNode(nil, keys.NodeRecord, nil) }

// Open opens the node's directory, or creates it, and starts its shards.
// Errors: kv.ErrForeignData, kv.ErrInUse, kv.ErrCorrupt, kv.ErrDisk; each says what to do.
func Open(o Options) (*Node, error) {
	if o.Shards < 0 || o.Shards > maxShards {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "node.Open", "%d shards: give a number from 1 to %d", o.Shards, maxShards)
	}
	o = o.withDefaults()
	n := &Node{o: o, logger: o.Logger, stop: func() {}}
	n.store = bigtable.New(n)
	var err error
	all := append([]kv.Coprocessor{n.store}, o.Coprocessors...)
	if o.Cluster != nil {
		all = append(all, Replicas{n})
	}
	if n.registry, err = shard.NewRegistry(all); err != nil {
		return nil, err
	}
	n.engine, err = engine.Open(o.Dir, engine.Options{
		FS: o.FS, CacheBytes: o.CacheBytes, MemTableBytes: o.MemTableBytes, SeparateValues: o.SeparateValues, Logger: o.Logger, Fatal: o.Fatal,
		SpanPolicy: spanPolicy, AcceptDataLoss: o.AcceptDataLoss, OpenTables: o.OpenTables, Ballast: o.Ballast,
	})
	if err != nil {
		return nil, err
	}
	if err := n.start(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) start() error {
	if err := n.loadRecord(); err != nil {
		return err
	}
	ids := make([]kv.ShardID, n.record.shards)
	for i := range ids {
		ids[i] = kv.ShardID(i + 1)
	}
	n.slots = make([]atomic.Pointer[shard.Replica], len(ids))
	if err := shard.AdoptClock(n.engine, ids); err != nil {
		return err
	}
	for _, id := range ids {
		has, err := n.hasReplica(id)
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		s, err := n.openShard(id)
		if err != nil {
			return err
		}
		n.slots[id-1].Store(s)
		if n.o.Cluster != nil {
			continue
		}
		if _, err := s.Lead(nil); err != nil {
			return err
		}
	}
	if n.o.Cluster != nil {
		n.lives.n, n.book.n = n, n
		return errors.Join(n.lives.open(), n.book.open()) // Replicate goes on
	}
	if err := n.repairMeta(context.Background()); err != nil {
		return err
	}
	n.startBackground()
	return nil
}

func (n *Node) startBackground() {
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	if n.o.BalanceEvery > 0 {
		n.background.Go(func() { n.balance(ctx) })
	}
	if n.host != nil {
		n.background.Go(func() { n.watchReplicas(ctx) })
	}
	if n.o.MemoryLimit > 0 {
		limit := raisedLimit{base: n.o.MemoryLimit, most: n.o.MaxMemory}
		limit.follow(n.memoryBytes()) // what was loaded just now
		n.background.Go(func() { n.followMemory(ctx, &limit) })
	}
}

// loadRecord reads the node's record; the first start makes it, and the first tablets with it, in one batch.
func (n *Node) loadRecord() error {
	b, ok, err := n.engine.Get(recordKey())
	if err != nil {
		return err
	}
	batch := n.engine.NewBatch()
	defer batch.Close()
	if ok {
		if n.record, err = decodeRecord(b); err != nil {
			return err
		}
		if err := n.record.check(n.o.Cluster, n.o.Dir); err != nil {
			return err
		}
		if n.o.Cluster != nil && n.record.cluster == "" {
			if err := n.convert(batch); err != nil {
				return err
			}
		}
	} else if n.o.Cluster != nil {
		if err := n.found(batch); err != nil {
			return err
		}
	} else {
		n.record = record{node: 1, shards: 1, nextTablet: 1}
		for _, t := range n.firstTablets() {
			if err := shard.PutTablet(batch, t); err != nil {
				return err
			}
		}
	}
	n.nextTablet = n.record.nextTablet
	n.record.nextTablet += tabletReserve
	if n.o.Cluster == nil {
		n.record.shards = max(n.record.shards, n.o.Shards)
	}
	if err := batch.Set(recordKey(), n.record.encode(), nil); err != nil {
		return err
	}
	n.engine.Commit(batch)
	return nil
}

// firstTablets cover the key space: METADATA, the transactions' key space, and raw tables, all on the first shard.
func (n *Node) firstTablets() []kv.Tablet {
	bounds := []kv.RowKey{nil, kv.MakeRowKey(kv.TableTxn, nil), kv.MakeRowKey(kv.TableTxn+1, nil), nil}
	var ts []kv.Tablet
	for i := range len(bounds) - 1 {
		ts = append(ts, kv.Tablet{
			ID: n.tabletID(n.record.nextTablet), Generation: 1, Span: kv.Span{Start: bounds[i], End: bounds[i+1]},
			Shard: MetaShard, Node: n.record.node,
		})
		n.record.nextTablet++
	}
	return ts
}

// tabletID makes a tablet's id unique in the cluster: the node that made it, then its number there.
func (n *Node) tabletID(number uint64) kv.TabletID {
	return kv.TabletID(uint64(n.record.node)<<32 | number)
}

func sameTablet(a, b kv.Tablet) bool {
	return a.ID == b.ID && a.Generation == b.Generation && a.Shard == b.Shard &&
		string(a.Span.Start) == string(b.Span.Start) && string(a.Span.End) == string(b.Span.End)
}

// updateMeta writes METADATA through the shard that holds it, like any other write.
func (n *Node) updateMeta(ctx context.Context, gone []kv.RowKey, now []kv.Tablet) error {
	_, err := n.callMeta(ctx, bigtable.CommandUpdateMeta, &bigtable.UpdateMetaRequest{Gone: gone, Now: now})
	return err
}

// spanPolicy lets only the groups that ask for it be compressed for size: those of raw tables, by their schema. Transactions, logs and
// the node's own state are read to be used at once. A policy must end where the next one begins, or Pebble takes it for that of all keys
// behind; and it ends no earlier, for with each end a table ends.
//
// It is also asked for bounds, at which a table begins in the middle of a deleted range; so keys are
// compared, not decoded.
func spanPolicy(key []byte) (pebble.SpanPolicy, []byte, error) {
	shard, within := keys.NextShard(key)
	first, behind := bigtable.GroupsCompressedForSize()
	fast := pebble.SpanPolicy{PreferFastCompression: true}
	if !within {
		return fast, nil, nil
	}
	begin, _ := keys.GroupSpan(shard, first)
	end, _ := keys.GroupSpan(shard, behind)
	switch {
	case engine.Compare(key, begin) < 0:
		return fast, begin, nil
	case engine.Compare(key, end) < 0:
		return pebble.SpanPolicy{}, end, nil
	}
	begin, _ = keys.GroupSpan(shard+1, first)
	return fast, begin, nil
}
