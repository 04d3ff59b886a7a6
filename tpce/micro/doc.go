// Package micro compares SQL servers on two statements, a point select and an update of one row, each
// through the text protocol and prepared: how many a second, how long, and how much processor time of the
// server one statement costs.
//
//	round 1: text select   A B C | prepared select   A B C | text update   A B C | prepared update   A B C
//	round 2: text select   B C A | …
//
// All targets are measured by the same driver in the same run, in short slices that take turns, so that
// whatever else the machine does meets all of them. A figure is the median of its slices, with the smallest
// and the largest beside it. Processor time is what /proc/PID/stat counts for the server's process (user and
// system, all threads), in ticks of 10 ms: slices should be a second or longer. A server in the driver's own
// process cannot be told apart from it; measure it in a process of its own.
//
// RunSysbench does the same with the workloads of the sysbench program, and with LOAD DATA of a million rows.
package micro
