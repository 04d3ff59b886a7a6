package conn

import (
	"context"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// TestLongStatementsLeaveRoom: a hundred clients whose statements never end are on the processor in turns,
// and who logs in stands behind a few of them, not behind all: it took 13 s behind seven hundred, longer
// than a login may. Half of them write: 40 INSERTs whose trigger computed kept a login waiting for 11 s, and
// KILL for 24 s.
func TestLongStatementsLeaveRoom(t *testing.T) {
	const clients = 100
	spinning := make(chan struct{}, clients)
	r := newRig(t, nil)
	r.engine.Analyzer.Catalog.RegisterFunction(gms.NewEmptyContext(),
		function("spin", func(ctx *gms.Context) (any, error) {
			spinning <- struct{}{}
			for ctx.Err() == nil {
			}
			return nil, context.Cause(ctx)
		}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{}, clients)
	db := r.open("")
	if _, err := db.Exec("CREATE TABLE t (a INT)"); err != nil {
		t.Fatal(err)
	}
	for i := range clients {
		go func() {
			_, _ = db.ExecContext(ctx, []string{"DO spin()", "INSERT INTO t VALUES (spin())"}[i%2])
			ended <- struct{}{}
		}()
	}
	for range clients {
		<-spinning
	}
	most := 8 * runtime.GOMAXPROCS(0)
	s := []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}
	low := 0
	for end := time.Now().Add(time.Minute); low < 20 && time.Now().Before(end); runtime.Gosched() {
		if metrics.Read(s); s[0].Value.Uint64() <= uint64(most) {
			low++
		}
	}
	if low < 20 {
		t.Errorf("%d goroutines wait for a processor", s[0].Value.Uint64())
	}
	cancel()
	for range clients {
		<-ended
	}
}
