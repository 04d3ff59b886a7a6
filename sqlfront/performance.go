package sqlfront

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/engine"
	"moka/sqlfront/statements"
	"moka/sqlfront/system"
)

// performanceTables are those tables of MySQL's performance_schema that tools read, as far as there is something to say. Columns that
// MySQL has and that have no meaning here (temporary tables on disk, merge passes of sorts) are left out.
func (s *Server) performanceTables() []system.Table {
	named := func(columns ...string) sql.Schema {
		return sql.Schema{system.Text(columns[0]), system.Text(columns[1])}
	}
	return []system.Table{
		{TableName: "events_statements_summary_by_digest", Columns: sql.Schema{
			system.Text("SCHEMA_NAME"), system.Text("DIGEST"), system.Text("DIGEST_TEXT"), system.Number("COUNT_STAR"),
			system.Number("SUM_TIMER_WAIT"), system.Number("MIN_TIMER_WAIT"), system.Number("AVG_TIMER_WAIT"), system.Number("MAX_TIMER_WAIT"), system.Number("SUM_LOCK_TIME"), system.Number("SUM_ERRORS"),
			system.Number("SUM_ROWS_AFFECTED"), system.Number("SUM_ROWS_SENT"), system.Number("SUM_ROWS_EXAMINED"), system.Moment("FIRST_SEEN"), system.Moment("LAST_SEEN"),
			system.Number("QUANTILE_95"), system.Number("QUANTILE_99"), system.Number("QUANTILE_999"), system.Text("QUERY_SAMPLE_TEXT"),
		}, Rows: s.digestRows},
		{TableName: "global_status", Columns: named("VARIABLE_NAME", "VARIABLE_VALUE"), Rows: func(*sql.Context) ([]sql.Row, error) {
			rows := map[string]any{}
			for name, v := range sql.StatusVariables.NewGlobalMap() {
				rows[name] = v.Value()
			}
			return pairs(rows), nil
		}},
		{TableName: "session_status", Columns: named("VARIABLE_NAME", "VARIABLE_VALUE"), Rows: func(ctx *sql.Context) ([]sql.Row, error) {
			rows := map[string]any{}
			for name, v := range ctx.Session.GetAllStatusVariables(ctx) {
				rows[name] = v.Value()
			}
			return pairs(rows), nil
		}},
		{TableName: "global_variables", Columns: named("VARIABLE_NAME", "VARIABLE_VALUE"), Rows: func(*sql.Context) ([]sql.Row, error) {
			return pairs(sql.SystemVariables.GetAllGlobalVariables()), nil
		}},
		{TableName: "session_variables", Columns: named("VARIABLE_NAME", "VARIABLE_VALUE"), Rows: func(ctx *sql.Context) ([]sql.Row, error) {
			return pairs(ctx.GetAllSessionVariables()), nil
		}},
		{TableName: "persisted_variables", Columns: named("VARIABLE_NAME", "VARIABLE_VALUE"), Rows: func(ctx *sql.Context) ([]sql.Row, error) {
			rows, err := s.variables.all(ctx)
			return pairs(rows), err
		}},
		{TableName: "processlist", Columns: sql.Schema{
			system.Number("ID"), system.Text("USER"), system.Text("HOST"), system.Text("DB"), system.Text("COMMAND"), system.Number("TIME"), system.Text("STATE"), system.Text("INFO"),
		}, Rows: s.processRows},
		{TableName: "threads", Columns: sql.Schema{
			system.Number("THREAD_ID"), system.Text("NAME"), system.Text("TYPE"), system.Number("PROCESSLIST_ID"), system.Text("PROCESSLIST_USER"), system.Text("PROCESSLIST_HOST"), system.Text("PROCESSLIST_DB"),
			system.Text("PROCESSLIST_COMMAND"), system.Number("PROCESSLIST_TIME"), system.Text("PROCESSLIST_STATE"), system.Text("PROCESSLIST_INFO"),
		}, Rows: s.threadRows},
	}
}

// pairs are names and values as SHOW prints them.
func pairs(values map[string]any) []sql.Row {
	rows := make([]sql.Row, 0, len(values))
	for name, v := range values {
		text := fmt.Sprint(v)
		switch v := v.(type) {
		case nil:
			text = ""
		case int8:
			switch v {
			case 0:
				text = "OFF"
			case 1:
				text = "ON"
			}
		}
		rows = append(rows, sql.NewRow(name, text))
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i][0].(string) < rows[j][0].(string) })
	return rows
}

// seen are the digests, those that took the most time in front.
func (s *Server) seen() []statements.Digest {
	all := s.statements.Digests()
	sort.Slice(all, func(i, j int) bool { return all[i].Total > all[j].Total })
	return all
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// digestRows has times in picoseconds, as MySQL.
func (s *Server) digestRows(*sql.Context) ([]sql.Row, error) {
	ps := func(d time.Duration) uint64 { return uint64(max(d, 0)) * 1000 }
	var rows []sql.Row
	for _, d := range s.seen() {
		rows = append(rows, sql.NewRow(orNull(d.Database), orNull(d.Digest), orNull(d.Text), uint64(d.Count),
			ps(d.Total), ps(d.Least), ps(d.Total/time.Duration(max(d.Count, 1))), ps(d.Most), ps(d.Locked), uint64(d.Errors),
			uint64(d.Affected), uint64(d.Sent), uint64(d.Examined), d.First.UTC(), d.Last.UTC(), ps(d.P95), ps(d.P99), ps(d.P999), orNull(d.Sample)))
	}
	return rows, nil
}

// summaryTable is the same for people: moka.statements_summary.
func (s *Server) summaryTable() system.Table {
	ms := func(n string) *sql.Column { return &sql.Column{Name: n, Type: types.Float64} }
	return system.Table{TableName: "statements_summary", Columns: sql.Schema{
		system.Text("schema_name"), system.Text("digest"), system.Text("digest_text"), system.Number("executions"), system.Number("errors"),
		ms("total_ms"), ms("avg_ms"), ms("min_ms"), ms("max_ms"), ms("p95_ms"), ms("p99_ms"), ms("lock_ms"),
		system.Number("rows_sent"), system.Number("rows_affected"), system.Number("rows_examined"), system.Moment("first_seen"), system.Moment("last_seen"), system.Text("sample"),
		system.Number("by_plan"), system.Text("no_plan"),
	}, Rows: func(*sql.Context) ([]sql.Row, error) {
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		var rows []sql.Row
		for _, d := range s.seen() {
			rows = append(rows, sql.NewRow(orNull(d.Database), orNull(d.Digest), orNull(d.Text), uint64(d.Count), uint64(d.Errors),
				ms(d.Total), ms(d.Total/time.Duration(max(d.Count, 1))), ms(d.Least), ms(d.Most), ms(d.P95), ms(d.P99), ms(d.Locked),
				uint64(d.Sent), uint64(d.Affected), uint64(d.Examined), d.First.UTC(), d.Last.UTC(),
				orNull(d.Sample), uint64(d.Planned), orNull(d.NoPlan)))
		}
		return rows, nil
	}}
}

// jobsTable shows schema changes that take many transactions, of all servers: what runs, and the last hundred that have ended.
func (s *Server) jobsTable() system.Table {
	return system.Table{TableName: "jobs", Columns: sql.Schema{
		system.Number("id"), system.Text("kind"), system.Text("table_schema"), system.Text("table_name"), system.Text("object"), system.Text("state"), system.Number("rows_done"), system.Number("rows_estimated"),
		system.Moment("started"), system.Moment("updated"), system.Moment("finished"), system.Number("resumed"), system.Number("kill_id"), system.Text("statement"), system.Text("error"),
	}, Rows: func(ctx *sql.Context) ([]sql.Row, error) {
		all, err := s.engine.Jobs(ctx)
		if err != nil {
			return nil, err
		}
		var rows []sql.Row
		for _, j := range all {
			var finished, kill any
			if !j.Finished.IsZero() {
				finished = j.Finished
			} else {
				kill = uint64(engine.JobConnection(j.ID))
			}
			rows = append(rows, sql.NewRow(uint64(j.ID), j.Kind, j.Database, j.Table, orNull(j.Index), string(j.State), j.Rows, j.Estimated,
				j.Started, j.Updated, finished, uint64(j.Resumed), kill, orNull(j.Statement), orNull(j.Error)))
		}
		return rows, nil
	}}
}

func (s *Server) processRows(ctx *sql.Context) ([]sql.Row, error) {
	all, err := s.engine.Processes(ctx)
	var rows []sql.Row
	for _, p := range all {
		rows = append(rows, sql.NewRow(uint64(p.Connection), p.User, p.Host, orNull(p.Database), string(p.Command), p.Seconds(), orNull(p.State), orNull(p.Query)))
	}
	return rows, err
}

func (s *Server) threadRows(ctx *sql.Context) ([]sql.Row, error) {
	all, err := s.engine.Processes(ctx)
	var rows []sql.Row
	for _, p := range all {
		rows = append(rows, sql.NewRow(uint64(p.Connection), "thread/sql/one_connection", "FOREGROUND", uint64(p.Connection), p.User, p.Host, orNull(p.Database),
			string(p.Command), p.Seconds(), orNull(p.State), orNull(p.Query)))
	}
	return rows, err
}

// engineStatus is SHOW ENGINE INNODB STATUS: what it is asked for, deadlocks and transactions, in its form.
func (s *Server) engineStatus(ctx *sql.Context) (string, error) {
	names, done, err := s.names(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	var b strings.Builder
	line := strings.Repeat("-", 5)
	now := time.Now().UTC()
	fmt.Fprintf(&b, "\n=====================================\n%s Moka storage status\n=====================================\n", now.Format("2006-01-02 15:04:05"))
	found, err := s.opts.Client.Deadlocks(ctx)
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		d := found[0]
		for _, other := range found {
			if other.Time.After(d.Time) {
				d = other
			}
		}
		fmt.Fprintf(&b, "------------------------\nLATEST DETECTED DEADLOCK\n------------------------\n%s\n", d.Time.UTC().Format("2006-01-02 15:04:05"))
		victim := 0
		for i, w := range d.Cycle {
			db, table, index, key := place(names.Of(ctx, w.Column.Row))
			fmt.Fprintf(&b, "*** (%d) TRANSACTION:\nTRANSACTION %s\n%s\n*** (%d) WAITING FOR THIS LOCK TO BE GRANTED:\nRECORD LOCKS index %v of table `%v`.`%v` key %v held by trx id %s\n\n",
				i+1, w.Waiter, w.Note, i+1, index, db, table, key, w.Holder)
			if w.Waiter == d.Victim {
				victim = i + 1
			}
		}
		fmt.Fprintf(&b, "*** WE ROLL BACK TRANSACTION (%d)\n", victim)
	}
	fmt.Fprintf(&b, "------------\nTRANSACTIONS\n------------\n")
	for _, t := range s.engine.Transactions() {
		fmt.Fprintf(&b, "---TRANSACTION %s, ACTIVE %d sec\nconnection %d, user %s, %s, %s, %d columns written\n",
			t.ID, int(now.Sub(t.Began).Seconds()), t.Connection, t.User, t.Isolation, t.Mode, t.Cells)
	}
	locks, err := s.opts.Client.RowLocks(ctx)
	if err != nil {
		return "", err
	}
	for _, l := range locks {
		mode, state := "X", "held"
		if l.Shared {
			mode = "S"
		}
		if l.Waiting {
			state = "WAITING"
		}
		db, table, index, key := place(names.Of(ctx, l.Column.Row))
		fmt.Fprintf(&b, "RECORD LOCK %s %s index %v of table `%v`.`%v` key %v trx id %s, %d ms\n", mode, state, index, db, table, key, l.Owner, l.Age.Milliseconds())
	}
	fmt.Fprintf(&b, "%s\nEND OF MOKA STORAGE STATUS\n%s\n", line, line)
	return b.String(), nil
}

// showEngineStatus answers parse.Hooks.ShowEngineStatus.
func (s *Server) showEngineStatus(_ context.Context) *system.Report {
	return system.NewReport("SHOW ENGINE STATUS", sql.Schema{system.Text("Type"), system.Text("Name"), system.Text("Status")}, func(ctx *sql.Context) ([]sql.Row, error) {
		text, err := s.engineStatus(ctx)
		if err != nil {
			return nil, err
		}
		return []sql.Row{sql.NewRow("InnoDB", "", text)}, nil
	})
}
