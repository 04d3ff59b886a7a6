// Package coordrpc is the coordination service for processes that do not host it: a node without storage that joined with
// --join gets its sessions, elections and watches from the node that has them.
//
//	Client (a coord.Service) ──gRPC, the port of kv/rpc──► server ──► Host (coord/local, coord/mem)
//
// The promises are package coord's, C1-C6, and its conformance suite runs over the wire. What the network adds:
//
//   - A call that got no answer ends with coord.ErrUnavailable, and a Txn with changes with coord.ErrOutcomeUnknown.
//   - Sessions are detached: they belong to the remote holder, and outlive a restart of the host with a fresh TTL.
//   - Session.Valid is answered here, from the time at which the last acknowledged KeepAlive was sent: the host's lease began
//     no earlier. The clock behind it counts suspension, and a twentieth of the TTL is left for drift.
//   - A watcher has a bound of its own; a consumer that falls behind it gets coord.ErrWatchGap as it would in process.
//
// Read client.go, session.go and watch.go, then server.go.
package coordrpc
