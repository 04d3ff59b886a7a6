package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
	"moka/txn"
)

// CommitConfig configures Commit. Zero values mean the defaults.
type CommitConfig struct {
	Dir      string        `json:"-"`
	Value    int           // bytes; default 100
	Callers  int           // default 64
	Rounds   int           // default 5
	Slice    time.Duration // default 2s
	Progress io.Writer     `json:"-"`
}

func (c CommitConfig) withDefaults() CommitConfig {
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
		c.Slice = 2 * time.Second
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c
}

// Commit measures what a durable transaction costs over the least that durability costs: inserts of one row
// each, in one shard, in this process, against synced sets of one key in a Pebble of its own with the same
// options on the same disk.
func Commit(ctx context.Context, c CommitConfig) (_ *Report, err error) {
	c = c.withDefaults()
	plain, err := engine.Open(filepath.Join(c.Dir, "pebble"), engine.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	s, err := OpenStore(ctx, nil, ServerOptions{Dir: filepath.Join(c.Dir, "commit")})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	value := make([]byte, c.Value)
	var next atomic.Uint64 // rows are new and scattered, the same on both sides
	set := func(_ context.Context, w *worker) (int, error) {
		row := binary.BigEndian.AppendUint64([]byte{0xb1}, scatter(int(next.Add(1))))
		a := kv.Address{Group: kv.GroupTxnWrite, Column: kv.Column{Row: kv.MakeRowKey(kv.TableTxn, row)}}
		plain.Set(keys.AppendVersion(keys.AppendColumn(nil, 1, a), 1), value)
		return 1, nil
	}
	commit := func(ctx context.Context, w *worker) (int, error) {
		row := binary.BigEndian.AppendUint64([]byte{0xb1}, scatter(int(next.Add(1))))
		t := s.Txn.Begin(txn.TxnOptions{Autocommit: true})
		t.Put(kv.Column{Row: kv.MakeRowKey(kv.TableTxn, row)}, value, txn.WriteOptions{MustNotExist: true})
		_, err := t.Commit(ctx)
		return 1, err
	}
	names := []string{"Pebble, synced set", "transaction, one row"}
	all, err := contest(ctx, s, c.Callers, c.Rounds, c.Slice, c.Progress, names, []operation{set, commit})
	if err != nil {
		return nil, err
	}
	r := newReport("commit", fmt.Sprintf("Durable commits of one row, %d writers, one shard", c.Callers),
		"commits/s", c)
	r.Reference = "Pebble"
	base, row := all[0].row(names[0]), all[1].row(names[1])
	row.Reference = base.Value
	r.Rows = []Row{base, row}
	st, err := s.Stats()
	if err != nil {
		return nil, err
	}
	r.Notes = []string{fmt.Sprintf("%d fsyncs of the log under all transactions", st.Engine.LogSyncs)}
	r.Checks = []string{"every transaction inserted a row that did not exist"}
	return r, nil
}
