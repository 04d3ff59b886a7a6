package shard

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"

	"moka/kv"
)

// Load is what was asked of a tablet since it was asked before.
type Load struct {
	Tablet kv.Tablet
	// Requests is an estimate: one command in loadEvery is looked at.
	Requests uint64
	// Rows is a fair sample of the rows that they named, ascending; rows that are named often are there often.
	Rows []kv.RowKey
}

const (
	loadEvery  = 16
	loadSample = 128 // rows kept of each tablet
)

// loads counts the commands of a shard by tablet.
type loads struct {
	mu       sync.Mutex
	byTablet map[kv.TabletID]*loadSampleOf
}

type loadSampleOf struct {
	seen uint64
	rows []kv.RowKey
}

// lookedAt chooses the commands that are counted. It is asked on every command, and costs two nanoseconds.
func lookedAt() bool { return rand.Uint32()%loadEvery == 0 }

// note counts a command by one of its rows.
func (l *loads) note(tt *tablets, rows []kv.RowKey) {
	if len(rows) == 0 {
		return
	}
	row := rows[rand.IntN(len(rows))]
	t, ok := tt.find(row)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byTablet[t.ID]
	if s == nil {
		s = &loadSampleOf{}
		if l.byTablet == nil {
			l.byTablet = map[kv.TabletID]*loadSampleOf{}
		}
		l.byTablet[t.ID] = s
	}
	// Each of those seen is in the sample with the same chance.
	if s.seen++; len(s.rows) < loadSample {
		s.rows = append(s.rows, bytes.Clone(row))
	} else if i := rand.Uint64N(s.seen); i < loadSample {
		s.rows[i] = append(s.rows[i][:0], row...)
	}
}

// TakeLoads returns what was asked of the shard's tablets since the last call.
func (s *Replica) TakeLoads() []Load {
	s.loads.mu.Lock()
	seen := s.loads.byTablet
	s.loads.byTablet = nil
	s.loads.mu.Unlock()
	var all []Load
	for id, x := range seen {
		if t, ok := s.Tablet(id); ok { // else it has left, or became part of another
			slices.SortFunc(x.rows, func(a, b kv.RowKey) int { return bytes.Compare(a, b) })
			all = append(all, Load{Tablet: t, Requests: x.seen * loadEvery, Rows: x.rows})
		}
	}
	slices.SortFunc(all, func(a, b Load) int { return bytes.Compare(a.Tablet.Span.Start, b.Tablet.Span.Start) })
	return all
}

// SplitRow is where to cut the tablet so that about half of what is asked of it is on either side. There is no such place if one row has
// nearly all, or if too little is known.
func (l Load) SplitRow() (kv.RowKey, bool) {
	n := len(l.Rows)
	best, most := -1, 0
	for i := 1; i < n; i++ {
		if bytes.Equal(l.Rows[i-1], l.Rows[i]) || !l.Tablet.Span.Contains(l.Rows[i]) {
			continue
		}
		if smaller := min(i, n-i); smaller > most {
			best, most = i, smaller
		}
	}
	if n < loadSample/2 || most < n/8 || bytes.Equal(l.Rows[best], l.Tablet.Span.Start) {
		return nil, false
	}
	return l.Rows[best], true
}
