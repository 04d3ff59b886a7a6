package oracle

import (
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"

	"moka/kv/coord/mem"
)

func benchServer(b *testing.B) *Server {
	svc := mem.New(mem.Options{})
	b.Cleanup(func() { svc.Close() })
	s := Start(svc, Options{})
	b.Cleanup(s.Close)
	if err := s.WaitLeading(b.Context()); err != nil {
		b.Fatal(err)
	}
	return s
}

// benchCallers has n callers draw b.N timestamps in all.
func benchCallers(b *testing.B, c *Client, n int) {
	b.Cleanup(c.Close)
	ctx := context.Background()
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for range b.N/n + min(1, max(0, b.N%n-i)) {
				if _, err := c.Next(ctx); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ts/s")
}

func BenchmarkInProcess1(b *testing.B) {
	benchCallers(b, NewClient(benchServer(b), ClientOptions{}), 1)
}
func BenchmarkInProcess64(b *testing.B) {
	benchCallers(b, NewClient(benchServer(b), ClientOptions{}), 64)
}

// Over gRPC on loopback, both ends in this process and on its processors.
func BenchmarkGRPC1(b *testing.B)    { benchGRPC(b, 1) }
func BenchmarkGRPC64(b *testing.B)   { benchGRPC(b, 64) }
func BenchmarkGRPC1024(b *testing.B) { benchGRPC(b, 1024) }

func benchGRPC(b *testing.B, n int) {
	s := benchServer(b)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	g := grpc.NewServer()
	Register(on(g), s)
	var wg sync.WaitGroup
	wg.Go(func() { _ = g.Serve(l) })
	b.Cleanup(func() { g.Stop(); wg.Wait() })
	r, err := NewRemote([]string{l.Addr().String()}, RemoteOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	benchCallers(b, NewClient(r, ClientOptions{}), n)
}
