// Package conn is the MySQL server: sockets, greetings, authentication, and what happens around each
// statement. The bytes are mysqlproto's, the rows resultset's, the statement's inside the engine's.
//
//	accept ─▶ gate (max_connections → 1040, drain → 1053, time for a login)
//	             └▶ handshake: greeting, TLS, password (login.go, door.go), session, compression
//	                  └▶ commands ── run ── attempts ──▶ a plan, or go-mysql-server's engine
//	                        │   drain? → 1053     again on a conflict, deadline, KILL
//	                        ◀── reply: columns, rows, OK, errors with MySQL's numbers (sqlerr)
//
// Promises.
//
//   - A connection can only hurt itself: a panic below a statement is answered with an error and ends
//     that connection.
//
//   - A statement in autocommit that lost a write-write conflict is run again, with growing random
//     pauses, as long as nothing of its answer has left the server. A transaction that the client began
//     is never retried: the client has seen its reads.
//
//   - Drain lets statements that are under way finish, rolls back transactions in which none runs,
//     refuses new ones with 1053 ("Server shutdown in progress", on which drivers reconnect elsewhere),
//     and leaves no goroutine behind.
//
//   - More clients than max_connections get 1040 after a second instead of waiting in silence; an
//     administrator gets in; who has not logged in takes nobody's place, and has the server keep 64 KiB
//     at most.
//
//   - root without a password exists only as root@localhost, and is the operating system's user who runs
//     the server.
//
//   - The statement of a client that has gone is cancelled, within a tenth of a second.
//
//   - A statement that has run for half a second steps back while more goroutines want a processor than
//     four for each (package pace): who logs in, kills or asks for a row is not behind hundreds that compute.
//
// System variables live in one registry for the whole process (a property of go-mysql-server): two servers
// in one process share SET GLOBAL.
//
// Reading order: server.go, gate.go, handshake.go, login.go, connection.go, loop.go, query.go, execute.go,
// reply.go, watch.go.
package conn
