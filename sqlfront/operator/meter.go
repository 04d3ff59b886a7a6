package operator

import (
	"context"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// Meter is told what an operator costs beyond the rows that come out of it. EXPLAIN ANALYZE
// has one for each node.
type Meter interface {
	Disk(bytes int64)                                     // put there
	Built(table sql.Node, rows int, within time.Duration) // a table of the rows of a node below
}

type meterKey struct{}

// WithMeter is the context in which the operators of a node tell m.
func WithMeter(ctx context.Context, m Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

func meterOf(ctx context.Context) Meter {
	m, _ := ctx.Value(meterKey{}).(Meter)
	return m
}
