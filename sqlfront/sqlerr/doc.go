// Package sqlerr is the one place that knows MySQL's error numbers, SQLSTATEs and texts.
//
// Clients do not read our sentences, they compare numbers: an ORM retries on 1213, maps 1062 to an integrity violation
// only when the state is 23000, and creates its migration table when it sees 1146. So an error that leaves the server
// passes two doors here, and no other package writes a number:
//
//		txn, kv, context errors ──▶ From ──▶ *mysql.SQLError ─┐
//		                                                      ├─▶ the engine ──▶ Final ──▶ the wire
//		go-mysql-server's errors (1105, HY000, own texts) ────┘
//
//	  - From translates what our own layers return. The SQL engine calls it wherever an error of ours would otherwise enter
//	    go-mysql-server, because that library maps errors by their exact Go type: an error wrapped with %w arrives at the
//	    client as 1105 "unknown error" whatever it was. Errors that From does not know come back unchanged; the engine's own
//	    kinds (unique key with its existing row, for instance) must keep their type inside the engine.
//	  - Final runs once for each failed statement, in the wire handler. It puts the right state beside a right number
//	    (go-mysql-server sends 1062 with HY000) and turns the library's 1105s into the numbers that MySQL would have used,
//	    by matching the message against the library's own message templates (table.go). A statement that succeeds pays
//	    nothing for it.
//
// The constructors (DuplicateEntry, UnknownTable, …) are for code that knows exactly what went wrong.
package sqlerr
