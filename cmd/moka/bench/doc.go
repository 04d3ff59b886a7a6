// Package bench repeats the experiments of the papers on a machine of yours: the bodies of "moka bench".
//
//	oracle    Percolator §2.3  timestamps a second that 64 callers receive
//	micro     Percolator Fig 8 single-cell reads and writes, raw store against transactions
//	bigtable  Bigtable Fig 6   random and sequential reads and writes, scans, 1,000-byte values
//	commit    durable commits of one row against Pebble's own synced sets
//	memory    resident memory while cells are loaded, against the configured cache
//
// An experiment is a Config, a function that runs it, and a Report, which prints as a table, as one
// line of JSON, and as SVG bars. None of them asserts how fast the machine is; what they assert is that
// the answers were right.
//
//	experiment ── Store ──┬── in this process: node, oracle, function calls
//	 (callers)            └── Child: the same command in a process of its own, reached over loopback gRPC
//
// What is compared is measured in one run, in slices that take turns, so that whatever else the machine does
// meets both sides. Processor time is counted for both processes together.
//
// The package uses txn, oracle and what is below them, and measures below SQL; what SQL costs is
// moka bench sql's business.
//
// Read child.go and server.go (what is measured), load.go (how), then the experiment.
package bench
