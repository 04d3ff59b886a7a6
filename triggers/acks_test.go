package triggers

import (
	"context"
	"strings"
	"testing"
	"time"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// remove deletes a cell and notifies the observers.
func (w *world) remove(row string, observers ...ObserverID) kv.Timestamp {
	w.t.Helper()
	tx := w.client.Begin(txn.TxnOptions{})
	tx.Delete(col(row), txn.WriteOptions{Observers: observers})
	ts, err := tx.Commit(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return ts
}

// collect removes what no snapshot from now on needs.
func (w *world) collect() {
	w.t.Helper()
	now, err := w.client.Begin(txn.TxnOptions{}).StartTS(context.Background())
	if err == nil {
		_, err = w.client.CollectGarbage(context.Background(), now, txn.GarbageOptions{})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// stored counts the versions of a group.
func (w *world) stored(g kv.GroupID) (n int) {
	ids, _ := w.mem.Shards(context.Background())
	for _, id := range ids {
		w.walk(w.mem.Reader(id), g, 0, func(kv.Column, kv.Version) { n++ })
	}
	return n
}

// scanned is what a scan of all rows has met.
func (w *world) scanned() (rows string, examined int) {
	w.t.Helper()
	s := w.client.Begin(txn.TxnOptions{ReadOnly: true}).Scan(context.Background(), txn.ScanOptions{})
	defer s.Close()
	for s.Next() {
		rows += string(s.Column().Row.Row()) + " "
	}
	if err := s.Err(); err != nil {
		w.t.Fatal(err)
	}
	return rows, s.Stats().Examined
}

// met lists what a scan of rows and acknowledgements meets: "a a!" is a row and its acknowledgement.
func (w *world) met(o txn.ScanOptions) (cells string) {
	w.t.Helper()
	o.Acks = true
	s := w.client.Begin(txn.TxnOptions{ReadOnly: true}).Scan(context.Background(), o)
	defer s.Close()
	for s.Next() {
		cells += string(s.Column().Row.Row())
		if s.Column().Family == AckFamily {
			cells += "!"
		}
		cells += " "
	}
	if err := s.Err(); err != nil {
		w.t.Fatal(err)
	}
	return cells
}

// counting is an observer that counts its runs in a cell.
func counting() Observer {
	return Observer{ID: 1, Attempts: 3, Run: func(ctx context.Context, tx *txn.Txn, _ Event) error {
		return count(ctx, tx, "runs", 1)
	}}
}

// TestScansMeetNoAcknowledgements, neither stored ones nor a run's own, nor their locks.
func TestScansMeetNoAcknowledgements(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		run := func(ctx context.Context, tx *txn.Txn, _ Event) error {
			s := tx.Scan(ctx, txn.ScanOptions{})
			for s.Next() {
				if s.Column().Family == AckFamily {
					t.Error("a scan has met the acknowledgement of its own run")
				}
			}
			return s.Err()
		}
		x := w.idleWorker("x", Options{}, Observer{ID: 1, Run: run})
		for _, row := range []string{"a", "b", "c"} {
			ts := w.put(row, "1", 1)
			x.work(t.Context(), delivery{Observer: 1, Column: col(row), CommitTS: ts, OldestTS: ts})
		}
		if n := w.stored(kv.GroupTxnAck); n != 3 {
			t.Errorf("%d acknowledgements, want 3", n)
		}
		if rows, examined := w.scanned(); rows != "a b c " || examined != 3 {
			t.Errorf("a scan has met %q and looked at %d", rows, examined)
		}
	})
}

// TestScansThatAskMeetAcknowledgements, also of rows that are gone, in both directions, and those that the
// transaction itself has written; a lock on one is waited for.
func TestScansThatAskMeetAcknowledgements(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		x := w.idleWorker("x", Options{}, counting())
		for _, row := range []string{"a", "b", "c"} {
			ts := w.put(row, "1", 1)
			x.work(t.Context(), delivery{Observer: 1, Column: col(row), CommitTS: ts, OldestTS: ts})
		}
		w.put("d", "1")
		w.remove("b")
		for _, step := range []struct {
			o    txn.ScanOptions
			want string
		}{
			{txn.ScanOptions{}, "a a! b! c c! d runs "},
			{txn.ScanOptions{Batch: 1}, "a a! b! c c! d runs "},
			{txn.ScanOptions{Reverse: true, Batch: 1}, "runs d c! c b! a! a "},
			{txn.ScanOptions{Span: kv.Span{Start: col("b").Row, End: col("d").Row}}, "b! c c! "},
		} {
			if got := w.met(step.o); got != step.want {
				t.Errorf("%+v: a scan has met %s, want %s", step.o, got, step.want)
			}
		}
		tx := w.client.Begin(txn.TxnOptions{})
		defer tx.Rollback()
		tx.Put(AckColumn(1, col("d")), []byte("x"), txn.WriteOptions{})
		s := tx.Scan(t.Context(), txn.ScanOptions{Acks: true, Span: kv.Span{Start: col("d").Row}})
		defer s.Close()
		if !s.Next() || !s.Next() || s.Column().Family != AckFamily {
			t.Errorf("of its own it has met %+v", s.Column())
		}
		if s := tx.Scan(t.Context(), txn.ScanOptions{Acks: true, Since: 1}); s.Next() || s.Err() == nil {
			t.Error("Since and Acks are not refused together")
		}
	})
}

// TestAcknowledgementsGoWithTheirRows: with those whose delete the observer has seen, and with the others,
// however old they are.
func TestAcknowledgementsGoWithTheirRows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		x := w.idleWorker("x", Options{}, counting())
		run := func(row string, ts kv.Timestamp) {
			x.work(t.Context(), delivery{Observer: 1, Column: col(row), CommitTS: ts, OldestTS: ts})
		}
		for _, row := range []string{"seen", "unseen", "stays", "again"} {
			run(row, w.put(row, "1", 1))
			run(row, w.put(row, "2", 1))
		}
		w.collect()
		if n := w.stored(kv.GroupTxnAck); n != 4 {
			t.Errorf("%d acknowledgements while the rows are there, want the last of each", n)
		}
		w.remove("again")
		w.put("again", "3")
		w.remove("unseen")
		gone := w.remove("seen", 1)
		w.collect() // the delete of seen goes, and its run is not over yet
		run("seen", gone)
		w.collect()
		if n := w.stored(kv.GroupTxnAck); n != 2 {
			t.Errorf("%d acknowledgements, want those of the two rows that are there:\n%s", n, w.cells())
		}
		w.remove("stays")
		w.remove("again")
		w.remove("runs")
		w.collect()
		for _, g := range []kv.GroupID{kv.GroupTxnAck, kv.GroupTxnWrite, kv.GroupTxnData} {
			if n := w.stored(g); n != 0 {
				t.Errorf("%d versions of group %d are left of nothing", n, g)
			}
		}
	})
}

// TestStaleRunFindsNothingToAcknowledge: its change was acknowledged, the row is gone, and so is the
// acknowledgement. Only that there is no notification any more tells it so.
func TestStaleRunFindsNothingToAcknowledge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		x := w.idleWorker("x", Options{}, counting())
		ts := w.put("a", "1", 1)
		d := delivery{Observer: 1, Column: col("a"), CommitTS: ts, OldestTS: ts}
		x.work(t.Context(), d)
		w.remove("a")
		w.collect()
		if n := w.stored(kv.GroupTxnAck); n != 0 {
			t.Fatalf("%d acknowledgements are left", n)
		}
		if ack := x.work(t.Context(), d)[0]; ack != 0 {
			t.Errorf("acknowledged again, up to %v", ack)
		}
		if got := w.get("runs"); got != "1" {
			t.Errorf("%s runs committed for one change", got)
		}
		if b := w.cells(); b != "" {
			t.Errorf("left at rest:\n%s", b)
		}
	})
}

// TestWaitingNotificationKeepsAcknowledgement: one that is not cleared yet may be about what is acknowledged.
func TestWaitingNotificationKeepsAcknowledgement(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		x := w.idleWorker("x", Options{}, counting())
		ts := w.put("a", "1", 1)
		x.work(t.Context(), delivery{Observer: 1, Column: col("a"), CommitTS: ts, OldestTS: ts})
		gone := w.remove("a", 1)
		w.collect()
		if n := w.stored(kv.GroupTxnAck); n != 1 {
			t.Errorf("%d acknowledgements beside a notification, want 1", n)
		}
		x.work(t.Context(), delivery{Observer: 1, Column: col("a"), CommitTS: gone, OldestTS: gone})
		w.collect()
		if n := w.stored(kv.GroupTxnAck); n != 0 {
			t.Errorf("%d acknowledgements behind it", n)
		}
	})
}

// olderRelease writes acknowledgements among the rows, while it is on.
type olderRelease struct {
	kv.Coprocessor
	on bool
}

func (o *olderRelease) Commands() []kv.Command {
	cs := o.Coprocessor.Commands()
	for i := range cs {
		evaluate := cs[i].Evaluate
		cs[i].Evaluate = func(e kv.Eval, m kv.Message) (kv.Message, error) {
			if o.on {
				e = amongRows{e}
			}
			return evaluate(e, m)
		}
	}
	return cs
}

type amongRows struct{ kv.Eval }

func (a amongRows) Set(at kv.Address, ts kv.Timestamp, value []byte) {
	if at.Group == kv.GroupTxnAck {
		at.Group = kv.GroupTxnWrite
	}
	a.Eval.Set(at, ts, value)
}

// TestAcknowledgementsOfOlderReleases are among the rows: they count, scans do not show them, and collections
// move them, or remove them with their rows.
func TestAcknowledgementsOfOlderReleases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		old := &olderRelease{txn.NewCoprocessor(txn.CoprocessorOptions{}), true}
		w := &world{t: t, clock: &txntest.Clock{}}
		w.mem = kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{NewCoprocessor(nil), old}})
		defer w.mem.Close()
		w.client = w.newClient(w.mem)
		x := w.idleWorker("x", Options{}, counting())
		ds := map[string]delivery{}
		for _, row := range []string{"a", "b", "c", "d"} {
			ts := w.put(row, "1", 1)
			ds[row] = delivery{Observer: 1, Column: col(row), CommitTS: ts, OldestTS: ts}
			x.work(t.Context(), ds[row])
		}
		now, _ := w.client.Begin(txn.TxnOptions{}).StartTS(t.Context())
		old.on = false
		w.mem.Restart(1) // which remembers nothing
		if n := w.stored(kv.GroupTxnAck); n != 0 {
			t.Fatalf("an older release has %d acknowledgements where they belong", n)
		}
		again := func(when string) {
			for _, d := range ds {
				if x.work(t.Context(), d)[0] < d.CommitTS {
					t.Errorf("%s: %s is not acknowledged", when, d.Column.Row.Row())
				}
			}
			for i, ack := range x.work(t.Context(), ds["a"], ds["b"], ds["c"], ds["d"]) {
				if ack == 0 {
					t.Errorf("%s: number %d of several is not acknowledged", when, i)
				}
			}
			if got := w.get("runs"); got != "4" {
				t.Fatalf("%s: %s runs of 4 changes", when, got)
			}
			if rows, _ := w.scanned(); strings.Contains(rows, "a a") {
				t.Errorf("%s: a scan has met %s", when, rows)
			}
			for _, o := range []txn.ScanOptions{{}, {Batch: 1}} {
				cells := w.met(o)
				if !strings.Contains(cells, "a a! b b! ") || strings.Count(cells, "!") != 4 {
					t.Errorf("%s: a scan that asks has met %s", when, cells)
				}
			}
		}
		again("as they were left")
		later := w.put("b", "2", 1) // acknowledged in both places now
		w.remove("c")
		if _, err := w.client.CollectGarbage(t.Context(), now, txn.GarbageOptions{}); err != nil {
			t.Fatal(err)
		}
		again("moved")
		x.work(t.Context(), delivery{Observer: 1, Column: col("b"), CommitTS: later, OldestTS: later})
		if got := w.get("runs"); got != "5" {
			t.Errorf("%s runs of 5 changes", got)
		}
		w.collect()
		if n := w.stored(kv.GroupTxnAck); n != 3 {
			t.Errorf("%d acknowledgements, want those of a, b and d:\n%s", n, w.cells())
		}
		if n := w.stored(kv.GroupTxnWrite); n != 4 {
			t.Errorf("%d versions among the rows, want those of a, b, d and runs", n)
		}
	})
}

// TestLateWriterMeetsOldAcknowledgement: of two runs for one change, one of an older release and one of this,
// one commits.
func TestLateWriterMeetsOldAcknowledgement(t *testing.T) {
	bubble(t, func(t *testing.T) {
		old := &olderRelease{txn.NewCoprocessor(txn.CoprocessorOptions{}), true}
		w := &world{t: t, clock: &txntest.Clock{}}
		w.mem = kvtest.NewMem(kvtest.Options{Coprocessors: []kv.Coprocessor{NewCoprocessor(nil), old}})
		defer w.mem.Close()
		w.client = w.newClient(w.mem)
		inner := w.idleWorker("inner", Options{}, counting())
		ts := w.put("a", "1", 1)
		d := delivery{Observer: 1, Column: col("a"), CommitTS: ts, OldestTS: ts}
		outer := counting()
		run := outer.Run
		outer.Run = func(ctx context.Context, tx *txn.Txn, e Event) error {
			err := run(ctx, tx, e)
			inner.work(ctx, d)
			old.on = false
			return err
		}
		x := w.idleWorker("outer", Options{Now: time.Now}, outer)
		x.work(t.Context(), d)
		if got := w.get("runs"); got != "1" {
			t.Errorf("%s runs committed for one change", got)
		}
	})
}
