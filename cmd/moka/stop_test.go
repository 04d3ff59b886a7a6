package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestStopIsBounded: a statement that heard nothing kept the process from ending after SIGTERM.
func TestStopIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf, order := make(chan struct{}), ""
		s := &stack{}
		s.onClose(func(context.Context) error { order += " store"; return nil })
		s.onClose(func(drain context.Context) error { <-drain.Done(); <-deaf; order += "sql"; return nil })
		began := time.Now()
		if err := s.end(); !errors.Is(err, errStuck) {
			t.Errorf("beside a statement that does not end: %v", err)
		}
		if took := time.Since(began); took != drainTime+closeTime {
			t.Errorf("it took %v", took)
		}
		close(deaf)
		synctest.Wait()
		if order != "sql store" {
			t.Errorf("closed in the order %q", order)
		}
		if err := s.end(); err != nil {
			t.Errorf("with nothing that runs: %v", err)
		}
	})
}
