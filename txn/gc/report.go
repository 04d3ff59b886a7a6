package gc

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"moka/kv"
	"moka/kv/coord"
	"moka/txn"
)

// reports is where processes say what they still read.
const reports = "gc/snapshots/"

// Report is what a process says of itself.
type Report struct {
	Session coord.SessionID
	Oldest  kv.Timestamp // nothing older than this is being read, nor will be
	Open    int          // transactions with a snapshot
	Name    string       // of the process
	Note    string       // about the transaction with the oldest snapshot
}

// The report's value:
//
//	+-------------+-------------+----------+-----------------+----------------+
//	| version 1 B | oldest 8 BE | open uv  | len uv · name   | len uv · note  |      uv: uvarint
//	+-------------+-------------+----------+-----------------+----------------+
const reportVersion = 1

// maxText bounds the texts in a report.
const maxText = 200

func (r Report) encode() []byte {
	b := binary.BigEndian.AppendUint64([]byte{reportVersion}, uint64(r.Oldest))
	b = binary.AppendUvarint(b, uint64(r.Open))
	for _, s := range []string{r.Name, r.Note} {
		s = s[:min(len(s), maxText)]
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func decodeReport(key string, b []byte) (r Report, err error) {
	bad := func(what string) (Report, error) { return Report{}, fmt.Errorf("report %s: %s", key, what) }
	id, err := strconv.ParseUint(strings.TrimPrefix(key, reports), 10, 64)
	if err != nil {
		return bad("its name is no session")
	}
	r.Session = coord.SessionID(id)
	if len(b) < 9 || b[0] != reportVersion {
		return bad("it was written by another version")
	}
	r.Oldest, b = kv.Timestamp(binary.BigEndian.Uint64(b[1:])), b[9:]
	open, n := binary.Uvarint(b)
	if n <= 0 || open > 1<<31 {
		return bad("it is cut short")
	}
	r.Open, b = int(open), b[n:]
	for _, s := range []*string{&r.Name, &r.Note} {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return bad("it is cut short")
		}
		*s, b = string(b[n:n+int(size)]), b[n+int(size):]
	}
	if len(b) != 0 {
		return bad("something follows it")
	}
	return r, nil
}

// Reports lists what all processes say.
func Reports(ctx context.Context, svc coord.Service) ([]Report, error) {
	kvs, _, err := svc.List(ctx, reports)
	if err != nil {
		return nil, err
	}
	list := make([]Report, 0, len(kvs))
	for _, x := range kvs {
		r, err := decodeReport(x.Key, x.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// Reporter says for one process what it still reads.
type Reporter struct {
	svc     coord.Service
	session coord.Session
	client  *txn.Client
	name    string
	every   time.Duration
	log     *slog.Logger

	mu   sync.Mutex
	last Report
}

// NewReporter makes the reporter of a process, whose session takes the report along when it ends. retention is that of the collector.
func NewReporter(svc coord.Service, session coord.Session, c *txn.Client, name string, retention time.Duration, log *slog.Logger) *Reporter {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Reporter{svc: svc, session: session, client: c, name: name, every: reportEvery(retention), log: log}
}

// reportEvery is often enough for the report not to be what holds the safe point back.
func reportEvery(retention time.Duration) time.Duration {
	return min(max(retention/20, 20*time.Millisecond), 5*time.Second)
}

// SetSession is for who has lost the session, and with it what was reported: the next report goes with the
// new one.
func (r *Reporter) SetSession(session coord.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session, r.last = session, Report{}
}

// Report says it now.
func (r *Reporter) Report(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, err := r.client.Snapshots(ctx)
	if err != nil {
		return err
	}
	now := Report{Session: r.session.ID(), Oldest: u.Oldest, Open: u.Open, Name: r.name, Note: u.Note}
	if now.Oldest == r.last.Oldest && now.Note == r.last.Note {
		return nil
	}
	key := reports + strconv.FormatUint(uint64(now.Session), 10)
	if _, err := r.svc.Txn(ctx, nil, []coord.Op{coord.PutEphemeral(key, now.encode(), now.Session)}); err != nil {
		return err
	}
	r.last = now
	return nil
}

// Run reports until ctx ends.
func (r *Reporter) Run(ctx context.Context) {
	t := time.NewTicker(r.every)
	defer t.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		call, cancel := context.WithTimeout(ctx, reportTime)
		err := r.Report(call)
		cancel()
		if err != nil && ctx.Err() == nil && !failing {
			r.log.Warn("what this process still reads cannot be reported; until it can, garbage collection keeps old versions", "err", err)
		}
		failing = err != nil
	}
}

// reportTime bounds one report.
const reportTime = 5 * time.Second
