package incview

import (
	"bytes"
	"context"
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/engine"
	"moka/txn"
)

// What a group has beside a row is looked for from where the row's own entry is, or was, in an index of the
// contributions, and not from an end of the group: deleted entries stay until garbage collection passes, and
// a scan walks over them. A group whose rows leave in the order of their keys, as those of a queue do, or all
// of a joined row that changes, would have each that leaves walk over all that have left before it.

// within is where the entries of a group lie in an index of the contributions.
func (v *View) within(ctx context.Context, x *catalog.Index, group []byte) (kv.RowKey, error) {
	prefix := engine.FirstRow(&catalog.Table{ID: v.contributions.desc.ID, RowIndex: x.ID})
	return v.view.key.Encode(ctx, prefix, group)
}

// behind is the end of all keys that begin with a prefix.
func behind(prefix kv.RowKey) kv.RowKey { return append(bytes.Clone(prefix), 0xFF) }

// first is the first entry in a part of an index, or the last; nil for none.
func (v *View) first(ctx context.Context, t *txn.Txn, span kv.Span, last bool) (entry kv.RowKey,
	err error) {
	s := t.Scan(ctx, txn.ScanOptions{Span: span, Reverse: last, Limit: 1, Batch: 1})
	defer func() { err = errors.Join(err, s.Close()) }()
	if !s.Next() {
		return nil, s.Err()
	}
	return bytes.Clone(s.Column().Row), nil
}

// beside finds an entry that begins with a prefix, other than that of a row: what follows it first, or what
// is before it, as has been found there the last time.
func (v *View) beside(ctx context.Context, t *txn.Txn, prefix kv.RowKey, row sql.Row) (kv.RowKey, error) {
	own, err := v.contributions.key.Encode(ctx, bytes.Clone(prefix), row[0])
	if err != nil {
		return nil, err
	}
	spans := [2]kv.Span{{Start: behind(own), End: behind(prefix)},
		{Start: append(bytes.Clone(prefix), 1), End: own}}
	for range 2 {
		at := 0
		if v.before {
			at = 1
		}
		entry, err := v.first(ctx, t, spans[at], v.before)
		if err != nil || entry != nil {
			return entry, err
		}
		v.before = !v.before
	}
	return nil, nil
}

// led is the contribution to which the rest of an entry leads.
func (v *View) led(ctx context.Context, t *txn.Txn, rest []byte) (sql.Row, error) {
	row := append(bytes.Clone(v.contributions.table.Span().Start), rest...)
	found, err := v.contributions.at(ctx, t, kv.Column{Row: row})
	if err == nil && found == nil {
		err = errDamaged
	}
	return found, err
}

// anyOf is a contribution to a group, other than one that has gone. There is one.
func (v *View) anyOf(ctx context.Context, t *txn.Txn, group []byte, gone sql.Row) (sql.Row, error) {
	at := v.contributions.desc.Index("group")
	prefix, err := v.within(ctx, &v.contributions.desc.Indexes[at], group)
	if err != nil {
		return nil, err
	}
	entry, err := v.beside(ctx, t, prefix, gone)
	if err != nil {
		return nil, err
	}
	if entry == nil {
		return nil, errDamaged
	}
	return v.led(ctx, t, entry[len(prefix):])
}

// valued is what entries of a group with a value of an argument begin with.
func (v *View) valued(ctx context.Context, arg int, group []byte, value any) (all, of kv.RowKey, err error) {
	if all, err = v.within(ctx, v.args[arg], group); err != nil {
		return nil, nil, err
	}
	of, err = v.argKeys[arg].Encode(ctx, bytes.Clone(all), value)
	return all, of, err
}

// others reports whether a group has a value beside that of a row.
func (v *View) others(ctx context.Context, t *txn.Txn, arg int, group []byte, value any,
	row sql.Row) (bool, error) {
	_, prefix, err := v.valued(ctx, arg, group, value)
	if err != nil {
		return false, err
	}
	entry, err := v.beside(ctx, t, prefix, row)
	return entry != nil, err
}

// next is the contribution with the smallest value of an argument in a group, or the largest, when one that
// had it has gone: another with the same value, or that next to it. It is nil if there are only NULLs.
func (v *View) next(ctx context.Context, t *txn.Txn, arg int, last bool, group []byte,
	gone sql.Row) (sql.Row, error) {
	all, prefix, err := v.valued(ctx, arg, group, v.value(gone, arg))
	if err != nil {
		return nil, err
	}
	entry, err := v.beside(ctx, t, prefix, gone)
	if err == nil && entry == nil {
		inward := kv.Span{Start: behind(prefix), End: behind(all)}
		if last {
			inward = kv.Span{Start: append(bytes.Clone(all), 1), End: prefix} // NULLs begin with zero
		}
		entry, err = v.first(ctx, t, inward, last)
	}
	if err != nil || entry == nil {
		return nil, err
	}
	_, rest, err := v.argKeys[arg].Split(entry[len(all):], 1)
	if err != nil {
		return nil, err
	}
	return v.led(ctx, t, rest)
}
