// Package rpc carries commands between nodes: one multiplexed stream for each pair of them.
//
//	caller ─┐                                                        ┌─► Handler.Handle
//	caller ─┼─► queue ─► BatchRequest{ id shard tablets command … } ─┼─► Handler.Handle
//	caller ─┘     ▲       ≤ 128 commands or 64 KiB, cancels           └─► Handler.Handle
//	   ▲          │ never waits for a batch to fill                        │  any order
//	   └─ by id ──┴────────── BatchResponse{ id message | error … } ◄──────┘
//
// The envelope of both is kv.proto's; codec.go writes it without copying what is in it.
//
// Why a stream of our own instead of a gRPC method for each command: transport and wake-ups are the cost of a call, not
// its encoding. A batch forms by itself while the previous one is being written, so load makes calls cheaper and an idle
// stream adds no delay. gRPC stays underneath for what it is good at: framing, flow control, TLS, keepalive, and the
// other services that share the port (see Server.Registrar).
//
// # Promises
//
//	R1  A call ends with a response, with the handler's error as a *kv.Error, or with one of the following. Nothing is
//	    sent twice by this package.
//	R2  ErrUnavailable, ErrBusy, ErrClosed and ErrNotLeader mean: nothing happened (for a read: trying again is harmless).
//	R3  A write that was handed to the transport and got no answer ends with ErrOutcomeUnknown: stream lost, or the
//	    caller's context done. There is no guess and no silent retry.
//	R4  When the caller's context ends, the handler's context is cancelled soon after; a long poll does not outlive its
//	    caller. When the stream ends, so do the contexts of everything that came over it.
//	R5  Every queue is bounded, in commands and in bytes; what does not fit is refused with ErrBusy before anything happened.
//	R6  A server that drains answers everything that it has accepted, and refuses the rest with ErrClosed: a planned stop
//	    leaves no outcome unknown as long as Shutdown's context allows.
//
// # Not promised
//
// Order: two calls of one stream may be evaluated in any order. Authentication: give Options credentials
// (OwnerOnly within a machine, mutual TLS with certificates of nodecert beyond it), or keep the port on a network that you trust.
//
// Read peer.go (calling side), then server.go and stream.go (answering side), then errors.go (what survives the wire).
// The coordination service's remote access is coordrpc, beside this package.
package rpc
