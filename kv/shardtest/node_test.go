package shardtest_test

import (
	"context"
	"errors"
	"testing"

	"moka/kv"
	"moka/kv/shardtest"
)

// A small coprocessor whose one command does what a test says.
const (
	onDisk   kv.GroupID   = 1
	inMemory kv.GroupID   = 2
	cmdDo    kv.CommandID = 1
	cmdLook  kv.CommandID = 2
)

type message struct {
	do  func(e kv.Eval)
	row string // to latch
}

func (message) AppendTo(b []byte) []byte { return b }
func (message) Decode([]byte) error      { return nil }

type coprocessor struct{}

// state remembers what came.
type state struct{ received []kv.TabletID }

func (s *state) ReceiveTablet(t kv.Tablet, _ any) { s.received = append(s.received, t.ID) }

// CarryTablet says what the shard knows of any of its tablets.
func (s *state) CarryTablet(t kv.Tablet) []kv.Carried {
	a := kv.Address{Group: onDisk, Column: kv.Column{Row: firstRow(t), Qualifier: []byte("known")}}
	return []kv.Carried{{Address: a, Version: kv.Version{Timestamp: 1}}}
}

func firstRow(t kv.Tablet) kv.RowKey {
	if len(t.Span.Start) == 0 {
		return row("")
	}
	return t.Span.Start
}

func (coprocessor) Name() string { return "test" }
func (coprocessor) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{{ID: onDisk}, {ID: inMemory, InMemory: true}}
}
func (coprocessor) OpenShard(kv.ShardHandle) (any, error) { return &state{}, nil }
func (coprocessor) Commands() []kv.Command {
	c := kv.Command{
		ID: cmdDo, Name: "do", Write: true,
		NewRequest: func() kv.Message { return message{} }, NewResponse: func() kv.Message { return message{} },
		Rows: func(req kv.Message, rows []kv.RowKey) []kv.RowKey { return append(rows, row(req.(message).row)) },
		Evaluate: func(e kv.Eval, req kv.Message) (kv.Message, error) {
			req.(message).do(e)
			return message{}, nil
		},
	}
	look := c
	look.ID, look.Name, look.Write, look.Rows = cmdLook, "look", false, nil
	return []kv.Command{c, look}
}

func row(s string) kv.RowKey { return kv.MakeRowKey(7, []byte(s)) }

func at(g kv.GroupID, s string) kv.Address {
	return kv.Address{Group: g, Column: kv.Column{Row: row(s)}}
}

func open(t *testing.T, o shardtest.Options) *shardtest.Node {
	t.Helper()
	o.Coprocessors = []kv.Coprocessor{coprocessor{}}
	n, err := shardtest.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// call runs a command where row a is, as somebody who has looked it up before.
func call(t *testing.T, n *shardtest.Node, tablet kv.Tablet, cmd kv.CommandID, do func(kv.Eval)) error {
	t.Helper()
	_, err := n.Handle(t.Context(), tablet.Shard, []kv.TabletRef{{ID: tablet.ID, Generation: tablet.Generation}}, cmd, message{do, "a"})
	return err
}

func locate(t *testing.T, n *shardtest.Node, s string) kv.Tablet {
	t.Helper()
	ts, err := n.Lookup(t.Context(), row(s))
	if err != nil {
		t.Fatal(err)
	}
	return ts[0]
}

// TestReceiverIsTold: a layer hears of a tablet that comes before the tablet's first command.
func TestReceiverIsTold(t *testing.T) {
	n := open(t, shardtest.Options{Shards: 2, Idle: 1})
	was := locate(t, n, "a")
	if err := n.Move(t.Context(), row("a"), 2); err != nil {
		t.Fatal(err)
	}
	now := locate(t, n, "a")
	if now.Shard != 2 || now.Generation <= was.Generation {
		t.Errorf("from %v to %v", was, now)
	}
	err := call(t, n, now, cmdLook, func(e kv.Eval) {
		if got := e.State().(*state).received; len(got) != 1 || got[0] != was.ID {
			t.Errorf("tablets received: %v", got)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if err := call(t, n, was, cmdLook, func(kv.Eval) {}); !errors.Is(err, kv.ErrMoved) {
		t.Errorf("the old description is taken: %v", err)
	}
}

// TestRecordsAreLeftBehind: of what a layer knows of a shard's rows the only record may be stored with a
// tablet that leaves. It is stored with it where it goes, and with what stays.
func TestRecordsAreLeftBehind(t *testing.T) {
	n := open(t, shardtest.Options{Shards: 2, Idle: 1})
	if err := n.Split(t.Context(), row("m")); err != nil {
		t.Fatal(err)
	}
	if err := n.Move(t.Context(), row("a"), 2); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"a", "m"} {
		tablet := locate(t, n, s)
		a := kv.Address{Group: onDisk, Column: kv.Column{Row: firstRow(tablet), Qualifier: []byte("known")}}
		if _, ok, err := n.Leader(tablet.Shard).Reader().Get(a, 1); !ok || err != nil {
			t.Errorf("with the tablet of %s, on shard %d, there is no record: %v", s, tablet.Shard, err)
		}
	}
}

// TestStaleRequestsAreRefused: who has routed a request before a tablet was split or merged is told, reader or writer, although the
// tablet's name and its shard are what they were.
func TestStaleRequestsAreRefused(t *testing.T) {
	n := open(t, shardtest.Options{Shards: 1})
	for name, change := range map[string]func(context.Context, kv.RowKey) error{"split": n.Split, "merge": n.Merge} {
		was, at := locate(t, n, "a"), row("m")
		if name == "merge" {
			if err := n.Split(t.Context(), row("g")); err != nil {
				t.Fatal(err)
			}
			was, at = locate(t, n, "a"), row("a")
		}
		if err := change(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		for _, cmd := range []kv.CommandID{cmdDo, cmdLook} {
			if err := call(t, n, was, cmd, func(kv.Eval) {}); !errors.Is(err, kv.ErrMoved) {
				t.Errorf("behind a %s, command %d with the old description: %v", name, cmd, err)
			}
		}
		if err := call(t, n, locate(t, n, "a"), cmdDo, func(kv.Eval) {}); err != nil {
			t.Errorf("behind a %s: %v", name, err)
		}
	}
}

// TestHooksComeLast: when OnDurable and OnSet run, nothing is left of the batch that is still to be done: whoever acts on what he is told finds
// neither the entries that it has deleted nor its guards.
func TestHooksComeLast(t *testing.T) {
	n := open(t, shardtest.Options{Shards: 1})
	tablet := locate(t, n, "a")
	if err := call(t, n, tablet, cmdDo, func(e kv.Eval) { e.Set(at(inMemory, "a"), 1, nil) }); err != nil {
		t.Fatal(err)
	}
	told := 0
	err := call(t, n, tablet, cmdDo, func(e kv.Eval) {
		e.Delete(at(inMemory, "a"), 1)
		e.Guard(at(inMemory, "b"), 2, nil)
		e.Set(at(inMemory, "c"), 3, nil)
		e.Set(at(onDisk, "a"), 3, nil)
		r := e.Shard().Reader()
		e.OnDurable(func() {
			told++
			for name, want := range map[string]bool{"a": false, "b": false, "c": true} {
				if _, ok, err := r.Latest(at(inMemory, name), kv.MaxTimestamp); ok != want || err != nil {
					t.Errorf("%s is there: %v (%v)", name, ok, err)
				}
			}
			if _, ok, err := r.Latest(at(onDisk, "a"), kv.MaxTimestamp); !ok || err != nil {
				t.Errorf("what is durable is not there: %v", err)
			}
		})
	})
	if err != nil || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
}

// TestRefusedProposals: what is refused has not happened, in memory as on disk.
func TestRefusedProposals(t *testing.T) {
	fate := shardtest.Accept
	n := open(t, shardtest.Options{Shards: 1, Turn: func(_ context.Context, _ kv.ShardHandle, step shardtest.Step) shardtest.Fate {
		if step == shardtest.Proposed {
			return fate
		}
		return shardtest.Accept
	}})
	tablet := locate(t, n, "a")
	set := func(e kv.Eval) { e.Set(at(inMemory, "a"), 1, nil) }
	there := func() (ok bool) {
		if err := call(t, n, tablet, cmdLook, func(e kv.Eval) { _, ok, _ = e.Latest(at(inMemory, "a"), 1) }); err != nil {
			t.Fatal(err)
		}
		return ok
	}
	fate = shardtest.Refuse
	if err := call(t, n, tablet, cmdDo, set); !errors.Is(err, kv.ErrUnavailable) || there() {
		t.Errorf("refused: %v, and the entry is there: %v", err, there())
	}
	for _, late := range []bool{false, true} {
		fate = shardtest.Lose
		if err := call(t, n, tablet, cmdDo, set); !errors.Is(err, kv.ErrOutcomeUnknown) || n.Led(1) {
			t.Errorf("lost: %v", err)
		}
		for _, cmd := range []kv.CommandID{cmdLook, cmdDo} { // a write that writes nothing is a read
			if err := call(t, n, tablet, cmd, func(kv.Eval) {}); !errors.Is(err, kv.ErrNotLeader) {
				t.Errorf("who does not lead answers: %v", err)
			}
		}
		if ok, err := n.Elect(1, late); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if there() != late || n.CheckImages(1) != nil {
			t.Errorf("late %v, and the entry is there: %v", late, there())
		}
	}
}

// TestCrashKeepsABeginning: of what was not synced any beginning is left, over all shards, and what was synced is.
func TestCrashKeepsABeginning(t *testing.T) {
	for kept := range 3 {
		n := open(t, shardtest.Options{Shards: 2, Splits: []kv.RowKey{row("m")}})
		write := func(name string, sync bool) {
			t.Helper()
			tablet := locate(t, n, name)
			_, err := n.Handle(t.Context(), tablet.Shard, nil, cmdDo, message{func(e kv.Eval) {
				if e.Set(at(onDisk, name), 1, nil); !sync {
					e.NoSync()
				}
			}, name})
			if err != nil {
				t.Fatal(err)
			}
		}
		write("a", true)
		write("z", false)
		write("b", false)
		err := n.Crash(func(unsynced int) int {
			if unsynced != 2 {
				t.Errorf("%d are not synced", unsynced)
			}
			return kept
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{"a": true, "z": kept >= 1, "b": kept >= 2} {
			if _, ok, err := n.Leader(locate(t, n, name).Shard).Reader().Latest(at(onDisk, name), 1); ok != want || err != nil {
				t.Errorf("%d kept, and %s is there: %v (%v)", kept, name, ok, err)
			}
		}
	}
}
