// Package boottime is the clock that goes on while the machine sleeps, which Go's monotonic clock does not:
// what a lease has to be measured by.
package boottime
