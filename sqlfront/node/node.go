package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/namedlock"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

const (
	// connectionBits are those of a connection's id that the node counts with.
	connectionBits = 21
	// numbers is how many nodes there can be at a time.
	numbers = 1 << 10
)

// Options are settings of a Node.
type Options struct {
	// Client is where requests are. Required.
	Client *txn.Client
	// Locks keep the node's number. Required.
	Locks *namedlock.Locks
	// Look is how often requests of other nodes are looked for. Default 500 ms.
	Look time.Duration
	// Patience is how long an answer of another node is waited for. Default 10 s.
	Patience time.Duration
	// Logger gets what an operator should see. Default: discard.
	Logger *slog.Logger
}

// Kill is what a user wants to have ended.
type Kill struct {
	ID uint32
	// Connection ends the connection, too, not its statement alone.
	Connection bool
	// User asks for it. Everybody says that he may end what is not his.
	User      string
	Everybody bool
}

// Node is a SQL node.
type Node struct {
	opts   Options
	number uint32
	held   namedlock.Held
	kill   func(context.Context, Kill) error

	mu   sync.Mutex
	last uint32 // number of the last connection

	cancel context.CancelFunc
	tasks  sync.WaitGroup
}

// Join takes the smallest number that no node has. Close gives it back.
func Join(ctx context.Context, o Options) (*Node, error) {
	if o.Look <= 0 {
		o.Look = 500 * time.Millisecond
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	n := &Node{opts: o}
	for ; n.number < numbers; n.number++ {
		got, err := n.held.Take(ctx, o.Locks, lockName(n.number))
		if err != nil {
			return nil, fmt.Errorf("node: cannot take a number among the SQL nodes: %w", err)
		}
		if got {
			return n, nil
		}
	}
	return nil, fmt.Errorf("node: there are %d SQL nodes, which is as many as there can be; end some",
		numbers)
}

// Serve begins to answer other nodes, in the background: kill ends a connection of this node, or its
// statement.
func (n *Node) Serve(kill func(context.Context, Kill) error) {
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel, n.kill = cancel, kill
	n.tasks.Go(func() { n.serve(ctx) })
}

// Close gives the number back.
func (n *Node) Close() {
	if n.cancel != nil {
		n.cancel()
	}
	n.tasks.Wait()
	n.held.End()
}

// lockName has capital letters, which no name of a user's lock has.
func lockName(number uint32) string { return fmt.Sprintf("%s%d", lockPrefix, number) }

const lockPrefix = "NODE "

// ConnectionID is the id of a new connection. used says which ids connections have.
func (n *Node) ConnectionID(used func(uint32) bool) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if n.last++; n.last == 1<<connectionBits {
			n.last = 1
		}
		if id := n.number<<connectionBits | n.last; !used(id) {
			return id
		}
	}
}

// Others reports whether there may be other SQL nodes.
func (n *Node) Others(ctx context.Context) (bool, error) {
	taken, err := n.opts.Locks.TakenOf(ctx, lockPrefix)
	return taken > 1, err
}

// Own reports whether a connection is, or was, one of this node.
func (n *Node) Own(id uint32) bool { return id>>connectionBits == n.number }

// Ask has the node that has a connection end it. The error is that node's answer: 1094, 1095.
func (n *Node) Ask(ctx context.Context, k Kill) error {
	to := k.ID >> connectionBits
	unknown := sqlerr.New(sqlerr.NoSuchThread, "Unknown thread id: %d", k.ID)
	if alive, err := n.opts.Locks.Taken(ctx, lockName(to)); err != nil || !alive {
		if err != nil {
			return sqlerr.From(err)
		}
		return unknown
	}
	c := catalog.NodeCell(to, rand.Uint64())
	err := n.change(ctx, func(t *txn.Txn) error {
		if _, _, err := t.Get(ctx, c); err != nil { // which is the transaction's moment
			return err
		}
		r := request{until: t.Snapshot().Physical() + n.opts.Patience.Milliseconds(), id: k.ID,
			connection: k.Connection, everybody: k.Everybody, user: k.User}
		t.Put(c, r.encode(), txn.WriteOptions{})
		return nil
	})
	if err != nil {
		return sqlerr.From(err)
	}
	answer, err := n.answer(ctx, c)
	switch {
	case err != nil:
		return sqlerr.From(err)
	case answer == 0:
		return nil
	case answer == sqlerr.NotThreadOwner:
		return sqlerr.New(sqlerr.NotThreadOwner, "You are not owner of thread %d", k.ID)
	}
	return unknown
}

// answer waits for the answer to a request, and takes the request away.
func (n *Node) answer(ctx context.Context, c kv.Column) (answer uint16, err error) {
	over := time.NewTimer(n.opts.Patience)
	defer over.Stop()
	look := time.NewTicker(n.opts.Look / 5)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-over.C:
			return 0, sqlerr.New(sqlerr.LockWaitTimeout,
				"The SQL node that has the connection does not answer; it may still end it")
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		vs, err := n.opts.Client.Latest(ctx, []kv.Column{c})
		if err != nil {
			return 0, err
		}
		if !vs[0].OK { // taken away as too old
			return sqlerr.NoSuchThread, nil
		}
		r, err := decode(vs[0].Data)
		if err != nil {
			return 0, err
		}
		if r.answered {
			return r.answer, n.change(ctx, func(t *txn.Txn) error {
				t.Delete(c, txn.WriteOptions{})
				return nil
			})
		}
	}
}

// attempts bounds how often a change of a request is run again after a conflict.
const attempts = 10

func (n *Node) change(ctx context.Context, f func(*txn.Txn) error) (err error) {
	for range attempts {
		t := n.opts.Client.Begin(txn.TxnOptions{})
		if err = f(t); err == nil {
			_, err = t.Commit(ctx)
		}
		t.Rollback()
		if !errors.Is(err, txn.ErrConflict) {
			return err
		}
	}
	return err
}

// serve answers other nodes' requests.
func (n *Node) serve(ctx context.Context) {
	tick := time.NewTicker(n.opts.Look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := n.look(ctx); err != nil && ctx.Err() == nil {
			n.opts.Logger.Warn("looking for requests of other SQL nodes failed; trying again", "err", err)
		}
	}
}

// look answers the requests that are there.
func (n *Node) look(ctx context.Context) error {
	t := n.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	type row struct {
		cell kv.Column
		request
	}
	var found []row
	s := t.Scan(ctx, txn.ScanOptions{Span: catalog.NodeCells(n.number)})
	for s.Next() {
		r, err := decode(s.Value())
		if err != nil {
			r = request{} // nobody will read it: its time is over
		}
		found = append(found, row{s.Column(), r})
	}
	if err := errors.Join(s.Err(), s.Close()); err != nil {
		return err
	}
	for _, f := range found {
		r := f.request
		over := r.until < t.Snapshot().Physical()
		if r.answered && !over {
			continue
		}
		if !over {
			r.answered, r.answer = true, n.do(ctx, r)
		}
		err := n.change(ctx, func(t *txn.Txn) error {
			if over {
				t.Delete(f.cell, txn.WriteOptions{})
			} else {
				t.Put(f.cell, r.encode(), txn.WriteOptions{})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) do(ctx context.Context, r request) uint16 {
	err := n.kill(ctx, Kill{ID: r.id, Connection: r.connection, User: r.user, Everybody: r.everybody})
	if err == nil {
		return 0
	}
	return uint16(sqlerr.Code(err))
}
