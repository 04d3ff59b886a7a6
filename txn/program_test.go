package txn_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// countProgram keeps the cells whose value begins with a prefix, and counts the rest. It is full after a number of cells.
type countProgram struct {
	prefix []byte
	seen   int
	max    int
	count  uint64
	held   []kv.Column
}

func newCountProgram(b []byte) (txn.Program, error) {
	if len(b) < 2 || b[0] != 1 {
		return nil, errors.New("another version")
	}
	return &countProgram{max: int(b[1]), prefix: b[2:]}, nil
}

func (p *countProgram) Cell(c kv.Column, value []byte) ([]byte, bool, error) {
	p.seen++
	if bytes.HasPrefix(value, p.prefix) {
		return value[:len(p.prefix)], true, nil
	}
	p.count++
	return nil, false, nil
}

func (p *countProgram) Full() bool { return p.seen >= p.max }

func (p *countProgram) Finish(func(kv.Column, []byte)) ([]byte, error) {
	return binary.AppendUvarint(nil, p.count), nil
}

func programStore(t *testing.T, n int, splits ...kv.RowKey) (*txn.Client, *kvtest.Mem) {
	t.Helper()
	c, m := txntest.NewStoreWith(t, kvtest.Options{Shards: 2, Splits: splits}, txn.Options{}, txn.CoprocessorOptions{Programs: newCountProgram, NoAsyncCommit: true})
	w := c.Begin(txn.TxnOptions{})
	for i := range n {
		value := fmt.Sprintf("b%d", i)
		if i%10 == 3 {
			value = fmt.Sprintf("a%d", i)
		}
		w.Put(txntest.Column(fmt.Sprintf("r%04d", i)), []byte(value), txn.WriteOptions{})
	}
	if _, err := w.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c, m
}

func countParts(t *testing.T, s *txn.Scanner) (n uint64) {
	t.Helper()
	for {
		part, ok := s.NextPart()
		if !ok {
			break
		}
		v, _ := binary.Uvarint(part)
		n += v
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return n
}

// TestProgram: every cell is seen exactly once, whatever a request holds and wherever tablets end; what is kept arrives, short.
func TestProgram(t *testing.T) {
	ctx := context.Background()
	c, _ := programStore(t, 100, txntest.Split("r0033"), txntest.Split("r0066"))
	for _, max := range []byte{1, 7, 200} {
		for _, reverse := range []bool{false, true} {
			r := c.Begin(txn.TxnOptions{ReadOnly: true})
			s := r.Scan(ctx, txn.ScanOptions{Program: []byte{1, max, 'a'}, Reverse: reverse, Batch: 1000})
			kept := 0
			for s.Next() {
				if kept++; string(s.Value()) != "a" {
					t.Fatalf("value %q", s.Value())
				}
			}
			if kept != 10 || s.Err() != nil || s.Stats().Examined != 100 {
				t.Fatalf("max %d: %d cells, %v, %+v", max, kept, s.Err(), s.Stats())
			}
			if n := countParts(t, r.Scan(ctx, txn.ScanOptions{Program: []byte{1, max, 'a'}, Reverse: reverse, Whole: true, Batch: 1000})); n != 90 {
				t.Fatalf("max %d reverse %v: counted %d", max, reverse, n)
			}
			r.Rollback()
		}
	}
}

// TestProgramOwnWrites: a scan that may deliver less merges what the transaction has written; one that needs the whole refuses.
func TestProgramOwnWrites(t *testing.T) {
	ctx := context.Background()
	c, _ := programStore(t, 20)
	w := c.Begin(txn.TxnOptions{})
	defer w.Rollback()
	w.Put(txntest.Column("r0005"), []byte("zz"), txn.WriteOptions{}) // a "b" that the program leaves out
	w.Delete(txntest.Column("r0003"), txn.WriteOptions{})            // an "a"
	s := w.Scan(ctx, txn.ScanOptions{Program: []byte{1, 200, 'a'}})
	var got []string
	for s.Next() {
		got = append(got, fmt.Sprintf("%s=%s", s.Column().Row[4:], s.Value()))
	}
	if fmt.Sprint(got) != "[r0005=zz r0013=a]" || s.Err() != nil {
		t.Fatal(got, s.Err())
	}
	s = w.Scan(ctx, txn.ScanOptions{Program: []byte{1, 200, 'a'}, Whole: true})
	if _, ok := s.NextPart(); ok || !errors.Is(s.Err(), txn.ErrNoProgram) {
		t.Fatal(s.Err())
	}
	span := kv.Span{Start: txntest.Column("r0010").Row, End: txntest.Column("r0020").Row}
	if n := countParts(t, w.Scan(ctx, txn.ScanOptions{Span: span, Program: []byte{1, 200, 'a'}, Whole: true})); n != 9 {
		t.Fatalf("beside own writes: %d", n)
	}
}

// heldStore keeps commits from arriving until it is told to.
type heldStore struct {
	kv.Store
	reached, release chan struct{}
}

func (h *heldStore) Call(ctx context.Context, s kv.ShardID, ts []kv.TabletRef, cmd kv.CommandID, req kv.Message) (kv.Message, error) {
	if cmd == txn.CmdCommit {
		h.reached <- struct{}{}
		<-h.release
	}
	return h.Store.Call(ctx, s, ts, cmd, req)
}

// TestProgramLocks: a lock in the way is resolved, and neither what came before nor the locked cell is counted twice.
func TestProgramLocks(t *testing.T) {
	ctx := context.Background()
	c, m := programStore(t, 50, txntest.Split("r0025"))
	h := &heldStore{Store: m, reached: make(chan struct{}), release: make(chan struct{})}
	writer, err := txn.NewClient(h, txn.ClockOf(c), txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := writer.Begin(txn.TxnOptions{})
	for _, row := range []string{"r0010", "r0020", "r0030", "r0049"} {
		w.Put(txntest.Column(row), []byte("a-new"), txn.WriteOptions{})
	}
	done := make(chan error, 1)
	go func() { _, err := w.Commit(ctx); done <- err }()
	<-h.reached // all locks are there, nothing is decided
	for _, max := range []byte{1, 4, 200} {
		r := c.Begin(txn.TxnOptions{ReadOnly: true})
		s := r.Scan(ctx, txn.ScanOptions{Program: []byte{1, max, 'a'}, Whole: true, Batch: 1000})
		if n := countParts(t, s); n != 45 || s.Stats().Examined != 50 {
			t.Fatalf("counted %d beside the locks, %+v", n, s.Stats())
		}
		r.Rollback()
	}
	close(h.release)
	go func() { // secondaries
		for range h.reached {
		}
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r := c.Begin(txn.TxnOptions{ReadOnly: true})
	defer r.Rollback()
	if n := countParts(t, r.Scan(ctx, txn.ScanOptions{Program: []byte{1, 4, 'a'}, Whole: true, Batch: 1000})); n != 41 {
		t.Fatalf("counted %d after the commit", n)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	close(h.reached)
}

// TestProgramRefused: to a shard of another release the scan is a plain one, if that will do.
func TestProgramRefused(t *testing.T) {
	ctx := context.Background()
	c, _ := programStore(t, 20)
	r := c.Begin(txn.TxnOptions{ReadOnly: true})
	defer r.Rollback()
	s := r.Scan(ctx, txn.ScanOptions{Program: []byte{2, 200, 'a'}, Whole: true})
	if _, ok := s.NextPart(); ok || !errors.Is(s.Err(), txn.ErrNoProgram) {
		t.Fatal(s.Err())
	}
	if c.Programs() {
		t.Fatal("the refusal was forgotten at once")
	}
	c2, _ := programStore(t, 20)
	r2 := c2.Begin(txn.TxnOptions{ReadOnly: true})
	defer r2.Rollback()
	s = r2.Scan(ctx, txn.ScanOptions{Program: []byte{2, 200, 'a'}})
	n := 0
	for s.Next() {
		n++
	}
	if n != 20 || s.Err() != nil {
		t.Fatalf("%d cells, %v", n, s.Err())
	}
}

func TestTablets(t *testing.T) {
	ctx := context.Background()
	c, _ := programStore(t, 10, txntest.Split("r0003"), txntest.Split("r0006"))
	r := c.Begin(txn.TxnOptions{ReadOnly: true})
	defer r.Rollback()
	span := kv.Span{Start: txntest.Column("r0001").Row, End: txntest.Column("r0009").Row}
	for limit, want := range map[int]int{1: 1, 2: 2, 3: 3, 8: 3} {
		spans, err := r.Tablets(ctx, span, limit)
		if err != nil || len(spans) != want {
			t.Fatalf("limit %d: %d spans, %v", limit, len(spans), err)
		}
		if !bytes.Equal(spans[0].Start, span.Start) || !bytes.Equal(spans[len(spans)-1].End, span.End) {
			t.Fatalf("limit %d: %v", limit, spans)
		}
		for i := 1; i < len(spans); i++ {
			if !bytes.Equal(spans[i-1].End, spans[i].Start) {
				t.Fatalf("limit %d: a gap in %v", limit, spans)
			}
		}
	}
}
