// Package parse stands between the wire and the vitess grammar: it is go-mysql-server's sql.Parser with what
// MySQL users write and that grammar does not know, and with Moka's own statements.
//
//	text ──▶ head peek ──▶ edits of the text ──▶ vitess ──▶ edits of the tree ──▶ the engine
//	            │           (FOR SHARE, BLOB(n),  grammar   (lock clause → AS OF,
//	            │            DO, @a := e, …)             BETWEEN in UPDATE, ORDER BY prefix)
//	            └──▶ CREATE/DROP/ALTER/SHOW OBSERVER, NOTIFY, COMMIT AND CHAIN: parsed here, delivered
//	                 as plain structs through Hooks, back as an injected statement
//
// Promises. A statement that needs none of this pays for looking at its first word and one pass over its
// bytes. Errors are MySQL's 1064 and point into the text that the user sent, whatever was edited: "near '…'
// at line N". No input makes it panic (fuzzed). Edits keep the meaning of the statement; where one cannot be
// sure without a catalog, the catalog is asked (Hooks.CompleteOrder) or the statement is left alone.
//
// Row locks travel as AS OF. The engine's planner reads the lock clause of a SELECT and forgets it; the AS OF
// clause of a table it hands to storage as it is. So FOR UPDATE becomes AS OF LockForUpdate on each table
// that the clause covers, and storage reads the mode back with ParseLock.
//
// Reading order: parser.go (the path of a statement), lex.go, edits.go and rewrite.go (text), tree.go,
// observer.go.
package parse
