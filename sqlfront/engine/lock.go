package engine

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/upcoming"
	"moka/txn"
)

// Row locks. Statements of an explicit transaction lock the rows that they change, and those that they read FOR UPDATE or FOR
// SHARE: people who come from InnoDB expect to wait, not to be told at COMMIT that it was in vain. The snapshot stays what it
// is: a row that has changed after it cannot be locked "as it is now" behind the back of the transaction's other reads. What
// then happens depends on who has seen the snapshot:
//
//   - nobody (it was taken by this very statement, or those before have seen nothing but rows that they have locked), or nobody
//     for long (READ COMMITTED, one for each statement): the statement is undone and run again on a fresh snapshot, with the
//     locks it has. Hot counters wait in line. What was locked is the same in every snapshot since, and the commit proves it.
//   - the client, in an earlier statement (REPEATABLE READ): 1213.
//
// Writes in autocommit lock nothing. They are tried at once and, when they lose a race, run again with locks, so that a
// crowd of them before one row forms a line as well.

// isolation is the level of a transaction. REPEATABLE READ is snapshot isolation.
type isolation uint8

const (
	repeatableRead isolation = iota
	readCommitted            // READ UNCOMMITTED too: the standard allows it to be better
	serializable
)

// Values of moka_txn_mode.
const (
	txnModeVariable = "moka_txn_mode"
	modePessimistic = "pessimistic"
	modeOptimistic  = "optimistic"
)

// isolation reads the level that holds for the next transaction.
func (s *Session) isolation(ctx *sql.Context) isolation {
	v, err := s.GetSessionVariable(ctx, upcoming.IsolationVariable)
	if err != nil {
		return repeatableRead
	}
	return isolationOf(v)
}

// isolationOf is a value of transaction_isolation.
func isolationOf(v any) isolation {
	switch level, _ := v.(string); level {
	case "READ-COMMITTED", "READ-UNCOMMITTED":
		return readCommitted
	case "SERIALIZABLE":
		return serializable
	}
	return repeatableRead
}

func (s *Session) optimistic(ctx *sql.Context) bool {
	v, err := s.GetSessionVariable(ctx, txnModeVariable)
	if err != nil {
		return false
	}
	mode, _ := v.(string)
	return mode == modeOptimistic
}

// lockWait is how long the session waits for a row lock.
func (s *Session) lockWait() time.Duration {
	v, err := s.GetSessionVariable(nil, "innodb_lock_wait_timeout")
	if err != nil {
		return 0
	}
	n, _ := v.(int64)
	return time.Duration(n) * time.Second
}

// locks reports whether statements of the transaction take row locks.
func (tx *Tx) locks() bool {
	switch {
	case tx.session == nil || tx.readOnly || tx.ddl:
		return false
	case tx.contended:
		return true
	}
	return !tx.optimistic && !tx.session.implicit()
}

// locksAsked reports whether FOR UPDATE and FOR SHARE take row locks: in autocommit as well, for as long as the statement lasts, since
// whoever asks so waits for the transaction that holds the row, and wants to see what it leaves behind.
func (tx *Tx) locksAsked() bool {
	return tx.session != nil && !tx.readOnly && !tx.ddl && !tx.optimistic
}

// locksReads reports whether what the statement reads is locked as well. A SELECT in autocommit is a snapshot that nothing
// is based on.
func (tx *Tx) locksReads() bool {
	return tx.isolation == serializable && tx.session != nil && !tx.readOnly && !tx.ddl && (!tx.session.implicit() || len(tx.running) > 0)
}

// lock takes the row locks of keys. skipped, for SkipLocked, says that the one key is not to be had.
func (tx *Tx) lock(ctx *sql.Context, o txn.LockOptions, keys ...kv.RowKey) (skipped bool, err error) {
	cells := make([]kv.Column, 0, len(keys))
	for _, k := range keys {
		if strong, held := tx.locked[string(k)]; !held || !strong && !o.Share {
			cells = append(cells, cell(k))
		}
	}
	if len(cells) == 0 {
		return false, nil
	}
	tx.lockOptions(ctx, &o)
	got, err := tx.t.Lock(ctx, cells, o)
	for i, c := range cells {
		if i < len(got) && got[i] {
			tx.holdsNow(c.Row, o.Share)
		} else if err == nil {
			skipped = true
		}
	}
	return skipped, tx.fail(ctx, err)
}

// lockRow locks a row alone and reads it, in one request. It is for rows that are about to be written.
func (tx *Tx) lockRow(ctx *sql.Context, key kv.RowKey) (txn.Value, error) {
	if tx.locked[string(key)] {
		v, ok, err := tx.store().Get(ctx, cell(key))
		return txn.Value{Data: v, OK: ok}, tx.fail(ctx, err)
	}
	var o txn.LockOptions
	tx.lockOptions(ctx, &o)
	v, got, err := tx.t.LockAndGet(ctx, cell(key), o)
	if got {
		tx.holdsNow(key, false)
	}
	return v, tx.fail(ctx, err)
}

// lockOptions says how long to wait for a lock, and who does.
func (tx *Tx) lockOptions(ctx *sql.Context, o *txn.LockOptions) {
	o.Wait = tx.session.lockWait()
	query := ctx.Query() // of megabytes, maybe, for each of its rows
	tx.store().SetNote("connection " + strconv.FormatUint(uint64(tx.session.ID()), 10) + ": " + query[:min(len(query), txn.MaxNote)])
}

func (tx *Tx) holdsNow(key kv.RowKey, share bool) {
	if tx.locked == nil {
		tx.locked = map[string]bool{}
	}
	tx.locked[string(key)] = tx.locked[string(key)] || !share
}

// lockWrite locks what a write of a row touches: the row, and the unique keys that it takes and gives up.
func (tx *Tx) lockWrite(ctx *sql.Context, t *Table, insert bool, rows ...*written) error {
	if t.temporary || !tx.locks() && !tx.locksReads() {
		return nil
	}
	var keys []kv.RowKey
	for _, w := range rows {
		if w.key != nil && (len(keys) == 0 || string(keys[0]) != string(w.key)) {
			keys = append(keys, w.key)
		}
		for i := range w.secondary {
			same := len(rows) == 2 && bytes.Equal(rows[0].secondary[i].key, rows[1].secondary[i].key)
			if s := &w.secondary[i]; s.unique && !same {
				keys = append(keys, s.key)
			}
		}
	}
	if tx.isolation == serializable && tx.movesIn(t, insert, rows) {
		// Range reads of serializable transactions hold this one shared.
		gap := gapKey(t)
		if _, err := tx.lock(ctx, txn.LockOptions{}, gap); err != nil {
			return err
		}
		tx.store().LockForUpdate(cell(gap))
	}
	// An upsert that lost its race is run again, and finds the row; for it a key that was taken is a change like any other.
	_, err := tx.lock(ctx, txn.LockOptions{MustNotExist: insert && !tx.modes[t.desc.ID].replaces()}, keys...)
	return err
}

// lockInserts is lockWrite for new rows.
func (tx *Tx) lockInserts(ctx *sql.Context, t *Table, rows []*written) error {
	if t.temporary || !tx.locks() && !tx.locksReads() {
		return nil
	}
	if tx.isolation == serializable {
		for _, w := range rows {
			if err := tx.lockWrite(ctx, t, true, w); err != nil {
				return err
			}
		}
		return nil
	}
	var keys []kv.RowKey
	for _, w := range rows {
		for _, k := range w.unique(nil) {
			keys = append(keys, k.key)
		}
	}
	order := func(a, b kv.RowKey) int { return bytes.Compare(a, b) }
	slices.SortFunc(keys, order) // two statements that take the same keys then meet at the first
	keys = slices.CompactFunc(keys, func(a, b kv.RowKey) bool { return bytes.Equal(a, b) })
	for len(keys) > 0 {
		n := min(len(keys), lookupBatch)
		if _, err := tx.lock(ctx, txn.LockOptions{MustNotExist: true}, keys[:n]...); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// movesIn reports whether a write may put an entry where a range read has looked.
func (tx *Tx) movesIn(t *Table, insert bool, rows []*written) bool {
	if insert || len(rows) < 2 {
		return insert
	}
	was, is := rows[0], rows[1]
	if string(was.key) != string(is.key) {
		return true
	}
	for i := range is.secondary {
		if string(was.secondary[i].key) != string(is.secondary[i].key) {
			return true
		}
	}
	return len(t.texts) > 0
}

// gapKey stands for all keys of a table that do not exist. Nothing is stored there.
func gapKey(t *Table) kv.RowKey { return indexPrefix(t.desc.ID, t.desc.RowIndex) }

// lockRead locks an entry that a scan delivers. ok is false if the row is to be left out.
func (tx *Tx) lockRead(ctx *sql.Context, key kv.RowKey, l parse.Lock) (ok bool, err error) {
	c := cell(key)
	took := tx.locks() || tx.locksReads() || tx.locksAsked()
	if took {
		skipped, err := tx.lock(ctx, txn.LockOptions{Share: !l.Exclusive, NoWait: l.Nowait, SkipLocked: l.SkipLocked}, key)
		if skipped || err != nil {
			return false, err
		}
	}
	// What the lock has promised, the commit proves.
	if l.Exclusive || !took {
		tx.store().LockForUpdate(c)
	} else {
		tx.store().LockShared(c)
	}
	return true, nil
}

// lockSpans keeps others from putting entries into the spans: a serializable transaction's range reads.
func (tx *Tx) lockSpans(ctx *sql.Context, t *Table, spans []rowenc.Span, point func(*rowenc.Span) bool) error {
	for i := range spans {
		if point(&spans[i]) {
			continue
		}
		gap := gapKey(t)
		if _, err := tx.lock(ctx, txn.LockOptions{Share: true}, gap); err != nil {
			return err
		}
		tx.store().LockShared(cell(gap))
		return nil
	}
	return nil
}

// canRunAgain reports whether the statement that is being run may be, after it has lost a race for a lock.
func (tx *Tx) canRunAgain() bool {
	s := tx.session
	return s != nil && s.reruns && s.calls == 0 && !tx.ddl && !tx.over() && (tx.fresh || tx.isolation == readCommitted)
}

// ReRunsStatements tells the session that its driver asks Again after each failed statement.
func (s *Session) ReRunsStatements() { s.reruns = true }

// Again is asked after a statement has failed. If it lost a race for a row lock, and nothing but itself has seen the
// snapshot, it is to be run again, inside its transaction: everything is prepared for that. If may is false (some of its
// result is out already), the transaction is over.
func (s *Session) Again(may bool) bool {
	s.GetLastQueryInfo().RowCount.Store(-1) // what ROW_COUNT() is after an error
	tx := s.tx()
	if tx == nil || tx.lost == nil || tx.over() {
		return false
	}
	if !may {
		tx.ended, tx.lost = tx.lost, nil
		s.settle()
		return false
	}
	tx.lost = nil
	s.cost.restarts.Add(1)
	s.forgetAssigned(true)
	tx.unlook()
	if tx.start != nil {
		tx.undo(*tx.start)
	}
	tx.t.Advance()
	tx.view, tx.rerun = nil, true
	return true
}

// Contended tells the session whether the statement that follows has lost a race before.
func (s *Session) Contended(yes bool) {
	if s.contended = yes; yes {
		s.cost.restarts.Add(1)
		s.forgetAssigned(true)
	}
}

// lose ends the statement after a race for a lock was lost, or the transaction.
func (tx *Tx) lose(err, mapped error) {
	switch {
	case errors.Is(err, txn.ErrConflict) && tx.canRunAgain():
		tx.lost = mapped
	case endsTransaction(err) && tx.ended == nil:
		tx.ended = mapped
		if tx.t != nil {
			tx.t.Unlock() // nobody needs to wait for the client to hear of it
		}
	}
}
