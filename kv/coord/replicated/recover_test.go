package replicated_test

import (
	"testing"
	"time"

	"moka/kv/coord"
	"moka/kv/coord/local"
	"moka/kv/coord/replicated"
)

// A service whose latest changes are lost counts on far beyond what they can have been: a session that was
// opened in them does not live because another one has its number, and no fence of theirs is good. What it
// has stays, but for what was put. (Mistake 55 of the design.)
func TestRecover(t *testing.T) {
	ctx := t.Context()
	disk := founded(t)
	m := newMember(t, disk, replicated.Options{Service: local.Options{}})
	m.begins(1)
	put := []coord.Op{coord.Put("stays", []byte("1")), coord.Put("changes", []byte("1"))}
	must[coord.Revision](t)(m.host.Txn(ctx, nil, put))
	m.ends()
	b := disk.NewBatch()
	defer b.Close()
	set := func(k, v []byte) error { return b.Set(k, v, nil) }
	change := func(get func(string) ([]byte, error)) (map[string][]byte, error) {
		was, err := get("changes")
		if none, _ := get("nothing"); none != nil {
			t.Error("there is a key that nobody put")
		}
		return map[string][]byte{"changes": append(was, '2'), "new": []byte("3")}, err
	}
	if err := replicated.Recover(1, disk, set, change); err != nil {
		t.Fatal(err)
	}
	disk.Commit(b)
	m = newMember(t, disk, replicated.Options{})
	m.begins(2)
	defer m.ends()
	for key, want := range map[string]string{"stays": "1", "changes": "12", "new": "3"} {
		if kv, err := m.host.Get(ctx, key); err != nil || string(kv.Value) != want {
			t.Errorf("%s is %q, %v; want %q", key, kv.Value, err, want)
		}
	}
	s := must[coord.Session](t)(m.host.NewSession(ctx, time.Minute))
	if s.ID() <= coord.SessionID(1<<32) {
		t.Errorf("session %d may have been another one's", s.ID())
	}
}
