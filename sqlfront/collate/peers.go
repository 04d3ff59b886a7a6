package collate

import (
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// peerFrame is a RANGE frame whose bounds are the peers of the current row, or the ends of the partition:
// also the default. Peers agree in all of ORDER BY; to the library, in the first of its columns.
type peerFrame struct{ sql.WindowFrame }

// withPeers returns the frame to use in the place of the window's; nil if that is right, or none.
func withPeers(e sql.WindowAdaptableExpression) sql.WindowFrame {
	f := e.Window().Frame
	if f == nil && framed(e) && len(e.Window().OrderBy) > 0 {
		f = plan.NewRangeUnboundedPrecedingToCurrentRowFrame()
	}
	if f == nil || !strings.HasPrefix(f.String(), "RANGE") || f.StartNPreceding() != nil ||
		f.StartNFollowing() != nil || f.EndNPreceding() != nil || f.EndNFollowing() != nil {
		return nil
	}
	if _, done := f.(peerFrame); done {
		return nil
	}
	return peerFrame{f}
}

// framed reports whether a window function looks at a frame, and not at its partition.
func framed(e sql.WindowAdaptableExpression) bool {
	if _, ok := e.(sql.Aggregation); ok {
		return true
	}
	f, ok := e.(sql.FunctionExpression)
	return ok && slices.Contains([]string{"first_value", "last_value", "nth_value"},
		strings.ToLower(f.FunctionName()))
}

// NewFramer implements sql.WindowFrame.
func (f peerFrame) NewFramer(w *sql.WindowDefinition) (sql.WindowFramer, error) {
	return &peerFramer{by: w.OrderBy.ToExpressions(), fromStart: f.UnboundedPreceding(),
		toEnd: f.UnboundedFollowing()}, nil
}

// peerFramer gives the frame of each row of a partition in turn.
type peerFramer struct {
	by                 []sql.Expression
	fromStart, toEnd   bool
	part, peers, frame sql.WindowInterval
	next               int
}

var _ sql.WindowFramer = (*peerFramer)(nil)

// NewFramer implements sql.WindowFramer.
func (f *peerFramer) NewFramer(part sql.WindowInterval) (sql.WindowFramer, error) {
	return &peerFramer{
		by: f.by, fromStart: f.fromStart, toEnd: f.toEnd, part: part, next: part.Start,
		peers: sql.WindowInterval{Start: part.Start, End: part.Start},
		frame: sql.WindowInterval{Start: -1, End: -1},
	}, nil
}

// Next implements sql.WindowFramer.
func (f *peerFramer) Next(ctx *sql.Context, rows sql.WindowBuffer) (sql.WindowInterval, error) {
	if f.next >= f.part.End {
		return sql.WindowInterval{}, io.EOF
	}
	if f.next >= f.peers.End {
		f.peers = sql.WindowInterval{Start: f.next, End: f.next + 1}
		for f.peers.End < f.part.End {
			same, err := f.same(ctx, rows[f.next], rows[f.peers.End])
			if err != nil {
				return sql.WindowInterval{}, err
			}
			if !same {
				break
			}
			f.peers.End++
		}
	}
	f.next++
	f.frame = f.peers
	if f.fromStart {
		f.frame.Start = f.part.Start
	}
	if f.toEnd {
		f.frame.End = f.part.End
	}
	return f.frame, nil
}

func (f *peerFramer) same(ctx *sql.Context, a, b sql.Row) (bool, error) {
	for _, e := range f.by {
		x, err := e.Eval(ctx, a)
		if err != nil {
			return false, err
		}
		y, err := e.Eval(ctx, b)
		if err != nil {
			return false, err
		}
		if x == nil || y == nil {
			if x != nil || y != nil {
				return false, nil
			}
			continue
		}
		if c, err := e.Type(ctx).Compare(ctx, x, y); c != 0 || err != nil {
			return false, err
		}
	}
	return true, nil
}

// FirstIdx implements sql.WindowFramer.
func (f *peerFramer) FirstIdx() int { return f.frame.Start }

// LastIdx implements sql.WindowFramer.
func (f *peerFramer) LastIdx() int { return f.frame.End }

// Interval implements sql.WindowFramer.
func (f *peerFramer) Interval() (sql.WindowInterval, error) { return f.frame, nil }
