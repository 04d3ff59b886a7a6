package catalog

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv"
	"moka/txn"
)

// gate is a store whose next request waits, once it is shut.
type gate struct {
	kv.Store
	shut atomic.Pointer[chan struct{}]
	met  chan struct{} // closed by the request that waits
}

func (g *gate) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, c kv.CommandID,
	req kv.Message) (kv.Message, error) {
	if open := g.shut.Swap(nil); open != nil {
		close(g.met)
		<-*open
	}
	return g.Store.Call(ctx, shard, tablets, c, req)
}

// TestLoadsOfVersionsWaitForNobody: each transaction of another SQL node waited until the versions that
// others wanted were loaded, one after the other: who changed the schema without a pause held up everybody
// there.
func TestLoadsOfVersionsWaitForNobody(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a, "accounts")
	g := &gate{Store: c.store, met: make(chan struct{})}
	client, err := txn.NewClient(g, &c.clock, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	cat, err := Open(ctx, client, Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := &node{cat, client}
	b.now(t)
	view := func(name string) (tx *txn.Txn, mark []byte) {
		a.do(t, func(tx *txn.Txn) error {
			_, err := a.CreateTable(ctx, tx, "bank", accounts(t, name))
			return err
		})
		tx = client.Begin(txn.TxnOptions{})
		mark, _, err := tx.Get(ctx, versionCell())
		if err != nil {
			t.Fatal(err)
		}
		return tx, mark
	}
	first, one := view("one")
	second, two := view("two")
	defer first.Rollback()
	defer second.Rollback()
	open, done := make(chan struct{}), make(chan error)
	g.shut.Store(&open)
	go func() {
		_, err := b.find(ctx, first, one)
		done <- err
	}()
	<-g.met // the first load is under way, and its request is not answered
	within, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if s, err := b.find(within, second, two); err != nil {
		t.Errorf("a load of another version: %v", err)
	} else if d, _ := s.Database("bank"); len(d.Tables()) != 3 {
		t.Errorf("it has %d tables", len(d.Tables()))
	}
	close(open)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if d, _ := b.now(t).Database("bank"); len(d.Tables()) != 3 {
		t.Errorf("afterwards there are %d tables", len(d.Tables()))
	}
}

// TestLostDDLCostsNoScan: the snapshot of a schema change that was rolled back was taken for the base of the
// next one, to which no changes lead: all descriptors were read again, and kept in memory once more.
func TestLostDDLCostsNoScan(t *testing.T) {
	c := newCluster(t)
	a, b := c.node(t, Options{}), c.node(t, Options{})
	bank(t, a, "accounts")
	was := b.table(t, "bank", "accounts")
	create := func(n *node, name string) func(tx *txn.Txn) error {
		return func(tx *txn.Txn) error {
			_, err := n.CreateTable(ctx, tx, "bank", accounts(t, name))
			return err
		}
	}
	lost := b.client.Begin(txn.TxnOptions{})
	if err := create(b, "lost")(lost); err != nil {
		t.Fatal(err)
	}
	lost.Rollback()
	a.do(t, create(a, "one"))
	a.do(t, create(a, "two"))
	if b.table(t, "bank", "accounts") != was {
		t.Error("a descriptor that has not changed was read again")
	}
	if d, _ := b.now(t).Database("bank"); len(d.Tables()) != 3 {
		t.Errorf("there are %d tables", len(d.Tables()))
	}
}
