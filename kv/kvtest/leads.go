package kvtest

import (
	"maps"
	"slices"

	"moka/kv"
)

// leads is what a shard knows of its leaderships. Its data is that of one replica that follows the log,
// whoever leads.
type leads struct {
	proposed []*eval      // are in the log of this leader; whether they are applied is not decided
	applied  []*eval      // are applied, and their commands do not know yet
	lost     [][]op       // were proposed in a leadership that is over
	absent   bool         // nobody leads
	over     map[int]bool // leaderships, by shard.opened, that ended without the process
}

func without(es []*eval, e *eval) []*eval {
	if i := slices.Index(es, e); i >= 0 {
		return slices.Delete(es, i, i+1)
	}
	return es
}

// Depose ends a shard's leadership. Its commands end with ErrNotLeader, or with ErrOutcomeUnknown if
// they have proposed something; coprocessor states and guards are gone. What was visible stays, and is
// durable from now on: other replicas have it. Until Lead, commands are refused with ErrNotLeader. It
// must not run beside Move.
func (m *Mem) Depose(id kv.ShardID) {
	s := m.shards[id-1]
	s.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	over := maps.Clone(s.over)
	if over == nil {
		over = map[int]bool{}
	}
	over[s.opened] = true
	s.opened++
	lost := s.lost
	for _, e := range s.proposed {
		lost = append(lost, e.ops)
	}
	for _, e := range s.applied {
		s.hideLocked(e.ops)
	}
	s.hardenLocked()
	s.groups = s.withoutGuardsLocked(s.groups)
	s.leads = leads{lost: lost, absent: true, over: over}
}

// Led reports whether anybody leads the shard.
func (m *Mem) Led(id kv.ShardID) bool {
	s := m.shards[id-1]
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.absent
}

// Lead begins a leadership of a shard that has none. Of each proposal that was lost with earlier ones
// late says whether it has made its way into the log that the new leader has: then it is applied first.
// Otherwise it never will be.
func (m *Mem) Lead(id kv.ShardID, late func() bool) {
	s := m.shards[id-1]
	s.mu.Lock()
	for _, ops := range s.lost {
		if !late() {
			continue
		}
		s.showLocked(ops)
		s.hideLocked(ops)
		if m.o.Crash {
			s.tail = append(s.tail, ops)
			s.hardenLocked()
		}
	}
	s.lost, s.absent = nil, false
	s.mu.Unlock()
	if err := s.open(); err != nil {
		panic(err)
	}
}

// propose hands a batch to the log. It reports false if the leadership in which it was evaluated is
// over: then nothing has happened.
func (e *eval) propose() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.opened != e.life {
		return false
	}
	e.proposed = append(e.proposed, e)
	return true
}

// ended is the error of a command whose leadership, or process, is over. Unknown says that it has
// proposed something.
func (s *shard) ended(life int, unknown bool, op string) error {
	s.mu.Lock()
	deposed := s.over[life] || life == s.opened && s.absent
	s.mu.Unlock()
	switch {
	case unknown:
		return kv.Errorf(kv.CodeOutcomeUnknown, op, "shard %d was killed, or lost the lead", s.id)
	case deposed:
		return kv.NotLeader(op, kv.Lead{Shard: s.id})
	}
	return kv.Errorf(kv.CodeUnavailable, op, "shard %d is not up, or was restarted", s.id)
}
