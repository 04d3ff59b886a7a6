package txn

import (
	"bytes"

	"moka/kv"
	"moka/txn/record"
)

// An acknowledgement says up to when its observer has seen a cell. It goes when there is nothing left of the
// cell: a collection has removed all versions, the last of which was a delete below the safe point. Then
// there is no run, and will be none, that this could mislead:
//
//	A1  A run that began before the acknowledgement committed began below the safe point, and cannot
//	    commit any more (C1).
//	A2  A run that begins later is for a change of a cell that does not exist. To an observer that has not
//	    acknowledged it the cell was, before that change, not there, which is all that the acknowledgement
//	    could say: what it refers to has been removed. For what began for a change that was acknowledged
//	    already, and has not found that any more, there is no notification: it does not commit
//	    (checkClears).
//	A3  A notification that is still there keeps it: the run for it may be told that it was acknowledged.
//
// It is looked for twice: by the sweep of acknowledgements, where it is younger than the last collection, and
// by the row's removal, where it is older.
type ackCollector struct {
	it      kv.Iterator // nil: nobody has looked yet
	none    bool        // in the whole span
	removed bool
}

func (k *columnCollector) close(st *state) {
	if k.acks.it != nil {
		k.acks.it.Close()
	}
	if k.acks.removed {
		// As a commit would be heard of. Whoever has read one before remembers it for an epoch that is over.
		k.OnDurable(func() { st.hot.epoch.Add(1) })
	}
}

// collectAck deals with the newest version below the safe point of an acknowledgement.
func (k *columnCollector) collectAck(c kv.Column, at kv.Timestamp, stored []byte, rec record.Write) error {
	spare := rec.Kind == record.KindDelete
	if !spare {
		var err error
		if spare, err = k.spareAck(c); err != nil {
			return err
		}
	}
	switch {
	case spare:
		k.removeAck(k.at(c), at, rec)
	case k.group == kv.GroupTxnWrite:
		k.Set(record.WriteAt(c), at, stored)
		k.Delete(k.at(c), at)
		k.resp.versions++ // of which one request does so many
	}
	return nil
}

// spareAck says whether the cell of an acknowledgement is gone or, by this collection, going, and nobody is
// to be told of it.
func (k *columnCollector) spareAck(ack kv.Column) (bool, error) {
	observer, cell, ok := record.Acknowledged(ack)
	if !ok {
		return false, nil
	}
	v, ok, err := k.Latest(record.WriteAt(cell), kv.MaxTimestamp)
	if err != nil {
		return false, err
	}
	if ok {
		rec, err := record.DecodeWrite(v.Value, v.Timestamp)
		if err != nil || rec.Kind != record.KindDelete || v.Timestamp > k.req.safePoint {
			return false, err
		}
	}
	_, pending, err := k.Latest(notifyAt(observer, cell), kv.MaxTimestamp)
	return !pending, err
}

func (k *columnCollector) removeAck(a kv.Address, at kv.Timestamp, rec record.Write) {
	k.Delete(a, at)
	if rec.Kind == record.KindPut && !rec.HasValue {
		k.Delete(record.DataAt(a.Column), rec.StartTS)
	}
	k.resp.versions++
	k.acks.removed = true
}

// acksOf removes the acknowledgements of a cell that is being removed.
func (k *columnCollector) acksOf(cell kv.Column) (err error) {
	a := &k.acks
	if a.it == nil {
		o := kv.IterOptions{Group: kv.GroupTxnAck, Span: k.req.span, Max: k.req.safePoint}
		if a.it, err = k.Iter(o); err != nil {
			return err
		}
		a.none = !a.it.NextColumn()
	}
	if a.none {
		return a.it.Err()
	}
	for ok := a.it.SeekColumn(kv.Column{Row: cell.Row}); ok; ok = a.it.NextColumn() {
		if !bytes.Equal(a.it.Column().Row, cell.Row) {
			break
		}
		ack := cloneColumn(a.it.Column())
		if _, of, ok := record.Acknowledged(ack); !ok || compareColumns(of, cell) != 0 {
			continue
		}
		spare, err := k.spareAck(ack)
		if err != nil {
			return err
		}
		for more := spare; more; more = a.it.NextVersion() {
			v := a.it.Version()
			rec, err := record.DecodeWrite(v.Value, v.Timestamp)
			if err != nil {
				return err
			}
			k.removeAck(record.WriteAt(ack), v.Timestamp, rec)
		}
	}
	return a.it.Err()
}

// checkClears refuses the first acknowledgement of a cell where nothing is left of the notifications that it
// is for: it is not the first, however long ago that was. Where there is one, whoever writes the next has
// read it.
func (w *writer) checkClears(m *mutation) (*writeResponse, error) {
	for _, cl := range m.clears {
		if _, ok, err := w.Latest(notifyAt(cl.Observer, cl.Column), w.req.startTS); err != nil {
			return nil, err
		} else if ok {
			return nil, nil
		}
	}
	if _, exists, err := w.newest(m.column); exists || err != nil {
		return nil, err
	}
	return conflict(m.column, w.req.startTS), nil
}
