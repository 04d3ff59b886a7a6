package txntest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"moka/kv"
)

// Outcome is what a transaction's user was told.
type Outcome uint8

const (
	Unknown   Outcome = iota // no answer, or ErrOutcomeUnknown: Check finds out from the stored versions
	Committed                // acknowledged
	Aborted                  // refused, or given up before Commit
)

// Read is one value that a transaction was given. Value is what was written, unique for each write, and empty if the column
// had none.
type Read struct{ Column, Value string }

// Write is one value that a transaction asked to write; an empty Value is a delete.
type Write struct{ Column, Value string }

// Record is what one transaction did and was told. The sequence numbers order events in real time.
type Record struct {
	Name              string
	StartTS, CommitTS kv.Timestamp
	Outcome           Outcome
	Reads             []Read
	Writes            []Write
	// Began is before start_ts was asked for, Asked before Commit was called, Ended after it returned.
	Began, Asked, Ended int
	// Latest says that the reads were made without a snapshot, all at one moment between Began and Ended.
	Latest bool
}

// History collects records. It is safe for concurrent use.
type History struct {
	mu      sync.Mutex
	seq     int
	records []*Record
}

// Now returns the next number in real time.
func (h *History) Now() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	return h.seq
}

// Add adds a finished record.
func (h *History) Add(r *Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, r)
}

// Records returns what was added.
func (h *History) Records() []*Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.records)
}

// StoredVersion is a committed version as it lies in the store.
type StoredVersion struct {
	Column            string
	StartTS, CommitTS kv.Timestamp
	Value             string // empty: a delete
}

// Check holds a history against snapshot isolation, exactly, since it knows the timestamps, and against what is stored in the
// end. It returns what is wrong.
//
//	S1  a read returns the newest version committed at or below the snapshot
//	S2  of two transactions that wrote the same column, one committed before the other began
//	S3  commit_ts > start_ts
//	S4  a snapshot contains every commit that was acknowledged before the transaction began (strong snapshot isolation)
//	S5  commit_ts grows with real time: acknowledged before asked for means not after
//	S7  reads without a snapshot see the state of one moment between the call and its return: nothing that was acknowledged
//	    before is missing, and who begins later sees no less
//	S6  a transaction's writes are stored all, at one commit_ts, or not at all; what was refused is not, what was acknowledged is
func (h *History) Check(stored []StoredVersion) (wrong []error) {
	rs := h.Records()
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	fates := fatesOf(stored, bad)
	var committed []*Record
	for _, r := range rs {
		checkFate(r, fates[r.StartTS], bad)
		if r.Outcome == Committed {
			committed = append(committed, r)
			if len(r.Writes) > 0 && r.CommitTS <= r.StartTS {
				bad("S3: %s committed at %v, not after its start at %v", r.Name, r.CommitTS, r.StartTS)
			}
		}
	}
	versions := versionsOf(committed)
	var seen []*Record
	for _, r := range rs {
		if r.Latest {
			if newest := checkLatest(r, versions, bad); newest != nil {
				// From here on everybody knows of that commit.
				seen = append(seen, &Record{Name: r.Name + ", which saw " + newest.Name, CommitTS: newest.CommitTS, Ended: r.Ended})
			}
			continue
		}
		checkReads(r, versions, bad)
	}
	checkWriters(versions, bad)
	checkRealTime(rs, committed, seen, bad)
	return wrong
}

// fatesOf gathers the stored versions of each transaction.
func fatesOf(stored []StoredVersion, bad func(string, ...any)) map[kv.Timestamp]map[string]StoredVersion {
	fates := map[kv.Timestamp]map[string]StoredVersion{}
	for _, v := range stored {
		if fates[v.StartTS] == nil {
			fates[v.StartTS] = map[string]StoredVersion{}
		}
		if _, twice := fates[v.StartTS][v.Column]; twice {
			bad("S6: the transaction of %v is stored twice in %s", v.StartTS, v.Column)
		}
		fates[v.StartTS][v.Column] = v
	}
	return fates
}

// checkFate compares what was told with what is stored, and settles unknown outcomes by what is stored.
func checkFate(r *Record, stored map[string]StoredVersion, bad func(string, ...any)) {
	if len(r.Writes) == 0 {
		if r.Outcome == Unknown {
			r.Outcome = Aborted
		}
		return
	}
	for _, w := range r.Writes {
		v, ok := stored[w.Column]
		switch {
		case !ok && r.Outcome == Committed:
			bad("S6: %s was acknowledged at %v, but %s is not stored", r.Name, r.CommitTS, w.Column)
		case !ok && len(stored) > 0:
			bad("S6: %s is stored in part: %s is missing", r.Name, w.Column)
		case !ok:
		case r.Outcome == Aborted:
			bad("S6: %s was refused, but %s is stored at %v", r.Name, w.Column, v.CommitTS)
		case v.Value != w.Value:
			bad("S6: %s wrote %q to %s, stored is %q", r.Name, w.Value, w.Column, v.Value)
		case r.CommitTS != 0 && v.CommitTS != r.CommitTS:
			bad("S6: %s committed at %v, but %s is stored at %v", r.Name, r.CommitTS, w.Column, v.CommitTS)
		default:
			r.CommitTS = v.CommitTS
		}
	}
	if r.Outcome == Unknown {
		r.Outcome = Aborted
		if len(stored) > 0 {
			r.Outcome = Committed
		}
	}
}

type version struct {
	by    *Record
	value string
}

// versionsOf lists each column's committed versions, oldest first.
func versionsOf(committed []*Record) map[string][]version {
	vs := map[string][]version{}
	for _, r := range committed {
		for _, w := range r.Writes {
			vs[w.Column] = append(vs[w.Column], version{r, w.Value})
		}
	}
	for _, v := range vs {
		slices.SortFunc(v, func(a, b version) int { return cmp.Compare(a.by.CommitTS, b.by.CommitTS) })
	}
	return vs
}

func checkReads(r *Record, versions map[string][]version, bad func(string, ...any)) {
	for _, rd := range r.Reads {
		want, by := "", "nobody"
		for _, v := range versions[rd.Column] {
			if v.by.CommitTS > r.StartTS {
				break
			}
			want, by = v.value, fmt.Sprintf("%s at %v", v.by.Name, v.by.CommitTS)
		}
		if rd.Value != want {
			bad("S1: %s read %q from %s in snapshot %v, which has %q by %s", r.Name, rd.Value, rd.Column, r.StartTS, want, by)
		}
	}
}

// checkLatest returns the writer of the newest version that was read.
func checkLatest(r *Record, versions map[string][]version, bad func(string, ...any)) (newest *Record) {
	from, to := kv.Timestamp(0), kv.MaxTimestamp // the states that have all that was read
	for _, rd := range r.Reads {
		i := slices.IndexFunc(versions[rd.Column], func(v version) bool { return v.value == rd.Value }) // -1: as it was before all of them
		if i < 0 && rd.Value != "" {
			bad("S7: %s read %q from %s, which nobody committed", r.Name, rd.Value, rd.Column)
			continue
		}
		if rd.Value == "" {
			return newest // there may be several deletes
		}
		if i >= 0 {
			by := versions[rd.Column][i].by
			if from = max(from, by.CommitTS); newest == nil || by.CommitTS > newest.CommitTS {
				newest = by
			}
		}
		if i++; i < len(versions[rd.Column]) {
			to = min(to, versions[rd.Column][i].by.CommitTS)
		}
		for _, later := range versions[rd.Column][i:] {
			if later.by.Ended != 0 && later.by.Ended < r.Began {
				bad("S7: %s began after %s was acknowledged at %v, but read an older %q from %s", r.Name, later.by.Name, later.by.CommitTS, rd.Value, rd.Column)
			}
		}
	}
	// Commits with the same commit_ts have no column in common; one may be seen without the other, but no snapshot tells them apart.
	if from > to {
		bad("S7: %s read %v, which were never true at the same time", r.Name, r.Reads)
	}
	return newest
}

func checkWriters(versions map[string][]version, bad func(string, ...any)) {
	for c, vs := range versions {
		for i := 1; i < len(vs); i++ {
			if a, b := vs[i-1].by, vs[i].by; b.StartTS < a.CommitTS {
				bad("S2: %s [%v, %v] and %s [%v, %v] wrote %s at the same time", a.Name, a.StartTS, a.CommitTS, b.Name, b.StartTS, b.CommitTS, c)
			}
		}
	}
}

// checkRealTime sweeps over the events in order, with the largest acknowledged commit_ts so far.
func checkRealTime(rs, committed, seen []*Record, bad func(string, ...any)) {
	type event struct {
		at   int
		kind int
		r    *Record
	}
	var events []event
	for _, r := range rs {
		if r.StartTS != 0 {
			events = append(events, event{r.Began, 0, r})
		}
	}
	for _, r := range committed {
		if r.CommitTS != 0 {
			events = append(events, event{r.Asked, 1, r})
			if r.Ended != 0 { // acknowledged
				events = append(events, event{r.Ended, 2, r})
			}
		}
	}
	for _, r := range seen {
		events = append(events, event{r.Ended, 2, r})
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	newest := &Record{}
	for _, e := range events {
		switch {
		case e.kind == 0 && e.r.StartTS < newest.CommitTS:
			bad("S4: %s began after %s was acknowledged at %v, but its snapshot is %v", e.r.Name, newest.Name, newest.CommitTS, e.r.StartTS)
		case e.kind == 1 && e.r.CommitTS < newest.CommitTS:
			bad("S5: %s was asked to commit after %s was acknowledged at %v, but committed at %v", e.r.Name, newest.Name, newest.CommitTS, e.r.CommitTS)
		case e.kind == 2 && e.r.CommitTS > newest.CommitTS:
			newest = e.r
		}
	}
}

// WriteSkews counts pairs of committed transactions that each read what the other wrote, without having seen it. Snapshot
// isolation allows them, so a contended load that never shows one is too tame to prove anything.
func (h *History) WriteSkews() (n int) {
	var rs []*Record
	for _, r := range h.Records() {
		if r.Outcome == Committed && r.CommitTS != 0 {
			rs = append(rs, r)
		}
	}
	missed := func(a, b *Record) bool { // a read a column of which it did not see b's write
		return a.StartTS < b.CommitTS && slices.ContainsFunc(a.Reads, func(rd Read) bool {
			return slices.ContainsFunc(b.Writes, func(w Write) bool { return w.Column == rd.Column })
		})
	}
	for i, a := range rs {
		for _, b := range rs[i+1:] {
			if missed(a, b) && missed(b, a) {
				n++
			}
		}
	}
	return n
}
