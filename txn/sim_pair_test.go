package txn_test

import (
	"fmt"
	"math/rand/v2"

	"moka/kv"
	"moka/txn"
	"moka/txn/txntest"
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

// readPair reads both.
func (c *simClient) readPair(cl *txn.Client, name string) {
	r := &txntest.Record{Name: name, Began: c.s.history.Now(), Latest: true, Outcome: txntest.Aborted}
	columns := []kv.Column{pair(0), pair(1)}
	vs, err := cl.Latest(c.ctx, columns)
	if r.Ended = c.s.history.Now(); err != nil {
		return
	}
	for i, v := range vs {
		r.Reads = append(r.Reads, txntest.Read{Column: columnName(columns[i]), Value: string(v.Data)})
	}
	c.s.history.Add(r)
}
