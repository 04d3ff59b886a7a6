package sqlfront

import (
	"context"
	"fmt"

	"moka/sqlfront/system"
)

// Dump is what a table of the server has, for people who look into a problem.
type Dump struct {
	Name    string
	Columns []string
	Rows    [][]string
	Cut     bool // there were more rows
	Err     error
}

// Dumps reads the tables of the database moka and the list of processes, as somebody who may see everything,
// and no more than most rows of each. What one of them fails with is in it.
func (s *Server) Dumps(ctx context.Context, most int) []Dump {
	dumps := make([]Dump, 0, len(s.tables)+1)
	for i := range s.tables {
		d := Dump{Name: "moka." + s.tables[i].TableName}
		for _, c := range s.tables[i].Columns {
			d.Columns = append(d.Columns, c.Name)
		}
		r, err := s.View(ctx, s.tables[i].TableName, most)
		d.Err = err
		d.fill(r)
		dumps = append(dumps, d)
	}
	r, err := s.Processes(ctx)
	p := Dump{Name: "processlist", Columns: r.Columns, Err: err}
	if len(r.Rows) > most {
		r.Rows, r.Cut = r.Rows[:most], true
	}
	p.fill(r)
	return append(dumps, p)
}

func (d *Dump) fill(r Result) {
	d.Cut = r.Cut
	for _, row := range r.Rows {
		texts := make([]string, len(row))
		for j, v := range row {
			texts[j] = "NULL"
			if v != nil {
				texts[j] = fmt.Sprint(v)
			}
		}
		d.Rows = append(d.Rows, texts)
	}
}

// systemTables are those of the database moka.
func (s *Server) systemTables() []system.Table {
	var all []system.Table
	for _, list := range [][]system.Table{s.observers.SystemTables(), s.lockTables(), s.tabletTables(),
		{s.summaryTable(), s.jobsTable()}} {
		all = append(all, list...)
	}
	return all
}
