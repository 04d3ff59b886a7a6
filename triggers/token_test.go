package triggers

import (
	"context"
	"testing"

	"moka/kv/kvtest"
)

// TestWorkersOfOneNameKeepTheirLeases: two hosts listen on [::]:3306. What one gives back is not the other's.
func TestWorkersOfOneNameKeepTheirLeases(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, kvtest.Options{})
	first, second := w.idleWorker("[::]:3306", Options{}), w.idleWorker("[::]:3306", Options{})
	w.put("row", "value", 1)
	shards, err := w.mem.Shards(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(x *Worker) (ds []delivery) {
		for _, s := range shards {
			m, err := w.mem.Call(ctx, s, nil, commandFetch,
				&fetchRequest{Worker: x.token, Observers: []ObserverID{1}, Credits: 10, LeaseMillis: 60_000})
			if err != nil {
				t.Fatal(err)
			}
			ds = append(ds, m.(*fetchResponse).Deliveries...)
		}
		return ds
	}
	leased := fetch(first)
	if len(leased) != 1 {
		t.Fatalf("%d deliveries, want 1", len(leased))
	}
	for _, s := range shards {
		second.finish(ctx, s, unacknowledged(leased[:1])...)
	}
	if again := fetch(second); len(again) != 0 {
		t.Error("a worker has ended the lease of another one of its name")
	}
	for _, s := range shards {
		first.finish(ctx, s, unacknowledged(leased[:1])...)
	}
	if again := fetch(second); len(again) != 1 {
		t.Error("its own lease it has not ended")
	}
}
