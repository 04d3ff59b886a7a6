// Package schedule decides which nodes of a cluster have the replicas of its shards, as Bigtable's master
// decides who serves which tablet (§5.1).
//
//	coordination: nodes, what is to become of them ─┐
//	leaders: members and followers of each shard ───┼─► Plan ─► steps ─► orders to the leaders
//	sessions: who is up ────────────────────────────┘  a function of what is seen
//
// It holds no truth: what a shard's members are, the shard's log says. A step names the version of the
// members that it is meant for, so that of two schedulers, or of one that has slept, nothing bad comes: the
// leader refuses. Whoever leads shard 1 schedules; what it has in mind is since when nodes are silent.
package schedule
