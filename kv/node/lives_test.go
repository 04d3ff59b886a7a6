package node_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/node"
)

// hello is what two members tell each other first, both ways.
func hello(caller, called *node.Node) (error, error) {
	a, b := caller.Lives(), called.Lives()
	return called.HearLives(caller.ID(), a), caller.HearLives(called.ID(), b)
}

// A directory that was put back to an older state has forgotten votes and entries that it has promised
// to others (R20, mistake 60): who knows of a later start refuses it, it stops and says why, and a
// third one that was told by others knows as well, also after its own restart. Honest restarts are
// nothing of that.
func TestDirectoryPutBack(t *testing.T) {
	var died atomic.Pointer[error]
	c := newTrio(t, node.Options{Fatal: func(err error) { died.Store(&err) }})
	pass := func(a, b kv.NodeID) {
		t.Helper()
		if err1, err2 := hello(c.node(a), c.node(b)); err1 != nil || err2 != nil {
			t.Fatalf("%d calls %d: %v, %v", a, b, err1, err2)
		}
	}
	again := func(id kv.NodeID) {
		t.Helper()
		c.stop(id)
		if err := c.start(id); err != nil {
			t.Fatal(err)
		}
	}
	pass(2, 1)
	c.stop(2)
	old := c.disks[1].CrashClone(vfs.CrashCloneCfg{})
	if err := c.start(2); err != nil {
		t.Fatal(err)
	}
	pass(2, 1) // its later life
	pass(2, 1)
	pass(1, 3) // the third one is told
	again(3)
	again(1)
	pass(1, 3)
	for range 3 {
		again(2)
		pass(1, 2)
	}
	pass(3, 2)
	if died.Load() != nil {
		t.Fatalf("an honest node dies: %v", *died.Load())
	}

	// The same number of starts as was seen, and not the same start: one more than the copy had is
	// what the others know.
	c.stop(2)
	newest := c.disks[1]
	for _, by := range []kv.NodeID{1, 3} {
		c.disks[1] = old.CrashClone(vfs.CrashCloneCfg{})
		if err := c.start(2); err != nil {
			t.Fatal(err)
		}
		refused, own := hello(c.node(2), c.node(by))
		if !errors.Is(refused, kv.ErrUnavailable) ||
			!strings.Contains(refused.Error(), "put back from a copy") {
			t.Errorf("node %d hears of an old directory: %v", by, refused)
		}
		if own == nil || !strings.Contains(own.Error(), "the directory that it had last") {
			t.Errorf("a node with an old directory hears of it from node %d: %v", by, own)
		}
		if died.Swap(nil) == nil {
			t.Errorf("a node with an old directory goes on after node %d has told it", by)
		}
		c.stop(2)
	}
	c.disks[1] = newest
	if err := c.start(2); err != nil {
		t.Fatal(err)
	}
	pass(2, 1)
	pass(3, 2)
	for _, text := range []string{"1", "1=2", "x=1.0011223344556677", "1=2.zz", "1=-1.0011223344556677",
		strings.Repeat("1=1.0011223344556677,", 5000)} {
		if err := c.node(1).HearLives(3, text); err == nil {
			t.Errorf("%.40q is taken", text)
		}
	}
	if err := c.node(1).HearLives(3, ""); err != nil {
		t.Errorf("a release that does not tell: %v", err)
	}
	if died.Load() != nil {
		t.Errorf("an honest node dies: %v", *died.Load())
	}
}

// One directory may be put back so far that its number is the same as what was seen: the id tells.
func TestDirectoryPutBackByOneStart(t *testing.T) {
	var died atomic.Bool
	c := newTrio(t, node.Options{Fatal: func(error) { died.Store(true) }})
	c.stop(3)
	old := c.disks[2].CrashClone(vfs.CrashCloneCfg{})
	if err := c.start(3); err != nil {
		t.Fatal(err)
	}
	if err1, err2 := hello(c.node(3), c.node(1)); err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	c.stop(3)
	c.disks[2] = old
	if err := c.start(3); err != nil {
		t.Fatal(err)
	}
	if err, own := hello(c.node(3), c.node(1)); err == nil || own == nil || !died.Load() {
		t.Errorf("a directory put back by one start is taken: %v, %v", err, own)
	}
}
