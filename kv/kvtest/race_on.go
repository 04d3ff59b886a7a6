//go:build race

package kvtest

// RaceEnabled makes Mem hand over messages through their codec, so that a slice shared by accident shows as wrong data.
const RaceEnabled = true
