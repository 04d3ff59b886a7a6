package txn_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// A store in which two shards are led nowhere for a while.
func leaderless(t *testing.T, tries int) *txn.Client {
	mem := kvtest.NewMem(kvtest.Options{
		Shards: 2, Splits: []kv.RowKey{txntest.Split("m")},
		Coprocessors: []kv.Coprocessor{txn.NewCoprocessor(txn.CoprocessorOptions{})},
	})
	t.Cleanup(func() { _ = mem.Close() })
	refused := map[kv.ShardID]int{}
	c, err := txn.NewClient(kvtest.NewFaulty(mem, kvtest.Faults{Hook: func(s kv.ShardID, _ kv.CommandID, _ kv.Message) kvtest.Fault {
		if refused[s]++; refused[s] <= tries {
			return kvtest.NotLead
		}
		return kvtest.Pass
	}}), &txntest.Clock{}, txn.Options{RetryTime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A shard without a leader has done nothing: a commit waits for the next one.
func TestCommitWaitsForALeader(t *testing.T) {
	for name, rows := range map[string][]string{"one shard": {"a"}, "two shards": {"a", "z"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tx := leaderless(t, 3).Begin(txn.TxnOptions{})
				for _, r := range rows {
					tx.Put(col(r), []byte("1"), txn.WriteOptions{})
				}
				mustCommit(t, tx)
			})
		})
	}
}

// If there is none in time, that nothing was committed is known: no primary need be asked, which would be as
// much in vain.
func TestNothingIsCommittedWithoutALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tx := leaderless(t, 1<<30).Begin(txn.TxnOptions{})
		tx.Put(col("a"), []byte("1"), txn.WriteOptions{})
		if _, err := tx.Commit(t.Context()); !errors.Is(err, kv.ErrNotLeader) || errors.Is(err, txn.ErrOutcomeUnknown) {
			t.Errorf("got %v", err)
		}
	})
}
