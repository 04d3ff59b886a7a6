package engine

import (
	"os"

	"github.com/dolthub/go-mysql-server/sql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"moka/sqlfront/catalog"
	"moka/sqlfront/resultset"
)

// Settle waits for counts and analyses that have begun in the background.
func (e *Engine) Settle() {
	e.stats.Settle()
}

// SpillAt sets how many bytes a node keeps before it goes to disk, 0 for what it decides itself.
func (e *Engine) SpillAt(n int64) { e.memory.SpillAt = n }

// MakeTemp sets where the files of nodes come from, nil for the directory.
func (e *Engine) MakeTemp(f func() (*os.File, error)) { e.memory.Temp.Make = f }

// RunPlan runs a statement by its plan in the session's transaction; false if there is none. A plan that it
// makes is taken for one that the general planner has run.
func (s *Session) RunPlan(ctx *sql.Context, text string) (bool, error) {
	result, learn, err := s.eng.fast(ctx, &fastStatement{session: s, text: text, status: "Com_select"})
	if learn != nil {
		learn(s.eng.plannedHead(ctx, string(s.digest.Text)))
	}
	return result != nil, err
}

// plannedHead is the head of the result of a plan, of the right types.
func (e *Engine) plannedHead(ctx *sql.Context, text string) *resultset.Head {
	var fields []*querypb.Field
	var of []sql.Type
	for key, entry := range e.plans.entries {
		if key.text == text && entry.plan != nil && entry.plan.sel != nil {
			for _, t := range entry.plan.sel.types[:entry.plan.sel.width] {
				fields, of = append(fields, &querypb.Field{Type: t.Type()}), append(of, t)
			}
		}
	}
	if fields == nil {
		return nil
	}
	return resultset.NewHead(ctx, fields, of)
}

// Written is how many versions of tables a transaction remembers to have written, and with how many snapshots.
func (tx *Tx) Written() (tables, snapshots int) {
	snaps := map[*catalog.Snapshot]bool{}
	for _, w := range tx.wrote {
		snaps[w.snap] = true
	}
	return len(tx.wrote), len(snaps)
}
