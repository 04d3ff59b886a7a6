package core

import (
	"context"
	"fmt"
	"strings"

	"moka/kv/coord"
)

func (s *Service) Txn(ctx context.Context, conds []coord.Cond, ops []coord.Op) (coord.Revision, error) {
	if err := validate(conds, ops); err != nil {
		return 0, err
	}
	if err := s.writable(ctx, "txn"); err != nil {
		return 0, err
	}
	defer func() { <-s.writing }()

	s.mu.Lock()
	change, events, err := s.prepareLocked(conds, ops)
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if len(ops) == 0 {
		return change.Rev, nil
	}
	if err := s.persist("txn", change); err != nil {
		return 0, err
	}
	s.mu.Lock()
	s.publishLocked(change, events)
	s.mu.Unlock()
	return change.Rev, nil
}

// prepareLocked checks the conditions and works out the change, without making it. Writing is held, so the keys do
// not move until it is published. A session may begin to end meanwhile: its end waits for writing and then takes the new keys along.
func (s *Service) prepareLocked(conds []coord.Cond, ops []coord.Op) (Change, []coord.Event, error) {
	for _, c := range conds {
		cur, _ := s.mu.keys.Get(c.Key)
		rev := cur.ModRev
		if c.Target == coord.CondCreateRev {
			rev = cur.CreateRev
		}
		if rev != c.Rev {
			return Change{}, nil, fail("txn", c.Key, coord.CodeConflict, fmt.Errorf("revision is %d, expected %d", rev, c.Rev))
		}
	}
	if len(ops) == 0 {
		return Change{Rev: s.mu.rev}, nil, nil
	}
	change := Change{Rev: s.mu.rev + 1}
	var events []coord.Event
	for _, op := range ops {
		cur, exists := s.mu.keys.Get(op.Key)
		if op.Type == coord.EventDelete {
			if exists {
				change.Delete = append(change.Delete, op.Key)
				events = append(events, deletion(cur, change.Rev))
			}
			continue
		}
		if sess := s.mu.sessions[op.Session]; op.Session != 0 && (sess == nil || sess.state.Load() != live) {
			return Change{}, nil, fail("txn", op.Key, coord.CodeSessionExpired, nil)
		}
		kv := coord.KV{
			Key: op.Key, Value: append([]byte(nil), op.Value...),
			CreateRev: change.Rev, ModRev: change.Rev, Session: op.Session,
		}
		if exists {
			kv.CreateRev = cur.CreateRev
		}
		change.Put = append(change.Put, kv)
		events = append(events, coord.Event{Type: coord.EventPut, KV: kv})
	}
	return change, events, nil
}

func deletion(kv coord.KV, rev coord.Revision) coord.Event {
	return coord.Event{Type: coord.EventDelete, KV: coord.KV{
		Key: kv.Key, CreateRev: kv.CreateRev, ModRev: rev, Session: kv.Session,
	}}
}

func validate(conds []coord.Cond, ops []coord.Op) error {
	invalid := func(key, format string, args ...any) error {
		return fail("txn", key, coord.CodeInvalid, fmt.Errorf(format, args...))
	}
	if len(ops) > MaxOps || len(conds) > MaxOps {
		return invalid("", "%d conditions and %d operations; at most %d of each fit in one transaction", len(conds), len(ops), MaxOps)
	}
	for _, c := range conds {
		if c.Target != coord.CondModRev && c.Target != coord.CondCreateRev {
			return invalid(c.Key, "unknown condition %d", c.Target)
		}
	}
	seen := make(map[string]struct{}, len(ops))
	for _, op := range ops {
		if op.Type != coord.EventPut && op.Type != coord.EventDelete {
			return invalid(op.Key, "unknown operation %d", op.Type)
		}
		if len(op.Key) == 0 || len(op.Key) > MaxKeyLen || strings.IndexByte(op.Key, 0) >= 0 {
			return invalid(op.Key, "a key has 1 to %d bytes, none of them zero", MaxKeyLen)
		}
		if len(op.Value) > MaxValueLen {
			return invalid(op.Key, "the value has %d bytes, the limit is %d", len(op.Value), MaxValueLen)
		}
		if _, dup := seen[op.Key]; dup {
			return invalid(op.Key, "one transaction may change a key once")
		}
		seen[op.Key] = struct{}{}
	}
	return nil
}
