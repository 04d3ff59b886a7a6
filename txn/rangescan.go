package txn

import (
	"bytes"

	"moka/kv"
	"moka/txn/acks"
	"moka/txn/record"
)

// rangeScan walks the columns of a scan's span with their newest versions at or below its snapshot: from the range cache where that knows
// them, from the store elsewhere. It is used behind the look at the locks.
type rangeScan struct {
	e    kv.Eval
	st   *state
	span kv.Span
	at   kv.Timestamp

	column  kv.Column // the present one; its memory and the version's are good until the next move
	version kv.Version
	err     error

	// plain scans ask the store for what is at or below the snapshot, and nothing else: those in reverse, and those of tablets that are not seeded.
	plain   bool
	first   bool
	it      kv.Iterator  // of all versions, unless plain
	older   kv.Iterator  // of those at or below the snapshot
	beside  *acks.Beside // of a scan that meets acknowledgements, which is plain
	started *scanRequest

	pivot   kv.Column // everything before it has been seen
	after   bool      // it is what follows the column passed
	passed  kv.Column
	ran     bool // passed is the end of a run
	inStore bool
	placed  bool // the iterator is on the next column already
	stepped bool // the iterator has left the newest version of its column
	more    bool // the iterator is somewhere
	cells   []rangeCell
	memory  *[rangeChunk]rangeCell
	ended   bool        // behind cells there is nothing up to the end
	bound   *rangeEntry // where the store has been read up to, the cache goes on

	watcher    *rangeWatcher
	locked     []kv.Column
	stretch    stretch
	recording  bool
	seen       int // columns of the stretch
	superseded int // those with more than one version
	watched    int // columns of the request
}

const (
	// recordMax bounds the columns that one request remembers; a long scan is none that comes again and again.
	recordMax = 1024
	// recordGap is how many quiet columns are remembered beside a run, so that scans can go on to the next, or to their end.
	recordGap = 16
)

// scanRange begins a scan; next makes the first step.
func scanRange(e kv.Eval, st *state, req *scanRequest, seeded bool) (*rangeScan, error) {
	s := &rangeScan{e: e, st: st, span: req.span, at: req.snapshot, started: req, first: true}
	s.plain = req.reverse || !seeded || st.options.RangeFrom < 0 || req.acks
	if s.plain {
		o := kv.IterOptions{Group: kv.GroupTxnWrite, Span: req.span, Reverse: req.reverse, Max: req.snapshot}
		var err error
		if s.it, err = e.Iter(o); err == nil && req.acks {
			inOrder := func(a, b kv.Column) bool { return before(a, b, req.reverse) }
			if s.beside, err = acks.NewBeside(e, s.it, o, inOrder); err != nil {
				s.it.Close()
			}
		}
		return s, err
	}
	s.pivot = kv.Column{Row: req.span.Start}
	if req.resume {
		s.pass(req.after)
	}
	return s, nil
}

// pass goes on behind a column. It keeps its memory.
func (s *rangeScan) pass(c kv.Column) {
	s.passed, s.pivot, s.after = c, behind(c), true
}

// behind is the first column that may follow c.
func behind(c kv.Column) kv.Column {
	b := append(append(make([]byte, 0, len(c.Row)+len(c.Qualifier)+1), c.Row...), c.Qualifier...)
	n := len(c.Row)
	return kv.Column{Row: kv.RowKey(b[:n:n]), Family: c.Family, Qualifier: append(b[n:], 0)}
}

// ahead is how many columns are at hand.
func (s *rangeScan) ahead() int { return len(s.cells) + 1 }

// next goes to the next column. What an older directory has of acknowledgements among its rows is none.
func (s *rangeScan) next() bool {
	for s.step() {
		if s.beside != nil || !record.IsAck(s.column) {
			return true
		}
	}
	return false
}

func (s *rangeScan) step() bool {
	if s.plain {
		return s.nextPlain()
	}
	for s.err == nil {
		switch {
		case len(s.cells) > 0:
			c := &s.cells[0]
			if s.cells = s.cells[1:]; len(s.cells) == 0 && !s.ended {
				s.pass(c.entry.column)
				s.ran = true
			}
			if s.take(c) {
				return true
			}
		case s.ended:
			return false
		case s.inStore:
			if s.nextStored() {
				return true
			}
		case !s.look():
			return false
		}
	}
	return false
}

func (s *rangeScan) nextPlain() bool {
	ok, it := false, s.it
	switch {
	case s.beside != nil:
		it, ok = s.beside.Next(s.first, s.started.start)
		s.err = s.beside.Err()
	case s.first:
		ok = s.started.start(it)
	default:
		ok = it.NextColumn()
	}
	if s.first = false; ok {
		s.column, s.version = it.Column(), it.Version()
	}
	return ok
}

// look goes on from the pivot, in the cache or else in the store.
func (s *rangeScan) look() bool {
	s.ended, s.bound = false, nil
	if s.st.ranges.used.Load() > 0 {
		if s.memory == nil {
			s.memory = s.st.ranges.spare.Get().(*[rangeChunk]rangeCell)
		}
		s.cells, s.ended, s.bound = s.st.ranges.read(s.pivot, s.span.End, s.memory[:0])
	}
	if len(s.cells) > 0 || s.ended {
		return true
	}
	if s.it == nil {
		if s.err = s.open(); s.err != nil {
			return false
		}
	}
	s.more = s.it.SeekColumn(s.pivot)
	s.inStore, s.placed = true, true
	s.seen, s.superseded = 0, 0
	s.recording = s.watcher != nil && (s.bound != nil || s.ran)
	s.ran = false
	s.stretch.from, s.stretch.behind, s.stretch.cells = s.pivot, s.after, s.stretch.cells[:0]
	if s.after {
		s.stretch.from = s.passed
	}
	return true
}

// open makes the iterator, in the order that R2 asks for.
func (s *rangeScan) open() (err error) {
	if s.started.limit <= recordMax {
		s.watcher = s.st.ranges.watch(s.span)
		if err := s.findLocked(); err != nil {
			return err
		}
	}
	s.it, err = s.e.Iter(kv.IterOptions{Group: kv.GroupTxnWrite, Span: s.span})
	return err
}

// findLocked lists the columns with locks, whoever holds them and since when: they may be about to change.
func (s *rangeScan) findLocked() error {
	if s.st.locks.Len() == 0 {
		return nil
	}
	it, err := s.e.Iter(kv.IterOptions{Group: kv.GroupTxnLock, Run: record.RunExclusive, Span: s.span})
	if err != nil {
		return err
	}
	defer it.Close()
	for it.NextColumn() {
		if record.IsAck(it.Column()) {
			continue
		}
		if len(s.locked) >= watchedMax {
			s.unwatch()
			break
		}
		s.locked = append(s.locked, cloneColumn(it.Column()))
	}
	return it.Err()
}

// take makes a remembered column the present one, if it has a version for the snapshot.
func (s *rangeScan) take(c *rangeCell) bool {
	v := c.newest
	if !c.known {
		if v = s.learn(c); s.err != nil {
			return false
		}
	}
	if v == nil {
		return false
	}
	for ; v.Timestamp > s.at; v = v.before {
		if v.before == nil {
			return s.below(c.entry.column)
		}
	}
	s.column, s.version = c.entry.column, v.Version
	return true
}

// learn looks for the newest version of a column that is not known: R3.
func (s *rangeScan) learn(c *rangeCell) *rangeVersion {
	locked := false
	if s.st.locks.Len() > 0 {
		if _, locked, s.err = s.e.Latest(record.LockAt(record.RunExclusive, c.entry.column), kv.MaxTimestamp); s.err != nil {
			return nil
		}
	}
	v, ok, err := acks.Latest(s.e, c.entry.column, kv.MaxTimestamp)
	if s.err = err; err != nil {
		return nil
	}
	var newest *rangeVersion
	if ok {
		newest = &rangeVersion{Version: v}
	}
	if !locked {
		s.st.ranges.learn(c.entry, c.move, newest)
	}
	return newest
}

// below looks for a column's version at or below the snapshot, where the newest is above it.
func (s *rangeScan) below(c kv.Column) bool {
	if s.older == nil {
		if s.older, s.err = s.e.Iter(kv.IterOptions{Group: kv.GroupTxnWrite, Span: s.span, Max: s.at}); s.err != nil {
			return false
		}
	}
	if !s.older.SeekColumn(c) || compareColumns(s.older.Column(), c) != 0 {
		s.err = s.older.Err()
		return false
	}
	s.column, s.version = s.older.Column(), s.older.Version()
	return true
}

// nextStored goes one column on in the store. False: look again, or there is an error or no more.
func (s *rangeScan) nextStored() bool {
	if !s.placed {
		if !s.stepped && s.it.NextVersion() {
			s.superseded++
		}
		s.more = s.it.NextColumn()
	}
	s.placed, s.stepped = false, false
	if !s.more {
		if s.err = s.it.Err(); s.err == nil {
			s.ended = true
			s.seal(kv.Column{Row: s.span.End})
		}
		return false
	}
	c := s.it.Column()
	if s.bound != nil && compareColumns(c, s.bound.column) >= 0 {
		s.pivot, s.after, s.inStore = s.bound.column, false, false
		s.seal(s.bound.column)
		return false
	}
	s.seen++
	v := s.it.Version()
	s.record(c, v)
	for steps := 0; v.Timestamp > s.at; steps++ {
		if !s.stepped {
			s.superseded++
		}
		if s.stepped = true; steps == 3 {
			return s.below(cloneColumn(c))
		}
		if !s.it.NextVersion() {
			return false // it has none for this snapshot
		}
		v = s.it.Version()
	}
	s.column, s.version = c, v
	return true
}

// record notes a column of the store for the cache, where those before it had something to step over.
func (s *rangeScan) record(c kv.Column, newest kv.Version) {
	if s.watcher == nil {
		return
	}
	if s.watched++; s.watched > recordMax {
		s.seal(s.last())
		s.unwatch()
		return
	}
	hot := s.superseded >= s.st.options.RangeFrom && 4*s.superseded >= s.seen
	switch {
	case s.recording && !hot && s.seen > recordGap && s.superseded < s.st.options.RangeFrom:
		s.recording = false
		s.stretch.cells = s.stretch.cells[:0]
	case !s.recording && hot:
		s.recording = true
		s.stretch.from, s.stretch.behind = cloneColumn(c), false
	}
	if s.recording {
		s.stretch.cells = append(s.stretch.cells, stretchCell{cloneColumn(c), kv.Version{Timestamp: newest.Timestamp, Value: bytes.Clone(newest.Value)}})
	}
}

// last is the end of a stretch that ends with what has been seen.
func (s *rangeScan) last() kv.Column {
	if n := len(s.stretch.cells); n > 0 {
		return s.stretch.cells[n-1].column
	}
	return s.stretch.from
}

// seal remembers the stretch that ends here.
func (s *rangeScan) seal(to kv.Column) {
	if !s.recording {
		return
	}
	s.recording = false
	if s.stretch.to = to; len(to.Row) == 0 { // the end of the key space is no column
		s.stretch.to = s.last()
	}
	s.st.ranges.remember(s.watcher, s.locked, &s.stretch)
	s.stretch.cells = s.stretch.cells[:0]
}

func (s *rangeScan) unwatch() {
	if s.watcher != nil {
		s.st.ranges.unwatch(s.watcher)
		s.watcher, s.recording = nil, false
	}
}

// failed is what ended the scan early.
func (s *rangeScan) failed() error {
	if s.err == nil && s.it != nil {
		return s.it.Err()
	}
	return s.err
}

func (s *rangeScan) close() {
	if s.err == nil && s.recording {
		s.seal(s.last())
	}
	s.unwatch()
	if s.memory != nil {
		clear(s.memory[:])
		s.st.ranges.spare.Put(s.memory)
	}
	for _, it := range []kv.Iterator{s.it, s.older} {
		if it != nil {
			it.Close()
		}
	}
	if s.beside != nil {
		s.beside.Close()
	}
}
