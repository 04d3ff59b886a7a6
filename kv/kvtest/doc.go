// Package kvtest is the store in memory: kv.Store and a host of coprocessors without disk, network or goroutines of its own.
//
//	Mem ── tablet map ──► shard 1: ordered tables by locality group, row latches, coprocessors' states
//	                      shard 2: …
//
// It keeps the promises of kv's coprocessor seam that layers above lean on, and keeps them visibly:
//
//   - write commands run under the latches of their rows, several at a time;
//   - a batch is visible before it is durable (Options.SyncDelay is the gap), sets in in-memory groups a moment before it,
//     deletes there only after it is durable;
//   - guards are visible at once and gone when the command has ended;
//   - Restart is a kill -9: guards, states and what was not synced are lost (Options.Crash);
//   - Depose ends a leadership and Lead begins the next, at any moment: states and guards are lost, what is
//     visible is not, and what was under way is applied before the next one begins, or never;
//   - Split and Move change generations; a caller with an old one gets kv.ErrMoved, once, and a corrected cache.
//
// Mem uses nothing but mutexes, channels and timers, so that it runs inside a testing/synctest bubble, where Pebble does
// not. It never holds a mutex while it waits.
//
// Faulty wraps any kv.Store and loses requests, loses replies after the work was done (the worst and therefore the usual
// evil), doubles and delays, by a seeded generator or by a hook.
//
// Mem is also the slow and simple machine that the real one is compared with: prefer obvious code here.
package kvtest
