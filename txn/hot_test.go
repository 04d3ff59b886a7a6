package txn_test

import (
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// TestHotColumns: what is read twice is remembered; so is what is written after that, from the moment when it is durable; a snapshot
// from before reads what was there before; and what is only written costs no memory.
func TestHotColumns(t *testing.T) {
	var shard txn.Memory
	m := kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{txn.PlantForgetful(func(m txn.Memory) { shard = m })}})
	defer m.Close()
	c, err := txn.NewClient(m, &txntest.Clock{}, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	get := func(at kv.Timestamp) string {
		t.Helper()
		v, ok, err := c.Begin(txn.TxnOptions{StartTS: at, ReadOnly: true}).Get(t.Context(), col("a"))
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return "nothing"
		}
		return string(v)
	}
	remembers := func(name, want string) {
		t.Helper()
		if got, known := shard.Remembered(col(name)); known != (want != "") || known && got != want {
			t.Errorf("of %s it remembers %q, %v; want %q", name, got, known, want)
		}
	}
	put(t, c, "a", "1", "b", "1")
	before := now(t, c)
	remembers("a", "")
	get(now(t, c))
	remembers("a", "")
	get(now(t, c))
	remembers("a", "1")
	for _, value := range []string{"2", "3"} {
		put(t, c, "a", value, "b", value)
		remembers("a", value)
		remembers("b", "")
		if is, was := get(now(t, c)), get(before); is != value || was != "1" {
			t.Errorf("a is %s and was %s, want %s and 1", is, was, value)
		}
		remembers("a", value) // looking back does not change it
	}
	tx := c.Begin(txn.TxnOptions{})
	tx.Delete(col("a"), txn.WriteOptions{})
	mustCommit(t, tx)
	remembers("a", "deleted")
	if is, was := get(now(t, c)), get(before); is != "nothing" || was != "1" {
		t.Errorf("a is %s and was %s, want nothing and 1", is, was)
	}
	put(t, c, "a", "4")
	remembers("a", "4")
	if err := c.DropRange(t.Context(), kv.Span{Start: txntest.Split("a"), End: txntest.Split("b")}, now(t, c)); err != nil {
		t.Fatal(err)
	}
	remembers("a", "")
	if is := get(now(t, c)); is != "nothing" {
		t.Errorf("a is %s behind a range that was dropped", is)
	}
}
