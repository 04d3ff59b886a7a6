package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/stats"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/pushdown"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// ANALYZE TABLE. A sample of the rows is taken on the shards, by a hash of their keys, in one pass over the table (or over some
// of the tablets of a large one), and for each index it is worked out how many distinct values each prefix of its columns has,
// and a histogram. What is found is one cell that every SQL node reads (catalog.StatisticsCell).

const (
	sampleRows    = 10_000
	sampleTablets = 128 // of a table with more, so many are read
	histogramSize = 32
)

// tableStatistics is what is known of a table's contents, as it is stored:
//
//	┌────┬──────┐
//	│ 01 │ JSON │
//	└────┴──────┘
type tableStatistics struct {
	Rows    uint64            `json:"rows"`
	Bytes   uint64            `json:"bytes"`
	At      time.Time         `json:"at"`
	Indexes []indexStatistics `json:"indexes"`
}

// indexStatistics are those of one index. They are good as long as the index has the columns that they were made for.
type indexStatistics struct {
	Index   uint32   `json:"index"`
	Columns []uint32 `json:"columns"` // ids
	// Distinct is the number of distinct values of the first column, of the first two, and so on.
	Distinct []uint64          `json:"distinct"`
	Nulls    uint64            `json:"nulls,omitempty"` // rows with NULL in the first column
	Buckets  []histogramBucket `json:"buckets,omitempty"`
	Lowest   [][]byte          `json:"lowest,omitempty"`
}

// histogramBucket are the rows above the bound of the bucket before and up to Bound.
type histogramBucket struct {
	Rows     uint64   `json:"rows"`
	Distinct uint64   `json:"distinct"`
	Nulls    uint64   `json:"nulls,omitempty"`
	AtBound  uint64   `json:"at"`
	Bound    [][]byte `json:"bound"` // one value for each column (rowenc.AppendValue)
}

const statisticsVersion = 1

func encodeStatistics(s *tableStatistics) ([]byte, error) {
	b, err := json.Marshal(s)
	return append([]byte{statisticsVersion}, b...), err
}

func decodeStatistics(b []byte) (*tableStatistics, error) {
	if len(b) == 0 || b[0] != statisticsVersion {
		return nil, fmt.Errorf("engine: statistics of another version")
	}
	s := &tableStatistics{}
	return s, json.Unmarshal(b[1:], s)
}

// sample is some rows of a table, and what they were taken from.
type sample struct {
	rows  []sql.Row
	of    uint64
	bytes uint64
}

// takeSample reads about sampleRows of a number of rows that is expected, each as likely as any other; expecting none, it only counts.
// Of a table with more tablets than that it reads some, and takes the others to be alike. pace, if it is not nil, is called
// between tablets with the time that the last one took.
func (e *Engine) takeSample(ctx context.Context, t *Table, expected uint64, tablets int, pace func(time.Duration) error) (*sample, error) {
	st := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer st.Rollback()
	whole := indexSpan(t.desc.ID, t.desc.RowIndex)
	pieces, err := st.Tablets(ctx, whole, 1<<16)
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
		scan := st.Scan(ctx, txn.ScanOptions{Span: p, Batch: sampleRows, Program: program.Append(nil), Whole: true})
		for scan.Next() {
			if len(out.rows) >= 4*sampleRows { // far more rows than were expected: what there is will do
				continue
			}
			row, err := t.decode.Decode(scan.Value())
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

// analyze works the statistics of a table out and stores them.
func (e *Engine) analyze(ctx context.Context, t *Table, pace func(time.Duration) error) (*tableStatistics, error) {
	n, err := e.countRows(ctx, t)
	if err != nil {
		return nil, err
	}
	s, err := e.takeSample(ctx, t, max(1, n), sampleTablets, pace)
	if err != nil {
		return nil, err
	}
	out := &tableStatistics{Rows: s.of, Bytes: s.bytes, At: time.Now().UTC()}
	for _, x := range t.keys {
		if x.state != catalog.StatePublic {
			continue
		}
		is, err := x.statistics(ctx, s)
		if err != nil {
			return nil, err
		}
		out.Indexes = append(out.Indexes, is)
	}
	b, err := encodeStatistics(out)
	if err != nil {
		return nil, err
	}
	return out, e.retry(ctx, func(st *txn.Txn) error {
		st.Put(catalog.StatisticsCell(t.desc.ID), b, txn.WriteOptions{})
		return nil
	})
}

// statistics of one index by a sample of the rows.
func (x *index) statistics(ctx context.Context, s *sample) (indexStatistics, error) {
	out := indexStatistics{Index: x.num, Columns: x.columnIDs()}
	type keyed struct {
		key  []byte
		ends []int // of the key's parts
		row  sql.Row
	}
	keys := make([]keyed, len(s.rows))
	nulls := uint64(0)
	for i, row := range s.rows {
		k := keyed{row: row}
		for j := range x.cols {
			b, err := x.codec.EncodeRow(ctx, nil, row, x.cols[:j+1])
			if err != nil {
				return out, err
			}
			k.key = b
			k.ends = append(k.ends, len(b))
		}
		if row[x.cols[0]] == nil {
			nulls++
		}
		keys[i] = k
	}
	slices.SortFunc(keys, func(a, b keyed) int { return bytes.Compare(a.key, b.key) })
	factor := 1.0
	if len(keys) > 0 {
		factor = float64(s.of) / float64(len(keys))
	}
	scaled := func(n uint64) uint64 { return uint64(math.Round(float64(n) * factor)) }
	out.Nulls = scaled(nulls)
	for j := range x.cols {
		d, once := uint64(0), uint64(0)
		for i := 0; i < len(keys); {
			n := 1
			for i+n < len(keys) && bytes.Equal(keys[i].key[:keys[i].ends[j]], keys[i+n].key[:keys[i+n].ends[j]]) {
				n++
			}
			d++
			if n == 1 {
				once++
			}
			i += n
		}
		distinct := estimateDistinct(d, once, uint64(len(keys)), s.of)
		if x.unique && j == len(x.cols)-1 {
			distinct = s.of
		}
		out.Distinct = append(out.Distinct, distinct)
	}
	if len(keys) == 0 {
		return out, nil
	}
	bound := func(row sql.Row) (vs [][]byte, err error) {
		for _, c := range x.cols {
			b, err := rowenc.AppendValue(ctx, nil, x.table.pk.Schema[c].Type, row[c])
			if err != nil {
				return nil, err
			}
			vs = append(vs, b)
		}
		return vs, nil
	}
	var err error
	if out.Lowest, err = bound(keys[0].row); err != nil {
		return out, err
	}
	per := max(1, (len(keys)+histogramSize-1)/histogramSize)
	spread := 1.0 // distinct values for each that the sample has
	if d := float64(distinctOf(keys, func(k keyed) []byte { return k.key })); d > 0 {
		spread = max(1, float64(out.Distinct[len(x.cols)-1])/d)
	}
	for from := 0; from < len(keys); {
		to := min(len(keys), from+per)
		for to < len(keys) && bytes.Equal(keys[to].key, keys[to-1].key) {
			to++ // equal values are in one bucket
		}
		part := keys[from:to]
		b := histogramBucket{Rows: max(1, scaled(uint64(len(part))))}
		last := part[len(part)-1]
		atBound := uint64(0)
		for _, k := range part {
			if k.row[x.cols[0]] == nil {
				b.Nulls++
			}
			if bytes.Equal(k.key, last.key) {
				atBound++
			}
		}
		b.Nulls = scaled(b.Nulls)
		b.AtBound = max(1, scaled(atBound))
		if x.unique {
			b.AtBound = 1
		}
		b.Distinct = max(1, min(b.Rows, uint64(spread*float64(distinctOf(part, func(k keyed) []byte { return k.key })))))
		if b.Bound, err = bound(last.row); err != nil {
			return out, err
		}
		out.Buckets = append(out.Buckets, b)
		from = to
	}
	return out, nil
}

func (x *index) columnIDs() (ids []uint32) {
	for _, c := range x.cols {
		ids = append(ids, x.table.desc.Columns[x.table.ordinals[c]].ID)
	}
	return ids
}

// distinctOf counts the distinct keys of a sorted list.
func distinctOf[T any](sorted []T, key func(T) []byte) (n int) {
	for i := range sorted {
		if i == 0 || !bytes.Equal(key(sorted[i]), key(sorted[i-1])) {
			n++
		}
	}
	return n
}

// estimateDistinct is the number of distinct values among of rows, by a sample of n of them that has d values, once of which occur only once (Haas
// and Stokes' Duj1).
func estimateDistinct(d, once, n, of uint64) uint64 {
	if n == 0 || of <= n {
		return d
	}
	est := float64(n) * float64(d) / (float64(n) - float64(once) + float64(once)*float64(n)/float64(of))
	return uint64(math.Round(min(max(est, float64(d)), float64(of))))
}

// statistic makes the library's form of an index's statistics, nil if they do not fit the index any more.
func (x *index) statistic(ctx *sql.Context, s *tableStatistics) sql.Statistic {
	at := slices.IndexFunc(s.Indexes, func(i indexStatistics) bool { return i.Index == x.num })
	if at < 0 || !slices.Equal(s.Indexes[at].Columns, x.columnIDs()) {
		return nil
	}
	is := &s.Indexes[at]
	var names []string
	var types []sql.Type
	for _, c := range x.cols {
		names = append(names, strings.ToLower(x.table.pk.Schema[c].Name))
		types = append(types, x.table.pk.Schema[c].Type)
	}
	row := func(vs [][]byte) sql.Row {
		r := make(sql.Row, len(types))
		for i := range r {
			if i >= len(vs) {
				return nil
			}
			v, err := rowenc.DecodeValue(types[i], vs[i])
			if err != nil {
				return nil
			}
			r[i] = v
		}
		return r
	}
	var buckets []sql.HistogramBucket
	for _, b := range is.Buckets {
		bound := row(b.Bound)
		if bound == nil {
			return nil
		}
		buckets = append(buckets, stats.NewHistogramBucket(b.Rows, b.Distinct, b.Nulls, b.AtBound, bound, nil, nil))
	}
	qual := sql.NewStatQualifier(x.table.db, "", x.table.desc.Name, x.id)
	size := uint64(0)
	if s.Rows > 0 {
		size = s.Bytes / s.Rows
	}
	out := stats.NewStatistic(s.Rows, is.Distinct[len(is.Distinct)-1], is.Nulls, size, s.At, qual, names, types, buckets, sql.IndexClassDefault, row(is.Lowest))
	fds, cols, err := stats.IndexFds(ctx, strings.ToLower(x.table.desc.Name), x.table.pk.Schema, x)
	if err != nil {
		return nil
	}
	return out.WithFuncDeps(fds).WithColSet(cols)
}

// provider of statistics for the library.
type statsProvider struct{ eng *Engine }

var _ sql.StatsProvider = (*statsProvider)(nil)

// GetTableStats implements sql.StatsProvider: one for each index, or none.
func (p *statsProvider) GetTableStats(ctx *sql.Context, _, _ string, table sql.Table) ([]sql.Statistic, error) {
	t := ownTable(table)
	if t == nil || t.temporary {
		return nil, nil
	}
	return p.eng.stats.statistics(ctx, t), nil
}

// AnalyzeTable implements sql.StatsProvider.
func (p *statsProvider) AnalyzeTable(ctx *sql.Context, table sql.Table, _ string) error {
	t := ownTable(table)
	if t == nil || t.temporary {
		return nil
	}
	s, err := p.eng.analyze(ctx, t.base(), nil)
	if errors.Is(err, txn.ErrNoProgram) {
		return sqlerr.Unsupported("ANALYZE TABLE while a storage node of an earlier release is running")
	}
	if err != nil {
		return sqlerr.From(err)
	}
	p.eng.stats.set(t.desc.ID, s)
	return nil
}

// SetStats implements sql.StatsProvider: ANALYZE TABLE … UPDATE HISTOGRAM … USING DATA, for the life of this process.
func (p *statsProvider) SetStats(_ *sql.Context, s sql.Statistic) error {
	p.eng.stats.given(s)
	return nil
}

// GetStats implements sql.StatsProvider.
func (p *statsProvider) GetStats(_ *sql.Context, qual sql.StatQualifier, cols []string) (sql.Statistic, bool) {
	return p.eng.stats.givenFor(qual, cols)
}

// DropStats implements sql.StatsProvider.
func (p *statsProvider) DropStats(_ *sql.Context, qual sql.StatQualifier, cols []string) error {
	p.eng.stats.dropGiven(func(s sql.Statistic) bool {
		q := s.Qualifier()
		return strings.EqualFold(q.Database, qual.Database) && strings.EqualFold(q.Tab, qual.Tab) && slices.EqualFunc(s.Columns(), cols, strings.EqualFold)
	})
	return nil
}

// DropDbStats implements sql.StatsProvider.
func (p *statsProvider) DropDbStats(_ *sql.Context, _, db string, _ bool) error {
	p.eng.stats.dropGiven(func(s sql.Statistic) bool { return strings.EqualFold(s.Qualifier().Database, db) })
	return nil
}

// RowCount implements sql.StatsProvider.
func (p *statsProvider) RowCount(ctx *sql.Context, _, _ string, table sql.Table) (uint64, error) {
	if t, ok := table.(sql.StatisticsTable); ok {
		n, _, err := t.RowCount(ctx)
		return n, err
	}
	return 0, nil
}

// DataLength implements sql.StatsProvider.
func (p *statsProvider) DataLength(ctx *sql.Context, _, _ string, table sql.Table) (uint64, error) {
	if t, ok := table.(sql.StatisticsTable); ok {
		return t.DataLength(ctx)
	}
	return 0, nil
}
