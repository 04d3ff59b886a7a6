package txn_test

import (
	"fmt"
	"math/rand/v2"

	"moka/kv"
	"moka/txn"
)

// What only some tests have their clients do, by its case in run: blind writes of one of two neighbours, and
// reads of both without a snapshot. Nothing but those reads keeps the commits in order here.
const (
	simWritePair = 19
	simReadPair  = 20
)

func pair(i int) kv.Column { return col(fmt.Sprintf("pair%d", i)) }

// writePair writes one of the neighbours without having read anything, so no snapshot is above its start.
func (c *simClient) writePair(cl *txn.Client, name string, rng *rand.Rand) {
	t := c.begin(cl, name, txn.TxnOptions{})
	t.put(pair(rng.IntN(2)), name, txn.WriteOptions{})
	t.end(c.ctx, nil)
}
