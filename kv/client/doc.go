// Package client routes commands to shards: it is the kv.Store that the layers above are given.
//
//	Locate(row) ──► cache: ordered map of tablets ── miss ──► Locator (METADATA), one lookup at a time for each gap
//	                  ▲ corrected by ErrMoved
//	Call(shard) ──► shard → node ──┬─► this process: Handler.Handle, a plain function call
//	                               └─► another node: Remote.Call (rpc.Pool)
//
// # The cache is a guess, the shard decides
//
// A command carries the tablets it touches with the generations it was routed by, and the shard refuses what it does not
// serve in that form (kv.ErrMoved, with the present descriptions). So a wrong entry costs a round trip and never a wrong
// answer, and nothing has to be told to caches when tablets split, merge or move.
//
//	L1  For every row the generation of the tablet that holds it only grows with time: a split gives both halves, a merge the
//	    whole, a move the tablet a generation above all that it came from. So of two overlapping descriptions the one
//	    with the greater generation is the later one, and the cache replaces none by an older one. (The node that
//	    splits, merges or moves owes this rule; the cache relies on it for speed, not for safety.)
//	L2  ErrMoved is returned after the cache was corrected: to locate again makes progress.
//	L3  Only errors that promise that nothing happened (kv.ErrBusy, kv.ErrUnavailable, kv.ErrClosed, kv.ErrNotLeader) are tried again here,
//	    for reads and writes alike, after a pause, for a bounded time. A write whose outcome is unknown is the caller's to
//	    settle, for only he knows what it meant.
//
// Where a shard is led is such a guess as well (leads.go). A node that does not lead says so
// (kv.ErrNotLeader), and who does if it knows: that one is asked at once. Without a name, or if the node
// cannot be reached, the other replicas are asked one after the other, and then there is a pause.
//
//	L4  A hint with a greater term wins, one with a smaller term is no news.
//
// # In the same process
//
// The message's pointer is handed over: arguments are immutable after the call, results belong to the caller. The race
// build sends messages through their codecs instead, so that code that breaks the rule, or a field that a codec forgot,
// shows in tests although everything runs in one process.
//
// Read client.go, then cache.go (L1) and leads.go (L4), then metadata.go.
package client
