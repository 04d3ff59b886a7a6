package stats

import (
	"reflect"
	"testing"
	"time"
)

// A sample in which every value occurs once is of a unique column, one without such values has seen them all.
func TestDistinctValuesFromASample(t *testing.T) {
	for _, tt := range []struct{ d, once, n, of, low, high uint64 }{
		{100, 100, 100, 10_000, 10_000, 10_000},
		{10, 0, 1000, 1_000_000, 10, 10},
		{10, 0, 1000, 1000, 10, 10},
		{0, 0, 0, 0, 0, 0},
		{600, 400, 1000, 10_000, 600, 2000},
	} {
		if got := estimateDistinct(tt.d, tt.once, tt.n, tt.of); got < tt.low || got > tt.high {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

func TestStatisticsAreStored(t *testing.T) {
	s := &tableStatistics{Rows: 3, Bytes: 90, At: time.Unix(1700000000, 0).UTC(), Indexes: []indexStatistics{{
		Index: 2, Columns: []uint32{4}, Distinct: []uint64{3}, Nulls: 1, Lowest: [][]byte{{1}},
		Buckets: []histogramBucket{{Rows: 3, Distinct: 3, AtBound: 1, Bound: [][]byte{{2}}}},
	}}}
	b, err := encodeStatistics(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeStatistics(b); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range [][]byte{nil, {9}, append([]byte{9}, b[1:]...), b[:len(b)-1]} {
		if _, err := decodeStatistics(bad); err == nil {
			t.Errorf("%q is taken for statistics", bad)
		}
	}
}
