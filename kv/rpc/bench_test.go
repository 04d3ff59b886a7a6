//go:build unix

package rpc

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"moka/kv"
)

// BenchmarkStream measures calls of a 20-byte key for a 100-byte value over TCP loopback. CPU is of the process, which is
// both ends.
func BenchmarkStream(b *testing.B) {
	value := &text{strings.Repeat("v", 100)}
	l := newLink(b, func(context.Context, kv.ShardID, []kv.TabletRef, kv.CommandID, kv.Message) (kv.Message, error) {
		return value, nil
	}, Options{}, Options{})
	key := &text{strings.Repeat("k", 20)}
	refs := []kv.TabletRef{{ID: 1, Generation: 1}}
	for _, callers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			b.ReportAllocs()
			before, used := l.pool.Metrics(), cpuTime(b)
			var wg sync.WaitGroup
			for i := range callers {
				n := b.N / callers
				if i < b.N%callers {
					n++
				}
				wg.Go(func() {
					for range n {
						if _, err := l.pool.Call(context.Background(), theNode, 1, refs, readCmd, key); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			after := l.pool.Metrics()
			b.ReportMetric(float64((cpuTime(b)-used).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(after.Calls-before.Calls)/float64(after.Batches-before.Batches), "calls/batch")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
