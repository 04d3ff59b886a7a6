// Package engine opens Pebble the way a node wants it: one store for all shards of a process, with the key schema, filters
// and compaction settings that were measured for it, an identity in its directory, and a way to die.
//
// # The directory
//
// A first start creates it and writes an identity with a format version. A directory of something else, of a newer version, or
// in use by another process is refused before anything in it is touched; each refusal says what to do next.
//
// # Reading what is not there
//
// Whoever inserts a row asks first whether it exists. Tables have filters, memtables have none; unflushed.go says how the engine
// knows that a column is in no memtable.
//
// # Dying
//
// A store whose disk fails or is full cannot keep what it acknowledges, so it does not go on: Pebble's fatal errors end the
// process with a message. What was synced before is there at the next start.
package engine
