package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"moka/cmd/moka/backup"
	"moka/kv"
	"moka/kv/coord"
	"moka/sqlfront"
	"moka/txn"
	"moka/txn/gc"
)

const (
	backupPath = "/backup"
	// backupTrailer says behind the data what it was; it is not there if something went wrong, and then
	// backupFailed is.
	backupTrailer = "Moka-Backup"
	backupFailed  = "Moka-Backup-Failed"
	// backupBatch is how many cells are read at a time.
	backupBatch = 1000
)

// backupDone is backupTrailer's value.
type backupDone struct {
	Info   backup.Info
	Counts backup.Counts
	SHA256 string
}

// backup answers backupPath: it sends what the store holds at one timestamp, as long as the client goes on
// reading.
func (h *httpServer) backup(w http.ResponseWriter, r *http.Request) {
	s := h.stack
	since, err := strconv.ParseUint(cmp.Or(r.URL.Query().Get("since"), "0"), 10, 64)
	switch {
	case err != nil:
		http.Error(w, "since is not a timestamp", http.StatusBadRequest)
		return
	case s.node == nil || s.sql == nil:
		http.Error(w, "this process has not both storage and SQL; ask one that has", http.StatusBadRequest)
		return
	case s.o.Memory:
		http.Error(w, "this database is in memory", http.StatusBadRequest)
		return
	case !h.backingUp.CompareAndSwap(false, true):
		http.Error(w, "another backup is under way", http.StatusConflict)
		return
	}
	defer h.backingUp.Store(false)
	w.Header().Set("Trailer", backupTrailer+", "+backupFailed)
	w.Header().Set("Content-Type", "application/octet-stream")
	began := time.Now()
	sum := newHashed(w)
	info, counts, err := s.writeBackup(r.Context(), sum, kv.Timestamp(since), r.URL.Query().Get("store"))
	if err != nil {
		s.o.Logger.Warn("a backup failed", "err", err)
		w.Header().Set(backupFailed, oneLine(err))
		return
	}
	done, err := json.Marshal(backupDone{info, counts, sum.String()})
	if err != nil {
		w.Header().Set(backupFailed, oneLine(err))
		return
	}
	w.Header().Set(backupTrailer, string(done))
	s.o.Logger.Info("a backup has been sent", "snapshot", info.Snapshot, "cells", counts.Cells, "took",
		time.Since(began).Round(time.Millisecond))
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// storeKey is where the coordination service has the store's name for itself.
const storeKey = "backup/store"

// storeName tells this store from others: timestamps of another mean nothing here.
func (s *stack) storeName(ctx context.Context) (string, error) {
	for {
		x, err := s.coord.Get(ctx, storeKey)
		if err == nil {
			return string(x.Value), nil
		}
		if !errors.Is(err, coord.ErrNotFound) {
			return "", err
		}
		_, err = s.coord.Txn(ctx, []coord.Cond{coord.Absent(storeKey)},
			[]coord.Op{coord.Put(storeKey, []byte(rand.Text()))})
		if err != nil && !errors.Is(err, coord.ErrConflict) {
			return "", err
		}
	}
}

// writeBackup writes what was committed up to the snapshot that it takes. The snapshot is one that garbage
// collection knows of, like any transaction's, and so lasts for --gc-max-hold.
func (s *stack) writeBackup(ctx context.Context, w io.Writer, since kv.Timestamp,
	of string) (info backup.Info, counts backup.Counts, err error) {
	info = backup.Info{Format: backup.Format, Since: since, Created: time.Now().UTC().Truncate(time.Second),
		Moka: version}
	if info.Store, err = s.storeName(ctx); err != nil {
		return info, counts, err
	}
	if since != 0 && of != info.Store {
		return info, counts, errors.New("the backups before it are of another database; begin in another " +
			"directory")
	}
	processes, err := gc.Reports(ctx, s.coord)
	if err != nil {
		return info, counts, err
	}
	t := s.txn.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	t.SetNote("a backup")
	positions, err := s.sql.Positions(ctx, t, len(processes) > 1)
	if err != nil {
		return info, counts, fmt.Errorf("what observers have still to do: %w", err)
	}
	if info.Snapshot, err = t.StartTS(ctx); err != nil {
		return info, counts, err
	}
	if info.Snapshot <= since {
		return info, counts, fmt.Errorf("now is %v, which is before the last backup", info.Snapshot)
	}
	b, err := backup.NewWriter(w, info)
	if err != nil {
		return info, counts, err
	}
	if err := writeCells(ctx, b, t, since); err != nil {
		return info, counts, err
	}
	for _, p := range positions {
		if err := b.Position(p); err != nil {
			return info, counts, err
		}
	}
	counts, err = b.Close()
	return info, counts, err
}

// writeCells writes all cells that mean something in another store; those that have not changed since then
// by their names.
func writeCells(ctx context.Context, b *backup.Writer, t *txn.Txn, since kv.Timestamp) error {
	span := kv.Span{Start: kv.MakeRowKey(kv.TableTxn, nil), End: kv.MakeRowKey(kv.TableTxn+1, nil)}
	all := t.Scan(ctx, txn.ScanOptions{Span: span, Batch: backupBatch})
	defer all.Close()
	var changed *txn.Scanner
	more := false
	if since != 0 {
		changed = t.Scan(ctx, txn.ScanOptions{Span: span, Batch: backupBatch, Since: since})
		defer changed.Close()
		more = changed.Next()
	}
	for all.Next() {
		c := all.Column()
		is := since == 0
		if more && backup.Equal(changed.Column(), c) {
			is = true
			more = changed.Next()
		}
		if !sqlfront.Lasting(c) {
			continue
		}
		write := b.Same
		if is {
			write = func(c kv.Column) error { return b.Cell(c, all.Value()) }
		}
		if err := write(c); err != nil {
			return err
		}
	}
	if err := all.Err(); err != nil {
		return err
	}
	if changed == nil {
		return nil
	}
	if err := changed.Err(); err != nil {
		return err
	}
	if more {
		return fmt.Errorf("cell %x has changed and is not there", []byte(changed.Column().Row))
	}
	return nil
}
