// Package operator has the operators of a plan that keep rows: sorts, groups, the hashed side of a join,
// DISTINCT, UNION and its like.
//
// Nodes of a plan that keep rows (sorts, groups, the hashed side of a join, DISTINCT, windows, cached
// subqueries) are charged for them to the statement's account, by an estimate of a row's size. A statement
// that goes over moka_query_memory fails with 3170 (a sort: 1038, after it has put on disk what it could),
// and so does the one that would take the sum of all statements over what the process has to give. What
// streams costs nothing.
//
//	Sort                 rows; from a quarter of the limit on in sorted runs on disk (sort.go)
//	TopN                 the first n rows
//	GroupBy              groups; all rows, if an aggregate keeps its values (GROUP_CONCAT, COUNT(DISTINCT), JSON_ARRAYAGG …);
//	                     from a quarter of the limit on, rows of further groups on disk (groups.go)
//	JoinNode by hash     rows of the right side; from a quarter of the limit on, both sides on disk (hashjoin.go)
//	HashLookup, CachedResults, Window     rows
//	Distinct, UNION      a key for each row (collate.RowKeys); from a quarter of the limit on further rows go to disk (distinct.go)
//	EXCEPT, INTERSECT    a key for each row of the right side (setop.go)
//	RecursiveCte         the rows of two rounds; of UNION DISTINCT a key for each row (recursive.go)
//
// The store is not known here: rows come from iterators that somebody else has built (rowexec.BaseBuilder,
// which asks the engine's seam first), memory is counted in a Pool that all sessions share, and EXPLAIN
// ANALYZE listens through a Meter.
//
// Read memory.go (who is charged), builder.go (what is built), spill.go (rows on disk), then
// hashjoin.go, the longest.
package operator
