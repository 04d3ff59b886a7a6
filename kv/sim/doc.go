// Package sim plays histories of replicated shards, with everything that can go wrong going wrong, and looks for broken promises.
//
//	clients ──► nodes: model of a shard (latches, evaluation, locks in memory, guards) ──► package raft, the real driver ──► disk
//	   │                 │                          ▲                                                 │
//	   └── checker ◄─────┴──── network, clocks, nemesis: all drawn from the seed ─────────────────────┘
//
// One thread, one heap of events, no goroutine: the same seed gives the same history, event by event (a test says so). Raft draws its
// election timeouts from crypto/rand, which the tests seed as well.
//
// Real: the driver (package raft), Raft itself, the bytes of entries and logs. Simulated:
//
//   - disks: what was not synced is lost in a crash, from any place on; a torn batch is gone whole. Syncs take time, on a slow disk a
//     long one. A lying disk loses what it has synced, in a run that must be seen to fail.
//   - the network: each ordered pair of nodes has a link that drops, delays, doubles, reorders and is cut, one way or both.
//   - clocks: rates differ by up to a tenth; each life of a process has another zero. Nobody can read true time.
//   - processes: die at any moment or between two steps of a turn, stand still while their clock runs, come back at once or late.
//   - what is above the driver: a model of shard, coprocessor and client that is small but of the same kind as the real ones. Lists that
//     are read and written whole; one-phase and two-phase transactions with snapshots, pushes and rollbacks; batchless answers;
//     memory that a leadership loses and a seed replaces. Package shard takes its place when leaderships exist there.
//
// Members are three or five at first, shards are one or two. In some histories (Options.Members,
// TestMembersChange) two nodes more have nothing at first, and members change all the while: replicas come,
// fetch the state whole, go with all that they had, and come again under another number. Others
// (Options.Alone, TestGrowsFromOne) begin with one voter and three nodes that have nothing, as a directory of
// one node does that becomes a cluster. There are no moves of tablets yet. That a lease ends with a change of
// members, that a replica which may not be alone any more keeps silent, that a snapshot brings no vote, and
// that the log is kept behind one (mistakes 29, 59, 22 and 23) package raft tests itself: histories have not
// found them, the first two neither in 2,000 that begin with one voter.
//
// # What is checked
//
//	always      one leader a term; what is applied at an index is the same everywhere and for ever; at most one valid lease of a
//	            shard at any moment of true time; entries in order; no entry void for its term (R7); clients' hints never go back
//	at the end  every shard has one leadership and equal replicas within 30 election timeouts; nothing is held; memory equals its
//	            image on disk; lists are linearizable, acknowledged items are there once, refused ones are not; each snapshot read found
//	            exactly the versions that its timestamp calls for; transactions ended as they were told to have
//
// # Mistakes
//
// A checker that finds nothing proves nothing. With the build tag "planted", which no binary has, driver and model make the mistakes of a
// table (mistakes_test.go) one at a time, and each must be found by the seed that the table names:
//
//	go test -tags gms_pure_go,planted -run TestMistakesAreFound ./kv/sim
//
// Those of the driver prove the driver. Those of the model (latches, guards, hooks, batchless answers, memory of leaderships, clients) prove
// that the checker would see them: they are to be planted again where the real code is.
//
// MOKA_SIM_SEEDS says how many histories TestSimulation plays (300); a seed that fails is played again, readably, with -args -seed N.
package sim
