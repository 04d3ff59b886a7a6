// Package local is the coordination service of a single process, kept on the node's own Pebble: moka start on a laptop
// needs no etcd. It is the state machine of package core with a journal; everything is read once, at Open, and
// from then on only written.
//
// # On disk
//
// All keys begin with the caller's prefix and end with 0x00, the sentinel with which the node's comparer marks a key
// without a version. All integers of fixed width are big endian, uvarint is encoding/binary's.
//
//	<prefix> 'm' 0x00                  meta      | version 1 B = 1 | revision 8 B |
//	<prefix> 'k' <key> 0x00            key       | version 1 B = 1 | create rev uvarint | mod rev uvarint | session uvarint | value … |
//	<prefix> 's' <id 8 B> 0x00         session   | version 1 B = 1 | flags 1 B | ttl in ns uvarint |
//	                                               bit 0 detached · bits 1-7 zero (a set bit: a newer writer, refuse)
//
// Every change is one synced batch that carries the new revision, so the revision never falls behind what it numbers. Nothing
// here is read on a hot path: an LSM walks all older entries of a key that is set over and over, as the meta key is.
//
// # Restart
//
// The store admits one process at a time, so at Open the holders of all ordinary sessions are known to be dead: their
// sessions end at once, before the service answers, and a restarted node need not wait for its own former lease. Detached
// sessions, whose holders live in other processes, go on with a fresh TTL and end unless renewed.
package local
