// Package incview keeps incremental views: tables that hold what a query with GROUP BY would answer, row by
// row of one of its tables, the anchor, as observers hear of changes.
//
//	CREATE INCREMENTAL VIEW ──parse──▶ tree ──shape.go──▶ Shape: tables, groups, arguments, aggregates;
//	                                                │     or a refusal that names the part
//	                                     tables.go  ▼
//	  the view's table   V  one row for each group: what is selected, and hidden beside it the key of
//	                        the group, its number of rows, sums and counts
//	  the contributions  C  one row for each row of the anchor: its group and the arguments, as they were
//	                        added to V last; indexed by group and argument for MIN, MAX and DISTINCT
//	  observers             one on the anchor (run.go), one on each table that is joined (referring.go)
//
// # The algebra
//
// A run for a row r of the anchor, at snapshot p, reads C(r), asks the query for the row as it is at p, takes
// away from V what C(r) says and adds what is new, writes C(r), and acknowledges: one commit. Nothing else
// writes to V or C. So V = ΣC at every timestamp, by induction over commits: two runs that share C(r) or a
// row of V conflict, and the first wins. It does not depend on what happened to the row, how often the run
// is repeated, or in which order: changes that collapse, retries, replay and backfill are all "run r". And
// C(r) is what the query says of r as it was acknowledged last: when nothing is pending, as it is.
//
// A join has no deltas. Who reads the other table at his own snapshot and adds differences counts twice what
// two runs have both seen, or loses what neither has. A change of a row s of a joined table only notifies the
// rows of the anchor that refer to it, at a snapshot that has the change: whoever refers to s then runs, and
// who comes to refer to it later has a change of his own to run for.
//
// MIN, MAX and COUNT(DISTINCT) look at C, never at the anchor's own indexes: these have values that no run
// has added yet, and that others would take into a group from which nobody takes them out again.
//
// # Promises
//
// At rest V is what the query answers. While changes wait V has each row as it was acknowledged last, which
// is not a snapshot of the tables. Runs have the rights of the view's creator, asked each time the query is
// compiled; readers need a right on the view alone.
package incview
