package schedule

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/kv/node"
)

// Options of a Scheduler; all must be there but Logger.
type Options struct {
	Coord  coord.Service
	Store  kv.Store
	Shards []kv.ShardID
	// DeadAfter is for how long a node may be silent until its replicas are made elsewhere; zero: for ever.
	DeadAfter time.Duration
	Logger    *slog.Logger
	// Now is a clock that also counts while the machine sleeps; nil is the system's.
	Now func() time.Time
}

// Scheduler looks and orders, turn by turn. It is not safe for concurrent use.
type Scheduler struct {
	o      Options
	silent map[kv.NodeID]time.Time // since when
	said   map[Step]bool           // of the last turn, so that each is logged once
	moved  time.Time               // the last step for balance of leads
	wish   Step                    // such a step, and in how many turns on end
	wished int
}

// New returns a scheduler that has seen nothing yet.
func New(o Options) *Scheduler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Scheduler{o: o, silent: map[kv.NodeID]time.Time{}, said: map[Step]bool{}}
}

// askTime bounds a question to a shard's leader.
const askTime = 2 * time.Second

// leadsEvery is how often a shard may be handed over for balance alone.
const leadsEvery = 10 * time.Second

// leadsTurns is in how many turns on end it must have been worth it.
const leadsTurns = 5

// Turn takes one: look, order, and note who has nothing any more and was to leave.
func (s *Scheduler) Turn(ctx context.Context) error {
	r, err := Read(ctx, s.o.Coord)
	if err != nil {
		return err
	}
	v, whole := s.look(ctx, r)
	if len(v.Shards) == 0 {
		return nil
	}
	v.Replicas = v.wanted()
	said := map[Step]bool{}
	for _, st := range Plan(v) {
		if st.Why == leadsWhy && !s.longWished(st) {
			continue
		}
		if err := s.order(ctx, st); err != nil && !errors.Is(err, kv.ErrBusy) && ctx.Err() == nil {
			s.o.Logger.Warn("a step of a shard's replicas was not taken; trying on", "shard", st.Shard,
				"err", err)
		}
		if said[st] = true; !s.said[st] {
			s.o.Logger.Info("replicas change", "shard", st.Shard, "learn", st.Learn, "promote", st.Promote,
				"remove", st.Remove, "hand_over_to", st.HandOver, "why", st.Why)
		}
	}
	if s.said = said; !whole {
		return nil
	}
	if err := publish(ctx, s.o.Coord, r, v.Replicas, placed(v)); err != nil {
		return err
	}
	return s.dismiss(ctx, r, v)
}

// fullReplicas are what each shard of a cluster has, as soon as there are nodes for them: one may die then.
const fullReplicas = 3

// wanted is how many replicas each shard is to have: what it was founded with, and in a cluster that began
// with one node three, once there are three nodes. Two would be worse than one: either may stop all then.
func (v *View) wanted() int {
	want := v.Replicas
	if want == 0 {
		want = len(v.Shards[0].Members.Voters)
	}
	here := 0
	for _, n := range v.Nodes {
		if n.Here && n.State == Up {
			here++
		}
	}
	if want < fullReplicas && here >= fullReplicas {
		return fullReplicas
	}
	return want
}

// Look reads who the nodes are, and what the leaders of the shards say. whole is false if one of them did
// not answer.
func (s *Scheduler) look(ctx context.Context, r *Registry) (v *View, whole bool) {
	v = &View{Replicas: r.Replicas}
	now := s.o.Now()
	for _, n := range r.Nodes {
		if n.State == Removed {
			continue
		}
		since, was := s.silent[n.ID]
		switch {
		case n.Here:
			delete(s.silent, n.ID)
		case !was:
			since = now
			s.silent[n.ID] = now
		}
		dead := !n.Here && s.o.DeadAfter > 0 && now.Sub(since) >= max(s.o.DeadAfter, n.Patience)
		v.Nodes = append(v.Nodes, NodeView{n.ID, n.State, n.Zone, n.Here, n.Disk != Roomy, dead})
	}
	v.Shards, whole = Ask(ctx, s.o.Store, s.o.Shards)
	return v, whole
}

// Ask asks the leaders of shards for their replicas.
func Ask(ctx context.Context, store kv.Store, shards []kv.ShardID) (vs []ShardView, whole bool) {
	whole = true
	for _, id := range shards {
		ask, cancel := context.WithTimeout(ctx, askTime)
		resp, err := store.Call(ask, id, nil, node.CommandMembers, &node.MembersRequest{})
		cancel()
		m, ok := resp.(*node.MembersResponse)
		if err != nil || !ok {
			whole = false
			continue
		}
		vs = append(vs, ShardView{id, m.Leader, m.Term, m.Members, m.Peers})
	}
	return vs, whole
}

// longWished holds back what is only for balance: who has just died looks alive for a moment.
func (s *Scheduler) longWished(st Step) bool {
	if st != s.wish {
		s.wish, s.wished = st, 0
	}
	s.wished++
	now := s.o.Now()
	if s.wished < leadsTurns || now.Sub(s.moved) < leadsEvery {
		return false
	}
	s.moved, s.wished = now, 0
	return true
}

func (s *Scheduler) order(ctx context.Context, st Step) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, err := s.o.Store.Call(ctx, st.Shard, nil, node.CommandOrder, &node.OrderRequest{Version: st.Version,
		Learn: st.Learn, Promote: st.Promote, Remove: st.Remove, HandOver: st.HandOver})
	return err
}

func placed(v *View) (ps []Placed) {
	for _, s := range v.Shards {
		ps = append(ps, Placed{s.ID, s.Leader, s.Term, s.Members.Nodes()})
	}
	return ps
}

// dismiss removes nodes that were to leave and have no replica any more, of any shard.
func (s *Scheduler) dismiss(ctx context.Context, r *Registry, v *View) error {
	for _, n := range r.Nodes {
		if n.State != Leaving {
			continue
		}
		has := false
		for _, x := range v.Shards {
			has = has || x.Members.On(n.ID) != 0
		}
		if has {
			continue
		}
		err := SetState(ctx, s.o.Coord, n.ID, Removed, func(_ *Registry, now Node) error {
			if now.State != Leaving {
				return kv.Errorf(kv.CodeBusy, "schedule", "node %d was to leave, and stays", n.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.o.Logger.Info("a node has no replicas any more and is removed", "node", n.ID)
	}
	return nil
}
