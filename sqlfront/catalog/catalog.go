package catalog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/txn"
)

// Options of a Catalog. The zero value of each field means its default.
type Options struct {
	// MinLease and MaxLease bound how many numbers of a sequence a process reserves at once: the first
	// reservation takes MinLease, each later one twice as many up to MaxLease. What is reserved and not used
	// is lost in a crash. Defaults 8 and 8192.
	MinLease, MaxLease uint64
	// Snapshots is how many schema versions are kept in memory. Default 8.
	Snapshots int
	// Retries bounds how often the catalog's own small transactions are repeated after a conflict. Default
	// 32.
	Retries int
	// Memory is what all descriptors together may take in a process's memory, by an estimate: DDL past it is
	// refused. Default: nothing is refused.
	Memory int64
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MinLease == 0 {
		o.MinLease = 8
	}
	if o.MaxLease == 0 {
		o.MaxLease = 8192
	}
	o.MaxLease = max(o.MaxLease, o.MinLease)
	if o.Snapshots <= 0 {
		o.Snapshots = 8
	}
	if o.Retries <= 0 {
		o.Retries = 32
	}
	if o.Memory <= 0 {
		o.Memory = unlimited
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Catalog reads and changes descriptors. It is safe for concurrent use; a transaction handed to it is used by
// one goroutine at a time, as always.
type Catalog struct {
	client *txn.Client
	o      Options

	latest   atomic.Pointer[Snapshot]
	scanning chan struct{} // holds a token; who has it may read the whole catalog

	mu      sync.Mutex
	recent  []*Snapshot              // the newest use last
	loading map[string]chan struct{} // the marks of those under way, closed when they have ended

	leases leases
}

// Open returns the catalog in the client's store and makes an empty one if there is none.
func Open(ctx context.Context, client *txn.Client, o Options) (*Catalog, error) {
	c := &Catalog{client: client, o: o.withDefaults(), scanning: make(chan struct{}, 1),
		loading: map[string]chan struct{}{}}
	c.scanning <- struct{}{}
	c.leases.held = make(map[uint64]*lease)
	err := c.retry(ctx, func(t *txn.Txn) error {
		value, ok, err := t.Get(ctx, versionCell())
		if err != nil {
			return err
		}
		if ok {
			_, err := decodeMark(value)
			return err
		}
		t.Put(versionCell(), newMark(1).encode(), txn.WriteOptions{})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	return c, nil
}

// Close gives back the numbers that were reserved and not used, as far as nobody reserved later ones, so that
// a clean restart leaves no gaps. Skipping it costs gaps, nothing else.
func (c *Catalog) Close(ctx context.Context) error { return c.returnLeases(ctx) }

// VersionCell is the cell whose value Snapshot.IsCurrent judges. Every change of the catalog writes it, so a
// transaction that Requires nothing of the schema but must not commit beside any DDL can read and lock it.
func (c *Catalog) VersionCell() kv.Column { return versionCell() }

// Latest returns the snapshot that was used last, nil before the first: a good guess, to be
// checked with IsCurrent.
func (c *Catalog) Latest() *Snapshot { return c.latest.Load() }

// Newest returns the newest snapshot that this process has seen, nil before the first.
func (c *Catalog) Newest() (newest *Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.recent {
		if newest == nil || s.Version > newest.Version {
			newest = s
		}
	}
	return newest
}

// Fence makes the commit of t depend on the table's descriptor being the one that t worked with: DDL that
// changes the table moves the fence, and one of the two transactions fails. Concurrent writers do not disturb
// each other. A commit that meets a moved fence fails with txn.ErrConflict or, naming a column for which
// IsFence is true, txn.ErrMustExist: the statement has to be run again on a new Snapshot.
func (c *Catalog) Fence(t *txn.Txn, table *Table) { t.Require(FenceCell(table)) }

// FenceCell is the cell that a row lock is taken on to keep writers of the table waiting.
func FenceCell(table *Table) kv.Column { return fenceCell(table.ID, table.Version) }

// IsFence reports whether the column is a fence.
func (c *Catalog) IsFence(col kv.Column) bool {
	row := col.Row.Row()
	return col.Row.Table() == kv.TableTxn && len(row) == 14 && row[0] == prefixCatalog && row[1] == kindFence
}

// Fences is where the fences of all tables lie.
func Fences() kv.Span {
	return kv.Span{Start: column(prefixCatalog, kindFence).Row, End: column(prefixCatalog, kindFence+1).Row}
}

// FenceOf says of which table, and of which of its versions, a column in Fences is the fence.
func FenceOf(c kv.Column) (table uint32, version uint64) {
	row := c.Row.Row()
	return binary.BigEndian.Uint32(row[2:]), binary.BigEndian.Uint64(row[6:])
}

// SameButObservers reports whether two versions of a table, each in a snapshot, differ in nothing that a
// writer has to know except their observers.
func SameButObservers(a *Table, in *Snapshot, b *Table, inB *Snapshot) bool {
	x, y := a.Clone(), b.Clone()
	x.Version, y.Version = 0, 0
	was, err := encodeDescriptor(x)
	if err != nil {
		return false
	}
	is, err := encodeDescriptor(y)
	if err != nil || !bytes.Equal(was, is) {
		return false
	}
	d, e := in.databaseIDs[a.DatabaseID], inB.databaseIDs[b.DatabaseID]
	return d != nil && e != nil && d.Name == e.Name && slices.EqualFunc(in.References(d.Name, a.Name),
		inB.References(e.Name, b.Name), func(r, s Reference) bool { return r.Table == s.Table })
}

// Snapshot returns the catalog as t sees it: at t's snapshot, with t's own changes. It reads one cell;
// everything else comes from memory if any transaction of this process has seen that version. Keep the result
// with the transaction and take a new one after a change.
func (c *Catalog) Snapshot(ctx context.Context, t *txn.Txn) (*Snapshot, error) {
	value, ok, err := t.Get(ctx, versionCell())
	if err != nil {
		return nil, err
	}
	if !ok {
		return emptySnapshot, nil // a snapshot in the past, before the catalog was made
	}
	if s := c.latest.Load(); s != nil && s.IsCurrent(value) {
		return s, nil
	}
	return c.find(ctx, t, value)
}

// find returns the snapshot of that mark from the cache, or loads it: after a DDL all sessions want the same
// version, which one of them loads. Those that want others do not wait for it: while somebody changes the
// schema without a pause each transaction of another process wants one of its own.
func (c *Catalog) find(ctx context.Context, t *txn.Txn, value []byte) (*Snapshot, error) {
	for {
		s, wait := c.cached(value)
		if s != nil {
			return s, nil
		}
		if wait == nil {
			break // it is ours to load
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.loading[string(value)])
		delete(c.loading, string(value))
	}()
	m, err := decodeMark(value)
	if err != nil {
		return nil, err
	}
	s, err := c.load(ctx, t, m, value)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.recent = append(c.recent, s)
	if over := len(c.recent) - c.o.Snapshots; over > 0 {
		c.recent = slices.Delete(c.recent, 0, over)
	}
	c.mu.Unlock()
	c.latest.Store(s)
	return s, nil
}

// cached returns the snapshot of that mark, or what to wait for because somebody loads it. Neither: whoever
// asked has to load it, and to say when that has ended.
func (c *Catalog) cached(value []byte) (s *Snapshot, wait <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.recent {
		if s.IsCurrent(value) {
			c.recent = append(slices.Delete(c.recent, i, i+1), s)
			c.latest.Store(s)
			return s, nil
		}
	}
	if wait, ok := c.loading[string(value)]; ok {
		return nil, wait
	}
	c.loading[string(value)] = make(chan struct{})
	return nil, nil
}

// bases returns the cached snapshots that are older than the version and whose changes since are few enough
// to be followed, the newest first.
func (c *Catalog) bases(version uint64) (all []*Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.recent {
		if s.Version < version && version-s.Version <= maxAdvance {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *Snapshot) int { return cmp.Compare(b.Version, a.Version) })
	return all
}

func newMark(version uint64) mark {
	m := mark{version: version}
	rand.Read(m.random[:]) // never fails (crypto/rand, Go 1.24)
	return m
}

// retry runs f in a transaction of its own until it commits, a bounded number of times. An unknown outcome is
// repeated too: f must not mind.
func (c *Catalog) retry(ctx context.Context, f func(t *txn.Txn) error) error {
	var err error
	for i := range c.o.Retries {
		if i > 0 {
			// up to 1, 2, 4 … 64 ms: enough to let the others through
			wait := time.Duration(1+mathrand.IntN(1<<min(i-1, 6))) * time.Millisecond
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return ctx.Err()
			}
		}
		t := c.client.Begin(txn.TxnOptions{})
		if err = f(t); err != nil {
			t.Rollback()
		} else {
			_, err = t.Commit(ctx)
		}
		if !errors.Is(err, txn.ErrConflict) && !errors.Is(err, txn.ErrOutcomeUnknown) {
			return err
		}
	}
	return err
}

// bump writes the next schema version and its entry in the change log.
func (c *Catalog) bump(ctx context.Context, t *txn.Txn, rows ...[]byte) error {
	value, ok, err := t.Get(ctx, versionCell())
	if err != nil {
		return err
	}
	if !ok {
		return &CorruptError{Key: versionCell().Row, Err: errors.New("there is no version")}
	}
	m, err := decodeMark(value)
	if err != nil {
		return err
	}
	next := newMark(m.version + 1)
	t.Put(versionCell(), next.encode(), txn.WriteOptions{})
	t.Put(logCell(next.version), change{before: m.random, after: next.random, rows: rows}.encode(),
		txn.WriteOptions{})
	if next.version > logLength {
		t.Delete(logCell(next.version-logLength), txn.WriteOptions{})
	}
	return nil
}

// logLength is how many entries the change log keeps. A process whose newest snapshot is older loads
// everything.
const logLength = 256

// put writes a descriptor of the database, which weighed old before.
func (c *Catalog) put(t *txn.Txn, s *Snapshot, db uint32, row []byte, v any, old int64) error {
	value, err := encodeDescriptor(v)
	if err != nil {
		return err
	}
	if err := c.fits(s, db, v, len(value), old); err != nil {
		return err
	}
	t.Put(descriptorCell(row), value, txn.WriteOptions{})
	return nil
}

func remove(t *txn.Txn, row []byte) { t.Delete(descriptorCell(row), txn.WriteOptions{}) }
