package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/kv/latch"
	"moka/kv/memtable"
)

// eval implements kv.Eval for one run of a command. It is used again for other commands.
type eval struct {
	reader
	s      *Leadership
	ctx    context.Context
	cancel func() // of the context that Context made, for a command that may block
	state  any
	write  bool

	tt      *tablets
	within  kv.Span        // of the tablet that the last write lay in
	refs    []kv.TabletRef // the tablets that were written to
	rows    []kv.RowKey
	latches latch.Set

	batch   engine.Batch
	open    bool // batch exists
	keyBuf  []byte
	ops     []memOp
	guards  []memOp
	durable []func()
	noSync  bool
	growth  kv.Growth // see Room
	later   int
	err     error // the first misuse; the command then has no effect
}

// memOp is a change of an in-memory group that waits for its moment.
type memOp struct {
	t       *memtable.Table
	item    memtable.Item
	deleted bool
}

var (
	_ kv.Eval   = (*eval)(nil)
	_ RawReader = (*eval)(nil)
)

// RawReader is what the evaluation of a command that reads without transactions finds its kv.Eval to be. Pebble shows a batch before
// it is synced; transactions are protected by their locks and guards, a raw read is not.
type RawReader interface {
	// AwaitRow and AwaitSpan return when everything that a read before the call may have seen of those rows is durable.
	// Nothing needs to be read again: what was seen becomes durable, or the process dies and no answer goes out.
	AwaitRow(row kv.RowKey) error
	AwaitSpan(span kv.Span) error
	// LatchRow keeps writers off a row while its in-memory and its other groups are read together.
	LatchRow(row kv.RowKey) (release func(), err error)
}

func (e *eval) AwaitRow(row kv.RowKey) error {
	if e.s.durable {
		return nil
	}
	done := e.s.latches.Watch(row)
	if done == nil {
		return nil // as nearly always: then nothing is paid for a context that ends with the shard
	}
	ctx := e.Context()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return cancelled(ctx)
	}
}

func (e *eval) AwaitSpan(span kv.Span) error {
	if e.s.durable || e.s.latches.Held() == 0 {
		return nil
	}
	if err := e.s.latches.WaitSpan(e.Context(), span); err != nil {
		return cancelled(e.ctx)
	}
	return nil
}

func (e *eval) LatchRow(row kv.RowKey) (func(), error) {
	var set latch.Set
	if err := e.s.latches.Acquire(e.Context(), &set, []kv.RowKey{row}); err != nil {
		return nil, cancelled(e.ctx)
	}
	return func() { e.s.latches.Release(&set) }, nil
}

// Context implements kv.Eval. A read command may block on it, so it also ends when the shard closes; the price of that is paid
// by the commands that ask.
func (e *eval) Context() context.Context {
	if !e.write && e.cancel == nil {
		e.ctx, e.cancel = e.s.cancellable(e.ctx)
	}
	return e.ctx
}

func (e *eval) Shard() kv.ShardHandle { return e.s }

// Latest implements kv.Reader. Some write commands take no latches (a collection).
func (e *eval) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	if t := e.s.mem[a.Group]; e.write && t != nil && t.Bounded() {
		return e.s.latest(t, a, max, e.latches.Holds(a.Row))
	}
	return e.reader.Latest(a, max)
}

// Room implements kv.Eval.
func (e *eval) Room(g kv.Growth, bytes int) error {
	e.growth, e.later = g, bytes
	return e.s.e.Room(g, bytes)
}

func (e *eval) State() any         { return e.state }
func (e *eval) NoSync()            { e.noSync = true }
func (e *eval) OnDurable(f func()) { e.durable = append(e.durable, f) }

func (e *eval) misuse(format string, args ...any) {
	if e.err == nil {
		e.err = kv.Errorf(kv.CodeInternal, "shard", format, args...)
	}
}

// covers guards the shard's integrity against a command that writes where it has no business: outside of the shard's
// tablets a row would be lost, in a frozen one it would be left behind.
func (e *eval) covers(a *kv.Address) bool {
	if !e.write {
		e.misuse("a read command writes")
		return false
	}
	if e.tt == nil || e.err != nil {
		return false
	}
	if e.within.Start != nil && e.within.Contains(a.Row) {
		return true
	}
	t, ok := e.tt.find(a.Row)
	if !ok || len(a.Row) < 4 || e.tt.frozen[t.ID] != nil {
		e.misuse("a command writes row %x, which lies in no tablet that shard %d serves now", []byte(a.Row), e.s.id)
		return false
	}
	if r := (kv.TabletRef{ID: t.ID, Generation: t.Generation}); !slices.Contains(e.refs, r) {
		e.refs = append(e.refs, r)
	}
	e.within = t.Span
	if e.within.Start == nil {
		e.within.Start = kv.RowKey{}
	}
	return true
}

func (e *eval) key(a *kv.Address, ts kv.Timestamp) []byte {
	e.keyBuf = keys.AppendVersion(keys.AppendColumn(e.keyBuf[:0], e.s.id, *a), ts)
	return e.keyBuf
}

// Set implements kv.Eval.
func (e *eval) Set(a kv.Address, ts kv.Timestamp, value []byte) {
	if !e.covers(&a) {
		return
	}
	if ts > kv.MaxTimestamp {
		e.misuse("timestamp %d is beyond the largest", uint64(ts))
		return
	}
	if err := e.pending().Set(e.key(&a, ts), value, nil); err != nil {
		e.misuse("batch: %v", err)
	}
	if t := e.s.mem[a.Group]; t != nil {
		e.ops = append(e.ops, memOp{t: t, item: own(a, ts, value)})
	}
}

// Delete implements kv.Eval.
func (e *eval) Delete(a kv.Address, ts kv.Timestamp) {
	if !e.covers(&a) {
		return
	}
	if err := e.pending().Delete(e.key(&a, ts), nil); err != nil {
		e.misuse("batch: %v", err)
	}
	if t := e.s.mem[a.Group]; t != nil {
		e.ops = append(e.ops, memOp{t: t, item: own(a, ts, nil), deleted: true})
	}
}

// DeleteRange implements kv.Eval.
func (e *eval) DeleteRange(g kv.GroupID, run uint32, span kv.Span) {
	if !e.covers(&kv.Address{Column: kv.Column{Row: span.Start}}) {
		return
	}
	if end := e.within.End; len(end) > 0 && (len(span.End) == 0 || bytes.Compare(span.End, end) > 0) || e.s.mem[g] != nil {
		e.misuse("rows %x to %x of group %d cannot be removed as one range", []byte(span.Start), []byte(span.End), g)
		return
	}
	lower, upper := keys.AppendSpan(nil, e.s.id, g, run, span)
	if bytes.Compare(lower, upper) >= 0 {
		return
	}
	if err := e.pending().DeleteRange(lower, upper, nil); err != nil {
		e.misuse("batch: %v", err)
	}
}

func (e *eval) pending() engine.Batch {
	if !e.open {
		e.batch, e.open = e.s.e.NewBatch(), true
	}
	return e.batch
}

// Guard implements kv.Eval.
func (e *eval) Guard(a kv.Address, ts kv.Timestamp, value []byte) {
	if !e.covers(&a) {
		return
	}
	t := e.s.mem[a.Group]
	if t == nil {
		e.misuse("group %d cannot be guarded: it is not in memory", a.Group)
		return
	}
	g := memOp{t: t, item: own(a, ts, value)}
	t.Guard(g.item)
	e.guards = append(e.guards, g)
}

// own copies an item into memory of its own: the table keeps it, the caller may use its buffers again.
func own(a kv.Address, ts kv.Timestamp, value []byte) memtable.Item {
	b := make([]byte, 0, len(a.Row)+len(a.Qualifier)+len(value))
	b = append(b, a.Row...)
	r := len(b)
	b = append(b, a.Qualifier...)
	q := len(b)
	b = append(b, value...)
	a.Row, a.Qualifier = kv.RowKey(b[:r:r]), b[r:q:q]
	return memtable.Item{Address: a, Timestamp: ts, Value: b[q:]}
}

// shadow drops the in-memory changes that a later one of the same batch overrides, so that "sets before, deletes after" comes
// to what the batch says. Only a batch that sets and deletes in one group can need it.
func shadow(ops []memOp) []memOp {
	var sets, deletes [256 / 64]uint64
	for i := range ops {
		g := ops[i].item.Address.Group
		if ops[i].deleted {
			deletes[g/64] |= 1 << (g % 64)
		} else {
			sets[g/64] |= 1 << (g % 64)
		}
	}
	both := false
	for i := range sets {
		both = both || sets[i]&deletes[i] != 0
	}
	if !both {
		return ops
	}
	last := make(map[string]int, len(ops))
	name := func(i int) string {
		it := &ops[i].item
		return string(keys.AppendVersion(keys.AppendColumn(nil, 0, it.Address), it.Timestamp))
	}
	for i := range ops {
		last[name(i)] = i
	}
	kept := ops[:0]
	for i, op := range ops {
		// In place: an op is named before its slot can be overwritten, because kept never overtakes i.
		if last[name(i)] == i {
			kept = append(kept, op)
		}
	}
	return kept
}

// memChange is what a batch changes of the in-memory groups.
type memChange struct {
	s     *Replica
	ops   []memOp
	place uint64
}

// show is Proposal.Applying.
func (c *memChange) show() {
	c.s.place++
	c.place = c.s.place
	for i := range c.ops {
		if !c.ops[i].deleted {
			c.ops[i].t.Set(c.ops[i].item, c.place)
		}
	}
}

// hide is Proposal.Durable.
func (c *memChange) hide() {
	for i := range c.ops {
		if c.ops[i].deleted {
			c.ops[i].t.Delete(c.ops[i].item.Address, c.ops[i].item.Timestamp, c.place)
		}
	}
	for i := range c.ops {
		if !c.ops[i].deleted && (i == 0 || c.ops[i-1].deleted || c.ops[i-1].t != c.ops[i].t) {
			c.ops[i].t.Settle(c.place)
		}
	}
}

func (e *eval) dropGuards() {
	for i := range e.guards {
		e.guards[i].t.DropGuard(e.guards[i].item.Address, e.guards[i].item.Timestamp)
	}
	clear(e.guards)
	e.guards = e.guards[:0]
}

// announce runs the hooks of what is now durable. The latches are still held, so hooks see the changes of a row in order.
func (e *eval) announce() {
	hooked := len(e.durable) > 0
	for i := range e.ops {
		hooked = hooked || !e.ops[i].deleted && e.ops[i].t.Hooked()
	}
	if !hooked {
		return
	}
	e.s.hooks.Lock()
	defer e.s.hooks.Unlock()
	for i := range e.ops {
		if !e.ops[i].deleted {
			e.ops[i].t.Announce(e.ops[i].item)
		}
	}
	for _, f := range e.durable {
		f()
	}
}

// reset gives everything back for the next command. The latches are released before.
func (e *eval) reset() {
	e.dropGuards()
	if e.cancel != nil {
		e.cancel()
	}
	if e.open {
		e.batch.Close()
	}
	clear(e.ops)
	clear(e.durable)
	clear(e.rows)
	latches := e.latches
	*e = eval{
		keyBuf: e.keyBuf[:0], ops: e.ops[:0], guards: e.guards[:0], durable: e.durable[:0],
		rows: e.rows[:0], refs: e.refs[:0], latches: latches,
	}
}

// evaluate runs the command's code. A panic there is a bug in one command; nothing has been changed yet, so it is an
// error for its caller and not the end of the process.
func (s *Leadership) evaluate(c *Registered, e *eval, req kv.Message) (resp kv.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.metrics.panics.Add(1)
			s.logger.Error("a command panicked", "command", c.Name, "shard", s.id, "panic", r, "stack", string(debug.Stack()))
			resp, err = nil, &kv.Error{Code: kv.CodeInternal, Op: c.Name, Msg: fmt.Sprintf("the command panicked: %v; nothing was changed", r)}
		}
	}()
	resp, err = c.Evaluate(e, req)
	if err == nil {
		err = e.err
	}
	if err != nil {
		if e.ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			if cause := s.stopped.Load(); cause != nil {
				err = *cause
			}
		}
		return nil, err
	}
	return resp, nil
}
