package statements

import (
	"log/slog"
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Execution is one statement that has ended.
type Execution struct {
	Database, Text string
	// Short is Text with '?' for each literal, if the caller has it: the plan cache's key. It may be
	// overwritten after the call.
	Short      []byte
	User, Host string
	Connection uint32

	Began time.Time
	Took  time.Duration
	// Locked is how much of Took the statement waited for locks of others.
	Locked time.Duration

	Sent, Affected, Examined int64
	Error                    int // MySQL's number; 0 for none
	// Planned says that a plan of the cache ran it; NoPlan why none did, if the cache was asked.
	Planned bool
	NoPlan  string
}

// Options of a Recorder; the zero value of every field is its default.
type Options struct {
	// Digests is how many different statements are kept account of. Default 2000, about 6 MiB.
	Digests int
	// Dir is where the slow log is. Empty: there is none.
	Dir string
	// Version and Addr stand in the slow log's head.
	Version, Addr string
	// Logger hears of a slow log that cannot be written. Default: discard.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Digests <= 0 {
		o.Digests = 2000
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Recorder keeps the account. It is safe for concurrent use.
type Recorder struct {
	o    Options
	slow slowLog

	mu sync.RWMutex
	// lines are the account; shorts finds a line by what the plan cache knows of a statement, which is
	// cheaper to have than its digest and not as far reduced.
	lines  map[key]*line
	shorts map[key]*line
	others line // what was counted for digests that had to go

	// latencies are of all statements, whatever becomes of their lines.
	latencies [buckets]atomic.Uint64
}

// Latencies counts all statements that have ended by how long they took: how many in each bucket, which end
// where LatencyUpTo says.
func (r *Recorder) Latencies() []uint64 {
	out := make([]uint64, buckets)
	for i := range out {
		out[i] = r.latencies[i].Load()
	}
	return out
}

// LatencyUpTo is where a bucket of Latencies ends.
func LatencyUpTo(bucket int) time.Duration { return upTo(bucket) }

type key struct{ database, text string }

// shortsPerLine bounds the ways to write a statement that are remembered.
const shortsPerLine = 4

// New makes a recorder.
func New(o Options) *Recorder {
	o = o.withDefaults()
	r := &Recorder{o: o, lines: map[key]*line{}, shorts: map[key]*line{}}
	r.slow.init(o)
	return r
}

// line is what is known of one digest. Numbers are counted without a lock: a reader may see a statement in
// one of them and not yet in the next.
type line struct {
	key    key
	digest string
	sample string // as it was first written
	first  time.Time

	count, errors, sent, affected, examined atomic.Int64
	planned                                 atomic.Int64
	noPlan                                  atomic.Pointer[string] // of the last that had none
	total, least, most, locked              atomic.Int64           // nanoseconds
	last                                    atomic.Int64           // Unix nanoseconds
	buckets                                 [buckets]atomic.Uint32
}

// A bucket for each eighth of a power of two, from 1 µs to more than an hour.
const (
	buckets   = 256
	perOctave = 8
)

func bucketOf(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us < perOctave {
		return int(us)
	}
	octave := bits.Len64(us) - 4 // of 8 to 15, the first that has eight whole buckets
	return min((octave+1)*perOctave+int(us>>octave)-perOctave, buckets-1)
}

// upTo is where a bucket ends.
func upTo(bucket int) time.Duration {
	if bucket < perOctave {
		return time.Duration(bucket+1) * time.Microsecond
	}
	octave := bucket/perOctave - 1
	return time.Duration((perOctave+bucket%perOctave+1)<<octave) * time.Microsecond
}

// Record counts a statement. It does so under the lock that readers share, so that a line that is taken out
// has been counted to the end.
func (r *Recorder) Record(x *Execution) {
	r.latencies[bucketOf(x.Took)].Add(1)
	if len(x.Short) > 0 {
		r.mu.RLock()
		l := r.shorts[key{x.Database, string(x.Short)}] // no allocation, as the key is not kept
		if l != nil {
			l.add(x)
		}
		r.mu.RUnlock()
		if l != nil {
			return
		}
	}
	k := key{x.Database, DigestText(x.Text)}
	if len(x.Short) == 0 {
		r.mu.RLock()
		l := r.lines[k]
		if l != nil {
			l.add(x)
		}
		r.mu.RUnlock()
		if l != nil {
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn(k, x).add(x)
}

// learn makes a line, and remembers by which short text it is found.
func (r *Recorder) learn(k key, x *Execution) *line {
	l := r.lines[k]
	if l == nil {
		if len(r.lines) >= r.o.Digests {
			r.makeRoom()
		}
		// Copies: a part of a text keeps all of it in memory.
		k = key{strings.Clone(k.database), strings.Clone(k.text)}
		sample := strings.Clone(cut(loggable(x.Text)))
		l = &line{key: k, digest: hashOf(k.text), sample: sample, first: x.Began}
		l.least.Store(math.MaxInt64)
		r.lines[k] = l
	}
	if len(x.Short) > 0 {
		if len(r.shorts) >= shortsPerLine*r.o.Digests {
			clear(r.shorts)
		}
		r.shorts[key{x.Database, string(x.Short)}] = l
	}
	return l
}

// makeRoom takes out the line that was used longest ago, of a few that the map's order offers: good enough to
// keep what is used, and no list has to be kept in order. MySQL does not make room; it counts everything new
// as one line without a digest.
func (r *Recorder) makeRoom() {
	const look = 32
	var oldest *line
	n := 0
	for _, l := range r.lines {
		if oldest == nil || l.last.Load() < oldest.last.Load() {
			oldest = l
		}
		if n++; n == look {
			break
		}
	}
	delete(r.lines, oldest.key)
	for k, l := range r.shorts {
		if l == oldest {
			delete(r.shorts, k)
		}
	}
	r.others.merge(oldest)
}

func (l *line) add(x *Execution) {
	l.count.Add(1)
	if x.Error != 0 {
		l.errors.Add(1)
	}
	if x.Sent != 0 {
		l.sent.Add(x.Sent)
	}
	if x.Planned {
		l.planned.Add(1)
	} else if why := cut(x.NoPlan); why != "" {
		if old := l.noPlan.Load(); old == nil || *old != why {
			why = strings.Clone(why) // a pointer into x would keep its text
			l.noPlan.Store(&why)
		}
	}
	if x.Affected != 0 {
		l.affected.Add(x.Affected)
	}
	if x.Examined != 0 {
		l.examined.Add(x.Examined)
	}
	if x.Locked != 0 {
		l.locked.Add(int64(x.Locked))
	}
	took := int64(x.Took)
	l.total.Add(took)
	lower(&l.least, took)
	higher(&l.most, took)
	higher(&l.last, x.Began.UnixNano()+took)
	l.buckets[bucketOf(x.Took)].Add(1)
}

func lower(a *atomic.Int64, v int64) {
	for old := a.Load(); v < old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

func higher(a *atomic.Int64, v int64) {
	for old := a.Load(); v > old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

func (l *line) merge(o *line) {
	if l.first.IsZero() || o.first.Before(l.first) {
		l.first = o.first
	}
	if l.count.Load() == 0 {
		l.least.Store(math.MaxInt64)
	}
	for _, c := range []struct{ to, from *atomic.Int64 }{
		{&l.count, &o.count}, {&l.errors, &o.errors}, {&l.sent, &o.sent}, {&l.affected, &o.affected},
		{&l.examined, &o.examined}, {&l.planned, &o.planned},
		{&l.total, &o.total}, {&l.locked, &o.locked},
	} {
		c.to.Add(c.from.Load())
	}
	lower(&l.least, o.least.Load())
	higher(&l.most, o.most.Load())
	higher(&l.last, o.last.Load())
	for i := range l.buckets {
		l.buckets[i].Add(o.buckets[i].Load())
	}
}

// Digest is a line of the account.
type Digest struct {
	Database string
	Digest   string // empty: all statements whose digests were forgotten
	Text     string
	Sample   string

	Count, Errors, Sent, Affected, Examined int64
	Planned                                 int64  // run by plans of the cache
	NoPlan                                  string // why the last that was not had no plan
	Total, Least, Most, Locked              time.Duration
	P95, P99, P999                          time.Duration // no more than an eighth too much
	First, Last                             time.Time
}

// Digests is the account as it is now, in no order.
func (r *Recorder) Digests() []Digest {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]Digest, 0, len(r.lines)+1)
	for _, l := range r.lines {
		out = append(out, l.snapshot())
	}
	if r.others.count.Load() > 0 {
		out = append(out, r.others.snapshot())
	}
	return out
}

// Forget begins anew.
func (r *Recorder) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.lines)
	clear(r.shorts)
	r.others = line{}
}

func (l *line) snapshot() Digest {
	d := Digest{
		Database: l.key.database, Digest: l.digest, Text: l.key.text, Sample: l.sample, First: l.first,
		Last:  time.Unix(0, l.last.Load()),
		Count: l.count.Load(), Errors: l.errors.Load(), Sent: l.sent.Load(), Affected: l.affected.Load(),
		Examined: l.examined.Load(), Planned: l.planned.Load(),
		Total: time.Duration(l.total.Load()), Most: time.Duration(l.most.Load()),
		Locked: time.Duration(l.locked.Load()),
	}
	if why := l.noPlan.Load(); why != nil {
		d.NoPlan = *why
	}
	if least := l.least.Load(); least != math.MaxInt64 {
		d.Least = time.Duration(least)
	}
	var n uint64
	var counts [buckets]uint64
	for i := range counts {
		counts[i] = uint64(l.buckets[i].Load())
		n += counts[i]
	}
	quantile := func(q float64) time.Duration {
		rest := uint64(math.Ceil(q * float64(n)))
		for i, c := range counts {
			if c >= rest {
				return min(upTo(i), d.Most)
			}
			rest -= c
		}
		return d.Most
	}
	if n > 0 {
		d.P95, d.P99, d.P999 = quantile(0.95), quantile(0.99), quantile(0.999)
	}
	return d
}
