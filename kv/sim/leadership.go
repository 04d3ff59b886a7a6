package sim

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"

	"moka/kv"
	"moka/kv/raft"
)

// memory is what a coprocessor knows and has nowhere written: how far the clock of reads has come, and up to where transactions were
// pushed. A new leadership knows nothing; a timestamp that was issued after it had begun, its seed, stands for all that it has to.
type memory struct {
	seed  uint64
	reads map[string]uint64 // key: the newest snapshot that has read it
	push  map[uint64]uint64 // transaction: it commits above
}

func newMemory() *memory { return &memory{reads: map[string]uint64{}, push: map[uint64]uint64{}} }

// leadership is what a shard's leader has in memory.
type leadership struct {
	*memory
	r       *replica
	l       *raft.Leadership
	latches map[string][]*command // the first of a key's holds it
	guards  map[string]*command   // keys that one-phase commits are about to write
	blocked []*command            // readers that wait for a guard
	running int
	over    bool
}

// unrest says what is held although nobody should hold anything.
func (ld *leadership) unrest() string {
	if ld.running > 0 || len(ld.blocked) > 0 || len(ld.guards) > 0 {
		return fmt.Sprintf("%d commands are running, %d wait, %d guards are up", ld.running, len(ld.blocked), len(ld.guards))
	}
	return ""
}

// leave tells the driver that nothing runs any more, once that is so.
func (ld *leadership) leave() {
	if ld.over && ld.r.old[ld] && (ld.running == 0 || planted(12)) {
		delete(ld.r.old, ld)
		ld.r.n.in.Ended = append(ld.r.n.in.Ended, ld.l)
		ld.r.n.kick()
	}
}

// verb is what a client can ask for.
type verb uint8

const (
	rawRead verb = iota
	snapshotRead
	rawAppend
	rawInsert
	onePhase
	prewrite
	commit
	checkStatus
)

func (v verb) writes() bool { return v >= rawAppend }

func (v verb) String() string {
	return [...]string{"raw read", "snapshot read", "raw append", "raw insert", "one-phase commit", "prewrite", "commit", "check status"}[v]
}

// request is a command as it travels.
type request struct {
	verb     verb
	shard    kv.ShardID
	key      string
	x        uint64
	start    uint64
	ts       uint64 // the snapshot, or the commit timestamp
	pass     []uint64
	force    bool // checkStatus: roll back rather than push
	lead     [2]uint64
	seed     uint64
	deadline time.Duration
}

type code uint8

const (
	ok code = iota
	notLeader
	busy
	unknown
	needSeed
	locked
	exists
	conflict
	tooSmall
	rolledBack
	pushed
)

// answer is what comes back. All but notLeader, busy and unknown say something about the state, so they need the lease.
type answer struct {
	code code
	ts   uint64
	list []uint64
	node uint64
	term uint64
	lead [2]uint64
	lock lock
}

// command is a request at the leader.
type command struct {
	request
	ld     *leadership
	reply  func(answer)
	result answer
	ended  bool
}

// handle takes a request that has arrived.
func (r *replica) handle(q request, reply func(answer)) {
	if r.lead == nil {
		reply(r.notLeader())
		return
	}
	c := &command{request: q, ld: r.lead, reply: reply}
	c.ld.running++
	if q.verb.writes() {
		if planted(11) {
			r.n.after(q.deadline, c.release)
		}
		waiting := append(c.ld.latches[q.key], c)
		c.ld.latches[q.key] = waiting
		if len(waiting) > 1 {
			return
		}
	}
	c.evaluate()
}

// gap is the time between two steps of a command: hardly any, and now and then a long one, in which everything else goes on.
func (w *world) gap() time.Duration {
	if w.healed || !w.chance(w.gaps) {
		return w.between(0, 50*time.Microsecond)
	}
	return w.between(0, 4*w.et)
}

func (c *command) evaluate() {
	n := c.ld.r.n
	if planted(9) && !c.verb.writes() && c.ld.l.Valid(n.now()) {
		gap := time.Duration(n.w.rng.Float64() * float64(n.w.et) / 8)
		n.after(gap, func() {
			if _, wait := c.run(); wait {
				c.ld.blocked = append(c.ld.blocked, c)
				return
			}
			c.finish(c.result)
		})
		return
	}
	c.answerOrPropose(c.run())
}

func (c *command) answerOrPropose(e effects, wait bool) {
	n := c.ld.r.n
	switch {
	case wait:
		c.ld.blocked = append(c.ld.blocked, c)
	case len(e) > 0:
		n.after(n.w.gap(), func() { c.propose(e) })
	case planted(10) && c.verb.writes():
		c.finish(c.result)
	default:
		n.after(n.w.gap(), c.vouch)
	}
}

// propose hands the effects to the driver, whatever has happened to the leadership since they were evaluated: that is for the driver to
// see.
func (c *command) propose(e effects) {
	r := c.ld.r
	p := &raft.Proposal{Lead: c.ld.l, Command: raft.Command{Batch: e.encode()}}
	r.asked[p] = c
	r.n.in.Proposals = append(r.n.in.Proposals, p)
	r.n.kick()
}

// vouch answers if this was the only leadership at some moment behind the evaluation.
func (c *command) vouch() {
	r := c.ld.r
	if c.ld.l.Valid(r.n.now()) {
		r.n.w.check.leases(r.shard)
		c.finish(c.result)
		return
	}
	c.ask()
}

func (c *command) ask() {
	r := c.ld.r
	q := &raft.Read{Lead: c.ld.l}
	r.reads[q] = c
	r.n.in.Reads = append(r.n.in.Reads, q)
	r.n.kick()
}

// finish answers a command and gives back what it holds.
func (c *command) finish(a answer) {
	if c.ended {
		return
	}
	c.ended = true
	c.release()
	c.ld.running--
	c.reply(a)
	c.ld.leave()
}

// release gives back the latch and the guard, if they are still held.
func (c *command) release() {
	ld := c.ld
	if q := ld.latches[c.key]; c.verb.writes() {
		if i := slices.Index(q, c); i >= 0 {
			ld.latches[c.key] = slices.Delete(slices.Clone(q), i, i+1)
			if i == 0 && len(q) > 1 && !ld.over {
				ld.latches[c.key][0].evaluate()
			}
		}
	}
	if ld.guards[c.key] == c {
		delete(ld.guards, c.key)
		blocked := ld.blocked
		ld.blocked = nil
		for _, b := range blocked {
			b.evaluate()
		}
	}
}

// versions lists those of a key, oldest first.
func (r *replica) versions(key string, f func(ts, x, start uint64)) {
	r.n.disk.each(r.prefix+versionKey+key+"/", func(rest string, v []byte) {
		ts, err := strconv.ParseUint(rest, 16, 64)
		if err != nil {
			r.n.w.fail("key %s has no timestamp: %v", rest, err)
		}
		f(ts, binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:]))
	})
}

// find looks for what has become of a transaction on a key: its version, and the newest of all.
func (r *replica) find(key string, start uint64) (mine, newest uint64) {
	r.versions(key, func(ts, _, s uint64) {
		newest = ts
		if s == start {
			mine = ts
		}
	})
	return mine, newest
}

func numbers(b []byte) (xs []uint64) {
	for ; len(b) >= 8; b = b[8:] {
		xs = append(xs, binary.BigEndian.Uint64(b))
	}
	return xs
}

// run evaluates: the answer goes to c.result, what is to be changed is returned. wait says that a guard is in the way.
func (c *command) run() (e effects, wait bool) {
	ld, r := c.ld, c.ld.r
	set := func(key string, v []byte) { e = append(e, change{key: key, value: v}) }
	del := func(key string) { e = append(e, change{key: key, deleted: true}) }
	c.result = answer{}
	if (c.verb == snapshotRead || c.verb > rawInsert) && (ld.guards[c.key] != nil || r.strays[c.key] != nil) {
		return nil, true
	}
	if c.verb == onePhase || c.verb == commit {
		// A leadership that is new to the timestamps learns one that was issued after it had begun.
		name := [2]uint64{ld.l.Term, ld.l.N}
		if ld.seed == 0 && c.lead == name {
			ld.seed = c.seed
		}
		if ld.seed == 0 {
			c.result = answer{code: needSeed, lead: name}
			return nil, false
		}
	}
	held, isLocked := r.locks[c.key]
	mine, newest := uint64(0), uint64(0)
	if c.verb > rawInsert {
		mine, newest = r.find(c.key, c.start)
	}
	_, tomb := r.get(tombKey + stamp(c.key, c.start))
	switch c.verb {
	case rawRead:
		b, _ := r.get(rawKey + c.key)
		c.result.list = numbers(b)
	case snapshotRead:
		if isLocked && held.start <= c.ts && !slices.Contains(c.pass, held.start) {
			c.result = answer{code: locked, lock: held}
			break
		}
		ld.reads[c.key] = max(ld.reads[c.key], c.ts)
		r.versions(c.key, func(ts, x, _ uint64) {
			if ts <= c.ts {
				c.result.list = append(c.result.list, x)
			}
		})
	case rawAppend, rawInsert:
		b, _ := r.get(rawKey + c.key)
		if c.verb == rawInsert && len(b) > 0 {
			c.result = answer{code: exists, list: numbers(b)}
			break
		}
		set(rawKey+c.key, binary.BigEndian.AppendUint64(slices.Clone(b), c.x))
		c.result.ts = uint64(len(b)/8) + 1
	case onePhase:
		switch {
		case mine != 0:
			c.result.ts = mine
		case isLocked:
			c.result = answer{code: locked, lock: held}
		case newest > c.start:
			c.result.code = conflict
		default:
			ld.guards[c.key] = c
			c.result.ts = max(c.start, ld.reads[c.key], ld.seed) + 1
			set(versionKey+stamp(c.key, c.result.ts), pair(c.x, c.start))
		}
	case prewrite:
		switch {
		case tomb:
			c.result.code = rolledBack
		case mine != 0, isLocked && held.start == c.start:
		case isLocked:
			c.result = answer{code: locked, lock: held}
		case newest > c.start:
			c.result.code = conflict
		default:
			set(lockKey+c.key, pair(c.x, c.start))
		}
	case commit:
		switch {
		case mine != 0:
			c.result.ts = mine
		case isLocked && held.start == c.start && c.ts <= max(ld.push[c.start], ld.seed):
			c.result.code = tooSmall
		case isLocked && held.start == c.start:
			c.result.ts = c.ts
			del(lockKey + c.key)
			set(versionKey+stamp(c.key, c.ts), pair(c.x, c.start))
		default:
			c.result.code = rolledBack
			if !tomb {
				set(tombKey+stamp(c.key, c.start), []byte{1})
			}
		}
	case checkStatus:
		switch {
		case mine != 0:
			c.result.ts = mine
		case tomb:
			c.result.code = rolledBack
		case isLocked && held.start == c.start && !c.force:
			ld.push[c.start] = max(ld.push[c.start], c.ts)
			c.result.code = pushed
		default:
			c.result.code = rolledBack
			set(tombKey+stamp(c.key, c.start), []byte{1})
			if isLocked && held.start == c.start {
				del(lockKey + c.key)
			}
		}
	}
	return e, false
}
