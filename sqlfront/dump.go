package sqlfront

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/rights"
	"moka/sqlfront/system"
	"moka/txn"
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
	session := s.engine.NewSession(sql.NewBaseSessionWithClientServer("moka",
		sql.Client{User: "root", Address: "localhost"}, 0))
	defer session.SessionEnd()
	sctx := sql.NewContext(ctx, sql.WithSession(session))
	t := s.opts.Client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	sctx.SetTransaction(s.engine.Adopt(t))
	dumps := make([]Dump, 0, len(s.tables)+1)
	for _, t := range s.tables {
		d := Dump{Name: "moka." + t.TableName}
		for _, c := range t.Columns {
			d.Columns = append(d.Columns, c.Name)
		}
		var rows []sql.Row
		d.Err = rights.As(sctx, s.engine.Accounts(), func() (err error) {
			rows, err = t.Rows(sctx)
			return err
		})
		d.fill(rows, most)
		dumps = append(dumps, d)
	}
	p := Dump{Name: "processlist",
		Columns: []string{"Id", "User", "Host", "db", "Command", "Time", "State", "Info"}}
	all, err := s.engine.Processes(sctx)
	p.Err = err
	var rows []sql.Row
	for _, x := range all {
		rows = append(rows, sql.NewRow(x.Connection, x.User, x.Host, x.Database, x.Command, x.Seconds(),
			x.State, x.Query))
	}
	p.fill(rows, most)
	return append(dumps, p)
}

func (d *Dump) fill(rows []sql.Row, most int) {
	for i, r := range rows {
		if i == most {
			d.Cut = true
			return
		}
		texts := make([]string, len(r))
		for j, v := range r {
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
