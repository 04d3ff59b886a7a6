package shard

import (
	"context"
	"errors"
	"testing"

	"moka/kv"
)

// leaseFunc is what a test makes of a replicator's Lease.
type leaseFunc struct {
	Replicator
	lease func(context.Context) error
}

func (r leaseFunc) Lease(ctx context.Context) error { return r.lease(ctx) }

// TestAnswersOfADeposedLeader: what a replica says that has lost the lead without knowing it, while it looked, does not get out, whatever it is: a
// value, a refusal ("exists already", "rolled back"), or that there was nothing to write. The lease is asked for behind the look.
func TestAnswersOfADeposedLeader(t *testing.T) {
	deposed := false
	s, _ := openChanges(t, func(r Replicator) Replicator {
		return leaseFunc{r, func(context.Context) error {
			if deposed {
				return kv.Errorf(kv.CodeUnavailable, "test", "somebody else leads")
			}
			return nil
		}}
	})
	for name, c := range map[string]struct {
		command kv.CommandID
		err     error
	}{
		"a read":                   {2, nil},
		"a read that fails":        {2, kv.ErrNotFound},
		"a refused write":          {1, kv.ErrAlreadyExists},
		"a write without a change": {1, nil},
	} {
		command, _ := s.registry.Command(c.command)
		run := func(while func()) error {
			_, err := s.Run(t.Context(), command, []kv.TabletRef{{ID: 1, Generation: 1}}, &change{refused: func() error { while(); return c.err }})
			return err
		}
		deposed = false
		if err := run(func() {}); !errors.Is(err, c.err) {
			t.Errorf("%s by the leader: %v, want %v", name, err, c.err)
		}
		if err := run(func() { deposed = true }); !errors.Is(err, kv.ErrUnavailable) {
			t.Errorf("%s by who was the leader: %v", name, err)
		}
	}
}
