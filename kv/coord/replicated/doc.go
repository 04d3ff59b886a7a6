// Package replicated is the coordination service of a cluster: a part of the state of shard 1, where package
// core runs beside the shard's leader and each of its changes is an entry of the shard's log.
//
//	Host ─► tenure: core ─► journal ─► shard.Leadership.SaveRecords ─► the log of shard 1
//	  '── every answer without an entry: behind shard.Leadership.Lease
//
// A tenure is the service in one leadership, and is thrown away with it. The next one, on whatever node,
// reads what was applied, behind its barrier, and gives every session a fresh lease: nobody's silence is
// counted across a change of the lead. A leader that is deposed and does not know answers nothing: a change
// of it is refused by the log, and for the rest (what is read, that a session lives, that a condition fails,
// that a lease was prolonged) the leadership is confirmed behind what was seen, as for any other read of a
// shard.
//
// Sessions are those of other processes, or of parts of this one that ask like another; the tenure's own (the
// oracle's) end with it, as the sessions of package local's process do: the next one ends them before it
// answers.
//
// A release before had the service of a cluster on node 1 alone. Its state is taken over, once, by node 1
// when it leads the shard; until then nobody else serves, and the lead is handed to node 1.
package replicated
