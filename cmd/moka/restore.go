package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"moka/cmd/moka/backup"
	"moka/kv"
	"moka/sqlfront"
	"moka/triggers"
	"moka/txn"
)

const (
	restoreBytes = 4 << 20 // of one transaction
	restoreCells = 10_000
)

func restoreCommand() *cobra.Command {
	var from string
	number := -1
	var o stackOptions
	o.bind(pflag.NewFlagSet("defaults", pflag.ContinueOnError))
	o.Roles, o.SQLAddr, o.HTTPAddr = []string{roleStorage}, "", ""
	cmd := &cobra.Command{
		Use: "restore", Short: "Make a directory of data from a backup", Args: cobra.NoArgs,
		Long: `Makes a new directory of data of a backup, which 'moka start' then serves. The backup is looked
through for damage first. Nothing that is restored sets off observers; what they had still to do when the
backup was taken they do after the start.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" {
				return usagef("--from is missing: the directory of the backup")
			}
			o.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
			return restore(cmd.Context(), from, number, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "directory of the backup")
	f.StringVar(&o.Data, "data", "moka-data", "directory to make; it must not be there, or be empty")
	f.IntVar(&number, "number", -1, "restore up to this backup of the chain, from 0; default the last one")
	f.IntVar(&o.Shards, "shards", 1, "number of shards of the new directory")
	f.IntVar(&o.CacheMiB, "cache-mib", 64, "block cache in MiB")
	for _, flag := range []string{"from", "data"} {
		_ = cmd.MarkFlagDirname(flag)
	}
	return cmd
}

func restore(ctx context.Context, from string, number int, o stackOptions) error {
	c, err := openChain(from)
	if err != nil {
		return err
	}
	n := number + 1
	if number < 0 {
		n = len(c.Backups)
	}
	if n > len(c.Backups) {
		return fmt.Errorf("%s has %d backups, from 0 to %d", from, len(c.Backups), len(c.Backups)-1)
	}
	if err := o.validate(); err != nil {
		return usageError{err}
	}
	switch list, err := os.ReadDir(o.Data); {
	case err == nil && len(list) > 0:
		return fmt.Errorf("%s is not empty; restore into a new directory", o.Data)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := verifyChain(c, n, os.Stdout); err != nil {
		return err
	}
	data := filepath.Clean(o.Data)
	o.Data = data + restoring
	if _, err := os.Stat(o.Data); err == nil {
		fmt.Fprintf(os.Stderr, "removing %s, which was begun and not finished\n", o.Data)
	}
	if err := os.RemoveAll(o.Data); err != nil {
		return err
	}
	began := time.Now()
	cells, err := restoreInto(ctx, c, n, o)
	if err != nil {
		return fmt.Errorf("%w\n%s is not there; %s holds part of it", err, data, o.Data)
	}
	if err := os.Rename(o.Data, data); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(data)); err != nil {
		return err
	}
	fmt.Printf("%s: %d cells in %v; start it with: moka start --data %s\n", data, cells,
		time.Since(began).Round(time.Millisecond), data)
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func restoreInto(ctx context.Context, c *backup.Chain, n int, o stackOptions) (cells uint64, err error) {
	s, err := openStack(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close(context.WithoutCancel(ctx))) }()
	r := &restorer{s: s}
	if err := c.Merge(n, func(rec backup.Record) error { return r.take(ctx, rec) }); err != nil {
		return r.cells, err
	}
	if err := r.flush(ctx); err != nil {
		return r.cells, err
	}
	for _, p := range r.failed { // the notification is there now
		if err := p.Fail(ctx, s.store, r.ts); err != nil {
			return r.cells, err
		}
	}
	return r.cells, nil
}

// restorer writes cells in transactions of some size. Nobody reads before the last of them.
type restorer struct {
	s      *stack
	t      *txn.Txn
	bytes  int
	n      int
	cells  uint64
	ts     kv.Timestamp // of the last commit
	failed []*triggers.Position
}

func (r *restorer) take(ctx context.Context, rec backup.Record) error {
	size := len(rec.Column.Row) + len(rec.Value)
	if r.bytes > 0 && r.bytes+size > restoreBytes { // a value may be nearly as large as a transaction
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	if r.t == nil {
		r.t = r.s.txn.Begin(txn.TxnOptions{})
	}
	r.n++
	if p := rec.Position; p != nil {
		if err := p.Deliver(ctx, r.t); err != nil {
			return err
		}
		if p.Error != "" {
			r.failed = append(r.failed, p)
		}
	} else {
		r.cells++
		r.bytes += size
		value, err := sqlfront.Restored(rec.Column, rec.Value)
		if err != nil {
			return err
		}
		r.t.Put(rec.Column, value, txn.WriteOptions{})
	}
	if r.bytes < restoreBytes && r.n < restoreCells {
		return nil
	}
	return r.flush(ctx)
}

func (r *restorer) flush(ctx context.Context) (err error) {
	if r.t == nil {
		return nil
	}
	r.ts, err = r.t.Commit(ctx)
	r.t, r.bytes, r.n = nil, 0, 0
	return err
}
