// Package viewname gives the columns of a statement that writes to a view the names that they have in the
// table below, when the engine makes a statement on that table of it.
//
//	UPDATE v SET x = 1 WHERE y > 2   ──▶   UPDATE t AS v SET v.a = 1 WHERE v.b > 2 AND …
//
// Promises: a name that stands in the new statement for a column of the table below has been one of a column
// of the view. Whatever else the statement says, by the table's own name, from a subquery that has no such
// column, or beside the SELECT of an INSERT, cannot reach what the view hides: it is an unknown column
// (1054), as in MySQL.
//
// A name belongs to the innermost query around it whose tables have such a column. So it takes to know what
// those have (Renaming.Table); where that cannot be known, and the name would reach the table below, it is
// refused rather than guessed.
//
// Rejected: a name for the table below that nobody can write. Plans, EXPLAIN, triggers and foreign keys go by
// its name, and bare names would reach it still.
package viewname
