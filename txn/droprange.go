package txn

import (
	"bytes"
	"context"
	"errors"

	"moka/kv"
	"moka/txn/record"
)

// cmdDropRange removes a range of rows for good.
const cmdDropRange kv.CommandID = 62

// SafePoint is the one that the clock's answers have told, zero before there is one. told is false for a clock that tells none: then
// nobody collects garbage.
func (c *Client) SafePoint() (safePoint kv.Timestamp, told bool) {
	if c.safePoint == nil {
		return 0, false
	}
	return c.safePoint(), true
}

// DropRange removes all versions of all rows of a span, with one record for each tablet. It is for rows that no snapshot from safePoint on
// can have a reason to read or to write: those of a table of which such snapshots know that it was dropped. Older ones are refused.
func (c *Client) DropRange(ctx context.Context, span kv.Span, safePoint kv.Timestamp) error {
	if _, err := c.announce(ctx, safePoint); err != nil { // a primary may lie in the span and its secondaries elsewhere
		return err
	}
	b := newBackoff(c.o.RetryTime, safePoint)
	for {
		g, err := c.groupOne(ctx, span.Start)
		if err != nil {
			return err
		}
		part := intersect(span, g.spans[0])
		req := &dropRequest{safePoint: safePoint, row: firstRow(kv.Tablet{Span: g.spans[0]}), span: part}
		m, err := c.call(ctx, b, g, cmdDropRange, req, nil)
		switch {
		case errors.Is(err, kv.ErrMoved) && b.wait(ctx):
			continue
		case err != nil:
			return err
		case m.(*dropResponse).untold:
			if _, _, err := c.tellSafePoint(ctx, req.row, safePoint); err != nil {
				return err
			}
			continue
		}
		if len(part.End) == 0 || len(span.End) > 0 && bytes.Compare(part.End, span.End) >= 0 {
			return nil
		}
		span.Start = part.End
		b = newBackoff(c.o.RetryTime, safePoint)
	}
}

// evalDropRange takes no latches: whoever might write to the span began below the safe point, and is refused.
func evalDropRange(e kv.Eval, st *state, req *dropRequest) (*dropResponse, error) {
	if kv.Timestamp(st.safePoint.Load()) < req.safePoint {
		return &dropResponse{untold: true}, nil
	}
	for _, run := range []uint32{record.RunExclusive, record.RunShared} {
		locked := false
		st.locks.Ascend(run, req.span, func(kv.Address, kv.Version) bool { locked = true; return false })
		if locked {
			return nil, errLocksLeft
		}
	}
	raise(&st.swept, req.safePoint)
	e.Set(keptAt(runSwept, req.row), record.RollbackMarker, record.AppendRollback(nil, kv.Timestamp(st.swept.Load())))
	for _, g := range []kv.GroupID{kv.GroupTxnWrite, kv.GroupTxnAck, kv.GroupTxnData, kv.GroupTxnRollback} {
		e.DeleteRange(g, 0, req.span)
	}
	e.OnDurable(st.forgetVersions) // what is remembered of the rows goes with them
	return &dropResponse{}, nil
}

// dropRequest removes a span of a tablet, whose first row is row.
type dropRequest struct {
	safePoint kv.Timestamp
	row       kv.RowKey
	span      kv.Span
}

func (m *dropRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.timestamp(m.safePoint)
	e.bytes(m.row)
	e.span(m.span)
	return e.b
}

func (m *dropRequest) Decode(b []byte) error {
	d := decoder{b: b}
	*m = dropRequest{safePoint: d.timestamp(), row: d.bytes(), span: d.span()}
	return d.end()
}

type dropResponse struct{ untold bool } // the shard does not know the safe point

func (m *dropResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bool(m.untold)
	return e.b
}

func (m *dropResponse) Decode(b []byte) error {
	d := decoder{b: b}
	m.untold = d.bool()
	return d.end()
}
