//go:build planted

package raft

// Planted is the mistake that the driver makes, by its number in the table of kv/sim; zero is none.
var Planted int

func planted(n int) bool { return Planted == n }
