// Package keys is the physical key encoding: the only place that knows how a shard, a locality group, a row and a version
// become one Pebble key.
//
//	              +----+---------+--------------------------------+----+
//	node-local    | 01 | space 1 | rest                           | 00 |
//	              +----+---------+-----+-----------+--------------+----+
//	shard log     | 02 | shard u32     | 'l'       | index u64    | 00 |     reserved for the replicated log
//	              +----+---------------+-----------+--------------+----+
//	shard state   | 03 | shard u32     | 'a' kind 1| id u64       | 00 |     tablets, moves under way, …
//	              +----+---------------+-----+-----+---+----------+----+-------------+-----+--------+--------+-----------+----+
//	shard data    | 03 | shard u32     | 'k' | group 1 | run u32  | table u32 | row* | 00 01 | family 1 | qualifier | 00 | wall u64  | 09 |
//	              +----+---------------+-----+---------+----------+-----------+------+-------+----------+-----------+----+-----------+----+
//	                   all integers big endian                                  |                                    |    '-- version --'
//	                                                                            '-- each 00 written as 00 FF         '-- the comparer's sentinel
//
// The comparer is CockroachDB's (pebble/v2/cockroachkvs): it compares what stands before the version bytewise, sentinel included,
// and versions descending, so that a column's newest version comes first. A key without a version sorts before the ones with.
//
//   - The node-local spaces: its record, the clock of raw writes, local coordination, the engine's marker of what is flushed.
//   - Everything of a shard is one span, and so is each of its groups, each run of a group, each row and each column.
//   - Rows are self-delimiting: 00 is written 00 FF and the row ends with 00 01, which sorts below any continuation. The table id
//     stays as it is because every row has one; it is most often 00 00 00 02, which escaped would be seven bytes.
//   - The qualifier needs no escape: it is the last thing before the sentinel, and Split finds the sentinel from the end.
//   - wall is the timestamp plus one. The key schema stores wall as a column of integers, in which zero means "this key has no
//     version": a key with a zero wall would come back from an SSTable without it. Plus one makes timestamp 0 legal.
//   - The version always takes nine bytes (wall and its length). The comparer treats a missing logical part and a zero one as
//     equal, so one encoding must be chosen, once.
package keys
