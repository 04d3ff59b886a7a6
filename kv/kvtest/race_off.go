//go:build !race

package kvtest

const RaceEnabled = false
