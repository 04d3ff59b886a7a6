package txn_test

import (
	"context"
	"errors"
	"testing"

	"moka/kv/kvtest"
	"moka/txn"
)

// steppingBack is the context of a statement: who asks for its error waits, so that others get the processor.
type steppingBack struct {
	context.Context
	waits *int
}

func (s steppingBack) Err() error {
	if s.Context.Err() == nil {
		*s.waits++
	}
	return s.Context.Err()
}

// TestCommitsDoNotStepBack: while a commit has its locks nobody makes it wait for the processor, and it hears
// of its end all the same.
func TestCommitsDoNotStepBack(t *testing.T) {
	layouts(t, func(t *testing.T, c *txn.Client, _ *kvtest.Mem) {
		commit := func(ctx context.Context) (waits int, err error) {
			tx := c.Begin(txn.TxnOptions{})
			for _, row := range []string{"a", "c", "e"} {
				tx.Put(col(row), []byte("1"), txn.WriteOptions{})
			}
			_, err = tx.Commit(steppingBack{ctx, &waits})
			return waits, err
		}
		if waits, err := commit(t.Context()); waits != 0 || err != nil {
			t.Errorf("it waited %d times: %v", waits, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := commit(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("of one that has ended: %v", err)
		}
	})
}
