// Package observer makes observers out of SQL: CREATE OBSERVER … FOR EACH ROW body becomes an observer of
// package triggers whose code is the body, planned once and run with NEW and OLD filled in.
//
//	CREATE OBSERVER ──parse──► statement ──► catalog (transactional; the table's version moves, so that no
//	     (statements.go)                      writer that does not know the observer can commit any more)
//	                                  │
//	registry.go  follows the catalog  ▼            compile.go                     run.go
//	  every SQL node registers what is enabled ──► body → analyzed plan, by key ──► rows from the notified cell:
//	  with its triggers.Worker                     once per schema version           NEW at the run's snapshot,
//	                                                and per runner                   OLD as last acknowledged
//
// # Which body runs
//
// A notification says that a row changed, not how: several changes may have collapsed into it. What is run is
// decided by what the observer saw last (OLD) and what is there now (NEW): no OLD and a NEW is an INSERT,
// both an UPDATE, no NEW a DELETE. A row that came and went between two runs is no event at all.
//
// An observer AFTER NOTIFY is woken by the statement NOTIFY table [WHERE condition] only (notify.go), a weak
// notification: it sees the row as NEW and conflicts with nobody.
//
// # Promises
//
// The body's writes commit together with the acknowledgement or not at all, so their effect is there exactly
// once for each change (or each group of collapsed changes), however often a worker dies. Not promised: an
// order between rows, and what is committed while the observer is disabled: missed.go counts it.
//
// system.go shows all of it as tables of the database moka.
package observer
