//go:build !race

package kvtest

const raceEnabled = false
