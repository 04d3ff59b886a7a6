package catalog

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"moka/txn"
)

// idSequence numbers databases, tables, observers and sequences. They are not taken from a cell of the DDL
// transaction, because then a rolled back CREATE TABLE would give its id, and whatever was already written
// under it, to the next table.
var idSequence = Sequence{ID: 1, Start: firstID}

// firstID leaves room for ids with a fixed meaning.
const firstID = 64

// leases are the numbers that this process has reserved.
type leases struct {
	mu   sync.Mutex
	held map[uint64]*lease
}

// lease is [next, end) of one sequence. Its mutex is held while the store is asked: those who want numbers
// wait for the one reservation instead of making their own.
type lease struct {
	mu        sync.Mutex
	next, end uint64
	size      uint64 // of the last reservation
}

func (c *Catalog) lease(id uint64) *lease {
	c.leases.mu.Lock()
	defer c.leases.mu.Unlock()
	l := c.leases.held[id]
	if l == nil {
		l = &lease{}
		c.leases.held[id] = l
	}
	return l
}

func (c *Catalog) forgetLease(id uint64) {
	c.leases.mu.Lock()
	defer c.leases.mu.Unlock()
	delete(c.leases.held, id)
}

// NextRange returns the first of n consecutive numbers that nobody else gets, now or after a restart. Most
// calls are served from memory; the others run a small transaction of their own, so the caller's transaction
// never conflicts over a sequence, and numbers are not given back when it rolls back (as in MySQL).
func (c *Catalog) NextRange(ctx context.Context, seq Sequence, n uint64) (uint64, error) {
	if seq.ID == 0 || n == 0 {
		return 0, fmt.Errorf("catalog: NextRange of sequence %d for %d numbers", seq.ID, n)
	}
	l := c.lease(seq.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end-l.next < n {
		if err := c.extend(ctx, l, seq, seq.Start, n); err != nil {
			return 0, err
		}
	}
	first := l.next
	l.next += n
	return first, nil
}

// NextID returns one number.
func (c *Catalog) NextID(ctx context.Context, seq Sequence) (uint64, error) {
	return c.NextRange(ctx, seq, 1)
}

// Numbers are what one statement takes of a sequence. Those of a statement that knows its rows are
// consecutive, as MySQL has them in each innodb_autoinc_lock_mode: drivers count up from the first.
type Numbers struct {
	Rows      uint64 // that are still to come; 0 if that is not known
	next, end uint64 // reserved for them
}

// Draw returns a row's number, from those that it reserves for all rows to come.
func (n *Numbers) Draw(ctx context.Context, c *Catalog, seq Sequence) (uint64, error) {
	if n.next >= n.end {
		rows := max(1, n.Rows)
		first, err := c.NextRange(ctx, seq, rows)
		if rows > 1 && errors.Is(err, ErrExhausted) { // there may be some left
			rows = 1
			first, err = c.NextRange(ctx, seq, rows)
		}
		if err != nil {
			return 0, err
		}
		n.next, n.end = first, first+rows
	}
	n.next++
	n.passed()
	return n.next - 1, nil
}

// Chose notes a number that a row has already: those that are drawn lie behind it.
func (n *Numbers) Chose(number uint64) {
	if n.next < n.end && number >= n.next {
		n.next = min(number, n.end-1) + 1
	}
	n.passed()
}

func (n *Numbers) passed() {
	if n.Rows > 0 {
		n.Rows--
	}
}

// Raise makes the sequence go on behind used, a number that somebody chose by hand. It reserves the
// numbers behind it at once: a load of rows with explicit ascending ids would otherwise write to the
// sequence for each row.
//
// Other processes hand out what they have reserved before they notice. If used is among that, their insert
// fails with a duplicate key, never the other way round.
func (c *Catalog) Raise(ctx context.Context, seq Sequence, used uint64) error {
	if seq.ID == 0 {
		return fmt.Errorf("catalog: Raise of sequence 0")
	}
	l := c.lease(seq.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case used < l.next:
		return nil
	case used < l.end:
		l.next = used + 1
		return nil
	case used == math.MaxUint64:
		// nothing is left; the next call that wants a number finds out
		l.next, l.end = 0, 0
		return c.store(ctx, seq, math.MaxUint64)
	case l.end == 0:
		// before anything was reserved here, a number below what the store has already given out needs no
		// write
		stored, err := c.stored(ctx, seq)
		if err != nil {
			return err
		}
		if used < stored {
			return nil
		}
	}
	l.next, l.end = 0, 0
	return c.extend(ctx, l, seq, used+1, 0)
}

// PeekSequence returns the number that comes next, as far as this process can tell.
func (c *Catalog) PeekSequence(ctx context.Context, seq Sequence) (uint64, error) {
	l := c.lease(seq.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next < l.end {
		return l.next, nil
	}
	return c.stored(ctx, seq)
}

// NewSequence returns a sequence that nobody uses yet. Put it into a descriptor.
func (c *Catalog) NewSequence(ctx context.Context, start uint64) (Sequence, error) {
	id, err := c.NextID(ctx, idSequence)
	return Sequence{ID: id, Start: max(1, start)}, err
}

// extend reserves at least n numbers from atLeast on for l, which its caller has locked. Sizes
// double, so that a table of ten rows does not skip thousands of numbers at a restart, and a load
// does not write every ten rows.
func (c *Catalog) extend(ctx context.Context, l *lease, seq Sequence, atLeast, n uint64) error {
	size := c.o.MinLease
	if l.size != 0 {
		size = min(2*l.size, c.o.MaxLease)
	}
	size = max(size, n)
	var first, end uint64
	err := c.retry(ctx, func(t *txn.Txn) error {
		stored, err := readSequence(ctx, t, seq)
		if err != nil {
			return err
		}
		first = max(stored, atLeast)
		if first == l.end && l.next < l.end { // nobody was in between: go on without a gap
			first = l.next
		}
		if n > math.MaxUint64-first {
			return fmt.Errorf("%w: sequence %d at %d", ErrExhausted, seq.ID, first)
		}
		end = first + min(size, math.MaxUint64-first)
		writeSequence(t, seq, max(end, stored))
		return nil
	})
	if err != nil {
		return err
	}
	l.next, l.end, l.size = first, end, size
	return nil
}

func (c *Catalog) store(ctx context.Context, seq Sequence, next uint64) error {
	return c.retry(ctx, func(t *txn.Txn) error {
		stored, err := readSequence(ctx, t, seq)
		if err == nil && stored < next {
			writeSequence(t, seq, next)
		}
		return err
	})
}

func (c *Catalog) stored(ctx context.Context, seq Sequence) (uint64, error) {
	t := c.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	return readSequence(ctx, t, seq)
}

func readSequence(ctx context.Context, t *txn.Txn, seq Sequence) (uint64, error) {
	value, ok, err := t.Get(ctx, sequenceCell(seq.ID))
	if err != nil {
		return 0, err
	}
	start := max(1, seq.Start)
	if !ok {
		return start, nil
	}
	if len(value) > 1 && value[0] == formatVersion {
		if v, n := binary.Uvarint(value[1:]); n == len(value)-1 {
			return max(v, start), nil
		}
	}
	return 0, &CorruptError{Key: sequenceCell(seq.ID).Row, Err: fmt.Errorf("value %x", value)}
}

func writeSequence(t *txn.Txn, seq Sequence, next uint64) {
	t.Put(sequenceCell(seq.ID), binary.AppendUvarint([]byte{formatVersion}, next), txn.WriteOptions{})
}

// returnLeases gives back what is left of each lease if the store still stands at its end.
func (c *Catalog) returnLeases(ctx context.Context) error {
	c.leases.mu.Lock()
	held := c.leases.held
	c.leases.held = make(map[uint64]*lease)
	c.leases.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(held)) {
		l := held[id]
		l.mu.Lock()
		next, end := l.next, l.end
		l.next, l.end = 0, 0
		l.mu.Unlock()
		if next >= end {
			continue
		}
		err := c.retry(ctx, func(t *txn.Txn) error {
			stored, err := readSequence(ctx, t, Sequence{ID: id})
			if err == nil && stored == end {
				writeSequence(t, Sequence{ID: id}, next)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
