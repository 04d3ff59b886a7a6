// Package collate makes plans compare texts as MySQL does.
//
// The library compares by the collation that MySQL's rules give for the two sides, but never pads; and where
// it hashes (IN with a list, the keys of a hash join, COUNT(DISTINCT), EXCEPT) it takes its own default
// collation, or bytes, and trusts the hash. Texts of such comparisons are replaced by their keys
// (expr.Weight, rowenc) when the iterator of a node is built. Not before: the library knows an index only for
// expressions of its own, so whoever plans by a condition looks at it before Node does.
//
//	collate.go   Node: comparisons within a node's expressions; Keys: those of a hash join; MIN, MAX, COUNT(DISTINCT), windows
//	in.go        text IN (list), text IN (subquery)
//	rowkey.go    keys that tell rows apart: GROUP BY, DISTINCT, sets (package operator has these)
//	values.go    IN of anything else
//	distinct.go  COUNT(DISTINCT), SUM(DISTINCT)
//	aggregates.go  GROUP_CONCAT of empty texts, JSON_ARRAYAGG of no rows
//	peers.go     which rows of a window are peers
//	frames.go    RANGE frames with a distance
//
// Promise: under one collation a comparison here, an order of keys in an index, and a filter on the shards
// (package pushdown) say the same.
package collate
