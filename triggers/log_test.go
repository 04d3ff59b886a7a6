package triggers

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"moka/kv/kvtest"
	"moka/txn"
)

// TestFailuresAreLoggedOnceAMinute: observers that fail filled the log, one line for each attempt of each
// row, as often as who made them liked.
func TestFailuresAreLoggedOnceAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, kvtest.Options{})
		var log bytes.Buffer
		fails := func(context.Context, *txn.Txn, Event) error { return tracedError{} }
		x := w.worker("w1", Options{Runners: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))},
			Observer{ID: 1, Name: "flood", Attempts: 3, Backoff: time.Millisecond, Run: fails})
		for i := range 20 {
			w.put(fmt.Sprint("row", i), "1", 1)
		}
		w.until("parked", time.Minute/2, func() bool { a, b := w.backlog(); return a == 0 && b == 20 })
		elapse(tellEvery)
		w.put("last", "1", 1)
		w.until("parked", time.Minute/2, func() bool { a, b := w.backlog(); return a == 0 && b == 21 })
		x.Close()
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "failed=1 ") ||
			!strings.Contains(lines[1], "failed=60 parked=20 ") || strings.Contains(log.String(), "a stack") {
			t.Errorf("%d lines, want 2, with 1 failed run and 60 more, 20 parked:\n%s", len(lines),
				log.String())
		}
	})
}

// tracedError prints itself with a stack, as errors of the SQL library do.
type tracedError struct{}

func (tracedError) Error() string                 { return "it says so" }
func (tracedError) Format(f fmt.State, verb rune) { _, _ = fmt.Fprint(f, "it says so\na stack") }
