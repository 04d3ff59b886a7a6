//go:build !planted

package raft

// planted is always false: the mistakes exist only in the simulator's build with the tag "planted", and cost nothing here.
func planted(int) bool { return false }
