//go:build race

package kvtest

// raceEnabled makes Mem hand over messages through their codec, so that a slice shared by accident shows as wrong data.
const raceEnabled = true
