package txn

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"moka/kv"
	"moka/txn/longread"
	"moka/txn/record"
)

// Txn is a transaction: a snapshot to read and a buffer of writes, of which nobody hears before Commit. Its methods may be
// called from several goroutines, but what "own writes first" means is then up to them; Commit and Rollback end it.
type Txn struct {
	c *Client
	o TxnOptions

	// starting is held while the snapshot is being taken: a channel, because the clock may be far away.
	starting chan struct{}

	mu       sync.Mutex // guards what follows; nothing blocks under it
	startTS  kv.Timestamp
	advanced bool         // Advance was called with something in the buffer
	started  time.Time    // when the snapshot was taken, for the age that TTLs must allow for
	began    bool         // a snapshot was taken once: the user may have seen something
	owner    kv.Timestamp // of row locks
	note     string
	bypass   []kv.Timestamp
	known    []decision // commits in the snapshot whose locks were met
	buffer   buffer
	tooLarge bool
	misused  bool // written to although it is read-only
	adds     bool // what is put now; see SetAdds
	frees    bool // see SetFrees
	finished bool
	listing  listing        // among the client's snapshots
	reads    longread.Reads // of whoever does not say
}

// Savepoint is a mark in the write buffer.
type Savepoint struct {
	buffer   buffer
	tooLarge bool
}

// StartTS returns the snapshot, which it takes if no read has done so yet.
func (t *Txn) StartTS(ctx context.Context) (kv.Timestamp, error) {
	if ts, err := t.snapshot(); ts != 0 || err != nil {
		return ts, err
	}
	starting := t.turn()
	select {
	case starting <- struct{}{}:
		defer func() { <-starting }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if ts, err := t.snapshot(); ts != 0 || err != nil {
		return ts, err
	}
	ts, err := t.nextTS(ctx)
	if err != nil {
		return 0, err
	}
	if t.o.StartTS > ts {
		return 0, kv.Errorf(kv.CodeInvalidArgument, "txn.StartTS", "snapshot %v lies in the future; now is %v", t.o.StartTS, ts)
	}
	if t.o.StartTS != 0 {
		ts = t.o.StartTS
		if err := t.c.behind(ts); err != nil && !t.o.Unchanged {
			return 0, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.startTS, t.started, t.began = ts, time.Now(), true
	if !t.finished && !t.o.Unchanged {
		t.c.snapshots.enlist(t, ts)
	}
	return ts, nil
}

// turn returns the channel that whoever takes the snapshot holds.
func (t *Txn) turn() chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.starting == nil {
		t.starting = make(chan struct{}, 1)
	}
	return t.starting
}

// snapshot returns the snapshot if there is one already.
func (t *Txn) snapshot() (kv.Timestamp, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.finished:
		return 0, ErrFinished
	case t.tooLarge:
		return 0, t.errTooLargeLocked()
	case t.misused:
		return 0, ErrReadOnly
	}
	return t.startTS, nil
}

// Get returns a column's value in the snapshot, own writes first. The value is the caller's.
func (t *Txn) Get(ctx context.Context, c kv.Column) (value []byte, ok bool, err error) {
	vs, err := t.BatchGet(ctx, []kv.Column{c})
	if err != nil {
		return nil, false, err
	}
	return vs[0].Data, vs[0].OK, nil
}

// BatchGet returns the values of columns in the snapshot, own writes first: one request for each shard, at the same time.
func (t *Txn) BatchGet(ctx context.Context, cs []kv.Column) ([]Value, error) {
	return t.BatchGetAt(ctx, nil, cs)
}

// BatchGetAt is BatchGet with the own writes as of a savepoint; see ScanOptions.At. nil means those so far.
func (t *Txn) BatchGetAt(ctx context.Context, at *Savepoint, cs []kv.Column) ([]Value, error) {
	return t.batchGet(ctx, &t.reads, at, cs, false)
}

// BatchGetSome is BatchGetAt for a reader of its own: what it has read last is charged until it asks again,
// or releases it; see WithMeter. Where values are long it returns those of the first columns only, of one
// at least.
func (t *Txn) BatchGetSome(
	ctx context.Context, r *longread.Reads, at *Savepoint, cs []kv.Column,
) ([]Value, error) {
	return t.batchGet(ctx, r, at, cs, true)
}

func (t *Txn) batchGet(
	ctx context.Context, r *longread.Reads, at *Savepoint, cs []kv.Column, some bool,
) ([]Value, error) {
	r.Release()
	values := make([]Value, len(cs))
	var missing []int
	t.mu.Lock()
	own := &t.buffer
	if at != nil {
		own = &at.buffer
	}
	for i, c := range cs {
		p, ok := own.get(c)
		switch {
		case !ok || !p.kind.Changes():
			missing = append(missing, i)
		case p.kind == record.KindPut:
			values[i] = Value{Data: bytes.Clone(p.value), OK: true}
		}
	}
	t.mu.Unlock()
	snapshot, err := t.StartTS(ctx)
	if err != nil || len(missing) == 0 {
		return values, err
	}
	rest, err := t.read(ctx, r, snapshot, cs, missing, values, some)
	if len(rest) > 0 {
		values = values[:slices.Min(rest)]
	}
	return values, err
}

// Pending returns what the transaction itself has made of a column, without asking the store: known is false if it has not
// written it.
func (t *Txn) Pending(c kv.Column) (value []byte, ok, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, found := t.buffer.get(c)
	if !found || !p.kind.Changes() {
		return nil, false, false
	}
	return bytes.Clone(p.value), p.kind == record.KindPut, true
}

// Put writes a column. Nothing is sent before Commit.
func (t *Txn) Put(c kv.Column, value []byte, o WriteOptions) {
	t.add(mutation{kind: record.KindPut, column: c, value: value, mustNotExist: o.MustNotExist, observers: o.Observers, clears: o.ClearNotify})
}

// PutAll is Put for many columns in ascending order, which go into the buffer without being looked up or copied: their memory is
// the transaction's from now on.
func (t *Txn) PutAll(ws []Write) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.writableLocked() {
		return
	}
	t.buffer.addAll(ws, t.startTS)
	t.buffer.adds = t.buffer.adds || t.adds
	t.tooLarge = t.buffer.bytes > t.c.o.MaxBytes
	for i := range ws {
		t.tooLarge = t.tooLarge || len(ws[i].Value) > maxValue
	}
}

// SetAdds says whether what is put from now on makes the store larger, as an INSERT does, or is what it takes to make it smaller and to keep
// house: the record of a dropped table, say. A transaction that has put anything of the first kind is refused with kv.ErrDiskFull when it
// commits on a disk that is full. Until it is called it is of the second kind; deletes always are.
func (t *Txn) SetAdds(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.adds = on
}

// SetFrees says whether what is put from now on goes along with deletes, as what their triggers
// write does. It is of the second kind of SetAdds as long as it is small beside them: a DELETE
// whose trigger writes megabytes would fill up the room in which deletes go on. As deletes free
// nothing before old versions may go, they are refused, too, when that room is nearly used up.
func (t *Txn) SetFrees(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frees = on
}

// Delete removes a column.
func (t *Txn) Delete(c kv.Column, o WriteOptions) {
	t.add(mutation{kind: record.KindDelete, column: c, mustNotExist: o.MustNotExist, observers: o.Observers, clears: o.ClearNotify})
}

// Require makes the commit fail unless the column exists then and nobody is deleting it. Any number of transactions may
// require a column, and write it, at the same time; it is what a foreign key asks of its parent row.
func (t *Txn) Require(c kv.Column) { t.add(mutation{kind: record.KindRequire, column: c}) }

// LockForUpdate conflicts like a write and changes nothing. A transaction that writes nothing has nothing to
// protect, and its locks are not even checked, unless it has read by several snapshots (Advance).
func (t *Txn) LockForUpdate(c kv.Column) { t.add(mutation{kind: record.KindLock, column: c}) }

// LockShared is LockForUpdate for a column that Lock has taken shared: while the row lock is there it is enough, and
// transactions that share it do not conflict. Should it be lost, the commit treats it like LockForUpdate.
func (t *Txn) LockShared(c kv.Column) { t.add(mutation{kind: record.KindLock, column: c, share: true}) }

// NotifyWeak notifies observers of the column, as if it had changed, without conflict with anybody. In a transaction without
// writes, notifications in different shards are not atomic.
func (t *Txn) NotifyWeak(c kv.Column, observers []uint32) {
	t.add(mutation{kind: record.KindNotify, column: c, observers: observers})
}

// add buffers a write. Beyond the cap it drops writes, so that memory is safe from callers who look at Err late; the
// transaction cannot commit then, unless it rolls back to a savepoint below the cap.
func (t *Txn) add(m mutation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.writableLocked() {
		return
	}
	m.since = t.startTS // zero, before anything was read: then the commit's own start counts
	t.buffer.add(m)
	t.buffer.adds = t.buffer.adds || t.adds && m.kind == record.KindPut
	if t.frees {
		t.buffer.goesAlong(&m)
	}
	t.tooLarge = t.buffer.bytes > t.c.o.MaxBytes || len(m.value) > maxValue
}

func (t *Txn) writableLocked() bool {
	if t.o.ReadOnly || t.o.StartTS != 0 {
		t.misused = true
	}
	return !t.finished && !t.tooLarge && !t.misused
}

// maxValue bounds a value: it has to fit into a message between nodes. Whether the store is in the process or not makes no difference.
const maxValue = 64 << 20

func (t *Txn) errTooLargeLocked() error {
	return errorf(CodeTooLarge, nil, "the write buffer is over its cap of %d bytes, or one value over %d; commit smaller transactions or raise "+
		"MaxBytes, which does nothing for one value", t.c.o.MaxBytes, maxValue)
}

// Err returns why the transaction cannot commit, as far as that is known before: ErrTooLarge, ErrReadOnly
// or ErrFinished.
func (t *Txn) Err() error {
	_, err := t.snapshot()
	return err
}

// Savepoint marks the write buffer, in constant time.
func (t *Txn) Savepoint() Savepoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Savepoint{buffer: t.buffer.copy(), tooLarge: t.tooLarge}
}

// RollbackTo forgets the writes since the savepoint, which stays usable.
func (t *Txn) RollbackTo(s Savepoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buffer, t.tooLarge = s.buffer.copy(), s.tooLarge
}

// Buffered is a change that a transaction has not committed yet.
type Buffered struct {
	Column    kv.Column
	Value     []byte
	Deleted   bool
	Observers []uint32
}

// Buffered lists the changes in the span that the transaction holds, and the columns that it requires. What
// it returns is shared and not to be changed.
func (t *Txn) Buffered(span kv.Span) (changes []Buffered, required []kv.Column) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for it := t.buffer.iter(); it.Next(); {
		switch p := it.Item(); {
		case !span.Contains(p.column.Row):
		case p.kind.Changes():
			changes = append(changes, Buffered{p.column, p.value, p.kind == record.KindDelete, p.observers})
		case p.kind == record.KindRequire:
			required = append(required, p.column)
		}
	}
	return changes, required
}

// RequireInstead has the commit depend on another column than one that was required.
func (t *Txn) RequireInstead(was, is kv.Column) {
	t.mu.Lock()
	if p, ok := t.buffer.get(was); ok && p.kind == record.KindRequire {
		t.buffer.bytes -= p.size()
		t.buffer.tree.Delete(p)
	}
	t.mu.Unlock()
	t.Require(is)
}

// Renotify says anew whom a change notifies that the transaction holds.
func (t *Txn) Renotify(c kv.Column, observers []uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, ok := t.buffer.get(c)
	if !ok || !old.kind.Changes() {
		return
	}
	p := *old // savepoints have the old one
	p.observers = observers
	t.buffer.bytes += p.size() - old.size()
	t.buffer.tree.Set(&p)
}

// Size returns what the write buffer holds.
func (t *Txn) Size() (bytes int64, keys int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buffer.bytes, t.buffer.len()
}

// Rollback forgets everything. There is nobody to tell but those who wait for its row locks.
func (t *Txn) Rollback() {
	t.mu.Lock()
	ended := t.finished
	t.finished = true
	t.buffer = buffer{}
	t.delistLocked()
	t.mu.Unlock()
	if !ended {
		t.unlock(0)
	}
}

// bypassed returns the transactions whose locks this snapshot need not wait for. The slice is never changed in place.
func (t *Txn) bypassed() []kv.Timestamp {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bypass
}

// maxBypass bounds the list that goes with each read; the oldest entries are dropped and, if met again, asked for again.
const maxBypass = 64

// knows is what bypassed is, for transactions that the snapshot contains.
func (t *Txn) knows() []decision {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

func (t *Txn) addKnown(d decision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := append([]decision(nil), t.known...)
	if len(list) >= maxBypass {
		list = list[1:]
	}
	t.known = append(list, d)
}

func (t *Txn) addBypass(startTS kv.Timestamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := append([]kv.Timestamp(nil), t.bypass...)
	if len(list) >= maxBypass {
		list = list[1:]
	}
	t.bypass = append(list, startTS)
}
