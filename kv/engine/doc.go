// Package engine opens Pebble the way a node wants it: one store for all shards of a process, with the key schema, filters
// and compaction settings that were measured for it, an identity in its directory, and a way to die.
//
// # The directory
//
// A first start creates it and writes an identity with a format version. A directory of something else, of a newer version, or
// in use by another process is refused before anything in it is touched; each refusal says what to do next.
//
// # What is lost
//
// A crash may leave an unfinished end of the newest log, and nothing else. DIR/LOGS (logrecord.go) has the logs there are, and how far each was
// durable; with the MANIFEST, which says from which log on they are needed, and the marks in the log itself, the end that a crash leaves is told
// from one that was cut:
//
//	a log is removed that is needed      always told: a log is in LOGS before it holds anything
//	a log is cut after a clean stop      told to the byte
//	… after the process was killed       told down to the last acknowledged change: its end was handed to the system before it was acknowledged
//	… after the machine lost power       told below the last 1 MiB of the log, or what the system had not written out of LOGS yet (30 s on Linux)
//	a chunk in the middle is damaged     told, as above, and by the later chunks that say how far the log was durable
//	the store is emptied or removed      always told: there is a MOKA only when there has been a whole store
//
// Each is an error when the store is opened, before anything is changed. AcceptDataLoss goes on with what is before the loss. Of a MANIFEST and
// tables that are replaced by older ones of the same store nothing is known.
//
// # Reading what is not there
//
// Whoever inserts a row asks first whether it exists. Tables have filters, memtables have none; unflushed.go says how the engine
// knows that a column is in no memtable.
//
// # Dying
//
// A store whose disk fails cannot keep what it acknowledges, so it does not go on: Pebble's fatal errors end the
// process with a message. What was synced before is there at the next start. A disk that is full refuses what adds to it, before
// it comes to that, and lets rows be deleted (room.go).
package engine
