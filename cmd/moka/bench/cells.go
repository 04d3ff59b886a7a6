package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/txn"
)

// cells is a set of single-cell rows, kept twice: as a table of the raw store and as columns of transactions.
// Values say which row they belong to, so that a read can be checked.
type cells struct {
	s     *Store
	table bigtable.Table
	n     int
	size  int // of a value
	// ordered rows follow each other in the order of their numbers; others are scattered.
	ordered bool
}

// The row keys are scattered, as hashed keys are: 10 bytes that order like the number's bits reversed would
// not compress better than real ones.
func scatter(i int) uint64 { return uint64(i+1) * 0x9e3779b97f4a7c15 }

func (c *cells) rawRow(i int) kv.RowKey {
	key := scatter(i)
	if c.ordered {
		key = uint64(i)
	}
	return kv.MakeRowKey(c.table.ID, binary.BigEndian.AppendUint64(nil, key))
}

// txnColumn lies behind what SQL would use; nothing else is in this server.
func (c *cells) txnColumn(i int) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, binary.BigEndian.AppendUint64([]byte{0xb0}, scatter(i)))}
}

func (c *cells) value(i int) []byte {
	v := make([]byte, (c.size+7)&^7)
	for k := 0; k < len(v); k += 8 {
		binary.BigEndian.PutUint64(v[k:], scatter(i)*uint64(k+1)) // does not compress
	}
	return v[:c.size]
}

func (c *cells) check(i int, v []byte, ok bool) error {
	if !ok || len(v) != c.size || binary.BigEndian.Uint64(v) != scatter(i) {
		return fmt.Errorf("cell %d: found %v, %d bytes of something else", i, ok, len(v))
	}
	return nil
}

const rawFamily = "f"

// newCells creates the table; load fills it.
func newCells(ctx context.Context, s *Store, name string, n, size int,
	groups ...bigtable.LocalityGroup) (*cells, error) {
	c := &cells{s: s, n: n, size: max(size, 8)}
	req := &bigtable.CreateTableRequest{Table: bigtable.Table{Name: name, LocalityGroups: groups,
		Families: []bigtable.Family{{Name: rawFamily, MaxVersions: 1}}}}
	resp, err := c.s.KV.Call(ctx, 1, nil, bigtable.CommandCreateTable, req)
	if err != nil {
		return nil, err
	}
	c.table = resp.(*bigtable.TablesResponse).Tables[0]
	return c, nil
}

const loadBatch = 500

// load writes all cells, raw or through transactions, a few batches at a time.
func (c *cells) load(ctx context.Context, write func(ctx context.Context, from, to int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for from := 0; from < c.n && ctx.Err() == nil; from += loadBatch {
		g.Go(func() error { return write(ctx, from, min(from+loadBatch, c.n)) })
	}
	return g.Wait()
}

func (c *cells) loadRaw(ctx context.Context, from, to int) error {
	req := &bigtable.MutateRowsRequest{}
	for i := from; i < to; i++ {
		req.Entries = append(req.Entries, bigtable.RowMutations{Row: c.rawRow(i), Mutations: c.set(i)})
	}
	rows := make([]kv.RowKey, len(req.Entries))
	for i := range rows {
		rows[i] = req.Entries[i].Row
	}
	_, err := c.call(ctx, rows, bigtable.CommandMutateRows, req)
	return err
}

func (c *cells) loadTxn(ctx context.Context, from, to int) error {
	t := c.s.Txn.Begin(txn.TxnOptions{})
	for i := from; i < to; i++ {
		t.Put(c.txnColumn(i), c.value(i), txn.WriteOptions{})
	}
	_, err := t.Commit(ctx)
	return err
}

func (c *cells) set(i int) []bigtable.Mutation {
	return []bigtable.Mutation{{Kind: bigtable.SetCell, Family: rawFamily, Value: c.value(i)}}
}

// maxMoved bounds how often a command may find a tablet split under it.
const maxMoved = 100

// call sends a raw command to the shard where the rows are, and again if a tablet has been split meanwhile.
func (c *cells) call(ctx context.Context, rows []kv.RowKey, id kv.CommandID, req kv.Message) (resp kv.Message,
	err error) {
	for range maxMoved {
		var refs []kv.TabletRef
		var t kv.Tablet
		for i, row := range rows {
			if i > 0 && t.Span.Contains(row) {
				continue
			}
			if t, err = c.s.KV.Locate(ctx, row); err != nil {
				return nil, err
			}
			if ref := (kv.TabletRef{ID: t.ID, Generation: t.Generation}); !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
		if resp, err = c.s.KV.Call(ctx, t.Shard, refs, id, req); !errors.Is(err, kv.ErrMoved) ||
			ctx.Err() != nil {
			break
		}
	}
	return resp, err
}

func (c *cells) readRaw(ctx context.Context, w *worker) (int, error) {
	return c.readRow(ctx, w.rng.IntN(c.n))
}

func (c *cells) readRow(ctx context.Context, i int) (int, error) {
	row := c.rawRow(i)
	resp, err := c.call(ctx, []kv.RowKey{row}, bigtable.CommandReadRow,
		&bigtable.ReadRowRequest{Row: row, Filter: bigtable.Filter{Versions: 1}})
	if err != nil {
		return 0, err
	}
	found := resp.(*bigtable.ReadRowResponse).Row.Cells
	if len(found) != 1 {
		return 0, fmt.Errorf("cell %d: %d cells", i, len(found))
	}
	return 1, c.check(i, found[0].Value, true)
}

func (c *cells) writeRaw(ctx context.Context, w *worker) (int, error) {
	return c.writeRow(ctx, w.rng.IntN(c.n))
}

func (c *cells) writeRow(ctx context.Context, i int) (int, error) {
	row := c.rawRow(i)
	req := &bigtable.MutateRowRequest{RowMutations: bigtable.RowMutations{Row: row, Mutations: c.set(i)}}
	_, err := c.call(ctx, []kv.RowKey{row}, bigtable.CommandMutateRow, req)
	return 1, err
}

// readLatest is what a statement does that stands alone: no timestamp.
func (c *cells) readLatest(ctx context.Context, w *worker) (int, error) {
	i := w.rng.IntN(c.n)
	vs, err := c.s.Txn.Latest(ctx, []kv.Column{c.txnColumn(i)})
	if err != nil {
		return 0, err
	}
	return 1, c.check(i, vs[0].Data, vs[0].OK)
}

// readTxn is the paper's: a start timestamp, then the read.
func (c *cells) readTxn(ctx context.Context, w *worker) (int, error) {
	i := w.rng.IntN(c.n)
	v, ok, err := c.s.Txn.Begin(txn.TxnOptions{Autocommit: true, ReadOnly: true}).Get(ctx, c.txnColumn(i))
	if err != nil {
		return 0, err
	}
	return 1, c.check(i, v, ok)
}

func (c *cells) writeTxn(ctx context.Context, w *worker) (int, error) {
	i := w.rng.IntN(c.n)
	t := c.s.Txn.Begin(txn.TxnOptions{Autocommit: true})
	t.Put(c.txnColumn(i), c.value(i), txn.WriteOptions{})
	_, err := t.Commit(ctx)
	return 1, err
}
