package stats

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/kv"
	"moka/sqlfront/pushdown"
	"moka/txn"
)

const (
	sampleRows    = 10_000
	sampleTablets = 128 // of a table with more, so many are read
)

// sample is some rows of a table, and what they were taken from.
type sample struct {
	rows  []sql.Row
	of    uint64
	bytes uint64
}

// takeSample reads about sampleRows of a number of rows that is expected, each as likely as any other;
// expecting none, it only counts. Of a table with more tablets than that it reads some, and takes the others
// to be alike. pace, if it is not nil, is called between tablets with the time that the last one took.
func (s *Store) takeSample(ctx context.Context, t Table, expected uint64, tablets int,
	pace func(time.Duration) error) (*sample, error) {
	st := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer st.Rollback()
	pieces, err := st.Tablets(ctx, t.Span(), 1<<16)
	if err != nil {
		return nil, err
	}
	all := len(pieces)
	if all > tablets {
		some := make([]kv.Span, tablets)
		for i := range some {
			some[i] = pieces[i*all/tablets]
		}
		pieces = some
	}
	share := 1.0
	switch {
	case expected == 0:
		share = 0
	case expected > sampleRows:
		share = sampleRows / (float64(expected) * float64(len(pieces)) / float64(all))
	}
	program := &pushdown.Program{Mode: pushdown.ModeSample, Share: uint32(min(1, share) * math.MaxUint32)}
	out := &sample{}
	for _, p := range pieces {
		began := time.Now()
		scan := st.Scan(ctx, txn.ScanOptions{Span: p, Batch: sampleRows, Program: program.Append(nil),
			Whole: true})
		for scan.Next() {
			if len(out.rows) >= 4*sampleRows { // far more rows than were expected: what there is will do
				continue
			}
			row, err := t.DecodeRow(scan.Value())
			if err != nil {
				return nil, err
			}
			out.rows = append(out.rows, row)
		}
		for {
			part, ok := scan.NextPart()
			if !ok {
				break
			}
			rows, size, err := pushdown.Sampled(part)
			if err != nil {
				return nil, err
			}
			out.of += uint64(rows)
			out.bytes += uint64(size)
		}
		if err := scan.Err(); err != nil {
			return nil, err
		}
		if pace != nil {
			if err := pace(time.Since(began)); err != nil {
				return nil, err
			}
		}
	}
	out.of = out.of * uint64(all) / uint64(max(1, len(pieces)))
	out.bytes = out.bytes * uint64(all) / uint64(max(1, len(pieces)))
	return out, nil
}

// countRows counts the rows of some of the table's tablets, and takes the others to be alike.
func (s *Store) countRows(ctx context.Context, t Table) (uint64, error) {
	some, err := s.takeSample(ctx, t, 0, countedTablets, nil)
	if err != nil {
		return 0, err
	}
	return some.of, nil
}

// count finds out how many rows there are. Where the shards do not count it reads up to limit rows; finding
// the limit reached, a first look leaves the count to the background (-1).
func (s *Store) count(ctx context.Context, st *tableStats, t Table, limit int) {
	if limit > firstRows && s.opts.Client.Programs() {
		n, err := s.takeSample(ctx, t, 0, countedTablets, nil)
		if err == nil {
			if n.of > 0 {
				st.bytes.Store(int64(n.bytes / n.of))
			}
			st.counted.Store(int64(n.of))
			st.delta.Store(0)
			st.at.Store(time.Now().UnixNano())
			return
		}
		if !errors.Is(err, txn.ErrNoProgram) {
			return
		}
	}
	r := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer r.Rollback()
	scan := r.Scan(ctx, txn.ScanOptions{Span: t.Span(), Limit: limit, Batch: limit})
	defer scan.Close()
	n, bytes := int64(0), int64(0)
	for scan.Next() {
		n++
		bytes += int64(len(scan.Column().Row) + len(scan.Value()))
	}
	if scan.Err() != nil {
		return
	}
	if n > 0 {
		st.bytes.Store(bytes / n)
	}
	if n >= int64(limit) {
		if limit == firstRows {
			n = -1
		} else {
			n *= beyondLimit
		}
	}
	st.counted.Store(n)
	st.delta.Store(0)
	st.at.Store(time.Now().UnixNano())
}
