// Package shell is "moka sql": a small client for machines that have none. It speaks the MySQL protocol by
// go-sql-driver, like any client, and knows nothing of Moka.
//
//	split.go     statements in a text: where each ends
//	shell.go     runs them, one after the other
//	output.go    results as tables, vertically, JSON, CSV, TSV
//	terminal.go  lines from a terminal, with their history
package shell
