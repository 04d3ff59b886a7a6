// Package checksum compares the replicas of shards, while everybody goes on.
//
// Raft sees to it that replicas have the same log; that the same states come of it is the work of disks,
// memory and this program, and nothing looks at it otherwise. A replica whose state is another one answers
// wrongly from the day on which it leads.
//
//	leader: an entry that asks for it ─► every replica sums up its state behind it (kv/raft/host)
//	Shard: asks each node until it has done so ─► judge: whose sums are not those of most
package checksum

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"moka/kv"
	"moka/kv/node"
	"moka/kv/raft"
	"moka/kv/raft/host"
)

// Remote asks a node, whether it leads or not; rpc.Pool does.
type Remote interface {
	Call(ctx context.Context, to kv.NodeID, shard kv.ShardID, tablets []kv.TabletRef, command kv.CommandID,
		req kv.Message) (kv.Message, error)
}

// Report is what has come of a shard's comparison.
type Report struct {
	Shard    kv.ShardID
	Index    uint64 // of the entry behind which the states were
	Replicas []Replica
}

// Replica is one of a shard.
type Replica struct {
	ID    uint64
	State host.State
	// Err says why it has told nothing.
	Err error
	// Differs says that its state is not that of the others, and Where: the parts that are not.
	Differs bool
	Where   []Part
	// Log says that its log is another one already.
	Log bool
}

// Part is a locality group of a tablet; both are zero for what lies in no tablet.
type Part struct {
	Group  kv.GroupID
	Tablet kv.TabletID
}

// Differ reports whether any replica does.
func (r *Report) Differ() bool {
	return slices.ContainsFunc(r.Replicas, func(x Replica) bool { return x.Differs })
}

// Whole reports whether every replica has told what it has.
func (r *Report) Whole() bool {
	return !slices.ContainsFunc(r.Replicas, func(x Replica) bool { return x.Err != nil })
}

const (
	askEvery = 100 * time.Millisecond
	askTime  = 5 * time.Second
	// patience is how long a replica may come no further before it is given up. One that is getting the
	// state of the shard from another node does not come to the entry at all.
	patience = 15 * time.Second
)

// Shard compares the replicas of a shard. An error says that nothing was compared.
func Shard(ctx context.Context, store kv.Store, to Remote, id kv.ShardID) (*Report, error) {
	resp, err := store.Call(ctx, id, nil, node.CommandCheck, &node.CheckRequest{})
	if err != nil {
		return nil, err
	}
	c, ok := resp.(*node.CheckResponse)
	if !ok {
		return nil, kv.Errorf(kv.CodeInternal, "checksum", "a check is answered with a %T", resp)
	}
	r := &Report{Shard: id, Index: c.Index}
	for _, m := range c.Members.All() {
		r.Replicas = append(r.Replicas, Replica{ID: m})
	}
	var wg sync.WaitGroup
	for i := range r.Replicas {
		x := &r.Replicas[i]
		wg.Go(func() { x.State, x.Err = await(ctx, to, id, x.ID, c.Index) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	judge(r)
	return r, nil
}

// await asks a replica's node until it has read its state.
func await(
	ctx context.Context, to Remote, id kv.ShardID, replica, index uint64,
) (s host.State, err error) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	var last host.State
	for moved := time.Now(); ; {
		s, err = ask(ctx, to, id, replica)
		switch {
		case err != nil:
		case s.Replica != replica:
			err = fmt.Errorf("node %d has another replica of the shard meanwhile", raft.Node(replica))
		case s.Index > index:
			return s, fmt.Errorf("somebody else has had the shard compared meanwhile; try again")
		case s.Index == index && s.Done && s.Failed != "":
			return s, fmt.Errorf("its state cannot be read: %s", s.Failed)
		case s.Index == index && s.Done:
			return s, nil
		case s.Index != index:
			err = fmt.Errorf("it has not come to the entry at which it was to be compared")
		}
		if s.Index == index && s.Bytes != last.Bytes {
			moved, last = time.Now(), s
		}
		if time.Since(moved) > patience {
			if err == nil {
				err = fmt.Errorf("it reads no further than %d MiB", s.Bytes>>20)
			}
			return s, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
}

func ask(ctx context.Context, to Remote, id kv.ShardID, replica uint64) (s host.State, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	resp, err := to.Call(ctx, raft.Node(replica), id, nil, node.CommandChecked, &node.CheckedRequest{})
	if err != nil {
		return s, err
	}
	c, ok := resp.(*node.CheckedResponse)
	if !ok {
		return s, kv.Errorf(kv.CodeInternal, "checksum", "a node answers with a %T", resp)
	}
	return c.State, nil
}

// judge finds whose state is not that of most. Where no state is that of more replicas than any other
// nobody can tell who is right: then all of them differ.
func judge(r *Report) {
	type state struct{ hash, keys uint64 }
	of := func(x *Replica) state { return state{x.State.Hash, x.State.Keys} }
	count := map[state]int{}
	most, best := 0, (*Replica)(nil)
	for i := range r.Replicas {
		if x := &r.Replicas[i]; x.Err == nil {
			count[of(x)]++
			if n := count[of(x)]; n > most {
				most, best = n, x
			}
		}
	}
	if len(count) < 2 {
		return
	}
	tied := 0
	for _, n := range count {
		if n == most {
			tied++
		}
	}
	for i := range r.Replicas {
		x := &r.Replicas[i]
		if x.Err != nil || tied == 1 && of(x) == of(best) {
			continue
		}
		x.Differs = true
		from := best
		if x == best {
			from = other(r, x)
		}
		x.Where, x.Log = parts(from.State.Sums, x.State.Sums), x.State.Chain != from.State.Chain
	}
}

// other is a replica whose state is another one than that of x.
func other(r *Report, x *Replica) *Replica {
	for i := range r.Replicas {
		o := &r.Replicas[i]
		if o.Err == nil && (o.State.Hash != x.State.Hash || o.State.Keys != x.State.Keys) {
			return o
		}
	}
	return x
}

// parts are those that are not in both states alike, each once.
func parts(a, b []host.Sum) (ps []Part) {
	add := func(these, those []host.Sum) {
		for _, s := range these {
			p := Part{s.Group, s.Tablet}
			if !slices.Contains(those, s) && !slices.Contains(ps, p) {
				ps = append(ps, p)
			}
		}
	}
	add(a, b)
	add(b, a)
	return ps
}

// shownParts bounds the parts that a sentence names.
const shownParts = 4

// Verdict says in words what was found of a replica.
func (x *Replica) Verdict(group func(kv.GroupID) string) string {
	switch {
	case x.Err != nil:
		return "not compared: " + x.Err.Error()
	case !x.Differs:
		return "equal"
	}
	var names []string
	for i, p := range x.Where {
		if i == shownParts {
			names = append(names, fmt.Sprintf("%d more", len(x.Where)-i))
			break
		}
		name := "what lies in no tablet"
		if p.Tablet != 0 {
			name = fmt.Sprintf("%s of tablet %d", group(p.Group), p.Tablet)
		} else if p.Group != 0 {
			name = group(p.Group)
		}
		names = append(names, name)
	}
	s := "DIFFERS: " + strings.Join(names, ", ")
	if x.Log {
		s += "; its log is another one, too"
	}
	return s
}
