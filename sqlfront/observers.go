package sqlfront

import (
	"context"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/observer"
	"moka/sqlfront/pace"
	"moka/triggers"
	"moka/txn"
)

// newObservers connects SQL's observers with the worker that runs them, if this process has one.
func newObservers(o Options, c *catalog.Catalog, id func() uint32, p *pace.Pacer) *observer.Registry {
	return observer.New(observer.Options{
		ConnectionID: id,
		Client:       o.Client, Catalog: c, Store: o.Store, Worker: o.Worker, Runners: o.ObserverRunners, Logger: o.Logger,
		Pacer: p,
	})
}

// ObserverNames are the names of all observers, with their databases.
func (s *Server) ObserverNames(ctx context.Context) (map[triggers.ObserverID]string, error) {
	t := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	snap, err := s.catalog.Snapshot(ctx, t)
	if err != nil {
		return nil, err
	}
	names := map[triggers.ObserverID]string{}
	for _, o := range snap.AllObservers() {
		if d, ok := snap.DatabaseByID(o.DatabaseID); ok {
			names[triggers.ObserverID(o.ID)] = d.Name + "." + o.Name
		}
	}
	return names, nil
}

// Positions begins t's snapshot and returns what observers had not acknowledged in it, for a backup.
func (s *Server) Positions(ctx context.Context, t *txn.Txn, others bool) ([]triggers.Position, error) {
	return s.observers.Positions(ctx, t, others)
}

// Restored is a cell of a backup as it is to be in another store.
func Restored(c kv.Column, value []byte) ([]byte, error) { return catalog.Restored(c, value) }

// Lasting tells whether a cell means anything in another store, for a backup. Acknowledgements do not: see
// Positions.
func Lasting(c kv.Column) bool { return c.Family != triggers.AckFamily && catalog.Lasting(c.Row) }
