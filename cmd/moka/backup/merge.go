package backup

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"moka/kv"
)

// source is one backup that is being merged, at its next record.
type source struct {
	name string
	r    *Reader
	rec  Record
	end  bool
}

func (s *source) next() (err error) {
	if s.rec, err = s.r.Next(); err == io.EOF {
		s.end = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// Merge gives emit what the store held at the snapshot of the n-th backup, counted from one: its cells in
// the order of their keys, then what its observers had not acknowledged. Records are emit's.
func (c *Chain) Merge(n int, emit func(Record) error) (err error) {
	var list []*source // the newest first
	defer func() {
		for _, s := range list {
			s.r.Close()
		}
	}()
	for i := n - 1; i >= 0; i-- {
		m := c.Backups[i]
		f, err := os.Open(filepath.Join(m.dir(c.Root), dataName))
		if err != nil {
			return err
		}
		defer f.Close()
		r, err := NewReader(bufio.NewReaderSize(f, 1<<20))
		if err != nil {
			return fmt.Errorf("%s: %w", m.dir(c.Root), err)
		}
		list = append(list, &source{name: m.dir(c.Root), r: r})
		if r.Info != m.Info {
			return fmt.Errorf("%s: its data is another backup's", m.dir(c.Root))
		}
		if err := list[len(list)-1].next(); err != nil {
			return err
		}
	}
	newest := list[0]
	for !newest.end {
		rec := newest.rec
		if rec.Same {
			if rec.Value, err = value(list[1:], rec.Column); err != nil {
				return err
			}
			rec.Same = false
		}
		if err := emit(rec); err != nil {
			return err
		}
		if err := newest.next(); err != nil {
			return err
		}
	}
	for _, s := range list[1:] { // so that every record of every one has been read
		for !s.end {
			if err := s.next(); err != nil {
				return err
			}
		}
	}
	return nil
}

// value is what the newest of the older backups has for a cell.
func value(older []*source, c kv.Column) ([]byte, error) {
	for _, s := range older {
		for !s.end && s.rec.Position == nil && compare(s.rec.Column, c) < 0 {
			if err := s.next(); err != nil {
				return nil, err
			}
		}
		switch {
		case s.end || s.rec.Position != nil || compare(s.rec.Column, c) != 0:
			return nil, fmt.Errorf("%s: cell %x is not there, and a later backup has it unchanged", s.name,
				[]byte(c.Row))
		case !s.rec.Same:
			return s.rec.Value, nil
		}
	}
	return nil, fmt.Errorf("cell %x is unchanged since before the first backup", []byte(c.Row))
}
