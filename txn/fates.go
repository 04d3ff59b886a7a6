package txn

import (
	"moka/kv"
	"moka/txn/recall"
)

// fates remembers decided transactions. What is decided stays decided.
type fates = recall.Cache[kv.Timestamp, *statusResponse]

const fatesSize = 2048

// decided is a shard's memory of decisions that passed by, commit_ts by start_ts (zero: rolled back), of
// this shard's primaries and of others': a reader that meets one of their locks before it is gone need not
// ask anybody. Dies with the process.
type decided = recall.Cache[kv.Timestamp, kv.Timestamp]

const decidedSize = 4096

// asked and settled are the questions that are worth sharing.
type (
	asked struct {
		startTS, push kv.Timestamp
		look          bool
	}
	settled struct {
		startTS kv.Timestamp
		tablet  kv.TabletID
	}
)
