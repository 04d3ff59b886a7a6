package sqlfront_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/sqlfront"
	"moka/sqlfront/pushdown"
	"moka/txn"
	"moka/txn/txntest"
)

// calls counts what is asked of a store.
type calls struct {
	kv.Store
	n atomic.Int64
}

func (c *calls) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, id kv.CommandID,
	req kv.Message) (kv.Message, error) {
	c.n.Add(1)
	return c.Store.Call(ctx, shard, tablets, id, req)
}

// TestDDLElsewhereCostsFewReads: a statement that saw another version of the catalog read the newest one
// twice more, for accounts and for read_only, each behind the other, although neither had changed (all-7).
func TestDDLElsewhereCostsFewReads(t *testing.T) {
	mem := kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{
		txn.NewCoprocessor(txn.CoprocessorOptions{Programs: pushdown.Load})}})
	t.Cleanup(func() { _ = mem.Close() })
	store, clock := &calls{Store: mem}, &txntest.Clock{}
	client := func(s kv.Store) *txn.Client {
		c, err := txn.NewClient(s, clock, txn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	d := &database{t, client(mem), mem}
	root := d.serve().conn("")
	run(t, root, "create database own", "create table own.t (id int primary key)", "create user u",
		"grant select on own.* to u")
	other := client(store)
	s := d.serve(func(o *sqlfront.Options) { o.Client, o.Store, o.FollowUsers = other, store, time.Hour })
	c, err := s.open("u", "own", "").Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cost := func() int64 {
		before := store.n.Load()
		want(t, c, "select count(*) from t where id = 1", "0")
		return store.n.Load() - before
	}
	quiet, after := int64(1000), int64(1000) // the least of some: the server has other things to do, too
	for range 10 {
		quiet = min(quiet, cost())
		run(t, root, "create table own.x (id int)", "drop table own.x")
		after = min(after, cost())
	}
	if after > quiet+6 { // it was eight more, and each of two of these may meet the next version
		t.Errorf("%d requests after a change of the schema, %d without", after, quiet)
	}
	run(t, root, "revoke select on own.* from u")
	if got := results(t, c, "select count(*) from t where id = 1"); got != "error 1142" {
		t.Errorf("after REVOKE: %s", got)
	}
}
