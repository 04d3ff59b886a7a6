package sim

import (
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"moka/kv/raft"
)

// node is one process with its disk and its clock. What it keeps in memory is gone when it crashes; life tells its lives apart.
type node struct {
	w    *world
	id   uint64
	disk *disk

	life     int
	up       bool
	standing bool     // the process stands still (SIGSTOP); what comes waits
	deferred []func() // what has come meanwhile

	// The clock: true time since zero, at a rate of its own, from anywhere.
	rate     float64
	offset   time.Duration
	stopped  time.Duration // how long it has stood still (Options.StoppedClocks)
	stopping time.Duration // since when, if it does

	d        *raft.Driver
	replicas []*replica // as world.shards
	in       raft.Input
	turning  bool
	planned  time.Duration // when the next turn is planned; zero if none
	slowDisk time.Duration
	full     bool           // its disk
	crashAt  step           // the step of a turn behind which the process dies
	trap     *raft.Transfer // comes together with the next proposals
	arrived  map[*raft.Snapshot]batch
}

// step is a place in a turn at which a process may die.
type step uint8

const (
	nowhere step = iota
	afterTurn
	afterEarly
	afterApply
	afterSync
)

func (n *node) now() raft.Instant {
	real := n.w.now - n.stopped
	if n.stopping != 0 {
		real = n.stopping - n.stopped
	}
	return raft.Instant(float64(real)*n.rate) + raft.Instant(n.offset)
}

// until returns how long it takes until the node's clock shows t.
func (n *node) until(t raft.Instant) time.Duration {
	return time.Duration(float64(t-n.now())/n.rate) + 1
}

// after makes f happen in this life of the process, when it does not stand still.
func (n *node) after(d time.Duration, f func()) {
	life := n.life
	n.w.after(d, func() { n.do(life, f) })
}

func (n *node) do(life int, f func()) {
	switch {
	case n.life != life || !n.up:
	case n.standing:
		n.deferred = append(n.deferred, func() { n.do(life, f) })
	default:
		f()
	}
}

// start begins a life with what the disk has.
func (n *node) start() {
	n.life++
	n.up, n.standing, n.turning, n.crashAt = true, false, false, nowhere
	n.deferred, n.in, n.planned, n.trap = nil, raft.Input{}, 0, nil
	n.offset = n.w.between(0, time.Hour)
	n.w.note("start", n.id, uint64(n.life))
	n.d = raft.NewDriver(n.now(), n.w.driver)
	n.arrived = map[*raft.Snapshot]batch{}
	n.replicas = make([]*replica, len(n.w.shards))
	for _, s := range n.w.shards {
		n.open(s)
	}
	n.plan(0)
}

// crash ends the process, and with the machine what the disk had not written.
func (n *node) crash() {
	if !n.up {
		return
	}
	keep := n.w.rng.IntN(len(n.disk.log) + 1)
	if n.w.chance(0.5) {
		keep = 0
	}
	n.w.note("crash", n.id, uint64(len(n.disk.log)), uint64(keep))
	n.w.stats.Crashes++
	if n.stopping != 0 {
		n.stopped += n.w.now - n.stopping
		n.stopping = 0
	}
	n.up = false
	n.life++
	n.disk.crash(keep)
}

// stand makes the process stand still, and its clock with it if the run is of that kind.
func (n *node) stand(d time.Duration) {
	if !n.up || n.standing {
		return
	}
	n.w.note("stand", n.id, uint64(d))
	n.standing = true
	if n.w.o.StoppedClocks {
		n.stopping = n.w.now
	}
	life := n.life
	n.w.after(d, func() {
		if n.life == life {
			n.wake()
		}
	})
}

func (n *node) wake() {
	if !n.standing {
		return
	}
	n.w.note("wake", n.id)
	n.standing = false
	if n.stopping != 0 {
		n.stopped += n.w.now - n.stopping
		n.stopping = 0
	}
	fs := n.deferred
	n.deferred = nil
	for _, f := range fs {
		f()
	}
}

// plan makes sure of a turn within d.
func (n *node) plan(d time.Duration) {
	at := n.w.now + d
	if n.turning || n.planned != 0 && n.planned <= at {
		return
	}
	n.planned = max(at, 1)
	n.after(d, func() {
		if n.turning || n.planned != max(at, 1) {
			return
		}
		n.planned = 0
		if n.w.now > at && n.w.chance(0.5) { // the process has stood still: what has come meanwhile is read first
			n.kick()
			return
		}
		n.turn()
	})
}

// kick is called when there is something for the driver.
func (n *node) kick() { n.plan(n.w.between(0, 200*time.Microsecond)) }

// dies reports whether the process ends here.
func (n *node) dies(s step) bool {
	if n.crashAt != s {
		return false
	}
	n.crash()
	return true
}

// turn is one turn of the driver, as the host of package raft plays it.
func (n *node) turn() {
	n.turning = true
	in := n.in
	n.in = raft.Input{}
	if n.trap != nil && len(in.Proposals) > 0 {
		in.Transfers = append(in.Transfers, *n.trap)
		n.trap = nil
	}
	if n.w.o.Members {
		n.admit(in.Messages)
	}
	var b batch
	t, err := n.d.Turn(n.now(), &b, in)
	if err != nil {
		n.w.fail("node %d: %v", n.id, err)
	}
	if n.dies(afterTurn) {
		return
	}
	n.send(t.Early)
	if n.dies(afterEarly) {
		return
	}
	for _, x := range t.Installs {
		n.install(x)
	}
	for _, x := range t.Discarded {
		delete(n.arrived, x)
	}
	for _, x := range t.Wanted {
		n.want(x)
	}
	for _, e := range t.Events {
		if a, ok := e.(*raft.Applied); ok {
			n.replica(a.Shard).stage(&b, a)
		}
	}
	number := n.disk.applied
	if len(b) > 0 {
		number = n.disk.apply(b)
	}
	n.tell(t)
	for _, x := range t.Removed {
		n.remove(x)
	}
	n.w.check.turn(n)
	if n.dies(afterApply) {
		return
	}
	if !t.Sync {
		n.wrote(t)
		return
	}
	n.after(n.syncTime(), func() {
		n.disk.sync(number)
		if !n.dies(afterSync) {
			n.wrote(t)
		}
	})
}

func (n *node) syncTime() time.Duration {
	if n.w.healed {
		return 100 * time.Microsecond
	}
	return n.w.between(50*time.Microsecond, 3*time.Millisecond) + n.w.between(0, n.slowDisk)
}

func (n *node) wrote(t *raft.Turn) {
	late, more := n.d.Wrote(t)
	n.send(late)
	n.turning = false
	in := &n.in
	if more || len(in.Snapshots)+len(in.Sends)+len(in.Changes)+len(in.Messages)+len(in.Proposals)+
		len(in.Reads)+len(in.Ended)+len(in.Transfers) > 0 {
		n.kick()
		return
	}
	n.plan(n.until(n.d.NextTick()))
}

// tell hands the turn's events to the replicas, in their order.
func (n *node) tell(t *raft.Turn) {
	for _, e := range t.Events {
		switch e := e.(type) {
		case *raft.Begun:
			n.replica(e.Lead.Shard).begin(e.Lead)
		case *raft.Ended:
			n.replica(e.Lead.Shard).end(e)
		case *raft.Applied:
			n.replica(e.Shard).applyMemory(e)
		}
	}
	for _, r := range t.Refused {
		n.replica(r.Proposal.Lead.Shard).refused(r)
	}
	for _, a := range t.Answers {
		n.replica(a.Read.Lead.Shard).answered(a)
	}
}

func (n *node) send(ms []raft.Message) {
	for _, m := range ms {
		if int(raft.Node(m.GetTo())) > len(n.w.nodes) {
			continue
		}
		to := n.w.nodes[raft.Node(m.GetTo())-1]
		if n.w.voted != nil && m.GetType() == raftpb.MsgVoteResp && !m.GetReject() {
			n.w.voted(n, to)
		}
		if n.w.campaigned != nil && m.GetType() == raftpb.MsgVote {
			n.w.campaigned(n)
		}
		n.w.net.send(n.id, to.id, func() {
			to.do(to.life, func() {
				if to.full && m.Adds() {
					return
				}
				n.w.note("message", to.id, m.GetFrom(), uint64(m.Shard), uint64(m.GetType()), m.GetTerm(), m.GetIndex())
				to.in.Messages = append(to.in.Messages, m)
				to.kick()
			})
		})
	}
}
