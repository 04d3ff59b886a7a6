// Package outbox measures observers against what people use where there are none: the outbox, a table of
// events that a trigger fills in the writer's transaction, and workers that take events from it with
// SELECT … FOR UPDATE SKIP LOCKED, do what is to be done, and delete them, in one transaction.
//
//	change      INSERT INTO event                                      one row, committed by itself
//	            Moka: an observer       others: a trigger ─▶ outbox ─▶ workers, a batch at a time
//	effect      INSERT INTO effect                                     its derived row, exactly once
//
// Three things are run against each server in turns: one writer, several writers, and a backlog that has
// gathered while nobody took anything. A slice ends when every change has its effect, which is counted; so a
// server that lags behind is slower, not ahead. Latency is from the answer to the change's commit until a
// client sees the effect, of one change in some; the client asks until it does, on every server alike.
// Processor time is that of the server's processes; the workers' own, in this process, is not in it.
package outbox
