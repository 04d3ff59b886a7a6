// Package pushdown is the language in which a SQL node tells shards what to do with the rows of a
// scan: which to leave out, which columns to send, which to count, add up and group, which of them are
// the first n in an order.
//
//	SQL node                                       shard
//	plan ── engine ──► Program ── bytes ──────────► Load ──► runner: for each cell of the scan
//	                                                          Read fields ─► filter ─► keep | group | hold
//	rows, or Merger ◄── cells, parts ◄─────────────────────── Finish
//
// A scan carries the program as bytes (txn.ScanOptions.Program); what locks, snapshots and own writes
// mean to it is package txn's business. The language is closed: no operation in it can fail, none depends
// on a session, and each of them is defined by the keys of package rowenc, whose order and equality are
// those of the SQL engine for every type and collation. Whatever the SQL node cannot say in it exactly
// stays on the SQL node.
//
// # Promises
//
//   - A program of another version is refused, never guessed at; the caller then does without.
//   - Memory is bounded: a program that has collected MaxGroups groups or MaxBytes ends the request, and the scan goes on with
//     empty hands. What was collected is merged on the SQL node, in the order of the scan.
//   - Junk in, error out.
//
// Read program.go (the language and its bytes), run.go (the shard's side), merge.go (the SQL node's side).
package pushdown
