package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/bigtable"
)

// BigtableConfig configures Bigtable. Zero values mean the defaults.
type BigtableConfig struct {
	Server   []string `json:"-"`
	Dir      string   `json:"-"`
	Rows     int      // default 200,000; a quarter of it for reads from memory
	Value    int      // bytes; default 1,000
	CacheMiB int      // of the server, below the size of the data; default 64
	// SeparateValues is the size from which on the server writes values to files of their own; default none.
	SeparateValues int
	Callers        int           // default 64
	ScanRows       int           // that a scan asks for at a time; default 1,000
	Rounds         int           // default 3
	Slice          time.Duration // default 2s
	Only           []string      `json:",omitempty"` // of the rows of the table, these; default all
	Progress       io.Writer     `json:"-"`
}

func (c BigtableConfig) withDefaults() BigtableConfig {
	if c.Rows <= 0 {
		c.Rows = 200_000
	}
	if c.Value <= 0 {
		c.Value = 1000
	}
	if c.CacheMiB <= 0 {
		c.CacheMiB = 64
	}
	if c.Callers <= 0 {
		c.Callers = 64
	}
	if c.ScanRows <= 0 {
		c.ScanRows = 1000
	}
	if c.Rounds <= 0 {
		c.Rounds = 3
	}
	if c.Slice <= 0 {
		c.Slice = 2 * time.Second
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c
}

// bigtablePaper is Figure 6 for one tablet server: 1,000-byte values read and written a second.
var bigtablePaper = map[string]float64{
	"random reads": 1212, "random reads (mem)": 10811, "random writes": 8850, "sequential reads": 4425,
	"sequential writes": 8547, "scans": 15385,
}

// Bigtable is the first column of Bigtable's Figure 6: one server, values of 1,000 bytes, one in each row,
// caller and server in two processes. Everything but scans is one row for each call; every write is durable
// before it is answered.
func Bigtable(ctx context.Context, c BigtableConfig) (_ *Report, err error) {
	c = c.withDefaults()
	s, err := OpenStore(ctx, c.Server,
		ServerOptions{Dir: filepath.Join(c.Dir, "bigtable"), CacheMiB: c.CacheMiB,
			SeparateValues: c.SeparateValues})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	disk, err := newRows(ctx, s, c, "disk", c.Rows, false)
	if err != nil {
		return nil, err
	}
	mem, err := newRows(ctx, s, c, "mem", max(1, c.Rows/4), true)
	if err != nil {
		return nil, err
	}
	r := newReport("bigtable", fmt.Sprintf("%d-byte values, %d callers, over loopback gRPC", c.Value,
		c.Callers), "values/s", c)
	r.Reference = "paper"
	for _, name := range c.Only {
		if _, ok := bigtablePaper[name]; !ok {
			return nil, fmt.Errorf("there is no experiment %q; there are %q", name,
				slices.Sorted(maps.Keys(bigtablePaper)))
		}
	}
	measure := func(callers int, names []string, ops ...operation) error {
		for i := len(names) - 1; i >= 0 && len(c.Only) > 0; i-- {
			if !slices.Contains(c.Only, names[i]) {
				names, ops = slices.Delete(names, i, i+1), slices.Delete(ops, i, i+1)
			}
		}
		if len(names) == 0 {
			return nil
		}
		all, err := contest(ctx, s, callers, c.Rounds, c.Slice, c.Progress, names, ops)
		for i := range all {
			row := all[i].row(names[i])
			row.Reference = bigtablePaper[names[i]]
			r.Rows = append(r.Rows, row)
		}
		return err
	}
	// The table is made by the sequential writes; what they do not come to is loaded.
	if err := measure(c.Callers, []string{"sequential writes"}, disk.writeSequential()); err != nil {
		return nil, err
	}
	if err := errors.Join(disk.load(ctx, disk.loadRaw), mem.load(ctx, mem.loadRaw)); err != nil {
		return nil, err
	}
	if err := measure(c.Callers, []string{"random writes"}, disk.writeRaw); err != nil {
		return nil, err
	}
	if err := s.Flush(ctx); err != nil {
		return nil, err
	}
	names := []string{"random reads", "random reads (mem)", "sequential reads"}
	if err := measure(c.Callers, names, disk.readRaw, mem.readRaw,
		disk.readSequential(c.Callers)); err != nil {
		return nil, err
	}
	if err := measure(max(1, c.Callers/8), []string{"scans"}, disk.scan(c.ScanRows)); err != nil {
		return nil, err
	}
	r.Notes = []string{
		fmt.Sprintf("%d rows; the server's block cache holds %d MiB of them, the machine's page cache "+
			"probably all", c.Rows, c.CacheMiB),
		fmt.Sprintf("writes: %d callers with one row each on its way, answered after an fsync that those "+
			"who wait share; the paper's were answered after a write to GFS's memory", c.Callers),
		fmt.Sprintf("scans: %d callers that ask for %d rows at a time", max(1, c.Callers/8), c.ScanRows),
		"the paper's figures are of one tablet server of 2006; this is one machine with both ends on it",
	}
	r.Checks = []string{"every value read is the one that belongs to its row, and no row of a scan is " +
		"missing"}
	return r, nil
}

// newRows makes a table whose rows are ordered by their number.
func newRows(ctx context.Context, s *Store, c BigtableConfig, name string, n int,
	inMemory bool) (*cells, error) {
	k, err := newCells(ctx, s, name, n, c.Value, bigtable.LocalityGroup{Name: name, InMemory: inMemory})
	if err == nil {
		k.ordered = true
	}
	return k, err
}

// writeSequential writes the rows in order, each caller the next that nobody has written, and
// begins again at the end.
func (c *cells) writeSequential() operation {
	var next atomic.Uint64
	return func(ctx context.Context, _ *worker) (int, error) {
		return c.writeRow(ctx, int((next.Add(1)-1)%uint64(c.n)))
	}
}

// readSequential reads the rows in order, each caller in a part of its own.
func (c *cells) readSequential(callers int) operation {
	at := make([]int, callers)
	return func(ctx context.Context, w *worker) (int, error) {
		from, to := w.id*c.n/callers, max(w.id*c.n/callers+1, (w.id+1)*c.n/callers)
		i := from + at[w.id]%(to-from)
		at[w.id]++
		return c.readRow(ctx, i)
	}
}

// scan reads rows in order from a random one on.
func (c *cells) scan(rows int) operation {
	end := kv.MakeRowKey(c.table.ID+1, nil)
	return func(ctx context.Context, w *worker) (int, error) {
		i := w.rng.IntN(max(1, c.n-rows))
		start := c.rawRow(i)
		req := &bigtable.ReadRowsRequest{Spans: []kv.Span{{Start: start, End: end}},
			Filter: bigtable.Filter{Versions: 1}, Rows: rows}
		t, err := c.s.KV.Locate(ctx, start)
		if err != nil {
			return 0, err
		}
		if t.Span.End != nil && string(t.Span.End) < string(end) {
			req.Spans[0].End = t.Span.End // the rest is another tablet's
		}
		resp, err := c.s.KV.Call(ctx, t.Shard, []kv.TabletRef{{ID: t.ID, Generation: t.Generation}},
			bigtable.CommandReadRows, req)
		if errors.Is(err, kv.ErrMoved) {
			return 0, ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		got := resp.(*bigtable.ReadRowsResponse).Rows
		for k := range got {
			if len(got[k].Cells) != 1 || binary.BigEndian.Uint64(got[k].Key.Row()) != uint64(i+k) {
				return 0, fmt.Errorf("row %d of a scan from %d is %x with %d cells", k, i, []byte(got[k].Key),
					len(got[k].Cells))
			}
			if err := c.check(i+k, got[k].Cells[0].Value, true); err != nil {
				return 0, err
			}
		}
		return len(got), nil
	}
}
