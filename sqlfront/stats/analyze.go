package stats

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	gmsstats "github.com/dolthub/go-mysql-server/sql/stats"

	"moka/sqlfront/catalog"
	"moka/sqlfront/rowenc"
	"moka/txn"
)

// ANALYZE TABLE. A sample of the rows is taken on the shards, by a hash of their keys, in one pass over the
// table (or over some of the tablets of a large one), and for each index it is worked out how many distinct
// values each prefix of its columns has, and a histogram. What is found is one cell that every SQL node reads
// (catalog.StatisticsCell).

const histogramSize = 32

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

// indexStatistics are those of one index. They are good as long as the index has the columns
// that they were made for.
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
		return nil, fmt.Errorf("stats: statistics of another version")
	}
	s := &tableStatistics{}
	return s, json.Unmarshal(b[1:], s)
}

// compute works the statistics of a table out and stores them.
func (s *Store) compute(ctx context.Context, t Table,
	pace func(time.Duration) error) (*tableStatistics, error) {
	n, err := s.countRows(ctx, t)
	if err != nil {
		return nil, err
	}
	some, err := s.takeSample(ctx, t, max(1, n), sampleTablets, pace)
	if err != nil {
		return nil, err
	}
	out := &tableStatistics{Rows: some.of, Bytes: some.bytes, At: time.Now().UTC()}
	for _, x := range t.PublicKeys() {
		is, err := statisticsOf(ctx, t, x, some)
		if err != nil {
			return nil, err
		}
		out.Indexes = append(out.Indexes, is)
	}
	b, err := encodeStatistics(out)
	if err != nil {
		return nil, err
	}
	return out, s.opts.Commit(ctx, func(st *txn.Txn) error {
		st.Put(catalog.StatisticsCell(t.Descriptor().ID), b, txn.WriteOptions{})
		return nil
	})
}

// statisticsOf are those of one index by a sample of the rows.
func statisticsOf(ctx context.Context, t Table, x Index, s *sample) (indexStatistics, error) {
	cols, schema := x.Ordinals(), t.Columns()
	out := indexStatistics{Index: x.Number(), Columns: x.ColumnIDs()}
	type keyed struct {
		key  []byte
		ends []int // of the key's parts
		row  sql.Row
	}
	keys := make([]keyed, len(s.rows))
	nulls := uint64(0)
	for i, row := range s.rows {
		k := keyed{row: row}
		for j := range cols {
			b, err := x.AppendKey(ctx, nil, row, j+1)
			if err != nil {
				return out, err
			}
			k.key = b
			k.ends = append(k.ends, len(b))
		}
		if row[cols[0]] == nil {
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
	for j := range cols {
		d, once := uint64(0), uint64(0)
		for i := 0; i < len(keys); {
			n := 1
			for i+n < len(keys) && bytes.Equal(keys[i].key[:keys[i].ends[j]],
				keys[i+n].key[:keys[i+n].ends[j]]) {
				n++
			}
			d++
			if n == 1 {
				once++
			}
			i += n
		}
		distinct := estimateDistinct(d, once, uint64(len(keys)), s.of)
		if x.Unique() && j == len(cols)-1 {
			distinct = s.of
		}
		out.Distinct = append(out.Distinct, distinct)
	}
	if len(keys) == 0 {
		return out, nil
	}
	bound := func(row sql.Row) (vs [][]byte, err error) {
		for _, c := range cols {
			b, err := rowenc.AppendValue(ctx, nil, schema[c].Type, row[c])
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
		spread = max(1, float64(out.Distinct[len(cols)-1])/d)
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
			if k.row[cols[0]] == nil {
				b.Nulls++
			}
			if bytes.Equal(k.key, last.key) {
				atBound++
			}
		}
		b.Nulls = scaled(b.Nulls)
		b.AtBound = max(1, scaled(atBound))
		if x.Unique() {
			b.AtBound = 1
		}
		b.Distinct = max(1, min(b.Rows, uint64(spread*float64(distinctOf(part, func(k keyed) []byte {
			return k.key
		})))))
		if b.Bound, err = bound(last.row); err != nil {
			return out, err
		}
		out.Buckets = append(out.Buckets, b)
		from = to
	}
	return out, nil
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

// estimateDistinct is the number of distinct values among of rows, by a sample of n of them that has d
// values, once of which occur only once (Haas and Stokes' Duj1).
func estimateDistinct(d, once, n, of uint64) uint64 {
	if n == 0 || of <= n {
		return d
	}
	est := float64(n) * float64(d) / (float64(n) - float64(once) + float64(once)*float64(n)/float64(of))
	return uint64(math.Round(min(max(est, float64(d)), float64(of))))
}

// inLibraryForm makes go-mysql-server's form of an index's statistics, nil if they do not fit the index any
// more.
func inLibraryForm(ctx *sql.Context, t Table, x Index, s *tableStatistics) sql.Statistic {
	at := slices.IndexFunc(s.Indexes, func(i indexStatistics) bool { return i.Index == x.Number() })
	if at < 0 || !slices.Equal(s.Indexes[at].Columns, x.ColumnIDs()) {
		return nil
	}
	is, schema := &s.Indexes[at], t.Columns()
	var names []string
	var types []sql.Type
	for _, c := range x.Ordinals() {
		names = append(names, strings.ToLower(schema[c].Name))
		types = append(types, schema[c].Type)
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
		buckets = append(buckets, gmsstats.NewHistogramBucket(b.Rows, b.Distinct, b.Nulls, b.AtBound, bound,
			nil, nil))
	}
	qual := sql.NewStatQualifier(t.Database(), "", t.Descriptor().Name, x.ID())
	size := uint64(0)
	if s.Rows > 0 {
		size = s.Bytes / s.Rows
	}
	out := gmsstats.NewStatistic(s.Rows, is.Distinct[len(is.Distinct)-1], is.Nulls, size, s.At, qual, names,
		types, buckets, sql.IndexClassDefault, row(is.Lowest))
	fds, cols, err := gmsstats.IndexFds(ctx, strings.ToLower(t.Descriptor().Name), schema, x)
	if err != nil {
		return nil
	}
	return out.WithFuncDeps(fds).WithColSet(cols)
}
