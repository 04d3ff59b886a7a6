// Package stats knows about how many rows tables have, and what ANALYZE TABLE has found of their indexes.
//
// Numbers of rows are counted on the shards in the background (sample.go), a bounded part of the table, and
// kept for some minutes; inserts and deletes of this process move them in between. When these are many, the
// table is analysed anew, slowly: from a sample of the rows it is worked out for each index how many distinct
// values each prefix of its columns has, and a histogram (analyze.go). What is found is one cell of the
// catalog; what one SQL node has found the others read within a minute (store.go). The planner reads all of
// it through go-mysql-server's interface for statistics (provider.go).
//
// Of a table stats sees what Table and Index say, of the engine three functions in Options: plans, sessions
// and the editor are no business of it.
package stats
