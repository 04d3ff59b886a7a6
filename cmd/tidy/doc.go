// Package tidy holds the house rules that a machine can check, as tests. Each failure says which rule and
// what to do.
//
//	layers     imports go down only; the SQL engine is seen by sqlfront alone
//	rooms      some packages see even less; the driver of Raft is a function
//	sql        which packages of sqlfront may import which; go-mysql-server and vitess spread no further
//	size       no package above 40 files or 10,000 lines without tests, no line above 110 columns; what is
//	           only shrinks
//	files      no hand-written file above 800 lines; the few that are, may only shrink
//	comments   every package begins with a comment
//	tests      no time.Sleep outside testing/synctest: wait for the event
//	words      nothing names the machine that it was written on
package tidy
