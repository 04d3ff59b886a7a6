package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"moka/kv"
	"moka/kv/client"
	"moka/kv/coord"
	"moka/kv/node"
	"moka/kv/raft"
	"moka/kv/rpc"
	"moka/kv/rpc/coordrpc"
	"moka/kv/schedule"
)

const (
	// nodesEvery is how often a node reads who the others are, and, where the first shard is led, looks
	// after the replicas of all.
	nodesEvery = time.Second
	// joinNode is how long a node that joins may take to get a number.
	joinNode = 30 * time.Second
)

// meet keeps the addresses by which this node reaches others as the node knows them.
func (s *stack) meet(pool *rpc.Pool, peers interface {
	SetPeer(id kv.NodeID, addr string) error
}) {
	s.node.TellNodes(func(id kv.NodeID, k node.Known) {
		if k.Removed {
			k.Addr = ""
			pool.Forget(id)
		} else if k.Addr != "" {
			pool.SetAddress(id, k.Addr)
		}
		if err := peers.SetPeer(id, k.Addr); err != nil {
			s.o.Logger.Error("the address of another node", "node", id, "err", err)
		}
	})
}

// others are the nodes of the cluster besides this one, as far as it knows.
func (s *stack) others() (ids []kv.NodeID) {
	for id, k := range s.node.Nodes() {
		if !k.Removed && k.Addr != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// address is where a node is reached, as far as this one has heard.
func (s *stack) address(id kv.NodeID) string {
	if s.node == nil {
		return s.o.address(id)
	}
	if id == s.node.ID() {
		return s.o.NodeAddr
	}
	return s.node.Nodes()[id].Addr
}

// followNodes says that this node is there, learns of others, and schedules where the first shard is led.
func (s *stack) followNodes(ctx context.Context) {
	var sched *schedule.Scheduler
	t := time.NewTicker(nodesEvery)
	defer t.Stop()
	for {
		if err := s.lookAtNodes(ctx); errors.Is(err, schedule.ErrRemoved) {
			s.failed <- fmt.Errorf("node %d was removed from the cluster (moka ctl decommission): its "+
				"replicas are on other nodes, and it is not needed any more. To have this machine in the "+
				"cluster again start it with --join and an empty --data", s.node.ID())
			return
		} else if err != nil && ctx.Err() == nil {
			s.o.Logger.Debug("the list of nodes", "err", err)
		}
		if !s.node.Leads(node.MetaShard) {
			sched = nil
		} else if sched == nil {
			sched = schedule.New(schedule.Options{Coord: s.coord, Store: s.store, Shards: s.allShards(),
				DeadAfter: s.o.DeadAfter, Logger: s.o.Logger})
		}
		if sched != nil {
			if err := sched.Turn(ctx); err != nil && ctx.Err() == nil {
				s.o.Logger.Debug("a turn of the scheduler", "err", err)
			}
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *stack) lookAtNodes(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clusterRetry)
	defer cancel()
	r, err := schedule.Read(ctx, s.coord)
	if err != nil {
		return err
	}
	s.registry.Store(r)
	self := schedule.Node{ID: s.node.ID(), Addr: s.o.NodeAddr, SQL: s.sqlAddr, Zone: s.o.Zone,
		Disk: s.disk()}
	s.tellShort(self.Disk != schedule.Roomy)
	if err := schedule.Register(ctx, s.coord, r, self, s.keeper.current()); err != nil {
		return err
	}
	s.node.LearnRoom(withRoom(r))
	for _, n := range r.Nodes {
		if n.State == schedule.Removed {
			err = errors.Join(err, s.node.RemoveNode(n.ID))
		} else {
			err = errors.Join(err, s.node.LearnNode(n.ID, n.Addr))
		}
	}
	return err
}

// disk is what this node says of its disk.
func (s *stack) disk() schedule.Disk {
	switch {
	case s.node.Room() != nil:
		return schedule.Full
	case s.node.Short():
		return schedule.Short
	}
	return schedule.Roomy
}

// withRoom are the nodes that are up and take what adds; nil if no disk is full.
func withRoom(r *schedule.Registry) map[kv.NodeID]bool {
	room, full := map[kv.NodeID]bool{}, false
	for _, n := range r.Nodes {
		full = full || n.Disk == schedule.Full
		room[n.ID] = n.Here && n.Disk != schedule.Full
	}
	if !full {
		return nil
	}
	return room
}

// tellShort says once when the node's disk gets short of room, and when it has some again.
func (s *stack) tellShort(short bool) {
	switch {
	case short && !s.short:
		s.o.Logger.Warn("this node's disk is nearly full: what it leads is handed to nodes with room, and "+
			"it gets nothing until it has room again", "node", s.node.ID())
	case !short && s.short:
		s.o.Logger.Info("this node's disk has room again: it may lead", "node", s.node.ID())
	}
	s.short = short
}

func (s *stack) allShards() (ids []kv.ShardID) {
	for i := range s.node.ShardCount() {
		ids = append(ids, kv.ShardID(i+1))
	}
	return ids
}

// hearsay are the shards of which this node has no replica, as the scheduler has written them down last.
func (s *stack) hearsay() []rpc.ShardInfo {
	r := s.registry.Load()
	var infos []rpc.ShardInfo
	for _, id := range s.allShards() {
		info := rpc.ShardInfo{ID: id, Replicas: s.others()}
		if r != nil {
			for _, p := range r.Shards {
				if p.ID == id {
					info = rpc.ShardInfo{ID: id, Node: p.Leader, Term: p.Term, Replicas: p.Nodes}
				}
			}
		}
		infos = append(infos, info)
	}
	return infos
}

// joinCluster asks a member for a number, and says where this new node will be.
func (s *stack) joinCluster(
	ctx context.Context, commands rpc.Commands, ro rpc.Options,
) (f node.Founding, err error) {
	pool := rpc.NewPool(commands, ro)
	defer pool.Close()
	ctx, cancel := context.WithTimeout(ctx, joinNode)
	defer cancel()
	info, err := pool.Join(ctx, s.o.Join, version)
	if err != nil {
		return f, fmt.Errorf("no node of a cluster answers at %s: %w; correct --join", s.o.Join, err)
	}
	if len(info.Shards) == 0 || len(info.Shards[0].Replicas) == 0 {
		return f, fmt.Errorf("the database at %s has one node and no cluster: nodes with storage cannot "+
			"join it; start this process with --roles sql", s.o.Join)
	}
	var known []kv.NodeID
	around := &rotation{pool: pool}
	for _, n := range info.Nodes {
		known = append(known, n.ID)
		s.met = append(s.met, member{n.ID, n.Address})
		if n.Address == s.o.NodeAddr {
			return f, fmt.Errorf("--node-addr %s is that of node %d: a new node has one of its own",
				n.Address, n.ID)
		}
	}
	around.nodes = func() []kv.NodeID { return known }
	c := coordrpc.New(around.conn, coordrpc.Options{RetryFor: joinNode, Missed: around.next})
	defer c.Close()
	id, err := schedule.Join(ctx, c, s.o.NodeAddr, s.sqlAddr, known)
	if err != nil {
		return f, fmt.Errorf("the cluster gives no number to a new node: %w", err)
	}
	s.o.Logger.Info("this directory is new: it becomes a node of the cluster", "node", id, "cluster",
		info.ClusterID)
	return node.Founding{ID: info.ClusterID, Shards: len(info.Shards), Node: id}, nil
}

// coordConn finds who leads coordination: where this node has a replica of its shard it has heard, and else
// it asks around.
func (s *stack) coordConn(pool *rpc.Pool) (conn coordrpc.Conn, missed func()) {
	around := &rotation{pool: pool, nodes: s.others}
	return func() (grpc.ClientConnInterface, error) {
		if lead := s.node.Lead(node.MetaShard); lead != 0 {
			return pool.Conn(lead)
		}
		return around.conn()
	}, around.next
}

// clustered refuses a control where there is no cluster.
func clustered(f func(context.Context, *stack, []string) (any, error)) func(context.Context, *stack,
	[]string) (any, error) {
	return func(ctx context.Context, s *stack, args []string) (any, error) {
		if s.node == nil || !s.o.Cluster {
			return nil, errors.New("this process is not a node of a cluster; ask one that is")
		}
		return f(ctx, s, args)
	}
}

// nodeArg reads the number of a node.
func nodeArg(s string) (kv.NodeID, error) {
	id, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("node %q is not a number", s)
	}
	return kv.NodeID(id), nil
}

// nodeSection lists the nodes of the cluster.
func nodeSection(ctx context.Context, s *stack, _ []string) (any, error) {
	r, err := schedule.Read(ctx, s.coord)
	if err != nil {
		return nil, err
	}
	shards, whole := schedule.Ask(ctx, s.store, s.allShards())
	replicas, leads := map[kv.NodeID]int{}, map[kv.NodeID]int{}
	for _, x := range shards {
		for _, n := range x.Members.Nodes() {
			replicas[n]++
		}
		leads[x.Leader]++
	}
	sec := section{Title: "nodes", Columns: []string{"node", "address", "sql", "state", "process", "replicas",
		"leads", "may be away", "zone"}}
	for _, n := range r.Nodes {
		process := "down"
		if n.Here {
			process = cmp.Or(string(n.Disk), "up")
		}
		count := func(m map[kv.NodeID]int) string {
			if !whole {
				return fmt.Sprintf("%d?", m[n.ID])
			}
			return fmt.Sprint(m[n.ID])
		}
		sec.Rows = append(sec.Rows, []string{fmt.Sprint(n.ID), n.Addr, n.SQL, n.State.String(), process,
			count(replicas), count(leads), patience(n), n.Zone})
	}
	return sec, nil
}

// patience says for how long a node may be away, if it is for longer than others.
func patience(n schedule.Node) string {
	if n.Patience == 0 {
		return ""
	}
	return n.Patience.String()
}

// mostPatience bounds maintenance: who is away for longer comes back to other nodes anyway.
const mostPatience = 7 * 24 * time.Hour

// setPatience lets a node be away for longer than others, once.
func setPatience(ctx context.Context, s *stack, args []string) (any, error) {
	id, err := nodeArg(args[0])
	if err != nil {
		return nil, err
	}
	d, err := time.ParseDuration(args[1])
	if err != nil || d < 0 || d > mostPatience {
		return nil, fmt.Errorf("%q is no time of up to %v, such as 10m", args[1], mostPatience)
	}
	if err := schedule.SetPatience(ctx, s.coord, id, d); err != nil {
		return nil, fmt.Errorf("node %d: %w", id, err)
	}
	return nodeSection(ctx, s, nil)
}

// replicaList lists the replicas of all shards, as their leaders see them.
func replicaList(ctx context.Context, s *stack, _ []string) (any, error) {
	shards, whole := schedule.Ask(ctx, s.store, s.allShards())
	sec := section{Title: "replicas", Columns: []string{"shard", "node", "replica", "role", "behind",
		"state"}}
	for _, x := range shards {
		most := uint64(0)
		for _, p := range x.Peers {
			most = max(most, p.Match)
		}
		for _, p := range x.Peers {
			role := "voter"
			switch m := &x.Members; {
			case raft.Node(p.Replica) == x.Leader:
				role = "leader"
			case slices.Contains(m.Learners, p.Replica):
				role = "learner"
			case !slices.Contains(m.Voters, p.Replica):
				role = "leaves"
			}
			state := "follows"
			switch {
			case !p.There:
				state = "silent"
			case p.Waits:
				state = "gets a snapshot"
			}
			sec.Rows = append(sec.Rows, []string{fmt.Sprint(x.ID), fmt.Sprint(raft.Node(p.Replica)),
				fmt.Sprintf("%d.%d", raft.Node(p.Replica), raft.Incarnation(p.Replica)), role,
				fmt.Sprint(most - p.Match), state})
		}
	}
	if !whole {
		sec.Rows = append(sec.Rows, []string{"?", "", "", "", "", "the leaders of some shards do not answer"})
	}
	return sec, nil
}

// setState changes what is to become of a node, and shows the nodes then.
func setState(to schedule.State, check func(s *stack, r *schedule.Registry, n schedule.Node) error) func(
	context.Context, *stack, []string) (any, error) {
	return func(ctx context.Context, s *stack, args []string) (any, error) {
		id, err := nodeArg(args[0])
		if err != nil {
			return nil, err
		}
		err = schedule.SetState(ctx, s.coord, id, to, func(r *schedule.Registry, n schedule.Node) error {
			if n.State == schedule.Removed {
				return fmt.Errorf("node %d was removed, and its number never comes back", id)
			}
			return check(s, r, n)
		})
		if err != nil {
			return nil, err
		}
		return nodeSection(ctx, s, nil)
	}
}

func anyNode(*stack, *schedule.Registry, schedule.Node) error { return nil }

// mayLeave sees that enough nodes are left to have the replicas.
func mayLeave(_ *stack, r *schedule.Registry, n schedule.Node) error {
	var left []string
	for _, o := range r.Nodes {
		if o.ID != n.ID && o.Here && o.State == schedule.Up {
			left = append(left, fmt.Sprint(o.ID))
		}
	}
	if len(left) < r.Replicas || r.Replicas == 0 {
		return fmt.Errorf("each shard has %d replicas, and without node %d there would be nodes %s for "+
			"them: add one first (moka start --join)", r.Replicas, n.ID, strings.Join(left, ", "))
	}
	return nil
}

// transferShard hands a shard to another node.
func transferShard(ctx context.Context, s *stack, args []string) (any, error) {
	id, err := strconv.ParseUint(args[0], 10, 32)
	if err != nil || id < 1 || int(id) > s.node.ShardCount() {
		return nil, fmt.Errorf("shard %q: there are shards 1 to %d", args[0], s.node.ShardCount())
	}
	to, err := nodeArg(args[1])
	if err != nil {
		return nil, err
	}
	shards, _ := schedule.Ask(ctx, s.store, []kv.ShardID{kv.ShardID(id)})
	if len(shards) != 1 {
		return nil, fmt.Errorf("nobody leads shard %d now", id)
	}
	r := shards[0].Members.On(to)
	if !slices.Contains(shards[0].Members.Voters, r) {
		return nil, fmt.Errorf("node %d has no replica of shard %d that may lead it", to, id)
	}
	_, err = s.store.Call(ctx, kv.ShardID(id), nil, node.CommandOrder, &node.OrderRequest{HandOver: to})
	if err != nil {
		return nil, err
	}
	return section{Title: "handed over", Columns: []string{"shard", "to node"},
		Rows: [][]string{{args[0], args[1]}}}, nil
}

// memberStore makes the clients of a member's own store.
func (s *stack) memberStore(pool *rpc.Pool) (err error) {
	n := s.node
	co := client.Options{Node: n.ID(), Local: n, Remote: pool, RetryFor: clusterRetry, Logger: s.o.Logger}
	if s.meta, err = client.NewMetadata(cluster{s}, n, co); err != nil {
		return err
	}
	if s.store, err = client.New(s.meta, n, co); err != nil {
		return err
	}
	n.UseStore(s.store)
	return nil
}

// current is the session that this process has now.
func (k *keeper) current() coord.SessionID {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.session.ID()
}

// settledLag is how many entries a replica may be behind and still count: under load one always is.
const settledLag = 512

// lackingList says what the shards' replicas lack until one node may fail: nothing, if all of them have what
// they are to have. A process that is no node of a cluster lacks nothing.
func lackingList(ctx context.Context, s *stack, _ []string) (any, error) {
	sec := section{Title: "lacking", Columns: []string{"shard", "what"}}
	if s.node == nil || !s.o.Cluster {
		return sec, nil
	}
	r, err := schedule.Read(ctx, s.coord)
	if err != nil {
		return nil, err
	}
	ids := s.allShards()
	shards, _ := schedule.Ask(ctx, s.store, ids)
	for _, id := range ids {
		i := slices.IndexFunc(shards, func(x schedule.ShardView) bool { return x.ID == id })
		if i < 0 {
			sec.Rows = append(sec.Rows, []string{fmt.Sprint(id), "its leader does not answer"})
			continue
		}
		for _, what := range lacking(&shards[i], r) {
			sec.Rows = append(sec.Rows, []string{fmt.Sprint(id), what})
		}
	}
	return sec, nil
}

// lacking is what a shard does.
func lacking(x *schedule.ShardView, r *schedule.Registry) (whats []string) {
	m, most := &x.Members, uint64(0)
	for _, p := range x.Peers {
		most = max(most, p.Match)
	}
	if r.Replicas == 0 {
		whats = append(whats, "how many replicas there are to be is not decided yet")
	}
	if n := len(m.Voters); n < r.Replicas {
		whats = append(whats, fmt.Sprintf("%d of %d replicas vote", n, r.Replicas))
	}
	if m.Joint() || len(m.Learners) > 0 {
		whats = append(whats, "its replicas change")
	}
	for _, v := range m.Voters {
		node := raft.Node(v)
		if n, ok := r.Node(node); ok && (n.State == schedule.Leaving || n.State == schedule.Removed) {
			whats = append(whats, fmt.Sprintf("node %d is %s", node, n.State))
		}
		i := slices.IndexFunc(x.Peers, func(p raft.Peer) bool { return p.Replica == v })
		switch {
		case i < 0 || !x.Peers[i].There:
			whats = append(whats, fmt.Sprintf("node %d is silent", node))
		case x.Peers[i].Waits:
			whats = append(whats, fmt.Sprintf("node %d gets a snapshot", node))
		case x.Peers[i].Match+settledLag < most:
			whats = append(whats, fmt.Sprintf("node %d is %d entries behind", node, most-x.Peers[i].Match))
		}
	}
	return whats
}

// settledTurn is how often a server is asked that is waited for.
const settledTurn = 200 * time.Millisecond

// addWait lets "moka ctl status" wait until nothing is lacking. A server that does not answer yet is waited
// for as well: this is what a script does behind a start.
func addWait(cmd *cobra.Command, to *asked) {
	wait := cmd.Flags().Bool("wait", false,
		"first wait until each shard has all of its replicas, and they follow")
	limit := cmd.Flags().Duration("timeout", 10*time.Minute, "with --wait: for how long")
	show := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *wait {
			if err := awaitSettled(cmd.Context(), to, *limit); err != nil {
				return err
			}
		}
		return show(cmd, args)
	}
}

func awaitSettled(ctx context.Context, to *asked, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(settledTurn)
	defer tick.Stop()
	q := question{addr: to.addr, path: "/ctl/lacking", of: controls["lacking"]}
	for said := ""; ; {
		var sec section
		b, err := askControl(ctx, q, to.data, to.file)
		if err == nil {
			err = json.Unmarshal(b, &sec)
		}
		switch {
		case err == nil && len(sec.Rows) == 0:
			return nil
		case err == nil:
			err = fmt.Errorf("shard %s: %s", sec.Rows[0][0], sec.Rows[0][1])
		}
		if ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			fmt.Fprintln(os.Stderr, "waiting:", said)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("not all is there after %v; the last was %s", limit, said)
		}
	}
}
