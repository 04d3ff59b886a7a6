// Package statements keeps account of what clients run and what it costs.
//
//	conn, at the end of each statement ──► Execution ──► Recorder.Record   one line of the summary for each digest: performance_schema,
//	                                                │                       moka.statements_summary
//	                                                └──► Recorder.Slow     the slow log, if it took long_query_time or more
//
// A digest is a statement without its values: comments and literals are taken out, space is made one blank,
// lists of values are one value (digest.go). At most Options.Digests of them are kept; which goes when there
// is no room, and what becomes of its counts, is in summary.go. Recording a statement whose digest is known
// takes no lock that excludes others and no allocation.
//
// The slow log is written in MySQL's format, which mysqldumpslow and pt-query-digest read (slow.go).
package statements
