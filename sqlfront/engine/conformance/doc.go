// Package conformance runs go-mysql-server's own test suite (its package enginetest) over Moka's storage: several thousand
// queries and scripts with known answers, imported, not copied.
//
//	harness_test.go   fresh engines over stores in memory; after each statement every table is compared with its indexes
//	suite_test.go     the suite's Test functions; those marked short run in make test, all of them in make conformance and make soak
//	skipped_test.go   what is left out, each with its reason
//
// A query that is left out is left out by name. The last test counts: at least 98 % of what the suite asks must be asked.
package conformance
