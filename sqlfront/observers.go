package sqlfront

import (
	"moka/sqlfront/catalog"
	"moka/sqlfront/observer"
)

// newObservers connects SQL's observers with the worker that runs them, if this process has one.
func newObservers(o Options, c *catalog.Catalog, id func() uint32) *observer.Registry {
	return observer.New(observer.Options{
		ConnectionID: id,
		Client:       o.Client, Catalog: c, Store: o.Store, Worker: o.Worker, Runners: o.ObserverRunners, Logger: o.Logger,
	})
}
