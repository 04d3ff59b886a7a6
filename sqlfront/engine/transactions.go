package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/upcoming"
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

// characteristics are what SET TRANSACTION without SESSION says of the next transaction, and of no other:
// nil is what the session has. A transaction that takes them has the pointer, and it is by the pointer that
// its end knows whether they are still those which the session keeps for the next one. So they are never
// written to.
type characteristics struct {
	isolation *isolation
	readOnly  *bool
}

// Upcoming implements upcoming.Session: SET TRANSACTION, and SET @@transaction_isolation or
// @@transaction_read_only. As in MySQL a transaction is in progress from BEGIN on, or from the first look
// at a table if autocommit is off, and bodies that run within a statement set nothing.
func (s *Session) Upcoming(ctx *sql.Context, name string, value any) error {
	v, _, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		return sql.ErrUnknownSystemVariable.New(name)
	}
	if s.GetIgnoreAutoCommit() || s.lends == lendsAll || s.tx() != nil && s.tx().began() {
		return sqlerr.New(sqlerr.CantChangeTransaction,
			"Transaction characteristics can't be changed while a transaction is in progress")
	}
	val, err := valueOf(ctx, v, value, v.SetValue)
	if err != nil {
		return err
	}
	var next characteristics
	if s.upcoming != nil {
		next = *s.upcoming
	}
	if strings.EqualFold(name, upcoming.IsolationVariable) {
		level := isolationOf(val.Val)
		next.isolation = &level
	} else {
		on := val.Val == int8(1)
		next.readOnly = &on
	}
	s.upcoming = &next
	s.recharacterize(ctx)
	return nil
}

// recharacterize is called when the characteristics have changed: with autocommit off the statement that
// has done so has begun the next transaction itself, of which nobody has seen anything yet.
func (s *Session) recharacterize(ctx *sql.Context) {
	if tx := s.tx(); tx != nil && tx.session != nil && !tx.began() {
		tx.restart()
		s.characterize(ctx, tx)
	}
}

// characterize gives a transaction that has not begun what the session has for it.
func (s *Session) characterize(ctx *sql.Context, tx *Tx) {
	tx.isolation, tx.readOnly, tx.took = s.isolation(ctx), s.readsOnly(ctx), s.upcoming
	if s.upcoming != nil && s.upcoming.isolation != nil {
		tx.isolation = *s.upcoming.isolation
	}
	if s.upcoming != nil && s.upcoming.readOnly != nil {
		tx.readOnly = *s.upcoming.readOnly
	}
	tx.readOnly = tx.readOnly || tx.asOf != 0
}

// readsOnly reports whether transactions of the session are READ ONLY.
func (s *Session) readsOnly(ctx *sql.Context) bool {
	v, err := s.GetSessionVariable(ctx, upcoming.AccessModeVariable)
	return err == nil && v == int8(1)
}

// announce is told of a statement that has a word on the characteristics of the next transaction. START
// TRANSACTION READ WRITE is SET TRANSACTION READ WRITE before it, COMMIT and ROLLBACK are the end of what
// is in progress, if it is nothing, too.
func (s *Session) announce(stmt ast.Statement) {
	switch b := stmt.(type) {
	case *ast.Begin:
		if b.TransactionCharacteristic != ast.TxReadWrite {
			return
		}
		next, off := characteristics{}, false
		if tx := s.tx(); s.upcoming != nil && (tx == nil || !tx.began()) {
			next = *s.upcoming
		}
		next.readOnly = &off
		s.upcoming = &next
	case *ast.Commit, *ast.Rollback:
		s.upcoming = nil
	}
}

// spend forgets the characteristics that a transaction has had, unless its statement goes on elsewhere.
func (s *Session) spend() {
	if s.spent != nil && s.spent == s.upcoming {
		s.upcoming = nil
	}
	s.spent = nil
}

// began reports whether the transaction is in progress, or was at its end: the client has asked for it, or a
// statement has looked at a table.
func (tx *Tx) began() bool {
	tx.lookMu.Lock()
	defer tx.lookMu.Unlock()
	seen := tx.used.Load() || len(tx.looked) > 0 || len(tx.locked) > 0
	return tx.session != nil && tx.session.GetIgnoreAutoCommit() || tx.ddl || seen || len(tx.fenced) > 0 || tx.dirty()
}

// Chain implements parse.Chainer: COMMIT AND CHAIN begins a transaction of the characteristics of the last.
func (s *Session) Chain(ctx *sql.Context, last sql.Transaction) (sql.Transaction, error) {
	next, err := s.StartTransaction(ctx, sql.ReadWrite)
	if was, ok := last.(*Tx); ok && err == nil {
		tx := next.(*Tx)
		tx.isolation, tx.readOnly = was.isolation, was.readOnly || tx.asOf != 0
	}
	return next, err
}

var (
	_ upcoming.Session = (*Session)(nil)
	_ parse.Chainer    = (*Session)(nil)
)
