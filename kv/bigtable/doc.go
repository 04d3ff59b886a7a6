// Package bigtable is the store's own coprocessor: tables with families and their garbage-collection policies, the paper's
// operations on rows (read, mutate, check-and-mutate, read-modify-write; all atomic within a row), and the METADATA lookup
// by which clients find tablets.
//
// Messages are hand-encoded with a version byte; decoders refuse junk and are fuzzed.
package bigtable
