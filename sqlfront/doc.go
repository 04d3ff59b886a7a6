// Package sqlfront is Moka's SQL: a MySQL server over the transactions of package txn.
//
//	   mysql client
//	        │  MySQL protocol
//	┌───────▼────────────────────────────────────────────────────────────────┐
//	│ mysqlproto  the protocol as bytes: packets, log-in, commands, values   │
//	│ conn      sockets, log-in, retry on conflict, deadlines, drain         │  errors in the numbers of MySQL: sqlerr
//	│ pace      statements that compute for long step back for short ones    │
//	│ resultset columns and rows of a result as a client gets them           │
//	│ parse     the parser: what MySQL users write, observers' grammar       │
//	│           go-mysql-server binds, analyses, builds iterators            │
//	│ identifier  which letters names may have                               │
//	│ namedjoin USING and NATURAL JOIN written as ON, before they are bound  │
//	│ multitable  UPDATE and DELETE whose rows come from a join              │
//	│ expr      operators and functions that compute what MySQL computes     │
//	│ assign    a value becomes that of a column or a variable               │
//	│ collate   plans compare texts by collations that pad                   │
//	│ operator  sorts, groups, hash joins: what keeps rows, here or on disk  │
//	│ system    tables and statements of Go functions: what the server knows │
//	│ rights    who may do what, where the library does not ask              │
//	│ syntax    walks through all of a statement's tree                      │
//	│ upcoming  SET TRANSACTION without a scope: of the next transaction     │
//	│ routine   stored procedures and functions: bodies compiled and run     │
//	│ infoschema  information_schema, as far as it is not go-mysql-server's  │
//	│ tempfile  disk for what does not fit into memory, with a bound         │
//	│ textfile  lines and fields of the files of LOAD DATA                   │
//	│ gms       what go-mysql-server gets wrong with plans                   │
//	│ engine    databases, tables, indexes, sessions and DDL for it          │
//	│ statements  what clients run and what it costs; the slow log           │
//	│ observer  CREATE OBSERVER: bodies compiled once, run by triggers       │
//	│ namedlock GET_LOCK: locks of sessions on all servers                   │
//	│ node      one SQL node among others: its number, KILL elsewhere        │
//	│ catalog   descriptors in the store, versioned, changed by transactions │
//	│ stats     how many rows, ANALYZE TABLE: what the planner goes by       │
//	│ fulltext  words, queries and ranks of FULLTEXT indexes                 │
//	│ rowenc    rows and keys as bytes that sort as the values do            │
//	└───────┬────────────────────────────────────────────────────────────────┘
//	        ▼  Get, Scan, Put, Delete, Commit
//	      txn
//
// This package assembles them: New makes a Server out of a transaction client. Everything it knows is in the store, so
// several servers (in several processes) over the same store are the same database.
//
// What is promised.
//   - A SQL row is one cell, a statement's writes are in one transaction, a transaction is snapshot isolation by first
//     committer wins. An error that leaves it open whether a commit happened says so (SQLSTATE 08007).
//   - Whoever talks to it with a MySQL driver finds the error numbers, states, flags and metadata that the driver branches on.
//   - Nothing of go-mysql-server or vitess is visible above or beside this package.
//
// What is not: the list is in DESIGN.md, with the reasons.
//
// Reading order: this package (server.go), engine (doc, session.go, tx.go, table.go), catalog, rowenc, mysqlproto, conn, parse, observer.
package sqlfront
