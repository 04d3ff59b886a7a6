package triggers

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"moka/kv"
	"moka/txn"
)

// Runs are optimistic: nobody waits for them. On a row that clients lock one after the other such a run loses
// each time, though it stands in their line when it commits: its snapshot is older than the change of who was
// before it. So a run that has lost escalates. It takes the row locks that it has lost for first, in the same
// line, and its snapshot after that; nobody changes these rows until it has ended.

const (
	// escalateAfter is how many conflicts a run has without locks. Most meet another run, and are the last.
	escalateAfter = 2
	// lostMost bounds how many rows a run locks: of those that it has lost for, the last.
	lostMost = 16
)

// lost are the columns for which a run has lost, in the order of their rows: two runs that lock the same do
// not wait for each other in a circle.
type lost []kv.Column

// add notes what a try has lost for.
func (l *lost) add(err error) {
	var c *txn.ConflictError
	if !errors.As(err, &c) || c.Column.Family == AckFamily || len(c.Column.Row) == 0 {
		return
	}
	i, known := slices.BinarySearchFunc(*l, c.Column, compareColumns)
	if known {
		return
	}
	if len(*l) == lostMost {
		*l = nil
		i = 0
	}
	*l = slices.Insert(*l, i, cloneColumn(c.Column))
}

func compareColumns(a, b kv.Column) int {
	return cmp.Or(bytes.Compare(a.Row, b.Row), cmp.Compare(a.Family, b.Family),
		bytes.Compare(a.Qualifier, b.Qualifier))
}

// lock takes the row locks, and has the run's snapshot taken after it.
func (l lost) lock(ctx context.Context, t *txn.Txn) error {
	if len(l) == 0 {
		return nil
	}
	// That a column has changed since the line was joined is what the new snapshot is for.
	if _, err := t.Lock(ctx, l, txn.LockOptions{}); err != nil && !errors.Is(err, txn.ErrConflict) {
		return err
	}
	t.Advance()
	return nil
}
