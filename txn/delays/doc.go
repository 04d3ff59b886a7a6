// Package delays counts what has kept a piece of work from being done at once: locks of others' commits, row
// locks, requests that had to be sent again. EXPLAIN ANALYZE and the list of slow statements show it.
//
// A Counter travels in the context, since a request passes many hands before it meets anybody, and is looked
// for only where something has: a request that is answered at once costs nothing.
package delays
