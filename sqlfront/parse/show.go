package parse

import (
	"context"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/routine"
)

// show looks at a SHOW statement. What MySQL answers from its dictionaries with columns renamed becomes
// the SELECT that it is.
func (r *rewriter) show(ctx context.Context, l *lexer, head token) (ast.Statement, int, bool, error) {
	t := l.next()
	if l.is(t, "extended") {
		ahead := *l
		if n := ahead.next(); ahead.is(n, "index") || ahead.is(n, "indexes") || ahead.is(n, "keys") {
			r.edits.blank(t.start, t.end)
			*l, t = ahead, n
		}
	}
	switch {
	case l.is(t, "observers"):
		return r.showObservers(ctx, l)
	case l.is(t, "create"):
		switch n := l.next(); {
		case l.is(n, "observer"):
			return r.showCreateObserver(ctx, l)
		case l.is(n, "incremental"):
			return r.incremental(ctx, l, ShowCreateIncremental)
		case l.is(n, "procedure"):
			return r.showCreateRoutine(ctx, l, routine.Procedure)
		case l.is(n, "function"):
			return r.showCreateRoutine(ctx, l, routine.Function)
		}
	case l.is(t, "procedure"):
		r.showRoutines(l, head, routine.Procedure)
	case l.is(t, "function"):
		r.showRoutines(l, head, routine.Function)
	case l.is(t, "index"), l.is(t, "indexes"), l.is(t, "keys"):
		return nil, 0, false, r.showIndexes(l, head)
	case l.is(t, "local"):
		r.edits.replace(t.start, t.end, "session")
	case l.is(t, "schemas"):
		r.edits.replace(t.start, t.end, "databases")
	case l.is(t, "engine"):
		if name := l.next(); name.kind == word || name.kind == quoted {
			switch what := l.next(); {
			case l.is(what, "status") && r.parser.hooks.ShowEngineStatus != nil:
				end, err := r.statementEnd(l, l.next())
				if err != nil {
					return nil, 0, true, err
				}
				stmt, err := r.parser.hooks.ShowEngineStatus(ctx)
				return stmt, end, true, err
			case l.is(what, "mutex"), l.is(what, "logs"):
				r.showNothing(l, head, "Type", "Name", "Status")
			}
		}
	case l.is(t, "storage"):
		if n := l.next(); l.is(n, "engines") {
			r.edits.blank(t.start, t.end)
		}
	case l.is(t, "errors"):
		if r.parser.hooks.ShowErrors != nil {
			end, err := r.statementEnd(l, r.skipLimit(l, l.next()))
			if err != nil {
				return nil, 0, true, err
			}
			stmt, err := r.parser.hooks.ShowErrors(ctx)
			return stmt, end, true, err
		}
	case l.is(t, "profiles"):
		r.showNothing(l, head, "Query_ID", "Duration", "Query")
	case l.is(t, "profile"):
		r.showNothing(l, head, "Status", "Duration")
	case l.is(t, "open"):
		if n := l.next(); l.is(n, "tables") {
			r.showNothing(l, head, "Database", "Table", "In_use", "Name_locked")
		}
	case l.is(t, "binlog"), l.is(t, "relaylog"):
		if n := l.next(); l.is(n, "events") {
			r.showNothing(l, head, "Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info")
		}
	case l.is(t, "slave"), l.is(t, "replicas"):
		if n := l.next(); l.is(t, "replicas") || l.is(n, "hosts") {
			r.showNothing(l, head, "Server_Id", "Host", "Port", "Source_Id", "Replica_UUID")
		}
	case l.is(t, "count"):
		// SHOW COUNT(*) WARNINGS is parsed and answers nothing; the variable has the number.
		for t = l.next(); t.kind == punct && !l.isByte(t, ';'); t = l.next() {
		}
		if name := strings.ToLower(l.text(t)); name == "warnings" || name == "errors" {
			v := "@@session." + strings.TrimSuffix(name, "s") + "_count"
			r.edits.replace(head.start, t.end, "select "+v+" as `"+v+"`")
		}
	}
	return nil, 0, false, nil
}

// ShowsView reports whether a statement is SHOW CREATE VIEW.
func ShowsView(query string) bool {
	l := &lexer{s: query}
	for _, w := range []string{"show", "create", "view"} {
		if t := l.next(); !l.is(t, w) {
			return false
		}
	}
	return true
}

func (r *rewriter) skipLimit(l *lexer, t token) token {
	if l.is(t, "limit") {
		for t = l.next(); t.kind == num || l.isByte(t, ',') || l.is(t, "offset"); t = l.next() {
		}
	}
	return t
}

// showNothing answers with columns and no rows: of what the statement asks for there is none here.
func (r *rewriter) showNothing(l *lexer, head token, columns ...string) {
	end := head.end
	for t := l.next(); t.kind != eof && !l.isByte(t, ';'); t = l.next() {
		end = t.end
	}
	end = max(end, min(l.pos, len(r.src)))
	for end > head.end && (r.src[end-1] == ';' || r.src[end-1] <= ' ') {
		end--
	}
	var list []string
	for _, c := range columns {
		list = append(list, "'' as `"+c+"`")
	}
	r.edits.replace(head.start, end, "select "+strings.Join(list, ", ")+" from dual where false")
}

// shownIndexes are the columns of SHOW INDEX in information_schema.statistics.
const shownIndexes = "select * from (select table_name as `Table`, non_unique as `Non_unique`, index_name " +
	"as `Key_name`, seq_in_index as `Seq_in_index`, " +
	"column_name as `Column_name`, collation as `Collation`, cardinality as `Cardinality`, sub_part as " +
	"`Sub_part`, packed as `Packed`, nullable as `Null`, " +
	"index_type as `Index_type`, comment as `Comment`, index_comment as `Index_comment`, is_visible as " +
	"`Visible`, expression as `Expression` " +
	"from information_schema.statistics where "

// showIndexes writes SHOW INDEX … WHERE as a SELECT: the planner leaves the condition out.
func (r *rewriter) showIndexes(l *lexer, head token) error {
	from := l.next()
	if !l.is(from, "from") && !l.is(from, "in") {
		return nil // the grammar says what is wrong
	}
	name, t, err := r.qualified(l, l.next())
	if err != nil {
		return nil
	}
	if l.is(t, "from") || l.is(t, "in") {
		db := l.next()
		if db.kind != word && db.kind != quoted {
			return nil
		}
		name.Database, t = l.name(db), l.next()
	}
	if !l.is(t, "where") {
		return nil
	}
	schema := "database()"
	if name.Database != "" {
		schema = textOf(name.Database)
	}
	r.edits.replace(head.start, t.end,
		shownIndexes+"table_schema = "+schema+" and table_name = "+textOf(name.Name)+") as s where")
	return nil
}

// textOf writes a text as a constant.
func textOf(s string) string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(s) + "'"
}

// flush parses what FLUSH [LOCAL | NO_WRITE_TO_BINLOG] can be told; tables and privileges are the grammar's.
func (r *rewriter) flush(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	t := l.next()
	for l.is(t, "local") || l.is(t, "no_write_to_binlog") {
		r.edits.blank(t.start, t.end)
		t = l.next()
	}
	hook := r.parser.hooks.Flush
	switch {
	case l.is(t, "slow"), l.is(t, "logs"):
		if hook = r.parser.hooks.FlushLogs; l.is(t, "slow") {
			t = l.next()
		}
		if !l.is(t, "logs") {
			return nil, 0, false, nil
		}
	case l.is(t, "binary"), l.is(t, "engine"), l.is(t, "error"), l.is(t, "general"), l.is(t, "relay"):
		if t = l.next(); !l.is(t, "logs") {
			return nil, 0, false, nil
		}
	case l.is(t, "status"), l.is(t, "hosts"), l.is(t, "user_resources"), l.is(t, "optimizer_costs"):
		// which are kept for nobody, or cannot be stale
	default:
		return nil, 0, false, nil
	}
	if hook == nil {
		return nil, 0, false, nil
	}
	end, err := r.statementEnd(l, l.next())
	if err != nil {
		return nil, 0, true, err
	}
	stmt, err := hook(ctx)
	return stmt, end, true, err
}

// instanceLock parses LOCK INSTANCE FOR BACKUP and UNLOCK INSTANCE. A backup reads a snapshot, which schema
// changes do not disturb.
func (r *rewriter) instanceLock(ctx context.Context, l *lexer, unlock bool) (ast.Statement, int,
	bool, error) {
	if t := l.next(); !l.is(t, "instance") || r.parser.hooks.Nothing == nil {
		return nil, 0, false, nil
	}
	if !unlock {
		if err := r.words(l, "for", "backup"); err != nil {
			return nil, 0, true, err
		}
	}
	end, err := r.statementEnd(l, l.next())
	if err != nil {
		return nil, 0, true, err
	}
	stmt, err := r.parser.hooks.Nothing(ctx)
	return stmt, end, true, err
}

// alterView writes ALTER VIEW as CREATE OR REPLACE VIEW, which is the same for a view that is there.
func (r *rewriter) alterView(t token) {
	l := &lexer{s: r.src, ansi: r.ansi}
	head := l.next()
	l.pos = t.start
	for range 24 { // ALGORITHM, DEFINER and SQL SECURITY may be before it
		switch t = l.next(); {
		case l.is(t, "view"):
			r.edits.replace(head.start, head.end, "create or replace")
			r.moved = true
			return
		case t.kind == eof, l.is(t, "table"), l.is(t, "database"), l.is(t, "schema"), l.is(t, "user"),
			l.is(t, "event"):
			return
		}
	}
}

// resetPersist parses RESET PERSIST [[IF EXISTS] variable].
func (r *rewriter) resetPersist(ctx context.Context, l *lexer) (ast.Statement, int, bool, error) {
	if t := l.next(); !l.is(t, "persist") || r.parser.hooks.ResetPersist == nil {
		return nil, 0, false, nil
	}
	var name string
	ifExists := false
	t := l.next()
	if l.is(t, "if") {
		if err := r.words(l, "exists"); err != nil {
			return nil, 0, true, err
		}
		ifExists, t = true, l.next()
	}
	if t.kind == word || t.kind == quoted {
		name, t = l.name(t), l.next()
	} else if ifExists {
		return nil, 0, true, r.errAt(t)
	}
	end, err := r.statementEnd(l, t)
	if err != nil {
		return nil, 0, true, err
	}
	stmt, err := r.parser.hooks.ResetPersist(ctx, name, ifExists)
	return stmt, end, true, err
}
