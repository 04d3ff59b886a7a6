//go:build !planted

package sim

func planted(int) bool { return false }
