// Package plan makes physical plans of queries.
//
// A plan (Query) is made once for a statement's text from what go-mysql-server's binder has made of it
// (lower.go): which tables in which order (order.go), by which index each of them is read for the rows of
// those before it (access.go), which condition is looked at where, what is grouped, sorted and cut. It is
// immutable, holds no value of a parameter, no session, no snapshot and no statistics, and is shared by all
// who run it (package exec).
//
//	SELECT b.x, SUM(c.y) FROM a JOIN b ON b.a_id = a.id LEFT JOIN c ON c.b_id = b.id
//	WHERE a.k = ? GROUP BY b.x ORDER BY 2 LIMIT 10
//
//	Sources   a by index k = ?          slots 0..1 of the row
//	          b by index a_id = slot 0  slots 2..4
//	          c by index b_id = slot 2  slots 5..6, Left
//	Group     by slot 3; SUM of slot 6
//	Columns   the result's, behind them what is sorted by
//
// What is not known here has no plan: Lower returns ErrUnsupported, with a word about what it was, and the
// statement goes to the general planner.
package plan
