// Package servertest starts a private database server for one test: its own data directory, its own port, no
// network beyond loopback, gone when the test ends. A server that is not installed fails the test: what it
// would have shown is not shown.
package servertest
