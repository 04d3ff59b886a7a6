package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
)

// MicroConfig configures Micro. Zero values mean the defaults.
type MicroConfig struct {
	Server   []string      `json:"-"`
	Dir      string        `json:"-"`
	Cells    int           // default 100,000
	Value    int           // bytes; default 100
	Callers  int           // default 64
	Rounds   int           // default 5
	Slice    time.Duration // default 1s
	Progress io.Writer     `json:"-"`
}

func (c MicroConfig) withDefaults() MicroConfig {
	if c.Cells <= 0 {
		c.Cells = 100_000
	}
	if c.Value <= 0 {
		c.Value = 100
	}
	if c.Callers <= 0 {
		c.Callers = 64
	}
	if c.Rounds <= 0 {
		c.Rounds = 5
	}
	if c.Slice <= 0 {
		c.Slice = time.Second
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c
}

// Micro is Percolator's Figure 8: what transactions cost over the store below them, for single cells chosen
// at random. The same number of cells of the same size lies in one shard twice, once raw and once under
// transactions; both sets are in the caches. Writes are durable on both sides.
//
// The reference of a transaction's row is the raw row of the same kind; the paper's ratios were 0.94 and
// 0.23.
func Micro(ctx context.Context, c MicroConfig) (*Report, error) {
	c = c.withDefaults()
	r := newReport("micro", fmt.Sprintf("Single cells at random, %d callers, %d-byte values", c.Callers,
		c.Value), "operations/s", c)
	r.Reference = "raw store"
	r.Notes = []string{"the paper's ratios, over its network: reads 0.94, writes 0.23",
		"CPU counts caller and server; grpc is two processes over loopback",
		"read txn is a statement that stands alone, which needs no timestamp; with a snapshot the start " +
			"timestamp is a trip of its own, as in the paper"}
	for _, place := range []struct {
		name   string
		server []string
	}{{"in process", nil}, {"grpc", c.Server}} {
		rows, err := c.in(ctx, place.name, place.server)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place.name, err)
		}
		r.Rows = append(r.Rows, rows...)
	}
	r.Checks = []string{"every value read is the one that belongs to its cell"}
	return r, nil
}

func (c MicroConfig) in(ctx context.Context, place string, server []string) (_ []Row, err error) {
	s, err := OpenStore(ctx, server, ServerOptions{Dir: filepath.Join(c.Dir, "micro-"+place)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	k, err := newCells(ctx, s, "micro", c.Cells, c.Value)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(k.load(ctx, k.loadRaw), k.load(ctx, k.loadTxn), s.Flush(ctx)); err != nil {
		return nil, err
	}
	var rows []Row
	// Reads first, and apart from writes: a write's flushes and compactions would land in the slices of
	// reads.
	for _, kind := range []struct {
		names []string
		ops   []operation
	}{
		{[]string{"read raw", "read txn", "read txn, snapshot"},
			[]operation{k.readRaw, k.readLatest, k.readTxn}},
		{[]string{"write raw", "write txn"}, []operation{k.writeRaw, k.writeTxn}},
	} {
		names := make([]string, len(kind.names))
		for i := range names {
			names[i] = kind.names[i] + ", " + place
		}
		all, err := contest(ctx, s, c.Callers, c.Rounds, c.Slice, c.Progress, names, kind.ops)
		if err != nil {
			return nil, err
		}
		raw := all[0].row(names[0])
		rows = append(rows, raw)
		for i := 1; i < len(all); i++ {
			row := all[i].row(names[i])
			row.Reference = raw.Value
			rows = append(rows, row)
		}
	}
	return rows, nil
}
