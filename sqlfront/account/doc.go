// Package account keeps the accounts of a server: who may log in, with what password and under which
// conditions, what each may do, and which roles he has.
//
//	CREATE USER, GRANT, … ──▶ parse ──▶ Statement ──▶ Directory.Execute ──▶ mysql_db (memory) ──▶ one value in the catalog
//	                                                        │                                       │
//	login (conn) ◀── Find, Check ── snapshot ◀──────────────┴───── other servers, each second ◀─────┘
//	session ◀─────── Effective
//
// The library's tables of accounts hold what they know: names, hashes, privileges, who has which role.
// What they have no field for (roles that are on by default, an expired password, how many connections) is
// in the account's attributes, a JSON object, under a key of ours that nobody is shown; so the stored
// value stays the library's, and one of an older release is read as it is.
//
// An account in memory is never changed: a change puts another one in its place, and saves all; if that
// fails the former come back. Each change also makes a snapshot, which is read without a lock: the library
// asks for privileges while it holds its own.
//
// Reading order: statement.go, directory.go (snapshot), extra.go, host.go (which account a client gets),
// secret.go, manage.go, grant.go, role.go, show.go.
package account
