// Package client speaks to the servers under test: connections and prepared statements, transactions
// that are run again while the engine asks for it, what the servers' errors mean, and the processor time
// that a local server uses.
//
// A Family is what differs between servers: the MySQL wire (Moka, MariaDB, MySQL) and PostgreSQL. A Session
// is one connection; Retry runs a transaction on it and learns, after a COMMIT that was not answered, whether
// it happened. Nothing here knows the workload's tables.
package client
