package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/coord/local"
	"moka/kv/coord/replicated"
	"moka/kv/node"
	"moka/kv/rpc"
	"moka/kv/rpc/coordrpc"
	"moka/kv/rpc/raftrpc"
	"moka/oracle"
	"moka/sqlfront"
)

// A cluster is a laboratory's still. Its founding members are named at every start, and one of them, the
// first, founds it, alone if no others are named; others join later. The shards have replicas on several nodes, and are led wherever they
// are elected; the coordination service and the oracle are where the first shard is led.
const founder kv.NodeID = 1

const (
	// clusterStart is how long a member waits for the others: people start them one after the other.
	clusterStart = 5 * time.Minute
	// clusterRetry outlives the election of a shard's leader, and of METADATA's behind it.
	clusterRetry = 15 * time.Second
	// clusterLockTTL is longer than an election, or each would roll back what waits for it.
	clusterLockTTL = 10 * time.Second
	// handOverTime bounds how long a member that stops waits for others to take its shards: some milliseconds
	// for each, if most of the members are up.
	handOverTime = 3 * time.Second
	// strangerTime is after how long without a leader a member asks who the others are.
	strangerTime = 3 * time.Second
	// dealtTables is how many of the first tables are dealt to the shards in turn, for tablets do not move
	// between them yet.
	dealtTables = 64
)

const labWarning = "LAB: a cluster is young; keep another copy of what matters"

// member is a node of a cluster.
type member struct {
	id   kv.NodeID
	addr string
}

// parseMembers reads --members.
func parseMembers(list []string) (ms []member, err error) {
	for _, s := range list {
		number, addr, ok := strings.Cut(strings.TrimSpace(s), "=")
		id, nerr := strconv.ParseUint(number, 10, 16)
		if _, port, aerr := net.SplitHostPort(addr); !ok || nerr != nil || id == 0 || aerr != nil ||
			port == "0" {
			return nil, fmt.Errorf("--members: %q is not NUMBER=HOST:PORT, such as 1=10.0.0.1:4001", s)
		}
		for _, m := range ms {
			if m.id == kv.NodeID(id) || m.addr == addr {
				return nil, fmt.Errorf("--members names number %d or address %s twice", id, addr)
			}
		}
		ms = append(ms, member{kv.NodeID(id), addr})
	}
	slices.SortFunc(ms, func(a, b member) int { return cmp.Compare(a.id, b.id) })
	return ms, nil
}

// validateCluster is validate for what makes a cluster, and finds out who this process is in it.
func (o *stackOptions) validateCluster() (err error) {
	if err := o.validateZone(); err != nil {
		return err
	}
	if o.joins = o.Join != "" && o.has(roleStorage) && (!o.Cluster || o.joins); o.joins {
		switch {
		case o.NodeAddr == "":
			return errors.New("--join with the storage role needs --node-addr, at which the other nodes " +
				"reach this one; without storage: --roles sql")
		case o.Memory:
			return errors.New("--join with --memory and the storage role: a node that forgets what it has " +
				"promised loses data of the others")
		case len(o.Members) > 0:
			return errors.New("--join with --members: a node that joins asks who the others are")
		case o.shardsAsked:
			return errors.New("--shards with --join: the cluster has its shards")
		}
		o.Cluster = true
		return nil
	}
	if !o.Cluster {
		if len(o.Members) > 0 {
			return errors.New("--members is for a node of a cluster: say --cluster too, or leave it away")
		}
		return nil
	}
	if o.members, err = parseMembers(o.Members); err != nil {
		return err
	}
	switch {
	case o.Join != "":
		return errors.New("--cluster with --join: a member is named by --members, and joins nobody")
	case o.Memory:
		return errors.New("--cluster with --memory: a member that forgets what it has promised loses data " +
			"of the others")
	case !o.has(roleStorage):
		return errors.New("--cluster is for processes with the storage role; others --join one")
	case o.NodeAddr == "":
		return errors.New("--cluster needs --node-addr, at which the other members reach this one")
	case len(o.members) == 0: // it begins alone, and others join it
		o.members, o.self = []member{{founder, o.NodeAddr}}, founder
		return nil
	case len(o.members) != 3 && len(o.members) != 5:
		return fmt.Errorf("--members names %d nodes: a cluster has 3 or 5", len(o.members))
	case o.members[0].id != founder:
		return fmt.Errorf("--members has no node %d, which founds the cluster", founder)
	}
	for _, m := range o.members {
		if m.addr == o.NodeAddr {
			o.self = m.id
			return nil
		}
	}
	return fmt.Errorf("--node-addr %s is none of --members %s: give it as it is there", o.NodeAddr,
		strings.Join(o.Members, ","))
}

// mostZone bounds the name of a zone.
const mostZone = 64

// validateZone sees that --zone is a word, and that there is somebody who looks at it.
func (o *stackOptions) validateZone() error {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	switch {
	case o.Zone == "":
		return nil
	case len(o.Zone) > mostZone || strings.ContainsFunc(o.Zone, odd):
		return fmt.Errorf("--zone %q: a name of up to %d printable ASCII characters without spaces", o.Zone,
			mostZone)
	case !o.has(roleStorage) || !o.Cluster && o.Join == "":
		return errors.New("--zone is for a node of a cluster, with the storage role: it says where " +
			"replicas are; leave it away")
	}
	return nil
}

func (o *stackOptions) address(id kv.NodeID) string {
	for _, m := range o.members {
		if m.id == id {
			return m.addr
		}
	}
	return ""
}

// openCluster opens a member: first what the others need of it, the replicas of its shards, then what it
// needs of the others.
func (s *stack) openCluster(ctx context.Context) error {
	farthest := cmp.Or(s.o.address(founder), s.o.Join)
	for _, m := range s.o.members {
		if !loopback(m.addr) {
			farthest = m.addr
		}
	}
	flag := "members"
	if s.o.joins {
		flag = "join"
	}
	known, err := s.o.dialCredentials(flag, farthest)
	if err != nil {
		return err
	}
	commands, err := rpc.NewRegistry(remoteCoprocessors()...)
	if err != nil {
		return err
	}
	ro := rpc.Options{Logger: s.o.Logger, Credentials: known}
	s.o.Logger.Warn(labWarning)

	s.replicated = true
	no := s.nodeOptions()
	s.oracles = oracle.NewHost(s.oracleAddress)
	s.oracle = s.oracles
	s.coordination = replicated.New(replicated.Options{
		Shard: node.MetaShard, Lead: s.leadOracle, TakeOver: s.takeOver, Logger: s.o.Logger,
	})
	no.Coprocessors = append(no.Coprocessors, s.coordination)
	no.Cluster = &node.Cluster{Self: s.o.self, Splits: s.o.dealt()}
	no.Cluster.Yield = func(ctx context.Context, id kv.ShardID) {
		if id != node.MetaShard {
			return
		}
		if err := s.oracles.Yield(ctx); err != nil {
			s.o.Logger.Warn("timestamps of the next leader begin some seconds ahead", "err", err)
		}
	}
	for _, m := range s.o.members {
		no.Cluster.Members = append(no.Cluster.Members, m.id)
	}
	no.Cluster.Found = func(string) (node.Founding, error) {
		if s.o.joins {
			return s.joinCluster(ctx, commands, ro)
		}
		if s.o.self == founder {
			var id [16]byte
			_, _ = rand.Read(id[:])
			return node.Founding{ID: hex.EncodeToString(id[:]), Shards: s.o.Shards}, nil
		}
		return s.enrol(ctx, commands, ro)
	}
	n, err := node.Open(no)
	if err != nil {
		return err
	}
	if has := n.ShardCount(); s.o.shardsAsked && s.o.Shards != has {
		return errors.Join(n.Close(), fmt.Errorf("--shards %d: the cluster has %d, which cannot be "+
			"changed yet; leave it away",
			s.o.Shards, has))
	}
	var transport *raftrpc.Transport
	s.node = n
	s.onClose(func(context.Context) error {
		err := n.Close()
		if transport != nil {
			transport.Close()
		}
		return err
	})
	ro.Cluster = n.ClusterID()
	if transport, err = raftrpc.New(s.member(), nil, ro); err != nil {
		return err
	}
	for _, m := range slices.Concat(s.o.members, s.met) {
		if err := n.Met(m.id, m.addr); err != nil {
			return err
		}
	}
	pool := rpc.NewPool(commands, ro)
	s.onClose(func(context.Context) error { pool.Close(); return nil })
	pool.SetAddress(n.ID(), s.o.NodeAddr) // who leads coordination is asked like another
	s.transport = transport
	s.nodeCalls = nodeCalls{s, pool}
	s.meet(pool, transport)
	if err := n.Replicate(transport); err != nil {
		return err
	}
	s.serveNodes()
	s.onClose(s.handOver)

	if err := s.awaitLeaders(ctx, pool); err != nil {
		return err
	}
	if err := s.reachCoordination(ctx, pool, known); err != nil {
		return err
	}
	return s.memberStore(pool)
}

// member is this node to the others.
func (s *stack) member() raftrpc.Member {
	n := s.node
	return raftrpc.Member{Cluster: n.ClusterID(), Node: n.ID(), Lives: n, Addr: s.o.NodeAddr, Book: n}
}

// leadOracle begins the oracle of a leadership of the first shard.
func (s *stack) leadOracle(svc coord.Service, lease replicated.Lease) (end func()) {
	return s.oracles.Lead(oracle.Start(svc, oracle.Options{
		Address: s.o.NodeAddr, Lease: lease, Logger: s.o.Logger,
	}))
}

// oracleAddress is where the oracle is, as far as this node has heard.
func (s *stack) oracleAddress() string { return s.address(s.node.Lead(node.MetaShard)) }

// takeOver finds what keeps the coordination service of a release before.
func (s *stack) takeOver(take func(local.Store, []byte) error) error {
	return s.node.TakeOver([]byte(coordPrefix), take)
}

// handOver gives away what this node leads, before it is out of reach.
func (s *stack) handOver(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, handOverTime)
	defer cancel()
	if err := s.node.HandOver(ctx); err != nil {
		s.o.Logger.Warn("stopping as a leader: others wait for an election", "err", err)
	}
	return nil
}

// dealt are the bounds of the first tables' tablets.
func (o *stackOptions) dealt() (bounds []kv.RowKey) {
	for id := range uint32(dealtTables) {
		bounds = append(bounds, sqlfront.TableStart(id))
	}
	return bounds
}

// enrolTry bounds how long one member is asked which cluster it is.
const enrolTry = time.Second

// enrol asks the other members, those that have a directory, which cluster a new one is to belong to. Who has
// had another directory has forgotten what he promised to the others, and may not come with a new one: the
// first of them that he meets tells him (node.HearLives).
func (s *stack) enrol(
	ctx context.Context, commands rpc.Commands, ro rpc.Options,
) (f node.Founding, err error) {
	pool := rpc.NewPool(commands, ro)
	defer pool.Close()
	s.o.Logger.Info("this directory is new: asking the other members for the cluster")
	for {
		for _, m := range s.o.members {
			if m.id == s.o.self {
				continue
			}
			try, cancel := context.WithTimeout(ctx, enrolTry)
			info, jerr := pool.Join(try, m.addr, version)
			cancel()
			if jerr != nil {
				err = errors.Join(jerr, ctx.Err())
				continue
			}
			if err := s.sameMembers(info, m); err != nil {
				return f, err
			}
			f = node.Founding{ID: info.ClusterID, Shards: len(info.Shards)}
			if s.o.shardsAsked && s.o.Shards != f.Shards {
				return f, fmt.Errorf("--shards %d: the cluster has %d, as node %d was told; leave it away "+
					"here", s.o.Shards, f.Shards, founder)
			}
			return f, nil
		}
		if ctx.Err() != nil {
			return f, fmt.Errorf("no other member answers that is part of the cluster; the first start of "+
				"node %d founds it: %w", founder, err)
		}
	}
}

// sameMembers sees that another member was told the same; others may have joined since.
func (s *stack) sameMembers(info rpc.ClusterInfo, m member) error {
	var theirs []kv.NodeID
	for _, n := range info.Nodes {
		theirs = append(theirs, n.ID)
	}
	slices.Sort(theirs)
	same := true
	for _, o := range s.o.members {
		same = same && slices.Contains(theirs, o.id)
	}
	if info.Node != m.id || !same {
		return fmt.Errorf("node %d at %s says that the members are %v, and --members here is %s", info.Node,
			m.addr, theirs, strings.Join(s.o.Members, ","))
	}
	return nil
}

// reachCoordination connects to whoever leads coordination and the oracle, and waits for it.
func (s *stack) reachCoordination(
	ctx context.Context, pool *rpc.Pool, known credentials.TransportCredentials,
) error {
	conn, missed := s.coordConn(pool)
	c := coordrpc.New(conn, coordrpc.Options{RetryFor: clusterRetry, Missed: missed, Logger: s.o.Logger})
	s.coord = c
	s.onClose(func(context.Context) error { c.Close(); return nil })
	addrs := []string{s.o.NodeAddr}
	for _, id := range s.others() {
		addrs = append(addrs, s.address(id))
	}
	for {
		_, err := c.Alive(ctx, 0)
		if err == nil {
			return s.reachOracle(addrs, s.oracles, known)
		}
		if ctx.Err() != nil || !errors.Is(err, coord.ErrUnavailable) {
			return fmt.Errorf("no node leads coordination: %w", err)
		}
		s.o.Logger.Info("waiting for coordination", "err", err)
	}
}

// strangers looks for members that are none: an address that another cluster has, or a directory that is.
// elsewhere reports whether others say that a shard has its replicas on other nodes and is led.
func (s *stack) strangers(ctx context.Context, pool *rpc.Pool, id kv.ShardID) (elsewhere bool, err error) {
	foreign := func(at, cluster string) error {
		return fmt.Errorf("%s belongs to cluster %s, and the node at %s to cluster %s: correct --data or "+
			"--members", s.o.Data, s.node.ClusterID(), at, cluster)
	}
	// It may have found out first, and have ended.
	if other, cluster := s.transport.Foreign(); other != 0 {
		return false, foreign(s.address(other), cluster)
	}
	for _, other := range s.others() {
		addr := s.address(other)
		try, cancel := context.WithTimeout(ctx, enrolTry)
		info, err := pool.Join(try, addr, version)
		cancel()
		if err != nil {
			continue // it is not there yet
		}
		if info.ClusterID != s.node.ClusterID() {
			return false, foreign(addr, info.ClusterID)
		}
		if info.Node != other {
			return false, fmt.Errorf("the node at %s is node %d, and node %d was to be there: correct "+
				"--members", addr, info.Node, other)
		}
		for _, x := range info.Shards {
			elsewhere = elsewhere || x.ID == id && x.Node != 0 && len(x.Replicas) > 0 &&
				!slices.Contains(x.Replicas, s.node.ID())
		}
	}
	return elsewhere, nil
}

// awaitLeaders waits until all shards are led.
func (s *stack) awaitLeaders(ctx context.Context, pool *rpc.Pool) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	soon := time.After(strangerTime)
	for {
		missing := kv.ShardID(0)
		for _, r := range s.node.Replicas() {
			if r.Lead.Node == 0 {
				missing = r.Shard
			}
		}
		if missing == 0 {
			return nil
		}
		select {
		case <-tick.C:
		case <-soon:
			s.o.Logger.Info("waiting for most of the members: start the others", "members",
				strings.Join(s.nodeList(), ","))
			if elsewhere, err := s.strangers(ctx, pool, missing); elsewhere || err != nil {
				return err // its replica here is none any more: the node will find out
			}
			soon = time.After(strangerTime)
		case <-ctx.Done():
			return fmt.Errorf("nobody leads shard %d: most of the members have to run (%s), and to reach "+
				"each other",
				missing, strings.Join(s.nodeList(), ", "))
		}
	}
}

// clusterInfo is what a member says of the cluster: where it has heard that shards are led.
func (s *stack) clusterInfo() rpc.ClusterInfo {
	n := s.node
	info := rpc.ClusterInfo{ClusterID: n.ClusterID(), Version: version, Node: n.ID(), Root: node.MetaShard}
	info.Nodes = append(info.Nodes, rpc.NodeInfo{ID: n.ID(), Address: s.o.NodeAddr})
	for _, id := range s.others() {
		info.Nodes = append(info.Nodes, rpc.NodeInfo{ID: id, Address: s.address(id)})
	}
	info.Shards = s.hearsay()
	for _, r := range n.Replicas() {
		if len(r.Members.Voters) > 0 {
			info.Shards[r.Shard-1] = rpc.ShardInfo{
				ID: r.Shard, Node: r.Lead.Node, Term: r.Lead.Term, Replicas: r.Members.Nodes(),
			}
		}
	}
	return info
}

// nodeList is how a person is told who the nodes are.
func (s *stack) nodeList() []string {
	list := []string{fmt.Sprintf("%d=%s", s.node.ID(), s.o.NodeAddr)}
	for _, id := range s.others() {
		list = append(list, fmt.Sprintf("%d=%s", id, s.address(id)))
	}
	return list
}

// replicaSection shows a member's replicas.
func (s *stack) replicaSection() section {
	sec := section{Title: "replicas", Columns: []string{"shard", "leader", "term", "applied", "committed",
		"log MiB"}}
	for _, r := range s.node.Replicas() {
		leader := "none"
		if r.Lead.Node != 0 {
			leader = fmt.Sprintf("node %d", r.Lead.Node)
		}
		sec.Rows = append(sec.Rows, []string{fmt.Sprint(r.Shard), leader, fmt.Sprint(r.Lead.Term),
			fmt.Sprint(r.Applied),
			fmt.Sprint(r.Committed), fmt.Sprint(r.LogBytes >> 20)})
	}
	return sec
}
