// Package wire is the MySQL server: sockets, greetings, authentication, and what happens around each statement.
//
// The protocol itself is vitess' and the statement's life is go-mysql-server's; this package wraps both where MySQL
// clients would notice that they are not MySQL.
//
//	accept ─▶ gate (max_connections → 1040, drain → 1053, handshake timeout)
//	             └▶ vitess: greeting, TLS, password            users: mysql_db, kept by UserStore
//	                  └▶ handler ── statement ──▶ go-mysql-server ──▶ engine
//	                        │  drain? → 1053        retry on conflict, deadline, KILL
//	                        ◀── fields with MySQL's metadata, errors with MySQL's numbers (sqlerr)
//
// Promises.
//
//   - A connection can only hurt itself: a panic below a statement is answered with an error and ends that connection.
//
//   - A statement in autocommit that lost a write-write conflict is run again, with growing random pauses, as long as
//     nothing of its result has left the server. A transaction that the client began is never retried: the client has
//     seen its reads.
//
//   - Drain lets statements that are under way finish, rolls back transactions in which none runs, refuses new ones with 1053 ("Server
//     shutdown in progress", on which drivers reconnect elsewhere), and leaves no goroutine behind.
//
//   - More clients than max_connections get 1040 after a second instead of waiting in silence; an administrator gets in; who has
//     not logged in takes nobody's place.
//
//   - root without a password exists only as root@localhost, and is the operating system's user who runs the server.
//
//   - A client that has logged in cannot make the protocol library panic or take memory without bound: commands.go sees each
//     packet first. It also answers COM_CHANGE_USER, COM_RESET_CONNECTION and COM_STATISTICS, has PREPARE parsed by our
//     parser, and ends a result that fails halfway with an error packet instead of the end of the connection.
//
// Not promised: compression.
//
// System variables live in one registry for the whole process (a property of go-mysql-server): two servers in one process
// share SET GLOBAL.
//
// Reading order: server.go, gate.go, door.go, login.go, sha2.go, commands.go, outbound.go, handler.go, retry.go, fields.go, users.go.
package wire
