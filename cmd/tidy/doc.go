// Package tidy holds the house rules that a machine can check, as tests. Each failure says which rule and what to do.
//
//	layers     imports go down only; the SQL engine is seen by sqlfront alone
//	rooms      some packages see even less; the driver of Raft is a function
//	files      no hand-written file above 800 lines; the few that are, may only shrink
//	comments   every package begins with a comment
//	tests      no time.Sleep outside testing/synctest: wait for the event
//	words      nothing names the machine that it was written on
package tidy
