package txn_test

import (
	"errors"
	"testing"

	"moka/kv"
	"moka/kv/kvtest"
	"moka/txn"
	"moka/txn/txntest"
)

// The anomalies by their names (Adya's, and Berenson's), each as the shortest schedule that shows it, in one shard and in three.
// What snapshot isolation excludes must fail or not be seen; what it allows must happen, or we would be promising something else.

// schedule is two or three transactions over x and y.
type schedule struct {
	*testing.T
	c *txn.Client
}

func anomalies(t *testing.T, f func(s *schedule)) {
	layouts(t, func(t *testing.T, c *txn.Client, _ *kvtest.Mem) {
		put(t, c, "bx", "0", "cy", "0")
		f(&schedule{t, c})
	})
}

var x, y = col("bx"), col("cy")

func (s *schedule) begin() *txn.Txn { return s.c.Begin(txn.TxnOptions{}) }

func (s *schedule) read(tx *txn.Txn, c kv.Column, want string) {
	s.Helper()
	v, _, err := tx.Get(s.Context(), c)
	if err != nil || string(v) != want {
		s.Errorf("read %q of %s, %v; want %q", v, c.Row.Row(), err, want)
	}
}

func (s *schedule) write(tx *txn.Txn, c kv.Column, v string) {
	tx.Put(c, []byte(v), txn.WriteOptions{})
}

func (s *schedule) commit(tx *txn.Txn) {
	s.Helper()
	if _, err := tx.Commit(s.Context()); err != nil {
		s.Error(err)
	}
}

func (s *schedule) conflict(tx *txn.Txn) {
	s.Helper()
	if _, err := tx.Commit(s.Context()); !errors.Is(err, txn.ErrConflict) {
		s.Errorf("committed: %v", err)
	}
}

// G0, dirty write: two transactions write x and y; one has both in the end.
func TestAnomaly_G0_DirtyWrite(t *testing.T) {
	anomalies(t, func(s *schedule) {
		t1, t2 := s.begin(), s.begin()
		s.read(t1, x, "0")
		s.read(t2, x, "0")
		for tx, v := range map[*txn.Txn]string{t1: "1", t2: "2"} {
			s.write(tx, x, v)
			s.write(tx, y, v)
		}
		s.commit(t1)
		s.conflict(t2)
		t3 := s.begin()
		s.read(t3, x, "1")
		s.read(t3, y, "1")
	})
}

// G1a, aborted read; G1b, intermediate read: nobody sees what is not committed, nor what a commit wrote over.
func TestAnomaly_G1_AbortedAndIntermediateRead(t *testing.T) {
	anomalies(t, func(s *schedule) {
		t1 := s.begin()
		s.write(t1, x, "intermediate")
		s.read(s.begin(), x, "0")
		s.write(t1, x, "final")
		s.read(s.begin(), x, "0")
		s.commit(t1)
		s.read(s.begin(), x, "final")
		t2 := s.begin()
		s.write(t2, x, "aborted")
		t2.Rollback()
		s.read(s.begin(), x, "final")
	})
}

// G1c, circular information flow: of two transactions, not each sees the other's write.
func TestAnomaly_G1c_CircularFlow(t *testing.T) {
	anomalies(t, func(s *schedule) {
		t1, t2 := s.begin(), s.begin()
		s.write(t1, x, "1")
		s.write(t2, y, "2")
		s.read(t1, y, "0")
		s.commit(t1)
		s.read(t2, x, "1") // its snapshot is taken now
		s.commit(t2)
	})
}

// G-single, read skew: a snapshot has all of a transaction or nothing.
func TestAnomaly_GSingle_ReadSkew(t *testing.T) {
	anomalies(t, func(s *schedule) {
		t1 := s.begin()
		s.read(t1, x, "0")
		t2 := s.begin()
		s.write(t2, x, "2")
		s.write(t2, y, "2")
		s.commit(t2)
		s.read(t1, y, "0")
		s.commit(t1)
	})
}

// P4, lost update: a write on the strength of a read that is no longer true.
func TestAnomaly_P4_LostUpdate(t *testing.T) {
	anomalies(t, func(s *schedule) {
		t1, t2 := s.begin(), s.begin()
		s.read(t1, x, "0")
		s.read(t2, x, "0")
		s.write(t1, x, "1")
		s.write(t2, x, "1")
		s.commit(t2)
		s.conflict(t1)
	})
}

// Long fork: two writers whom two readers see in different orders.
func TestAnomaly_LongFork(t *testing.T) {
	anomalies(t, func(s *schedule) {
		t1, t2 := s.begin(), s.begin()
		s.write(t1, x, "1")
		s.write(t2, y, "2")
		r0 := s.begin()
		s.read(r0, x, "0")
		s.commit(t1)
		r1 := s.begin()
		s.read(r1, x, "1")
		s.commit(t2)
		s.read(r1, y, "0")
		s.read(r0, y, "0") // y without x is what it must not see
		r2 := s.begin()
		s.read(r2, x, "1")
		s.read(r2, y, "2")
	})
}

// P3, phantom: a span read twice has the same rows, whatever is inserted.
func TestAnomaly_P3_Phantom(t *testing.T) {
	anomalies(t, func(s *schedule) {
		all := txn.ScanOptions{Span: kv.Span{Start: txntest.Split("b")}}
		t1 := s.begin()
		if got := scan(s.T, t1, all); got != "bx=0 cy=0" {
			t.Error(got)
		}
		t2 := s.begin()
		s.write(t2, col("c"), "new")
		t2.Delete(y, txn.WriteOptions{})
		s.commit(t2)
		if got := scan(s.T, t1, all); got != "bx=0 cy=0" {
			t.Errorf("phantom: %s", got)
		}
	})
}

// G2-item, write skew, is allowed; locking what was read excludes it.
func TestAnomaly_G2_WriteSkewIsAllowedUnlessLocked(t *testing.T) {
	anomalies(t, func(s *schedule) {
		for _, lock := range []bool{false, true} {
			t1, t2 := s.begin(), s.begin()
			for _, tx := range []*txn.Txn{t1, t2} {
				if _, err := tx.BatchGet(s.Context(), []kv.Column{x, y}); err != nil {
					t.Fatal(err)
				}
			}
			s.write(t1, x, "1")
			s.write(t2, y, "1")
			if lock {
				t1.LockForUpdate(y)
				t2.LockForUpdate(x)
			}
			s.commit(t1)
			if lock {
				s.conflict(t2)
			} else {
				s.commit(t2)
			}
		}
	})
}

// The read-only anomaly (Fekete, O'Neil, O'Neil) is allowed: a reader sees a state that no serial order has.
func TestAnomaly_ReadOnlyAnomalyIsAllowed(t *testing.T) {
	anomalies(t, func(s *schedule) {
		withdraw := s.begin() // from x, with a fee if x and y together do not cover it
		s.read(withdraw, x, "0")
		s.read(withdraw, y, "0")
		deposit := s.begin()
		s.write(deposit, y, "20")
		s.commit(deposit)
		report := s.begin()
		s.read(report, x, "0")
		s.read(report, y, "20")
		s.commit(report)
		s.write(withdraw, x, "-11")
		s.commit(withdraw)
	})
}
