// Package system makes tables and statements of Go functions: what the server knows about itself.
//
//	table.go     Table: rows computed when they are read; Database: read-only, of such tables (moka, performance_schema)
//	objects.go   what a database has to answer so that information_schema does not fail on it
//	columns.go   kinds of columns
//	modes.go     values of sql_mode
//	variable.go  values of other system variables
//	report.go    Report: a statement of ours that answers with rows (SHOW CREATE PROCEDURE, SHOW ENGINE STATUS), or with OK
//
// It knows nothing of the store. Whoever fills a table sees what the statement's transaction sees by asking
// engine.CatalogSnapshot.
package system
