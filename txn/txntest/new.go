package txntest

import (
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
)

// New returns a client over a fresh store in memory with one shard. It is closed with the test.
func New(t testing.TB) *txn.Client {
	t.Helper()
	c, _ := NewStore(t, kvtest.Options{}, txn.Options{})
	return c
}

// NewStore returns a client over a fresh store in memory, and the store. The transaction coprocessor is added to o's.
func NewStore(t testing.TB, o kvtest.Options, co txn.Options) (*txn.Client, *kvtest.Mem) {
	t.Helper()
	return NewStoreWith(t, o, co, txn.CoprocessorOptions{})
}

// NewStoreWith is NewStore with options for the transaction coprocessor.
func NewStoreWith(t testing.TB, o kvtest.Options, co txn.Options, cp txn.CoprocessorOptions) (*txn.Client, *kvtest.Mem) {
	t.Helper()
	o.Coprocessors = append([]kv.Coprocessor{txn.NewCoprocessor(cp)}, o.Coprocessors...)
	m := kvtest.NewMem(o)
	c, err := txn.NewClient(m, &Clock{}, co)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, m
}

// Column makes a column of the transactional table from a row name.
func Column(row string) kv.Column {
	return kv.Column{Row: kv.MakeRowKey(kv.TableTxn, []byte(row))}
}

// Split makes a tablet boundary at a row name.
func Split(row string) kv.RowKey { return Column(row).Row }
