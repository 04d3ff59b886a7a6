// Package node is a SQL node among the others: it has a number of its own, and hands to the right one what is
// about a connection of another.
//
//	connection id, 32 bits
//	┌───┬────────────┬──────────────────────────┐
//	│ 0 │ number, 10 │ connection of the node, 21│  the first node's number is 0: its ids are 1, 2, 3 …
//	└───┴────────────┴──────────────────────────┘   (ids with the upper bit are of schema changes without a connection)
//
// A client interrupts a statement by KILL QUERY on a new connection, and behind a balancer that may end at
// any node. If nodes counted for themselves it would end somebody else's statement. The number is a named
// lock that users cannot name (package namedlock): a node that dies leaves it free after the lock's lease.
//
// KILL of a connection that another node has is a row for that node, which looks for such rows twice a
// second, does what the row says if its user may, and writes the answer there:
//
//	node 0: KILL 2097154          store                        node 1
//	    ├── asked, until ──▶ 05 | 1 | random
//	    │                        └──── looks every 500 ms ──▶ owner or CONNECTION_ADMIN? ends it
//	    ◀──── the answer ── 0, 1094, 1095 ◀─────────────────────┘
//	    └── deletes the row; nobody answers: 1094 if nobody has the number, else 1205 after ten seconds
//
// Promises: at one time no two connections of nodes that reach the store have one id; a KILL that is answered
// with OK was done. Not promised: ids of a node that was cut off from the store for longer than a lease, and
// goes on with its number until it ends.
//
// Rejected: connections among SQL nodes. They need addresses, certificates and a list of members, for a
// message that is sent once in a while.
package node
