package txn

import (
	"bytes"
	"context"
	"errors"
	"time"

	"moka/kv"
	"moka/txn/longread"
)

// Program is code of a layer above that a scan takes along to the shards: it sees each live cell of the span, in the scan's
// order and snapshot, where the cell is, and decides what travels. It is made for one request and used by one goroutine.
//
// A scan with a program keeps all promises of a scan: a lock in the way ends a request before it, what came before counts, and
// the scan goes on behind it once the lock is resolved. No cell is shown twice.
type Program interface {
	// Cell sees one cell. If keep, out is returned to the scanner in the value's place. It must not keep value or the column's
	// bytes.
	Cell(c kv.Column, value []byte) (out []byte, keep bool, err error)
	// Full ends the request after the cell that was seen last; the scan goes on behind it with a new program.
	Full() bool
	// Finish is called after the last cell of the request. It may emit cells that it held back, and return something beside
	// the cells, which the scanner delivers as a part.
	Finish(emit func(c kv.Column, value []byte)) (part []byte, err error)
}

// errRefused is the code of a shard that does not know programs, or not this one: its node runs another release.
var errRefused = kv.ErrInvalidArgument

// ErrNoProgram says that a scan with ScanOptions.Whole cannot be done by the shards. Nothing has been delivered that counts: do
// it here, with a plain scan.
var ErrNoProgram = errors.New("txn: the program cannot run beside the data")

// refusedFor is how long a client does without programs after a shard has refused one: long enough that an upgrade that is
// under way does not cost a request for each scan, short enough that its end is noticed.
const refusedFor = time.Minute

const (
	cmdScanProgram kv.CommandID = 43

	// programVisits bounds the cells that one request of a scan with a program looks at. It is larger than scanVisits, since most
	// of them go nowhere.
	programVisits = 65536
)

// programRequest is a scan with a program.
//
//	┌─────────────┬─────────┐
//	│ scanRequest │ program │   the program is length-prefixed; its first byte is its own version
//	└─────────────┴─────────┘
type programRequest struct {
	scan    scanRequest
	program []byte
}

func (m *programRequest) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bytes(m.scan.AppendTo(nil))
	e.bytes(m.program)
	return e.b
}

func (m *programRequest) Decode(b []byte) error {
	d := decoder{b: b}
	scan := d.bytes()
	*m = programRequest{program: d.bytes()}
	if err := d.end(); err != nil {
		return err
	}
	return m.scan.Decode(scan)
}

// programResponse is a scan's response, with what the program returned beside the cells and the number of cells it saw.
type programResponse struct {
	scan     scanResponse
	part     []byte
	examined uint64
}

func (m *programResponse) AppendTo(b []byte) []byte {
	e := encoder{b}
	e.bytes(m.scan.AppendTo(nil))
	e.bytes(m.part)
	e.uvarint(m.examined)
	return e.b
}

func (m *programResponse) Decode(b []byte) error {
	d := decoder{b: b}
	scan := d.bytes()
	*m = programResponse{part: d.bytes(), examined: d.uvarint()}
	if err := d.end(); err != nil {
		return err
	}
	return m.scan.Decode(scan)
}

// evalScanProgram is evalScan with a program in the loop.
func evalScanProgram(e kv.Eval, st *state, req *programRequest) (*programResponse, error) {
	if st.options.Programs == nil {
		return nil, kv.Errorf(kv.CodeInvalidArgument, "txn.ScanProgram", "this node runs no programs")
	}
	p, err := st.options.Programs(req.program)
	if err != nil {
		return nil, &kv.Error{Code: kv.CodeInvalidArgument, Op: "txn.ScanProgram", Msg: "the program is of another release", Err: err}
	}
	resp, err := runProgram(e, st, &req.scan, p)
	if st.tooOld(req.scan.snapshot) { // also where what was removed has made an error
		return &programResponse{scan: scanResponse{safePoint: kv.Timestamp(st.safePoint.Load())}}, nil
	}
	return resp, err
}

func runProgram(e kv.Eval, st *state, req *scanRequest, p Program) (*programResponse, error) {
	st.raiseMaxTS(req.snapshot)
	seeded, unseeded := st.readSeeded(req.tablets)
	out := &programResponse{scan: scanResponse{unseeded: unseeded, charged: req.Asked()}}
	resp := &out.scan
	lock, err := firstBlockingLock(e, st, req) // before anything is read, as in evalGet
	if err != nil {
		return nil, err
	}
	if err := st.options.longReads.Enter(e); err != nil {
		return nil, err
	}
	defer st.options.longReads.Leave()
	q := longread.Question{Context: req.Context, Reads: req.Reads, Within: true}
	s, err := scanRange(e, st, req, seeded)
	if err != nil {
		return nil, err
	}
	defer s.close()
	size := 0
	emit := func(c kv.Column, value []byte) {
		resp.cells = append(resp.cells, cell{column: cloneColumn(c), value: bytes.Clone(value)})
		size += len(c.Row) + len(c.Qualifier) + len(value)
	}
	var last kv.Column // the column seen last, in a buffer of its own
	visits := 0
	for s.next() {
		c := s.column
		if lock != nil && !before(c, lock.column, req.reverse) {
			break
		}
		if visits > 0 && (visits >= programVisits || len(resp.cells) >= int(req.limit) || size >= int(req.maxBytes) || p.Full()) {
			resp.more, lock = true, nil
			break
		}
		if visits++; visits%1024 == 0 && e.Context().Err() != nil {
			return nil, e.Context().Err()
		}
		last.Row, last.Qualifier, last.Family = append(last.Row[:0], c.Row...), append(last.Qualifier[:0], c.Qualifier...), c.Family
		v, err := st.valueOf(e, &q, c, s.version)
		if err != nil {
			return nil, err
		}
		if !v.OK {
			continue
		}
		out.examined++
		value, keep, err := p.Cell(c, v.Data)
		if err != nil {
			return nil, err
		}
		if keep {
			err = q.Add(len(value))
			emit(c, value)
		}
		if err == nil { // what was read is not needed any more
			err = q.Add(-len(v.Data))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.failed(); err != nil {
		return nil, err
	}
	if lock != nil {
		resp.more = true
		resp.locks = []lockInfo{*lock}
		if visits == 0 {
			last = req.after
		}
	}
	if resp.more {
		resp.last = last
	}
	out.part, err = p.Finish(emit)
	return out, err
}

// ScanStats is what a scan has cost so far.
type ScanStats struct {
	Requests int // to shards
	Examined int // cells that shards looked at
}

// Stats returns what the scan has cost so far.
func (s *Scanner) Stats() ScanStats { return s.stats }

// NextPart returns the next thing that a program has returned beside cells; ok is false at the end of the scan, or when there
// is an error. It is for scans with ScanOptions.Whole, in place of Next or after Next has come to the end.
func (s *Scanner) NextPart() (part []byte, ok bool) {
	for s.err == nil {
		if len(s.parts) > 0 {
			part, s.parts = s.parts[0], s.parts[1:]
			return part, true
		}
		if s.fetched {
			break
		}
		s.err = s.fetch()
	}
	return nil, false
}

// Dirty reports whether the transaction itself has changed something in the span, as far as this scan sees it.
func (s *Scanner) Dirty() bool { return s.ownOK }

// Tablets cuts a span at the boundaries of tablets, as far as they are known: places where a scan that is done in parallel is
// divided. It returns no more than limit spans, the last of which holds the rest.
func (t *Txn) Tablets(ctx context.Context, span kv.Span, limit int) ([]kv.Span, error) {
	var spans []kv.Span
	for !emptySpan(span) {
		tablet, err := t.c.store.Locate(ctx, span.Start)
		if err != nil {
			return nil, err
		}
		part := intersect(span, tablet.Span)
		if len(spans)+1 >= limit || len(part.End) == 0 {
			part.End = span.End
		}
		spans = append(spans, part)
		if len(part.End) == 0 || bytes.Equal(part.End, span.End) {
			break
		}
		span.Start = part.End
	}
	return spans, nil
}

// Programs reports whether shards are known to run programs, or not known not to.
func (c *Client) Programs() bool {
	at := c.programsRefused.Load()
	return at == 0 || time.Since(time.Unix(0, at)) > refusedFor
}

// fetchProgram is fetch with a program. refused says that the shard would not run it.
func (s *Scanner) fetchProgram(b *backoff, g *shardGroup, req *scanRequest) (resp *scanResponse, refused bool, err error) {
	c := s.t.c
	m, err := c.call(s.ctx, b, g, cmdScanProgram, &programRequest{scan: *req, program: s.o.Program}, nil)
	if err = s.reads.Refusal(err); errors.Is(err, errRefused) {
		c.programsRefused.Store(time.Now().UnixNano())
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	r := m.(*programResponse)
	s.stats.Examined += int(r.examined)
	if len(r.part) > 0 {
		s.parts = append(s.parts, r.part)
	}
	return &r.scan, false, nil
}
