package engine

import (
	"testing"
	"time"
)

// One writer alone never waits for others; many do, once for each group.
func TestGroupWaitAdapts(t *testing.T) {
	e := &Engine{}
	if d := e.groupWait(); d != 0 {
		t.Errorf("nobody commits: %v", d)
	}
	e.grouped.Store(1)
	if d := e.groupWait(); d != 0 {
		t.Errorf("one writer waits %v", d)
	}
	e.grouped.Store(64)
	if d := e.groupWait(); d <= 0 || d > time.Millisecond {
		t.Errorf("64 writers wait %v", d)
	}
	if d := e.groupWait(); d != 0 {
		t.Errorf("the group counts twice: %v", d)
	}
}
