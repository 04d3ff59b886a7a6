package node_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"moka/kv"
	"moka/kv/node"
)

// A disk that does not keep up makes writes fail with ErrBusy, by which nothing happened, instead of letting them wait for ever. Reads go on,
// and when the disk has caught up so do writes.
func TestBusyDisk(t *testing.T) {
	gate := make(chan struct{})
	open1 := sync.OnceFunc(func() { close(gate) })
	up := make(chan struct{}) // the gate holds only once the node is open
	slow := errorfs.InjectorFunc(func(op errorfs.Op) error {
		select {
		case <-up:
			if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
				<-gate
			}
		default:
		}
		return nil
	})
	n := open(t, node.Options{FS: errorfs.Wrap(vfs.NewMem(), slow), MemTableBytes: 256 << 10, BalanceEvery: -1})
	defer closeNode(t, n)
	defer open1()
	close(up)

	ctx := t.Context()
	if err := write(ctx, n, 1, nil, op{Addr: cell(groupDisk, "first", ""), TS: 1, Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	var mu sync.Mutex
	var busy int
	for w := range 4 {
		writers.Go(func() {
			for i := range 100 {
				err := write(ctx, n, 1, nil, op{Addr: cell(groupDisk, fmt.Sprint(w), fmt.Sprint(i)), TS: 1, Value: make([]byte, 32<<10)})
				if errors.Is(err, kv.ErrBusy) {
					mu.Lock()
					busy++
					mu.Unlock()
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	await := func(what string, f func() bool) {
		t.Helper()
		deadline := time.After(20 * time.Second)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for !f() {
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatal(what)
			}
		}
	}
	await("the writers do not stall", func() bool { return n.Stats().Engine.StalledFor > 250*time.Millisecond })
	small := op{Addr: cell(groupDisk, "late", ""), TS: 1, Value: []byte("v")}
	if err := write(ctx, n, 1, nil, small); !errors.Is(err, kv.ErrBusy) {
		t.Errorf("a write to a stalled disk: %v", err)
	}
	if n.Stats().Shards[0].Refused == 0 {
		t.Error("the refusal was not counted")
	}
	s, _ := n.Shard(1)
	if _, ok, err := s.Reader().Latest(cell(groupDisk, "first", ""), kv.MaxTimestamp); !ok || err != nil {
		t.Errorf("a read while writes stall: %v, %v", ok, err)
	}
	if _, ok, err := s.Reader().Latest(small.Addr, kv.MaxTimestamp); ok || err != nil {
		t.Errorf("the refused write had an effect: %v", err)
	}
	open1()
	writers.Wait()
	await("writes do not go on", func() bool { return write(ctx, n, 1, nil, small) == nil })
}
