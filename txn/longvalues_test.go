package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// weighed is a store that notes its longest response.
type weighed struct {
	kv.Store
	longest int
}

func (w *weighed) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID,
	req kv.Message) (kv.Message, error) {
	m, err := w.Store.Call(ctx, shard, tablets, cmd, req)
	if err == nil {
		w.longest = max(w.longest, len(m.AppendTo(nil)))
	}
	return m, err
}

// What a transaction reads by keys comes in pieces: 50 rows of 1.5 MB, which are nothing special, were one
// response, which nodes refuse; the same rows could be read where the storage is, and nowhere else.
func TestLongValuesComeInPieces(t *testing.T) {
	ctx := t.Context()
	_, mem := txntest.NewStore(t, kvtest.Options{}, txn.Options{})
	store := &weighed{Store: mem}
	c, err := txn.NewClient(store, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const rows, size = 30, 1_500_000
	var cs []kv.Column
	tx := c.Begin(txn.TxnOptions{})
	for i := range rows {
		cs = append(cs, col(fmt.Sprintf("row%02d", i)))
		v := make([]byte, size)
		v[0] = byte(i)
		tx.Put(cs[i], v, txn.WriteOptions{})
	}
	mustCommit(t, tx)
	check := func(what string, values []txn.Value, err error) {
		t.Helper()
		if err != nil || len(values) != rows {
			t.Fatalf("%s: %d values, %v", what, len(values), err)
		}
		for i, v := range values {
			if !v.OK || len(v.Data) != size || v.Data[0] != byte(i) {
				t.Errorf("%s: value %d has %d bytes", what, i, len(v.Data))
			}
		}
		if store.longest > 12<<20 {
			t.Errorf("%s: a response of %d bytes", what, store.longest)
		}
		store.longest = 0
	}
	tx = c.Begin(txn.TxnOptions{})
	values, err := tx.BatchGet(ctx, cs)
	check("BatchGet", values, err)
	tx.Rollback()
	values, err = c.Latest(ctx, cs)
	check("Latest", values, err)
}

// A value that fits into no message is refused wherever the store is: it was a row that joined nodes could
// neither write nor read, nor delete.
func TestValueLongerThanMessage(t *testing.T) {
	c, _ := txntest.NewStore(t, kvtest.Options{}, txn.Options{MaxBytes: 256 << 20})
	for name, put := range map[string]func(*txn.Txn, []byte){
		"Put": func(tx *txn.Txn, v []byte) { tx.Put(col("a"), v, txn.WriteOptions{}) },
		"PutAll": func(tx *txn.Txn, v []byte) {
			tx.PutAll([]txn.Write{{Column: col("a"), Value: v}})
		},
	} {
		tx := c.Begin(txn.TxnOptions{})
		put(tx, make([]byte, 64<<20+1))
		if err := tx.Err(); !errors.Is(err, txn.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		tx.Rollback()
	}
}
