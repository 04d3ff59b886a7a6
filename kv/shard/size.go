package shard

import (
	"bytes"
	"encoding/binary"

	"moka/kv"
	"moka/kv/keys"
)

// Size is a tablet with what it takes on disk, as Pebble estimates it: memtables do not count.
type Size struct {
	Tablet kv.Tablet
	Bytes  uint64
}

// Sizes estimates all tablets of the shard. It costs a few index lookups for each tablet and locality group.
func (s *Replica) Sizes() ([]Size, error) {
	runs, err := s.diskRuns()
	if err != nil {
		return nil, err
	}
	var all []Size
	for _, t := range s.Tablets() {
		n, _, err := s.size(t, runs)
		if err != nil {
			return nil, err
		}
		all = append(all, Size{t, n})
	}
	return all, nil
}

// size returns a tablet's bytes and the run that has most of them.
func (s *Replica) size(t kv.Tablet, runs []groupRun) (total uint64, largest groupRun, err error) {
	var most uint64
	for _, r := range runs {
		lower, upper := keys.AppendSpan(nil, s.id, r.group, r.run, t.Span)
		n, err := s.e.Size(lower, upper)
		if err != nil {
			return 0, largest, err
		}
		if n >= most {
			most, largest = n, r
		}
		total += n
	}
	return total, largest, nil
}

// MiddleRow finds a row near which half of the tablet's bytes lie on either side; ok is false if the tablet has too few rows.
// It bisects the key space by Pebble's estimates and ends at a row that exists.
func (s *Replica) MiddleRow(t kv.Tablet) (row kv.RowKey, ok bool, err error) {
	runs, err := s.diskRuns()
	if err != nil || len(runs) == 0 {
		return nil, false, err
	}
	_, r, err := s.size(t, runs)
	if err != nil {
		return nil, false, err
	}
	lower, upper := keys.AppendSpan(nil, s.id, r.group, r.run, t.Span)
	it, err := s.e.NewIter(lower, upper)
	if err != nil {
		return nil, false, err
	}
	defer it.Close()
	rowAt := func(valid bool) kv.RowKey {
		if !valid {
			return nil
		}
		k, _, derr := keys.Decode(it.Key(), nil)
		if derr != nil {
			err = derr
		}
		return k.Address.Row
	}
	first, last := rowAt(it.First()), rowAt(it.Last())
	if err != nil || first == nil || bytes.Equal(first, last) {
		return nil, false, err
	}
	total, err := s.e.Size(lower, upper)
	if err != nil {
		return nil, false, err
	}
	lo, hi := first, last
	for range 64 {
		mid, ok := midpoint(lo, hi)
		if !ok {
			break
		}
		n, err := s.e.Size(lower, keys.AppendRowBound(nil, s.id, r.group, r.run, mid))
		if err != nil {
			return nil, false, err
		}
		if n < total/2 {
			lo = mid
		} else {
			hi = mid
		}
	}
	row = rowAt(it.SeekGE(keys.AppendRowBound(nil, s.id, r.group, r.run, hi)))
	if row == nil || bytes.Compare(row, first) <= 0 {
		row = last
	}
	return row, err == nil, err
}

// midpoint returns a key between two, reading what follows their common prefix as a fraction.
func midpoint(a, b kv.RowKey) (kv.RowKey, bool) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	fraction := func(k kv.RowKey) uint64 {
		var f [8]byte
		copy(f[:], k[n:])
		return binary.BigEndian.Uint64(f[:])
	}
	x, y := fraction(a), fraction(b)
	if y < x || y-x < 2 {
		return nil, false
	}
	return binary.BigEndian.AppendUint64(bytes.Clone(a[:n]), x+(y-x)/2), true
}
