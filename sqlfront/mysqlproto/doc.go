// Package mysqlproto is the MySQL protocol as bytes: packets in, messages out. It knows no sockets,
// sessions or SQL, and imports nothing of ours; package conn drives it.
//
//	Reader      packets ──▶ messages; what was cut at 16 MB is put together, and bounded before it is read
//	Writer      messages ──▶ packets, numbered and cut; rows are encoded straight into its buffer
//	Compressed  the frames of zlib and zstd, between either of them and the socket
//	Greeting, Login, ChangeUser      the connection phase; auth.go has what the two plugins compute
//	Query, Execute, LongData, Fetch  commands that have an inside; Params are what a client binds
//	OK, Column, Append…              what the server answers
//
// Promises.
//
//   - No decoder panics or takes memory by a length that it has not seen the bytes of. Each has a fuzz
//     target.
//
//   - A slice that a Reader returns is good until its next call; everything that decoders return is a
//     copy.
//
// Names are those of the manual: CLIENT_FOUND_ROWS is ClientFoundRows.
package mysqlproto
