package txn

import (
	"sync"

	"context"
	"fmt"
	"github.com/tidwall/btree"
	"strings"
	"sync/atomic"

	"moka/kv"
	"moka/txn/newest"
	"moka/txn/record"
)

// Names that only this package's tests need.

const (
	CmdGet            = cmdGet
	CmdScan           = cmdScan
	CmdPrewrite       = cmdPrewrite
	CmdCommitOnePhase = cmdCommitOnePhase
	CmdCommit         = cmdCommit
	CmdRollback       = cmdRollback
	CmdCheckStatus    = cmdCheckStatus
	CmdResolve        = cmdResolve
	CmdHeartbeat      = cmdHeartbeat
	CmdSeed           = cmdSeed
	CmdCollect        = cmdCollect
	CmdSafePoint      = cmdSafePoint
	CmdLock           = cmdLock

	CmdCheckSecondaries = cmdCheckSecondaries
	CmdGetLatest        = cmdGetLatest
)

// SlotOf is the slot of recent in which a column's commits are noted.
func SlotOf(c kv.Column) int { return int(newest.Hash(c) & (newest.Default - 1)) }

// ClockOf is the oracle of a client, for another one beside it.
func ClockOf(c *Client) Timestamps { return c.clock }

// CommandName names a command in traces.
func CommandName(id kv.CommandID) string {
	for _, c := range (&coprocessor{}).Commands() {
		if c.ID == id {
			return strings.TrimPrefix(c.Name, "txn.")
		}
	}
	return fmt.Sprint(id)
}

// Stored is one committed version.
type Stored struct {
	Column            kv.Column
	StartTS, CommitTS kv.Timestamp
	Delete            bool
	Value             []byte
}

// StoredVersions lists all committed versions of a shard.
func StoredVersions(r kv.Reader) (vs []Stored, err error) {
	it, err := r.Iter(kv.IterOptions{Group: kv.GroupTxnWrite})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for it.NextColumn() {
		for ok := true; ok; ok = it.NextVersion() {
			v := it.Version()
			w, err := record.DecodeWrite(v.Value, v.Timestamp)
			if err != nil {
				return nil, err
			}
			val, err := valueOf(r, it.Column(), v)
			if err != nil {
				return nil, err
			}
			vs = append(vs, Stored{cloneColumn(it.Column()), w.StartTS, v.Timestamp, w.Kind == record.KindDelete, append([]byte(nil), val.Data...)})
		}
	}
	return vs, it.Err()
}

// StoredAt is one of them.
func StoredAt(r kv.Reader, c kv.Column, commitTS kv.Timestamp) (Stored, error) {
	b, ok, err := r.Get(record.WriteAt(c), commitTS)
	if err != nil || !ok {
		return Stored{}, fmt.Errorf("no version %v of %s: %w", commitTS, columnName(c), err)
	}
	v := kv.Version{Timestamp: commitTS, Value: b}
	w, err := record.DecodeWrite(b, commitTS)
	if err != nil {
		return Stored{}, err
	}
	val, err := valueOf(r, c, v)
	return Stored{cloneColumn(c), w.StartTS, commitTS, w.Kind == record.KindDelete, append([]byte(nil), val.Data...)}, err
}

// DumpCells shows what is stored as the paper's figures do: one line for each column, its versions newest first.
//
//	bob   data@5=8  lock@7 primary  write@6=data@5
func DumpCells(r kv.Reader) (map[string][]string, error) {
	cells := map[string][]string{}
	add := func(c kv.Column, format string, args ...any) {
		cells[columnName(c)] = append(cells[columnName(c)], fmt.Sprintf(format, args...))
	}
	for _, g := range []struct {
		group kv.GroupID
		run   uint32
	}{{kv.GroupTxnLock, record.RunExclusive}, {kv.GroupTxnLock, record.RunShared}, {kv.GroupTxnWrite, 0}, {kv.GroupTxnData, 0}, {kv.GroupTxnRollback, 0}, {kv.GroupNotify, 1}, {kv.GroupNotify, 2}} {
		it, err := r.Iter(kv.IterOptions{Group: g.group, Run: g.run})
		if err != nil {
			return nil, err
		}
		for it.NextColumn() {
			for ok := true; ok; ok = it.NextVersion() {
				s, err := describe(g.group, g.run, it.Version())
				if err != nil {
					return nil, err
				}
				add(it.Column(), "%s", s)
			}
		}
		if err := it.Err(); err != nil {
			return nil, err
		}
		it.Close()
	}
	return cells, nil
}

func columnName(c kv.Column) string {
	s := string(c.Row.Row())
	if c.Family != 0 || len(c.Qualifier) > 0 {
		s += fmt.Sprintf(".%d:%s", c.Family, c.Qualifier)
	}
	return s
}

func describe(g kv.GroupID, run uint32, v kv.Version) (string, error) {
	e, err := record.Describe(g, run, v)
	if err != nil {
		return "", err
	}
	s := fmt.Sprintf("%s@%v", e.Group, e.Timestamp)
	switch {
	case e.Group == "lock":
		s += ":" + e.Kind
		if e.HasValue {
			s += "=" + string(e.Value)
		}
		if e.Primary == nil {
			return s + " (primary)", nil
		}
		return s + " (primary is " + columnName(*e.Primary) + ")", nil
	case e.Group == "data":
		return fmt.Sprintf("%s=%d bytes", s, len(e.Value)), nil
	case e.Marker:
		return fmt.Sprintf("locked-until@%v", e.Refers), nil
	case e.Group == "rollback":
		return s, nil
	case e.Group == "notify":
		return fmt.Sprintf("notify %d@%v<-%v", e.Observer, e.Timestamp, e.Refers), nil
	}
	s += fmt.Sprintf("<-%v", e.Refers)
	switch {
	case e.Kind == record.KindDelete.String():
		s += ":delete"
	case e.HasValue:
		s += "=" + string(e.Value)
	}
	return s, nil
}

// PlainShards makes some shards refuse asynchronous commits, as nodes do whose operator has turned them off.
func PlainShards(c kv.Coprocessor, plain func(kv.ShardID) bool) kv.Coprocessor {
	return plainShards{c, plain}
}

type plainShards struct {
	kv.Coprocessor
	plain func(kv.ShardID) bool
}

func (p plainShards) OpenShard(s kv.ShardHandle) (any, error) {
	st, err := p.Coprocessor.OpenShard(s)
	switch st := st.(type) {
	case *state:
		st.noAsync.Store(p.plain(s.ID()))
	case deafState:
		st.st.noAsync.Store(p.plain(s.ID()))
	}
	return st, err
}

// Plant returns a coprocessor with a mistake in it, for tests of the tests. broken wraps what commands see of their shard.
func Plant(broken func(cmd kv.CommandID, e kv.Eval) kv.Eval) kv.Coprocessor {
	return &planted{coprocessor: coprocessor{CoprocessorOptions{MaxRequires: 1024, RangeFrom: 1}.withDefaults()}, broken: broken}
}

// PlantForgetful returns a coprocessor that spoils what a shard remembers before each command.
func PlantForgetful(spoil func(m Memory)) kv.Coprocessor {
	return PlantForgetfulWith(CoprocessorOptions{MaxRequires: 1024, RangeFrom: 1}, spoil)
}

// PlantForgetfulWith is PlantForgetful with options.
func PlantForgetfulWith(o CoprocessorOptions, spoil func(m Memory)) kv.Coprocessor {
	return &planted{coprocessor: coprocessor{o.withDefaults()}, spoil: spoil}
}

// OnlyRaiseSlots leaves the slots of commits as they are that are not above them. It is for shards with few slots.
func (m Memory) OnlyRaiseSlots() {
	before := make([]uint64, len(m.st.recent))
	for i := range before {
		before[i] = m.st.recent[i].Load()
	}
	e := versionsEval{*m.eval, map[uint64]bool{}}
	*m.eval = e
	*m.undo = append(*m.undo, func() {
		for i, slot := range before {
			if !e.written[slot+1] {
				m.st.recent[i].CompareAndSwap(slot+1, slot)
			}
		}
	})
}

// versionsEval notes the timestamps of versions that a command writes.
type versionsEval struct {
	kv.Eval
	written map[uint64]bool
}

func (e versionsEval) Set(a kv.Address, ts kv.Timestamp, value []byte) {
	if a.Group == kv.GroupTxnWrite {
		e.written[uint64(ts)] = true
	}
	e.Eval.Set(a, ts, value)
}

// DecideWithoutLooking makes whoever meets an asynchronous commit whose owner had its time roll it back at once.
func (m Memory) DecideWithoutLooking() {
	if r, ok := m.req.(*statusRequest); ok {
		r.rollback = true
	}
}

// TakeMissingForLocked makes locks that are not there count as there.
func (m Memory) TakeMissingForLocked() {
	if r, ok := m.req.(*secondariesRequest); ok {
		r.columns = nil
	}
}

// Memory is what a shard remembers, to be spoilt.
type Memory struct {
	st   *state
	req  kv.Message
	undo *[]func() // runs after the command
	eval *kv.Eval
}

// forget sets a number to zero for as long as the command takes.
func (m Memory) forget(n *atomic.Uint64) {
	was := n.Swap(0)
	*m.undo = append(*m.undo, func() { raise(n, kv.Timestamp(was)) })
}

// ReadBelowSafePoint serves snapshots with holes.
func (m Memory) ReadBelowSafePoint() {
	switch m.req.(type) {
	case *getRequest, *scanRequest:
		m.forget(&m.st.safePoint)
	}
}

// WriteBelowSafePoint lets transactions commit although what they conflict with may be gone.
func (m Memory) WriteBelowSafePoint() {
	if _, ok := m.req.(*writeRequest); ok {
		m.forget(&m.st.safePoint)
	}
}

// LeaveOldLocks makes the safe point pass locks of transactions that began below it.
func (m Memory) LeaveOldLocks() {
	if _, ok := m.req.(*safePointRequest); ok {
		was := m.st.locks
		m.st.locks = noOldest{was}
		*m.undo = append(*m.undo, func() { m.st.locks = was })
	}
}

type noOldest struct{ kv.MemTable }

func (noOldest) Min() (kv.Timestamp, bool) { return 0, false }

// ForgetSwept takes a transaction of which nothing is left for one that was rolled back; together with locks that were left.
func (m Memory) ForgetSwept() {
	m.LeaveOldLocks()
	switch m.req.(type) {
	case *statusRequest, *secondariesRequest, *commitRequest:
		m.forget(&m.st.swept)
	}
}

// TrustShareLocks takes share locks as proof that nobody has written since the snapshot, although they may have been lost meanwhile.
func (m Memory) TrustShareLocks() {
	m.trust(func(_ *writeRequest, x *mutation) bool { return x.share })
}

// TrustRowLocks takes the row locks of whoever has some as that proof.
func (m Memory) TrustRowLocks() {
	m.trust(func(r *writeRequest, x *mutation) bool { return r.owner != 0 })
}

func (m Memory) trust(which func(*writeRequest, *mutation) bool) {
	r, ok := m.req.(*writeRequest)
	if !ok {
		return
	}
	trusted := map[string]bool{}
	for _, x := range r.mutations {
		trusted[columnKey(x.column)] = trusted[columnKey(x.column)] || which(r, x)
	}
	*m.eval = trustingEval{*m.eval, trusted}
}

// trustingEval does not see who was first in columns that it trusts a lock for.
type trustingEval struct {
	kv.Eval
	columns map[string]bool
}

func (e trustingEval) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	if a.Group == kv.GroupTxnWrite && e.columns[columnKey(a.Column)] {
		return kv.Version{}, false, nil
	}
	return e.Eval.Latest(a, max)
}

func (e trustingEval) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	return kv.EachLatest(e, columns, max, found)
}

// ForgetReads makes one-phase commits choose their commit_ts as if nobody had read.
func (m Memory) ForgetReads() { m.st.maxTS.Store(0) }

// KeepVersions takes remembered versions for the newest whatever was committed since, and commits do not replace them.
func (m Memory) KeepVersions() {
	switch m.req.(type) {
	case *writeRequest, *commitRequest, *resolveRequest:
		for i := range m.st.hot.missed {
			m.st.hot.missed[i].Store(0)
		}
		was := make([]*hotVersion, hotSlots)
		for i := range was {
			was[i] = m.st.hot.entries[i].Swap(nil)
		}
		*m.undo = append(*m.undo, func() {
			for i, h := range was {
				m.st.hot.entries[i].CompareAndSwap(nil, h)
			}
		})
		return
	}
	for i := range m.st.hot.entries {
		if h := m.st.hot.entries[i].Load(); h != nil {
			stale := *h
			stale.slot = m.st.recent.Slot(h.column).Load()
			m.st.hot.entries[i].Store(&stale)
		}
	}
}

// ForgetPushes lets pushed transactions commit below their readers.
func (m Memory) ForgetPushes() {
	if r, ok := m.req.(*commitRequest); ok {
		m.st.forgetPush(r.startTS)
	}
}

// NeverSeed lets a freshly opened shard commit without knowing what was read before.
func (m Memory) NeverSeed() {
	switch r := m.req.(type) {
	case *writeRequest:
		m.st.seed(m.st.incarnation, r.tablets, 1)
	case *commitRequest:
		m.st.seed(m.st.incarnation, r.tablets, 1)
	}
}

type planted struct {
	coprocessor
	broken func(cmd kv.CommandID, e kv.Eval) kv.Eval
	spoil  func(m Memory)
}

func (p *planted) Commands() []kv.Command {
	cs := p.coprocessor.Commands()
	for i := range cs {
		id, f := cs[i].ID, cs[i].Evaluate
		cs[i].Evaluate = func(e kv.Eval, req kv.Message) (kv.Message, error) {
			if p.spoil != nil {
				var undo []func()
				p.spoil(Memory{e.State().(*state), req, &undo, &e})
				defer func() {
					for _, f := range undo {
						f()
					}
				}()
			}
			if p.broken != nil {
				e = p.broken(id, e)
			}
			return f(e, req)
		}
	}
	return cs
}

// StartOf returns the start_ts that a transaction ended up with.
func StartOf(t *Txn) kv.Timestamp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.startTS
}

// SeedAll seeds the tablets of rows, so that scripts do not spend timestamps on it.
func SeedAll(ctx context.Context, c *Client, rows []kv.RowKey) error {
	for _, row := range rows {
		g, err := c.groupOne(ctx, row)
		if err != nil {
			return err
		}
		m, err := c.store.Call(ctx, g.shard, g.tablets, cmdGet, &getRequest{columns: []kv.Column{{Row: row}}, tablets: g.tablets})
		if err != nil {
			return err
		}
		if inc := m.(*getResponse).unseeded; inc != 0 {
			if err := c.seed(ctx, g, inc); err != nil {
				return err
			}
		}
	}
	return nil
}

// LocksPrimary says whether a prewrite carries its transaction's primary.
func LocksPrimary(req kv.Message) bool {
	r, ok := req.(*writeRequest)
	if !ok {
		return false
	}
	for _, m := range r.mutations {
		if compareColumns(m.column, r.primary) == 0 {
			return true
		}
	}
	return false
}

// CollectSpan is the span of a request of garbage collection.
func CollectSpan(m kv.Message) kv.Span { return m.(*collectRequest).span }

// Remembered returns what the shard remembers of a column's newest version, and whether it does.
func (m Memory) Remembered(c kv.Column) (value string, known bool) {
	v, ok, known := m.st.newestIfHot(c)
	if !known || !ok {
		return "nothing", known
	}
	w, err := record.DecodeWrite(v.Value, v.Timestamp)
	switch {
	case err != nil:
		return err.Error(), true
	case w.Kind == record.KindDelete:
		return "deleted", true
	}
	return string(w.Value), true
}

// Ranges prints what the shard remembers of scanned ranges: runs as a=1-b=2-c=?, where a question mark is not known, and minus is no value.
func (m Memory) Ranges() string {
	r := m.st.ranges
	r.mu.RLock()
	defer r.mu.RUnlock()
	var b strings.Builder
	r.entries.Scan(func(e *rangeEntry) bool {
		switch {
		case e.joined:
			b.WriteByte('-')
		case b.Len() > 0:
			b.WriteByte(' ')
		}
		b.WriteString(columnName(e.column) + "=")
		switch {
		case !e.known:
			b.WriteByte('?')
		case e.newest == nil:
			b.WriteString("none")
		default:
			w, err := record.DecodeWrite(e.newest.Value, e.newest.Timestamp)
			switch {
			case err != nil:
				b.WriteString(err.Error())
			case w.Kind == record.KindDelete:
				b.WriteString("deleted")
			default:
				b.Write(w.Value)
			}
		}
		return true
	})
	return b.String()
}

// DoNotTellRanges lets commits pass by what scans remember.
func (m Memory) DoNotTellRanges() {
	switch m.req.(type) {
	case *writeRequest, *commitRequest, *resolveRequest, *statusRequest, *secondariesRequest:
		was := m.st.ranges
		m.st.ranges = newRangeCache()
		*m.undo = append(*m.undo, func() { m.st.ranges = was })
	}
}

// KeepRanges remembers ranges although what was stored of them has come or gone otherwise than by commits.
func KeepRanges() func(m Memory) {
	var mu sync.Mutex
	type memory struct {
		entries *btree.BTreeG[*rangeEntry]
		life    uint64
	}
	kept := map[*state]memory{}
	return func(m Memory) {
		mu.Lock()
		defer mu.Unlock()
		r := m.st.ranges
		if k, ok := kept[m.st]; ok && k.life != r.life && k.entries.Len() > r.entries.Len() {
			r.used.Add(int64(k.entries.Len() - r.entries.Len()))
			r.entries = k.entries
		}
		kept[m.st] = memory{r.entries, r.life}
	}
}

// valueOf returns what a committed version holds, of a reader that is no command's.
func valueOf(r kv.Reader, c kv.Column, v kv.Version) (Value, error) {
	w, err := record.DecodeWrite(v.Value, v.Timestamp)
	if err != nil || w.Kind == record.KindDelete || w.HasValue {
		return Value{Data: w.Value, OK: w.HasValue}, err
	}
	b, _, err := r.Get(record.DataAt(c), w.StartTS)
	if err != nil {
		return Value{}, err
	}
	data, err := record.DecodeData(b)
	return Value{Data: data, OK: true}, err
}
