// Package backup is the form of backups on disk. A backup is what a store held at one timestamp; those of a
// chain, of which each but the first has only what has changed since the one before it, lie in one
// directory.
//
//	DIR/0000/data       records, compressed (zstd)
//	DIR/0000/MANIFEST   what it is: JSON, with the checksum of data; its own checksum is the last line
//	DIR/0001/…          the first increment
//	DIR/0002.partial/   one that was not finished: no part of the chain
//
//	record.go  Writer, Reader: the records of one backup, in the order of their keys
//	chain.go   the directory: what is there, a new one, what is wrong
//	merge.go   what the store held: the last backup says which cells there are, those before it their values
package backup
