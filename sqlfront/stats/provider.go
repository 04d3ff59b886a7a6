package stats

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// Provider is a store as go-mysql-server's planner, and ANALYZE TABLE, see it.
type Provider struct {
	*Store
	// TableOf finds the table behind what the planner has wrapped around it; nil for one of which
	// there are no statistics.
	TableOf func(sql.Table) Table
}

var _ sql.StatsProvider = Provider{}

// GetTableStats implements sql.StatsProvider: one for each index, or none.
func (p Provider) GetTableStats(ctx *sql.Context, _, _ string, table sql.Table) ([]sql.Statistic, error) {
	t := p.TableOf(table)
	if t == nil || t.IsTemporary() {
		return nil, nil
	}
	return p.Statistics(ctx, t), nil
}

// AnalyzeTable implements sql.StatsProvider.
func (p Provider) AnalyzeTable(ctx *sql.Context, table sql.Table, _ string) error {
	t := p.TableOf(table)
	if t == nil || t.IsTemporary() {
		return nil
	}
	s, err := p.compute(ctx, t, nil)
	if errors.Is(err, txn.ErrNoProgram) {
		return sqlerr.Unsupported("ANALYZE TABLE while a storage node of an earlier release is running")
	}
	if err != nil {
		return sqlerr.From(err)
	}
	p.set(t.Descriptor().ID, s)
	return nil
}

// SetStats implements sql.StatsProvider: ANALYZE TABLE … UPDATE HISTOGRAM … USING DATA, for
// the life of this process.
func (p Provider) SetStats(_ *sql.Context, s sql.Statistic) error {
	p.given(s)
	return nil
}

// GetStats implements sql.StatsProvider.
func (p Provider) GetStats(_ *sql.Context, qual sql.StatQualifier, cols []string) (sql.Statistic, bool) {
	return p.givenFor(qual, cols)
}

// DropStats implements sql.StatsProvider.
func (p Provider) DropStats(_ *sql.Context, qual sql.StatQualifier, cols []string) error {
	p.dropGiven(func(s sql.Statistic) bool {
		q := s.Qualifier()
		return strings.EqualFold(q.Database, qual.Database) && strings.EqualFold(q.Tab, qual.Tab) &&
			slices.EqualFunc(s.Columns(), cols, strings.EqualFold)
	})
	return nil
}

// DropDbStats implements sql.StatsProvider.
func (p Provider) DropDbStats(_ *sql.Context, _, db string, _ bool) error {
	p.dropGiven(func(s sql.Statistic) bool { return strings.EqualFold(s.Qualifier().Database, db) })
	return nil
}

// RowCount implements sql.StatsProvider.
func (p Provider) RowCount(ctx *sql.Context, _, _ string, table sql.Table) (uint64, error) {
	if t, ok := table.(sql.StatisticsTable); ok {
		n, _, err := t.RowCount(ctx)
		return n, err
	}
	return 0, nil
}

// DataLength implements sql.StatsProvider.
func (p Provider) DataLength(ctx *sql.Context, _, _ string, table sql.Table) (uint64, error) {
	if t, ok := table.(sql.StatisticsTable); ok {
		return t.DataLength(ctx)
	}
	return 0, nil
}
