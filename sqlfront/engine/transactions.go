package engine

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"moka/kv"
	"moka/txn"
)

// OpenTransaction is an explicit transaction of this process that has used the store and has not ended.
type OpenTransaction struct {
	ID         kv.Timestamp // of its row locks or, without any, its snapshot
	Connection uint32
	User       string
	Began      time.Time // its first use of the store
	Isolation  string
	Mode       string // moka_txn_mode
	Snapshot   kv.Timestamp
	Cells      int // in the write buffer
	Bytes      int64
}

// openTransactions is written by the sessions' own goroutines, so it keeps what may be read by others.
type openTransactions struct {
	mu sync.Mutex
	by map[*Tx]openEntry
}

type openEntry struct {
	OpenTransaction
	t *txn.Txn
}

var isolationNames = map[isolation]string{repeatableRead: "REPEATABLE READ", readCommitted: "READ COMMITTED", serializable: "SERIALIZABLE"}

func (o *openTransactions) add(tx *Tx) {
	e := openEntry{t: tx.t, OpenTransaction: OpenTransaction{
		Connection: tx.session.ID(), User: tx.session.Client().User, Began: time.Now(), Isolation: isolationNames[tx.isolation], Mode: modePessimistic,
	}}
	if tx.optimistic {
		e.Mode = modeOptimistic
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[*Tx]openEntry{}
	}
	o.by[tx] = e
}

func (o *openTransactions) remove(tx *Tx) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.by, tx)
}

// Transactions lists the open explicit transactions of this process, the oldest first.
func (e *Engine) Transactions() []OpenTransaction {
	e.open.mu.Lock()
	defer e.open.mu.Unlock()
	list := make([]OpenTransaction, 0, len(e.open.by))
	for _, x := range e.open.by {
		o := x.OpenTransaction
		o.Bytes, o.Cells = x.t.Size()
		o.Snapshot = x.t.Snapshot()
		o.ID = cmp.Or(x.t.Owner(), o.Snapshot)
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b OpenTransaction) int {
		return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Connection, b.Connection))
	})
	return list
}
