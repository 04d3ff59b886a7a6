// Package raftrpc carries the messages of replicas (package raft) between nodes: one stream for each ordered
// pair, on a connection of its own, so that a page of a scan is never in a heartbeat's way.
//
//	Transport.Send ─► queue of a peer ─► stream ─► Register's deliver
//	                  64 MiB, then dropped
//
// It promises nothing: a message comes once, or not at all. What cannot be sent now is dropped, for it will
// be out of date later, and raft sends it again where it matters.
//
// Snapshots of shards go over connections of their own, which Fetch opens, and are waited for chunk by
// chunk.
//
// Both ends name themselves first: cluster, node that is called, node that calls. A stranger, or a node that
// has the address of another one, is turned away before anything of it is read.
package raftrpc
