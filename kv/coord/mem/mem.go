// Package mem is the coordination service in memory: for tests, for the simulator, and for a server that keeps
// nothing. With the default clock it follows a testing/synctest bubble.
package mem

import "moka/kv/coord/internal/core"

// Options of a service; zero values mean the defaults.
type Options = core.Options

// Service is a coord.Service. Its revisions start at zero with every New.
type Service struct{ *core.Service }

// New starts an empty service. Close it to stop its timers.
func New(o Options) *Service { return &Service{core.New(core.State{}, nil, o)} }
