package pace

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurnsGoByUser: who waits on one connection has his turn after one of a user who waits on five, a turn
// that lasts does not keep others, and who gives up keeps nobody.
func TestTurnsGoByUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = time.Minute
		l := NewLine(most)
		var order []string
		enter := func(ctx context.Context, user, name string) {
			go func() {
				turn, err := l.Enter(ctx, user)
				if err != nil {
					name = "-" + name
				}
				if order = append(order, name); user == "slow" {
					time.Sleep(2 * most)
					if !turn.Over() {
						t.Error("the turn has not ended")
					}
				}
				turn.End()
			}()
			synctest.Wait()
		}
		first, err := l.Enter(t.Context(), "many")
		if err != nil || first.Over() {
			t.Fatal(err)
		}
		impatient, cancel := context.WithCancelCause(t.Context())
		for _, name := range []string{"m1", "m2", "m3"} {
			enter(t.Context(), "many", name)
		}
		enter(impatient, "gone", "g")
		enter(t.Context(), "few", "f1")
		enter(t.Context(), "slow", "s")
		enter(t.Context(), "few", "f2")
		cancel(errGone)
		synctest.Wait()
		first.End()
		time.Sleep(3 * most)
		if want := []string{"-g", "m1", "f1", "s", "m2", "f2", "m3"}; !slices.Equal(order, want) {
			t.Errorf("turns: %v, want %v", order, want)
		}
		last, err := l.Enter(t.Context(), "few")
		if err != nil || last.Over() {
			t.Errorf("behind all others: %v", err)
		}
		if _, err := l.Enter(impatient, "gone"); !errors.Is(err, errGone) {
			t.Errorf("of one that has gone: %v", err)
		}
		last.End()
	})
}
