package txn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// changesOfLead has shards in memory lose their leads at any moment, and find others.
func changesOfLead(s *simulation) { s.leads = rand.New(rand.NewPCG(s.seed, 1<<40)) }

// changeLeads ends and begins leaderships of shards in memory. What was proposed in the old one is
// applied late, or never.
func (s *simulation) changeLeads(lose bool) {
	shards, _ := s.mem.Shards(context.Background())
	for _, id := range shards {
		switch led := s.mem.Led(id); {
		case led && lose && s.leads.IntN(120*len(shards)) == 0:
			s.mem.Depose(id)
			s.trace = append(s.trace, fmt.Sprintf("shard %d has no leader", id))
		case !led && (!lose || s.leads.IntN(10) == 0):
			var late []bool
			s.mem.Lead(id, func() bool {
				x := s.leads.IntN(2)
				s.late[x]++
				late = append(late, x == 1)
				return late[len(late)-1]
			})
			s.trace = append(s.trace, fmt.Sprintf("shard %d is led again, applied late: %v", id, late))
		}
	}
}
