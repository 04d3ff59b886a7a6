// Package raft drives the replicas of a node's shards: Raft (go.etcd.io/raft/v3) as a function of its inputs, for all shards in one
// turn and with one write to disk.
//
//	        messages, proposals, reads, transfers                     committed entries, leaderships begun and ended, answers
//	                      │                                                            ▲
//	host ── Turn(now, batch, input) ──► batch: entries, hard state, applied records ───┤
//	          │ Early messages leave     host adds the effects of what was committed   │
//	          ▼                          applies the batch, runs hooks, syncs          │
//	        Wrote(turn) ──► messages that promise what is durable now                  │
//
// It starts no goroutine, reads no clock and opens no file: the same inputs give the same outputs, which is what package kv/sim lives on.
// What is replicated is the effect of a command, a ready batch (package shard evaluates, the leader alone); what an entry holds is in
// entry.go, where logs lie in the engine in keys/log.go.
//
// # Leaderships
//
// Raft says who leads a term. A host serves in *leaderships*, named (term, n): one begins when an entry that it proposed itself, its
// barrier, is applied, so all that came before is in the state; it ends with the term, or when a transfer begins. Everything that a host
// keeps in memory for it ends with it, and the next one does not begin on this replica before the host has said that nothing of the old
// runs any more (Input.Ended). A proposal belongs to the leadership in which it was evaluated and has one of three ends: applied,
// refused (nothing happened), unknown (this replica's log has it, and others decide). It is never proposed again and never forwarded.
//
// # Reads
//
// A leadership has a lease: 0.8 election timeouts from the moment at which a ReadIndex round was *sent* that a quorum has answered. It
// is asked behind the read. Without one (a transfer failed in this term, or Options.Leaseless) a read asks for a round of its own.
// Leases are disjoint because followers that answered refuse votes for nine of ten ticks, ticks are never made up for, and a replica that
// was just started keeps silent for an election timeout. No two clocks are compared; that their rates agree to a tenth is assumed.
//
// # Rules
//
//	R1   acknowledgements and votes leave behind the sync of what they promise          Turn.Early, Wrote
//	R2   the applied record is in the batch of the effects                              group.take
//	R3   commit is at least what is applied, at open                                    openLog
//	R4   one tick a turn, never one that makes up for another                           Driver.tickOnce
//	R5   no vote and no campaign for an election timeout after a start                  group.silent
//	R6   a proposal is handed on only in the leadership that evaluated it               group.mine
//	R7   an entry whose data names another term than its own has no effect; counted     group.apply, Status.Stale
//	R12  a transfer ends lease and leadership first; if it fails there is no lease      group.orderTransfer
//	R13  a change of members ends the lease until a round that begins behind it         group.proposeChange
//	R15  no snapshot is put in place while a leadership's commands run               group.offer
//	R16  the hard state beside a snapshot is the receiver's                            group.records
//	R17  a snapshot of what is applied already is dropped                              group.offer
//	R18  a leadership serves behind its own barrier                                     group.begin
//	R19  who may be alone by an old record alone keeps silent                           group.silent
//
// # Comparing replicas
//
// An entry with the flag Check says that states are to be compared behind it: in its turn nothing later is
// applied, so that a host can look at the state of exactly that entry (Applied.Check); what follows comes
// first of all in the next turn.
//
// # Members
//
// They change one step at a time (members.go): a learner, its promotion together with the removal of another
// one in a joint step, which whoever leads leaves. A replica's number is never given twice.
//
// Files named planted_*.go: with the build tag "planted" the driver makes the mistake that the simulator asks for; in every other build
// the question is a constant.
package raft
