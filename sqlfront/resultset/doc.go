// Package resultset is a result as a client gets it: what its columns are (Head), and its rows as packets
// of the text or the binary protocol. It is the one place where values of the engine become bytes of the
// protocol.
//
//	sql.Schema ──▶ Describe ──▶ Head ──▶ definitions, packed once
//	                             │
//	sql.Row ─────────────────────┴──▶ Encoder.Text, Encoder.Binary ──▶ the packet's payload
//
// How a column is encoded is decided when its Head is made. Values in the Go type that the column's type
// implies are written straight into the packet; any other value goes through the engine's own conversion
// to a text (sql.Type.SQL), which is then put right where it differs from MySQL's. TestFastIsAsSlow
// compares the two.
//
// A Head does not change once it is made: cached plans share theirs.
package resultset
