package engine

import (
	"maps"
	"os"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
)

// Settle waits for counts and analyses that have begun in the background.
func (e *Engine) Settle() {
	e.stats.Settle()
}

// SpillAt sets how many bytes a node keeps before it goes to disk, 0 for what it decides itself.
func (e *Engine) SpillAt(n int64) { e.memory.SpillAt = n }

// MakeTemp sets where the files of nodes come from, nil for the directory.
func (e *Engine) MakeTemp(f func() (*os.File, error)) { e.memory.MakeTemp = f }

// RunPlan runs a statement by its plan in the session's transaction; false if there is none.
func (s *Session) RunPlan(ctx *sql.Context, text string) (bool, error) {
	result, learn, err := s.eng.fast(ctx, &fastStatement{session: s, text: text, status: "Com_select"})
	if learn != nil {
		learn(nil)
	}
	return result != nil, err
}

// ComputedFunctions are the names of the functions that the library does not have.
func ComputedFunctions() []string { return slices.Sorted(maps.Keys(computedFunctions)) }
