// Package multitable runs UPDATE and DELETE whose rows come from a join.
//
//	UPDATE p JOIN c ON c.pid = p.id SET p.n = p.n + 1, c.seen = p.n
//	   │  1. the rows of the join, read to the end before anything is written
//	   ▼
//	each row of p and of c once, with what is assigned to it      a key for each, charged to the statement
//	   │  2. table by table, in the order of FROM; of a table in the order in which the rows were met
//	   ▼
//	Table (row.go)                                                triggers, checks, foreign keys, the store
//
// A row that the join has met several times is changed once, by the first of them: MySQL keeps the row's id
// in a temporary table with a unique key. What is assigned is computed of the values as read, so that in the
// statement above c.seen is p.n as it was. (An UPDATE of one table whose condition has become a join assigns
// from left to right, as any UPDATE of one table.) Each row that was met counts as matched and fires
// triggers, whether or not it is going to be another one: BEFORE UPDATE has yet to say that.
//
// By the time that a row's turn has come, the statement may have changed it already: under another alias, or
// by a foreign key's CASCADE. Table.Rows reads it again then; what is assigned goes into the row as it is
// now, and a row that is gone is left out.
//
// What an outer join has put in the place of a row is NULL in all columns. A row of a table without a primary
// key can look the same, on the far side of such a join, and is left alone then.
//
// Of a table the engine says how its rows are told apart, read and written, and what fires. The package also
// corrects what go-mysql-server does before rows are read: names.go finds the tables that are written to by
// database and alias, where it goes by names alone, and valid.go refuses what MySQL refuses.
package multitable
