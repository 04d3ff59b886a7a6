// Package oracle hands out timestamps that only grow.
//
//	durable ceiling ──────────────────────┐
//	handed out …        next → |··········|  - - -
//	|■■■■■■■■■■■■■■■■■■■■■■■■■■|          ceiling
//
// Every transaction of Moka takes its start and its commit timestamp here (Percolator §2.3); snapshot
// isolation rests on one promise and nothing else of it:
//
//	A timestamp is greater than every timestamp that anybody received before it was asked for.
//
// The promise holds across callers, processes, restarts and changes of the leader. Four invariants carry it;
// DESIGN.md has the argument.
//
//	O1  Within a term, timestamps are handed out in ascending order, each once.
//	O2  No timestamp at or above the durable ceiling is handed out, and a new leader starts at the durable
//	    ceiling or above.
//	O3  Timestamps leave a server only if it was the leader at some moment after they were taken.
//	O4  A client serves a caller only from a request that was sent after the caller came.
//
// # Not promised
//
// Timestamps have gaps: a crash skips what was left of the window, up to three seconds. They follow the wall
// clock, but do not equal it: after a clock that ran ahead was set back, they lead it until it catches up.
//
// # Use
//
//	srv := oracle.Start(coordination, oracle.Options{Address: addr})  // on nodes that may lead
//	defer srv.Close()
//	clock := oracle.NewClient(srv, oracle.ClientOptions{})            // same process: a function call, ~0.1 µs
//	ts, err := clock.Next(ctx)
//	f := clock.Async(); …parse…; ts, err = f.Wait(ctx)                // hides the trip of a remote oracle
//
// A process elsewhere makes its client from NewRemote(addrs, …); a node that may lead but need not gives its
// server as RemoteOptions.Local.
//
// Read alloc.go (pure), then server.go and term.go (durability, leadership), fenced.go (what is stored),
// client.go (batching), remote.go and wire.go (gRPC).
package oracle
