package txn

import (
	"moka/kv"
	"moka/txn/record"
)

// Mistakes that can be met only where somebody else runs in the middle of a command.

// ForgetLatest makes commits choose their commit_ts as if nobody had read without a timestamp.
func (m Memory) ForgetLatest() { m.st.latestTS.Store(0) }

// RaiseLate makes snapshots known to commits only when they have been read.
func (m Memory) RaiseLate() {
	var snapshot kv.Timestamp
	switch r := m.req.(type) {
	case *getRequest:
		snapshot = r.snapshot
	case *scanRequest:
		snapshot = r.snapshot
	default:
		return
	}
	was := m.st.maxTS.Load()
	*m.eval = &beforeReads{Eval: *m.eval, do: func() { m.st.maxTS.CompareAndSwap(uint64(snapshot), was) }}
	*m.undo = append(*m.undo, func() { raise(&m.st.maxTS, snapshot) })
}

// beforeReads does something before a command's first look at the shard.
type beforeReads struct {
	kv.Eval
	do   func()
	done bool
}

func (b *beforeReads) first() {
	if !b.done {
		b.done = true
		b.do()
	}
}

func (b *beforeReads) Get(a kv.Address, ts kv.Timestamp) ([]byte, bool, error) {
	b.first()
	return b.Eval.Get(a, ts)
}

func (b *beforeReads) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	b.first()
	return b.Eval.Latest(a, max)
}

func (b *beforeReads) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	return kv.EachLatest(b, columns, max, found)
}

func (b *beforeReads) Iter(o kv.IterOptions) (kv.Iterator, error) {
	b.first()
	return b.Eval.Iter(o)
}

// GuardLate chooses the commit_ts of one-phase commits, and the min_commit_ts of asynchronous ones, before guards are up.
func GuardLate(cmd kv.CommandID, e kv.Eval) kv.Eval {
	switch cmd {
	case cmdCommitOnePhase:
		return &lateGuards{Eval: e}
	case cmdPrewrite:
		return &secondGuards{Eval: e, seen: map[string]bool{}}
	}
	return e
}

// lateGuards puts guards of puts up when the first record is written.
type lateGuards struct {
	kv.Eval
	late []func()
}

func (l *lateGuards) Guard(a kv.Address, ts kv.Timestamp, value []byte) {
	if k, err := record.DecodeLock(value); err == nil && k.Kind == record.KindPut && a.Run == record.RunExclusive {
		l.late = append(l.late, func() { l.Eval.Guard(a, ts, value) })
		return
	}
	l.Eval.Guard(a, ts, value)
}

func (l *lateGuards) Set(a kv.Address, ts kv.Timestamp, value []byte) {
	for _, f := range l.late {
		f()
	}
	l.late = nil
	l.Eval.Set(a, ts, value)
}

// secondGuards leaves the guards out that do not know min_commit_ts yet.
type secondGuards struct {
	kv.Eval
	seen map[string]bool
}

func (s *secondGuards) Guard(a kv.Address, ts kv.Timestamp, value []byte) {
	if k := columnKey(a.Column); a.Run == record.RunExclusive && !s.seen[k] {
		s.seen[k] = true
		return
	}
	s.Eval.Guard(a, ts, value)
}

// LookOnce makes reads without a timestamp look for locks before they read, and not again.
func LookOnce(cmd kv.CommandID, e kv.Eval) kv.Eval {
	if cmd != cmdGetLatest {
		return e
	}
	return &oneLook{Eval: e}
}

type oneLook struct {
	kv.Eval
	read bool
}

func (o *oneLook) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	switch {
	case a.Group == kv.GroupTxnWrite:
		o.read = true
	case a.Group == kv.GroupTxnLock && o.read:
		return kv.Version{}, false, nil
	}
	return o.Eval.Latest(a, max)
}

func (o *oneLook) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	return kv.EachLatest(o, columns, max, found)
}

func (o *oneLook) Iter(opts kv.IterOptions) (kv.Iterator, error) {
	o.read = true
	return o.Eval.Iter(opts)
}

// TrustRepeated answers a repeated prewrite, of what is not latched, from the lock that its first copy has shown, durable or not.
func TrustRepeated(cmd kv.CommandID, e kv.Eval) kv.Eval {
	if cmd != cmdPrewrite {
		return e
	}
	return trustRepeated{e}
}

type trustRepeated struct{ kv.Eval }

func (t trustRepeated) Set(a kv.Address, ts kv.Timestamp, value []byte) {
	if a.Group == kv.GroupTxnLock && a.Run == record.RunShared {
		if _, there, err := t.Eval.Get(a, ts); there && err == nil {
			return
		}
	}
	t.Eval.Set(a, ts, value)
}

// PlantDeaf returns a coprocessor whose shards are not told what they have to know of tablets that come.
func PlantDeaf(o CoprocessorOptions) kv.Coprocessor {
	return deaf{NewCoprocessor(o).(*coprocessor)}
}

type deaf struct{ *coprocessor }

// deafState is a state that is a kv.TabletCarrier and no kv.TabletReceiver.
type deafState struct{ st *state }

func (d deafState) CarryTablet(t kv.Tablet) []kv.Carried { return d.st.CarryTablet(t) }

func (d deaf) OpenShard(s kv.ShardHandle) (any, error) {
	st, err := d.coprocessor.OpenShard(s)
	if err != nil {
		return nil, err
	}
	return deafState{st.(*state)}, nil
}

func (d deaf) Commands() []kv.Command {
	cs := d.coprocessor.Commands()
	for i := range cs {
		f := cs[i].Evaluate
		cs[i].Evaluate = func(e kv.Eval, req kv.Message) (kv.Message, error) { return f(deafEval{e}, req) }
	}
	return cs
}

type deafEval struct{ kv.Eval }

func (d deafEval) State() any { return d.Eval.State().(deafState).st }

// PlantKept returns a coprocessor that keeps what it knows of a shard when the shard's lead is lost,
// and goes on with it when the lead has been found again.
func PlantKept(o CoprocessorOptions) kv.Coprocessor {
	return kept{NewCoprocessor(o).(*coprocessor), map[kv.ShardID]any{}}
}

type kept struct {
	*coprocessor
	states map[kv.ShardID]any
}

func (k kept) OpenShard(s kv.ShardHandle) (any, error) {
	st, err := k.coprocessor.OpenShard(s)
	if was := k.states[s.ID()]; was != nil && err == nil {
		return was, nil
	}
	k.states[s.ID()] = st
	return st, err
}
