// Package catalog keeps what a SQL database knows about itself: databases, tables with their columns, indexes
// and constraints, views, triggers, procedures, functions, events, observers, sequences, and a few named
// values such as the privileges.
//
// Everything is stored in the transactional key space that it describes, and changed by ordinary
// transactions. From that follows most of what one wants of DDL:
//
//   - it is atomic, and isolated: a statement sees the catalog of its snapshot, never half of a change;
//   - it survives a crash exactly as rows do;
//   - every SQL node sees it: there is no schema to broadcast, only a cell to read;
//   - of two concurrent DDL transactions one fails with txn.ErrConflict, because both write the version cell.
//
// # The three cells that matter
//
//	                    ┌─────────────┐   equal to the cached snapshot's mark: nothing else is read
//	every transaction ─>│ version     │   different: the change log says what to read again
//	  1 point read      └─────────────┘
//	                    ┌─────────────┐   Require(fence of (table, version)) travels with the commit.
//	every writer ──────>│ fence       │   DDL on the table deletes the fence and writes the next one,
//	  0 reads           └─────────────┘   so a writer with an old descriptor cannot commit beside it
//	                    ┌─────────────┐
//	AUTO_INCREMENT ────>│ sequence    │   reserved in ranges by transactions of their own
//	                    └─────────────┘
//
// A Snapshot is immutable and shared by all sessions; its descriptors keep their addresses from one version
// to the next unless they change, so the engine hangs its own objects on them. The point read can be saved:
// run on Latest, read VersionCell in the same batch as the rows, and ask IsCurrent.
//
// The fence is why no lease is needed on the writers' side where F1 ("Online, Asynchronous
// Schema Change in F1", VLDB
// 2013) needs one: there, servers may be one schema version apart and rely on the intermediate
// states alone. Here a commit
// on a stale descriptor is impossible. The states (State) are kept nevertheless: a backfill takes many
// transactions, and writers must keep the half-built index right while it runs. A writer whose table has got
// other observers or triggers meanwhile, and is the same otherwise (SameButObservers), may depend on the new
// fence instead, if what it has written is right by them.
//
// # What is promised
//
// Ids of databases, tables, observers and sequences are never used twice, not even when the transaction that
// asked for one rolled back; ids of columns and indexes never within a table. A number of a sequence is
// handed out once. Names keep their case and are compared without it.
//
// # What is not
//
// Sequences have gaps (a crash loses what was reserved, a rollback gives nothing back), and with several SQL
// nodes their numbers do not grow in commit order. Data of dropped tables stays until somebody works off the
// graves. Nothing here knows the meaning of an expression: defaults, checks and bodies are text.
//
// # Reading order
//
// descriptor.go (what there is to know), type.go (column types), keys.go (the cells, drawn),
// snapshot.go, catalog.go (reading), load.go (from one version to the next), ddl.go and objects.go
// (changing), sequence.go.
package catalog
