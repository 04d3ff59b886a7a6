// Package coord is Moka's coordination service: the part that Chubby plays for Bigtable and Percolator.
//
//	sessions   who is there, and who is certainly gone        NewSession, KeepAlive, Alive
//	keys       a few hundred small ones, compare-and-swap     Get, List, Txn
//	ephemeral  keys that go with their session                PutEphemeral
//	watches    every change, in order, or an honest gap       Watch
//	elections  one leader, with a number that fences          Election (built from the above, on every Service alike)
//
// What lives in it: the root location of METADATA, the registry of nodes, the tablet map's generation, the
// timestamp oracle's ceiling, the elections of oracle and scheduler, and the incarnation token of every
// process that runs transactions. Reads and writes of user data never wait for it.
//
// # Promises
//
//	C1  Strict serializability: every call takes effect at one moment between its start and its end, and a
//	    change is durable before anybody can see it.
//	C2  Revisions only grow, across restarts as well. One Txn is one revision.
//	C3  A session id is never used twice. Once Alive has said false for it, it says false for ever.
//	C4  The end of a session and the deletion of its ephemeral keys are one step: nobody sees one without the other.
//	C5  Session.Valid() true means: alive at the service at a moment within the call. Together with C4, whatever the
//	    session's ephemeral keys guard had not passed to anybody else at that moment.
//	C6  A watcher delivers every change once, in order, or ends with ErrWatchGap. It never skips in silence.
//
// # Not promised
//
// A session may outlive its TTL (a service that was stopped itself, a restart that gives remote holders a fresh TTL); it never
// ends before it. The service is not a database: values are limited to 64 KiB, all of it is kept in memory.
//
// # Implementations
//
//	mem    in memory. Tests, simulator, moka start --memory.
//	local  the same state machine, written through to the node's Pebble. The single binary.
//	etcd   embedded on three or five nodes, or external. Comes with replication.
//
// One conformance suite, coordtest.Run, holds all of them to C1-C6. Read coord.go (the interface), then election.go, then
// internal/core (the state machine), then local (its bytes on disk). DESIGN.md has the decisions.
package coord
