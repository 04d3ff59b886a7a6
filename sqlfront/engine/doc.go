// Package engine is go-mysql-server over Moka's transactions: the only place where SQL tables become cells.
//
//	Provider → Database → Table      immutable, one for each catalog descriptor; a transaction is looked up when a scan or an
//	                                 editor begins, so a plan may outlive the transaction it was made in
//	Session, Tx                      MySQL's transaction rules over package txn's; see Session for what the library leaves to us
//	scan, lookup                     index ranges → key spans → txn.Scan, or point reads in batches
//	editor                           INSERT, UPDATE, DELETE as buffered cells, statement by statement undoable
//	ddl, alter, backfill             schema changes as catalog transactions, indexes built online
//	copy*, rowmap, rewrite           ALTER TABLE that changes how rows are stored, while others write
//	fast_*                           the plan cache: frequent shapes of statements run without the planner (fast.go explains)
//	query.go                         the plan cache's queries of several tables: packages plan, exec and eval, and the store
//	body, bodystmt                   bodies of triggers and observers, compiled once (package routine), and their statements
//	fires, fire, upsert              who fires them: plans of the cache, plans of the library, REPLACE and its like; and how
//	                                 package multitable writes to several tables
//	routine*                         stored procedures and functions, and their statements in the plan cache
//	load                             LOAD DATA in sorted blocks (package textfile reads)
//	push*                            parts of plans that the shards execute (package pushdown)
//	ranges, path, merge              what a condition says about an index's keys; better ways to the rows of a Filter
//	chains                           conditions of hundreds of parts
//	ordered                          ORDER BY … LIMIT, MIN and MAX by the order of an index
//	ahead                            lookups of a join for many outer rows at once
//	stats, cardinality               tables as package stats counts and analyses them; who shows what it found
//	assign                           derived tables that assign to variables are read first
//	exec                             what the library's planner does not know (what it gets wrong: package gms)
//	view*                            views that are written through (viewwrite.go; view.go itself is the catalog's version)
//	privileges                       who may do what only the statement knows (package rights is asked first)
//	fulltext*                        FULLTEXT indexes and MATCH … AGAINST
//	implicit, locktables             statements that commit what is open; LOCK TABLES
//	zone, instants                   TIMESTAMP columns and functions in the session's time_zone
//	bodykeys, routine.PushOuterKeys  how statements of bodies find their rows
//
// A row is one cell of family 0; an index entry is one more. Family 0xFF of a row holds observers' acknowledgements and is
// skipped by scans. Writers fence the version of every table they write, so that a schema change and a writer that overlap
// cannot both commit.
//
// Read tx.go and session.go, then table.go, scan.go and editor.go.
package engine
