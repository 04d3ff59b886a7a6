package node

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/coord/local"
	"moka/kv/coord/replicated"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/raft"
	"moka/kv/raft/host"
	"moka/kv/shard"
	"moka/kv/wire"
)

// Cluster says that a node is a member of a cluster. Those that found it are named, and each of its shards
// has a replica on every one of them at first; others join later, and get replicas from those.
type Cluster struct {
	// Self and Members are those of a founding member; who joins has neither.
	Self    kv.NodeID
	Members []kv.NodeID // ascending
	// Splits are rows at which the transactions' key space is cut when the cluster is founded. The tablets
	// between them are dealt to the shards in turn, the first to the first.
	Splits []kv.RowKey
	// Found is asked at a directory's first start which cluster it is to be a part of. directory names the
	// directory; a member has one for its whole life, for who has lost its log has forgotten what it
	// promised.
	Found func(directory string) (Founding, error)
	Raft  raft.Options
	// Yield, if set, is called before a shard that is led here is handed over, for what leads with it.
	Yield func(context.Context, kv.ShardID)
}

// Founding is what all members of a cluster have to agree on.
type Founding struct {
	ID     string
	Shards int
	// Node is the number of a node that joins. It is given once.
	Node kv.NodeID
}

// maxMembers bounds the nodes of a cluster whose starts are counted.
const maxMembers = 64

// membership is what the record says of a cluster: nothing, for a node of its own.
type membership struct {
	cluster string
	members []kv.NodeID
}

func (m membership) appendTo(b []byte) []byte {
	b = wire.AppendString(b, m.cluster)
	b = wire.AppendUvarint(b, uint64(len(m.members)))
	for _, id := range m.members {
		b = wire.AppendUvarint(b, uint64(id))
	}
	return b
}

func (m *membership) decode(d *wire.Decoder) {
	m.cluster = d.String()
	for range d.Bounded(maxMembers) {
		m.members = append(m.members, kv.NodeID(d.Uvarint()))
	}
}

// check says whether a directory is opened as what it is.
func (r *record) check(c *Cluster, dir string) error {
	refuse := func(format string, args ...any) error {
		return kv.Errorf(kv.CodeForeignData, "node.Open", "%s "+format, append([]any{dir}, args...)...)
	}
	switch {
	case c == nil && r.cluster == "":
		return nil
	case c == nil:
		return refuse("belongs to node %d of cluster %s, and what it has is not the whole: start it with "+
			"--cluster "+
			"and the cluster's --members", r.node, r.cluster)
	case r.cluster == "" && c.alone():
		return nil // it is converted
	case r.cluster == "":
		return refuse("holds a database of one node: to make it the first node of a cluster, which others " +
			"join, start it with --cluster and without --members; or start it without --cluster, or name " +
			"an empty directory")
	case c.Self == 0:
		return nil
	case r.node != c.Self:
		return refuse("belongs to node %d of the cluster, and is started as node %d: correct --node-addr, "+
			"--members "+
			"or --data", r.node, c.Self)
	case !slices.Equal(r.members, c.Members):
		return refuse("belongs to a cluster that was founded by nodes %v, and --members names %v: name "+
			"those, as at the first start, or give --join instead", r.members, c.Members)
	}
	return nil
}

// alone says that this node founds the cluster by itself, and others join it.
func (c *Cluster) alone() bool {
	return c.Self == founder && len(c.Members) == 1 && c.Members[0] == founder
}

// convert makes a directory of one node that of the first node of a cluster, for good. Beside the state that
// its shards have it writes logs that begin behind that state, with this node as the one voter of each, so
// that whoever joins fetches the state whole. All of it goes into the batch of the record: a crash leaves a
// directory of the one kind or of the other. The coordination service is taken over by the first leadership
// of shard 1 with its revisions and sessions, and with it the ceiling of timestamps: nothing is founded anew.
func (n *Node) convert(b engine.Batch) error {
	id := n.engine.Identity().ID
	f, err := n.o.Cluster.Found(hex.EncodeToString(id[:]))
	if err != nil {
		return err
	}
	n.record.membership = membership{f.ID, n.o.Cluster.Members}
	shards := make([]kv.ShardID, n.record.shards)
	for i := range shards {
		shards[i] = kv.ShardID(i + 1)
	}
	host.Bootstrap(b, shards, n.o.Cluster.Members)
	n.logger.Warn("this directory becomes that of the first node of a cluster, for good", "cluster", f.ID,
		"shards", len(shards))
	return nil
}

// found writes the first records of a member: those that all members have alike, and its own.
func (n *Node) found(b engine.Batch) error {
	c := n.o.Cluster
	id := n.engine.Identity().ID
	f, err := c.Found(hex.EncodeToString(id[:]))
	if err != nil {
		return err
	}
	n.record = record{node: c.Self, shards: f.Shards, nextTablet: 1, membership: membership{f.ID, c.Members}}
	if c.Self == 0 { // it gets what it is given
		n.record.node = f.Node
		return nil
	}
	bounds := []kv.RowKey{nil, kv.MakeRowKey(kv.TableTxn, nil)}
	bounds = append(append(bounds, c.Splits...), kv.MakeRowKey(kv.TableTxn+1, nil), nil)
	for i := range len(bounds) - 1 {
		t := kv.Tablet{
			// The founding members make the same tablets: these are none's own.
			ID: kv.TabletID(n.record.nextTablet), Generation: 1, Shard: MetaShard,
			Span: kv.Span{Start: bounds[i], End: bounds[i+1]},
		}
		if i > 1 && i < len(bounds)-2 {
			t.Shard = kv.ShardID((i-1)%f.Shards + 1)
		}
		if err := shard.PutTablet(b, t); err != nil {
			return err
		}
		a, v := bigtable.MetaCell(t)
		if err := b.Set(keys.AppendVersion(keys.AppendColumn(nil, MetaShard, a), 0), v, nil); err != nil {
			return err
		}
		n.record.nextTablet++
	}
	set := func(key, value []byte) error { return b.Set(key, value, nil) }
	if err := replicated.Found(MetaShard, set); err != nil {
		return err
	}
	shards := make([]kv.ShardID, f.Shards)
	for i := range shards {
		shards[i] = kv.ShardID(i + 1)
	}
	host.Bootstrap(b, shards, c.Members)
	return nil
}

// ClusterID names the cluster that the node is a member of, empty for a node of its own.
func (n *Node) ClusterID() string { return n.record.cluster }

// ShardCount is how many shards the cluster has.
func (n *Node) ShardCount() int { return len(n.slots) }

// Replicate begins to follow the logs of the shards, and to lead some. Messages from other nodes go to
// Deliver from then on. Once.
func (n *Node) Replicate(t host.Transport) (err error) {
	n.host, err = host.Start(host.Options{
		Engine: n.engine, Node: n.record.node, Replicas: n.here(), Transport: t, Raft: n.o.Cluster.Raft,
		Logger: n.logger, Fatal: n.fatal(), Create: n.createReplica, Gone: n.replicaGone,
	})
	if err == nil {
		n.startBackground()
	}
	return err
}

// TakeOver gives take what keeps the coordination service of a cluster that was founded by a release in which
// node 1 had it for itself. Only that node can, so elsewhere the lead of the shard that is to have it now is
// handed to node 1.
func (n *Node) TakeOver(prefix []byte, take func(local.Store, []byte) error) error {
	if n.record.node == founder {
		n.logger.Info("the coordination service becomes a part of shard 1")
		return take(n.CoordStore(), prefix)
	}
	n.host.Transfer(MetaShard, founder)
	return kv.Errorf(kv.CodeUnavailable, "node.TakeOver", "the release before had coordination on node %d "+
		"alone, which has to hand it on: start node %d", founder, founder)
}

// founder had the coordination service for itself.
const founder kv.NodeID = 1

// Lead says who leads a shard, as far as this node has heard: zero for nobody.
func (n *Node) Lead(id kv.ShardID) kv.NodeID {
	if n.host == nil {
		return n.record.node
	}
	return raft.Node(n.host.Status(id).Leader)
}

// fatal is what ends the process.
func (n *Node) fatal() func(error) {
	if n.o.Fatal != nil {
		return n.o.Fatal
	}
	return func(err error) {
		fmt.Fprintln(os.Stderr, "moka:", err)
		os.Exit(1)
	}
}

// Deliver takes messages from other nodes' replicas.
func (n *Node) Deliver(ms []raft.Message) { n.host.Deliver(ms) }

// Feed gives another node the state of a shard.
func (n *Node) Feed(
	ctx context.Context, to kv.NodeID, id kv.ShardID, send func([]byte) error, wait func(context.Context),
) error {
	return n.host.Feed(ctx, to, id, send, wait)
}

// UseStore says how METADATA is reached, whoever leads its shard. Until then it is not corrected.
func (n *Node) UseStore(s kv.Store) { n.reach.Store(&s) }

// Replica is what a node knows of a shard's replicas.
type Replica struct {
	Shard kv.ShardID
	Lead  kv.Lead // as far as it has heard
	raft.Status
}

// Replicas lists the node's replicas, of a cluster.
func (n *Node) Replicas() []Replica {
	if n.host == nil {
		return nil
	}
	var rs []Replica
	for _, s := range n.here() {
		st := n.host.Status(s.ID())
		if st.Members == nil { // before its first turn
			st.Members = &raft.Members{}
		}
		lead := kv.Lead{Shard: s.ID(), Node: raft.Node(st.Leader), Term: st.Term}
		rs = append(rs, Replica{s.ID(), lead, st})
	}
	return rs
}

// led lists the shards that are led here: for a node of its own, all.
func (n *Node) led() []*shard.Replica {
	if n.o.Cluster == nil {
		return n.here()
	}
	return slices.DeleteFunc(n.here(), func(s *shard.Replica) bool { return !s.Leads() })
}

// leads reports whether a shard is among them.
func (n *Node) leads(id kv.ShardID) bool {
	if n.o.Cluster == nil {
		return true
	}
	s := n.shard(id)
	return s != nil && s.Leads()
}

// Leads reports whether a shard is led here.
func (n *Node) Leads(id kv.ShardID) bool { return n.leads(id) }

// repairMeta makes METADATA say what the tablet tables of the shards that are led here say. A crash between
// the two, or a change of lead, leaves it behind.
func (n *Node) repairMeta(ctx context.Context) error {
	var have, now []kv.Tablet
	var err error
	if n.o.Cluster == nil {
		have, err = bigtable.AllTablets(n.shard(MetaShard).Reader())
	} else {
		have, err = n.allTablets(ctx)
	}
	if err != nil {
		return err
	}
	led := map[kv.ShardID]bool{}
	for _, s := range n.led() {
		led[s.ID()] = true
		now = append(now, s.Tablets()...)
	}
	byEnd := map[string]kv.Tablet{}
	for _, t := range have {
		byEnd[string(t.Span.End)] = t
	}
	var req bigtable.UpdateMetaRequest
	for _, t := range now {
		end := string(t.Span.End)
		if old, ok := byEnd[end]; !ok || !sameTablet(old, t) {
			// A row of a greater generation would win over this one: it goes first.
			if ok && old.Generation > t.Generation {
				req.Gone = append(req.Gone, t.Span.End)
			}
			req.Now = append(req.Now, t)
		}
		delete(byEnd, end)
	}
	for _, t := range byEnd {
		if led[t.Shard] || n.o.Cluster == nil {
			req.Gone = append(req.Gone, t.Span.End)
		}
	}
	if len(req.Gone)+len(req.Now) == 0 {
		return nil
	}
	slices.SortFunc(req.Gone, func(a, b kv.RowKey) int { return cmp.Compare(string(a), string(b)) })
	level := slog.LevelInfo
	if len(have) == 0 {
		level = slog.LevelDebug // a new directory: its first rows
	}
	n.logger.Log(ctx, level, "METADATA repaired", "written", len(req.Now), "removed", len(req.Gone))
	if len(req.Gone) > 0 {
		if err := n.updateMeta(ctx, req.Gone, nil); err != nil {
			return err
		}
	}
	return n.updateMeta(ctx, nil, req.Now)
}

// callMeta runs a command at METADATA's shard, like any other.
func (n *Node) callMeta(ctx context.Context, id kv.CommandID, req kv.Message) (kv.Message, error) {
	if n.o.Cluster == nil {
		return n.Handle(ctx, MetaShard, nil, id, req)
	}
	s := n.reach.Load()
	if s == nil {
		return nil, kv.Errorf(kv.CodeUnavailable, "node", "METADATA is not reached yet; nothing happened")
	}
	return (*s).Call(ctx, MetaShard, nil, id, req)
}

// allTablets reads METADATA whole, wherever it is.
func (n *Node) allTablets(ctx context.Context) (all []kv.Tablet, err error) {
	for row := (kv.RowKey{}); ; {
		req := &bigtable.LookupRequest{Row: row, Limit: bigtable.MaxLookup}
		resp, err := n.callMeta(ctx, bigtable.CommandLookup, req)
		if err != nil {
			return nil, err
		}
		found, ok := resp.(*bigtable.LookupResponse)
		if !ok || len(found.Tablets) == 0 {
			return nil, kv.Errorf(kv.CodeInternal, "node", "METADATA answers with a %T without tablets", resp)
		}
		all = append(all, found.Tablets...)
		next := all[len(all)-1].Span.End
		if len(next) == 0 {
			return all, nil
		}
		if bytes.Compare(next, row) <= 0 {
			return nil, kv.Errorf(kv.CodeCorrupt, "node", "METADATA goes back from row %x to %x",
				[]byte(row), []byte(next))
		}
		row = next
	}
}

// newLeads reports whether a shard is led here in a term in which METADATA has not been compared with it, and
// notes that it will be.
func (n *Node) newLeads() (found bool) {
	if n.repaired == nil {
		n.repaired = map[kv.ShardID]uint64{}
	}
	for _, r := range n.Replicas() {
		if n.leads(r.Shard) && n.repaired[r.Shard] != r.Term {
			n.repaired[r.Shard], found = r.Term, true
		}
	}
	return found
}
