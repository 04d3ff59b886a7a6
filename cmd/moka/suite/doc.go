// Package suite runs everything that moka can measure, one after the other, and makes one page of it: the
// body of "moka bench all".
//
//	the papers'     Bigtable Figure 6; Percolator §2.3, Figures 8, 9, 10
//	our own         commits beside Pebble's sets, memory
//	comparisons     statements, sysbench, observers, the TPC-E-like mix: with other servers that were named
//
// Each experiment has a directory and, if it wants one, a server of moka of its own, so that none inherits
// another's files, caches or versions. An experiment that fails is a part of the page that says so; the
// others are there.
//
// Read suite.go (the order), then experiments.go (what each runs, in full and as a smoke run).
package suite
