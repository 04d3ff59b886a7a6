package client

import (
	"context"
	"fmt"
	"testing"

	"moka/kv"
)

// What routing costs an operation in the single binary: one look into the cache and one function call.
func BenchmarkLocal(b *testing.B) {
	w := newWorld()
	for i := range 1000 {
		end := fmt.Sprintf("%03d", i+1)
		if i == 999 {
			end = ""
		}
		w.tablets = append(w.tablets, tablet(kv.TabletID(i+1), 1, fmt.Sprintf("%03d", i), end, 1, 1))
	}
	resp := &text{"y"}
	local := handlerFunc(func(context.Context, kv.ShardID, []kv.TabletRef, kv.CommandID, kv.Message) (kv.Message, error) {
		return resp, nil
	})
	c, err := New(w, testCommands, Options{Node: 1, Local: local})
	if err != nil {
		b.Fatal(err)
	}
	c.cache.add(w.tablets, true)
	ctx, req := context.Background(), &text{"x"}
	rows := make([]kv.RowKey, 1024)
	for i := range rows {
		rows[i] = kv.RowKey(fmt.Sprintf("%03d/row", i%1000))
	}
	b.Run("locate", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if _, err := c.Locate(ctx, rows[i%len(rows)]); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		refs := []kv.TabletRef{{ID: 1, Generation: 1}}
		for b.Loop() {
			if _, err := c.Call(ctx, 1, refs, readCmd, req); err != nil {
				b.Fatal(err)
			}
		}
	})
}
