// Command moka is the one binary, and the only place where all rooms meet.
//
//	moka start    open the store, its coordination and oracle; serve SQL, run observers, show status
//	moka demo     the same in a temporary directory, with a small TPC-E-like load and a report
//	moka learn    the papers' examples as tutorials (package learn)
//	moka tpce     the workload's client, against any MySQL-wire server or PostgreSQL
//	moka bench    the papers' experiments
//	moka cert     certificates by which nodes know each other
//	moka ctl      ask and steer a running server over its HTTP address
//	moka config   check and show settings
//
// # What is wired to what
//
//	start.go     flags → stack.Options, signals, drain
//	stack.go     the wiring:  node ← coord/local ← oracle ← txn ← triggers, sqlfront
//	http.go      /metrics /healthz /status pprof, and what ctl asks
//	trust.go     who may join as a node, certificates for clients; token.go  who may steer over HTTP
//	config.go    one name for a setting: flag, environment, file; usage.go  wrong words and flags
//
// There is no logic here that another room could own.
package main
