package engine

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/triggers"
	"moka/txn"
)

// What observers have not acknowledged when a table gets its new form stays with the old keys of its rows, where it came from. It is carried
// over after the exchange, when nothing more can come: each notification in a transaction, together with the row as its observer has seen it
// last, in the new form. Until that is done nothing of the table is delivered (Moving), or a change made afterwards would be compared with the
// wrong state. Rows without a notification have nothing to carry: the next change is compared with the moment before it.

// notesBatch is how many notifications are listed at a time.
const notesBatch = 1024

// Moving reports whether notifications about the column have to wait, since those of its table are being carried over.
func (t *Table) Moving() bool { return t.desc.Copy != nil && t.desc.Copy.From != nil }

// Holds reports whether the row is one of the table's, as it is stored now.
func (t *Table) Holds(row kv.RowKey) bool { return indexSpan(t.desc.ID, t.desc.RowIndex).Contains(row) }

// FirstRow is where the rows of a table begin. What lies before it in the table was stored in an earlier form of it, or before a TRUNCATE.
func FirstRow(d *catalog.Table) kv.RowKey { return indexSpan(d.ID, d.RowIndex).Start }

// moveNotes ends a job that has exchanged a table. What fails is tried again; the table serves statements meanwhile.
func (e *Engine) moveNotes(ctx *sql.Context, x *job, rec catalog.Job, desc *catalog.Table) error {
	c, err := e.newCopying(ctx, rec.Database, desc.Copy.From, desc)
	if err != nil {
		return err
	}
	c.keys, c.rows.lenient, c.rows.checks = desc.Copy.Keys, true, nil
	if e.opts.Store != nil {
		// A committed change whose lock nobody has met has not left its notification yet.
		if _, err := e.client.ResolveOrphans(ctx, 0); err != nil {
			return err
		}
		if err := c.moveAll(ctx, x); err != nil {
			return err
		}
	}
	return e.publish(ctx, desc.ID, func(d *catalog.Table) error {
		if d.Copy == nil || d.Copy.Job != x.id {
			return errNotOurs
		}
		d.Copy = nil
		return nil
	}, func(st *txn.Txn, _ *catalog.Table) error {
		rec, err := e.hold(ctx, st, x)
		if err != nil && !isCancelled(err) { // what KILL could have stopped is done
			return err
		}
		finish(&rec, nil)
		return e.catalog.EndJob(ctx, st, rec)
	})
}

func (c *copying) moveAll(ctx *sql.Context, x *job) error {
	st := c.eng.client.Begin(txn.TxnOptions{ReadOnly: true})
	snap, err := c.eng.catalog.Snapshot(ctx, st)
	st.Rollback()
	if err != nil {
		return err
	}
	old := indexSpan(c.from.desc.ID, c.from.desc.RowIndex)
	for _, o := range snap.Observers(c.from.desc.ID) {
		for more := true; more; {
			notes, err := triggers.ListUnacknowledged(ctx, c.eng.opts.Store, o.ID, notesBatch)
			if err != nil {
				return err
			}
			more = false
			for i := range notes {
				if !old.Contains(notes[i].Column.Row) { // ids of indexes grow: these lie behind
					continue
				}
				more = true
				notes[i].New = o.Fresh == c.from.desc.RowIndex
				if err := c.move(ctx, x, &notes[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// move carries one notification over.
func (c *copying) move(ctx *sql.Context, x *job, u *triggers.Unacknowledged) error {
	var to kv.Column
	moved := false
	ts, err := c.eng.commit(ctx, func(st *txn.Txn) error {
		moved = false
		rec, err := c.eng.hold(ctx, st, x)
		if err != nil && !isCancelled(err) {
			return err
		}
		rec.Updated = time.Now().UTC()
		if err := c.eng.catalog.PutJob(st, rec); err != nil {
			return err
		}
		seen, done, err := u.Seen(ctx, c.eng.client, st)
		if err != nil {
			return err
		}
		if done {
			return u.Clear(ctx, st)
		}
		key, err := c.place(ctx, st, u.Column.Row, &seen)
		if err != nil {
			return err
		}
		to = kv.Column{Row: key, Family: u.Column.Family, Qualifier: u.Column.Qualifier}
		moved = true
		return u.Move(ctx, st, to, seen)
	})
	if err != nil || !moved {
		return err
	}
	return u.Fail(ctx, c.eng.opts.Store, to, ts)
}

// place finds the new key of a row, and gives what an observer has seen of it the new form. A row that is gone gets the key that it would have.
func (c *copying) place(ctx *sql.Context, st *txn.Txn, row kv.RowKey, seen *triggers.Seen) (kv.RowKey, error) {
	pk := []byte(row[len(indexPrefix(c.from.desc.ID, c.from.desc.RowIndex)):])
	keys, err := c.newKeys(ctx, st, [][]byte{pk})
	if err != nil {
		return nil, err
	}
	var key kv.RowKey
	if keys[0] != nil {
		key = append(indexPrefix(c.to.desc.ID, c.to.desc.RowIndex), keys[0]...)
	}
	if seen.OK {
		was, err := c.seenAs(ctx, st, pk, key, seen.Value)
		if err != nil { // a value of then that has no form today
			c.eng.log.Warn("an observer's OLD row cannot be given its table's new form", "table", c.from.desc.Name, "err", err)
			*seen = triggers.Seen{Forgotten: true}
		} else if seen.Value = was.value; key == nil {
			key = was.key
		}
	}
	if key == nil {
		key = append(indexPrefix(c.to.desc.ID, c.to.desc.RowIndex), pk...)
	}
	return key, nil
}

// seenAs makes the new form of a row as it was. A number that all rows have got is that of the row of today.
func (c *copying) seenAs(ctx *sql.Context, st *txn.Txn, pk []byte, key kv.RowKey, value []byte) (*written, error) {
	old, err := c.from.decode.Decode(value)
	if err != nil {
		return nil, err
	}
	is, err := c.rows.apply(ctx, old, 1, func() (uint64, error) {
		if key != nil {
			value, ok, err := st.Get(ctx, cell(key))
			if err != nil {
				return 0, err
			}
			if ok {
				row, err := c.to.decode.Decode(value)
				if err != nil {
					return 0, err
				}
				n, _, err := sqlUint64(ctx, row[c.rows.number])
				return n, err
			}
		}
		return c.eng.catalog.NextID(ctx, c.to.desc.AutoIncrement)
	})
	if err != nil {
		return nil, err
	}
	return c.encode(ctx, pk, is)
}
