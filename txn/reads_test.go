package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/longread"
	"moka/txn/txntest"
)

// purse is a meter with a limit.
type purse struct {
	held   map[any]int64
	all    int64
	most   int64 // that was held at a time
	limit  int64
	beyond int
}

var errPurse = errors.New("no more")

func (p *purse) Holds(by any, n int64) error {
	p.all += n - p.held[by]
	p.held[by] = n
	p.most = max(p.most, p.all)
	if p.all > p.limit {
		p.beyond++
		return errPurse
	}
	return nil
}

// Whatever reads long values is charged for them, value by value, and no longer than it has them.
func TestReadsAreCharged(t *testing.T) {
	const rows, size = 12, 3 << 20
	c, _ := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
	defer c.Close()
	var cs []kv.Column
	for i := range rows {
		cs = append(cs, col(fmt.Sprintf("row%02d", i)))
		tx := c.Begin(txn.TxnOptions{})
		tx.Put(cs[i], make([]byte, size), txn.WriteOptions{})
		mustCommit(t, tx)
	}
	tx := c.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	span := kv.Span{Start: cs[0].Row, End: append(cs[rows-1].Row[:len(cs[0].Row):len(cs[0].Row)], 0)}
	reads := map[string]func(ctx context.Context) error{
		"get":         func(ctx context.Context) error { _, _, err := tx.Get(ctx, cs[0]); return err },
		"get of many": func(ctx context.Context) error { _, err := tx.BatchGet(ctx, cs); return err },
		"get of some": func(ctx context.Context) error {
			var r longread.Reads
			defer r.Release()
			for left := cs; len(left) > 0; {
				vs, err := tx.BatchGetSome(ctx, &r, nil, left)
				if err != nil {
					return err
				}
				if len(vs) == 0 || len(vs) == len(cs) {
					return fmt.Errorf("%d values", len(vs))
				}
				left = left[len(vs):]
			}
			return nil
		},
		"latest": func(ctx context.Context) error { _, err := c.Latest(ctx, cs[:1]); return err },
		"lock": func(ctx context.Context) error {
			own := c.Begin(txn.TxnOptions{})
			defer own.Rollback()
			_, _, err := own.LockAndGet(ctx, cs[0], txn.LockOptions{})
			return err
		},
		"scan": func(ctx context.Context) error {
			s := tx.Scan(ctx, txn.ScanOptions{Span: span})
			defer s.Close()
			n := 0
			for s.Next() {
				n++
			}
			if s.Err() == nil && n != rows {
				return fmt.Errorf("%d rows", n)
			}
			return s.Err()
		},
	}
	for name, read := range reads {
		p := &purse{held: map[any]int64{}, limit: 1 << 40}
		if err := read(longread.With(t.Context(), p)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want, most := int64(size), int64(size)+1<<10
		switch name {
		case "get of many":
			want, most = rows*size, rows*(size+1<<10)
		case "get of some":
			most = 4 * size // as much as fits into a response
		}
		if p.most < want || p.most > most {
			t.Errorf("%s was charged for %d bytes at a time, want %d to %d", name, p.most, want, most)
		}
		p = &purse{held: map[any]int64{}, limit: size / 2}
		if err := read(longread.With(t.Context(), p)); !errors.Is(err, errPurse) {
			t.Errorf("%s, of more than it may have: %v", name, err)
		}
		if p.most > size+1<<10 {
			t.Errorf("%s has gone on behind the end of its limit, up to %d bytes", name, p.most)
		}
	}
}
