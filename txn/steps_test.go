package txn_test

import (
	"context"
	"sync/atomic"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// What must hold between two steps of a command, step by step, where the simulation meets it too rarely. Each runs with its mistake
// planted, too, and then must see it.

// stopping stops one read without a timestamp before it reads, and says when it looks for locks behind that.
type stopping struct {
	kv.Eval
	*stop
	read bool
}

type stop struct {
	armed                  atomic.Bool
	stopped, goOn, looking chan struct{}
}

func (s *stopping) Latest(a kv.Address, max kv.Timestamp) (kv.Version, bool, error) {
	switch {
	case a.Group == kv.GroupTxnWrite && s.armed.CompareAndSwap(true, false):
		s.read = true
		close(s.stopped)
		<-s.goOn
	case a.Group == kv.GroupTxnLock && s.read:
		s.read = false
		close(s.looking)
	}
	return s.Eval.Latest(a, max)
}

func (s *stopping) LatestOf(columns []kv.Address, max kv.Timestamp, found []kv.Version) error {
	return kv.EachLatest(s, columns, max, found)
}

// TestLatestLooksForLocksAgain: a commit that came between a read's look for locks and its look at the store is not shown before it
// is durable.
func TestLatestLooksForLocksAgain(t *testing.T) {
	for name, planted := range map[string]bool{"as it is": false, "with one look": true} {
		st := &stop{stopped: make(chan struct{}), goOn: make(chan struct{}), looking: make(chan struct{})}
		visible, sync := make(chan struct{}, 1), make(chan struct{})
		var slow atomic.Bool
		o := kvtest.Options{OnSync: func(_ kv.ShardID, cmd kv.CommandID, _ kv.Message) {
			if cmd == txn.CmdCommitOnePhase && slow.Load() {
				visible <- struct{}{}
				<-sync
			}
		}}
		c, _ := newPlanted(t, o, txn.Options{}, func(cmd kv.CommandID, e kv.Eval) kv.Eval {
			if cmd != txn.CmdGetLatest {
				return e
			}
			if e = (&stopping{Eval: e, stop: st}); planted {
				return txn.LookOnce(cmd, e)
			}
			return e
		})
		set := func(value string) error {
			tx := c.Begin(txn.TxnOptions{})
			tx.Put(col("x"), []byte(value), txn.WriteOptions{})
			_, err := tx.Commit(context.Background())
			return err
		}
		if err := set("old"); err != nil {
			t.Fatal(err)
		}
		slow.Store(true)
		st.armed.Store(true)
		read, written := make(chan string, 1), make(chan error, 1)
		go func() {
			vs, err := c.Latest(context.Background(), []kv.Column{col("x")})
			if err != nil {
				read <- err.Error()
				return
			}
			read <- string(vs[0].Data)
		}()
		<-st.stopped
		go func() { written <- set("new") }()
		<-visible
		close(st.goOn)
		early := false
		var value string
		select {
		case value = <-read:
			early = value == "new"
			close(sync)
		case <-st.looking:
			close(sync)
			value = <-read
		}
		if err := <-written; err != nil || early != planted || value != "new" {
			t.Errorf("%s: read %q, before it was durable: %v (%v)", name, value, early, err)
		}
	}
}

// recording keeps the first prewrite that goes to a shard.
type recording struct {
	kv.Store
	again atomic.Pointer[func() error]
}

func (r *recording) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	if cmd == txn.CmdPrewrite && shard == 1 {
		f := func() error {
			_, err := r.Store.Call(context.Background(), shard, tablets, cmd, req)
			return err
		}
		r.again.CompareAndSwap(nil, &f)
	}
	return r.Store.Call(ctx, shard, tablets, cmd, req)
}

// TestRepeatedPrewriteWaits: a repeated prewrite of what is not latched is not answered before the lock that its first copy has shown is
// durable.
func TestRepeatedPrewriteWaits(t *testing.T) {
	for name, planted := range map[string]bool{"as it is": false, "trusted": true} {
		var slow atomic.Bool
		syncs, sync := make(chan struct{}, 8), make(chan struct{})
		m := kvtest.NewMem(kvtest.Options{
			Shards: 2, Splits: []kv.RowKey{col("m").Row},
			Coprocessors: []kv.Coprocessor{txn.Plant(func(cmd kv.CommandID, e kv.Eval) kv.Eval {
				if planted {
					return txn.TrustRepeated(cmd, e)
				}
				return e
			})},
			OnSync: func(shard kv.ShardID, cmd kv.CommandID, _ kv.Message) {
				if cmd == txn.CmdPrewrite && shard == 1 && slow.Load() {
					syncs <- struct{}{}
					<-sync
				}
			},
		})
		store := &recording{Store: m}
		c, err := txn.NewClient(store, &txntest.Clock{}, txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		parent := c.Begin(txn.TxnOptions{})
		parent.Put(col("a-parent"), []byte("1"), txn.WriteOptions{})
		mustCommit(t, parent)
		slow.Store(true)
		child := c.Begin(txn.TxnOptions{})
		child.Require(col("a-parent"))
		child.Put(col("z-child"), []byte("1"), txn.WriteOptions{})
		committed, repeated := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := child.Commit(context.Background())
			committed <- err
		}()
		<-syncs
		go func() { repeated <- (*store.again.Load())() }()
		early := false
		select {
		case <-repeated:
			early = true
			close(sync)
		case <-syncs:
			close(sync)
			<-repeated
		}
		if err := <-committed; err != nil || early != planted {
			t.Errorf("%s: answered before it was durable: %v (%v)", name, early, err)
		}
	}
}
