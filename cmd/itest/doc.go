// Package itest tests Moka from the outside: it builds the binary, starts real processes on loopback, speaks
// to them with ordinary clients, kills them with SIGKILL, fills their disk, and looks at what is there
// afterwards. It holds tests only.
package itest
