package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// countCommand counts a statement of a client in the Com_ variable of its kind. SELECT, INSERT, UPDATE and DELETE are counted by the
// library and by the plan cache, BEGIN, COMMIT and ROLLBACK where they are done without the library as well.
func (s *Session) countCommand(ctx *sql.Context, stmt ast.Statement) {
	if name := commandOf(stmt); name != "" {
		sql.IncrementStatusVariable(ctx, "Com_"+name, 1)
	}
}

func commandOf(stmt ast.Statement) string {
	switch s := stmt.(type) {
	case *ast.Begin:
		return "begin"
	case *ast.Commit:
		return "commit"
	case *ast.Rollback:
		return "rollback"
	case *ast.Savepoint:
		return "savepoint"
	case *ast.RollbackSavepoint:
		return "rollback_to_savepoint"
	case *ast.ReleaseSavepoint:
		return "release_savepoint"
	case *ast.Set:
		return "set_option"
	case *ast.Use:
		return "change_db"
	case *ast.Prepare:
		return "prepare_sql"
	case *ast.Execute:
		return "execute_sql"
	case *ast.Deallocate:
		return "dealloc_sql"
	case *ast.LockTables:
		return "lock_tables"
	case *ast.UnlockTables:
		return "unlock_tables"
	case *ast.Load:
		return "load"
	case *ast.Analyze:
		return "analyze"
	case *ast.Flush:
		return "flush"
	case *ast.Kill:
		return "kill"
	case *ast.Explain:
		return "explain_other"
	case *ast.CreateUser:
		return "create_user"
	case *ast.DropUser:
		return "drop_user"
	case *ast.RenameUser:
		return "rename_user"
	case *ast.CreateRole:
		return "create_role"
	case *ast.DropRole:
		return "drop_role"
	case *ast.GrantPrivilege:
		return "grant"
	case *ast.GrantRole:
		return "grant_roles"
	case *ast.RevokePrivilege:
		return "revoke"
	case *ast.RevokeRole:
		return "revoke_roles"
	case *ast.ShowGrants:
		return "show_grants"
	case *ast.Show:
		return showCommands[strings.ToLower(s.Type)]
	case *ast.AlterTable:
		return "alter_table"
	case *ast.DBDDL:
		if verb := ddlVerb(s.Action); verb != "" {
			return verb + "_db"
		}
	case *ast.DDL:
		return ddlCommand(s)
	case ast.InjectedStatement:
		switch n := s.Statement.(type) {
		case *callNode:
			return "call_procedure"
		case *checkTable:
			return "check"
		case *ddlStatement:
			return strings.ReplaceAll(strings.ToLower(n.String()), " ", "_")
		}
	}
	return ""
}

var showCommands = map[string]string{
	"status": "show_status", "variables": "show_variables", "tables": "show_tables", "databases": "show_databases", "schemas": "show_databases", "columns": "show_fields", "fields": "show_fields",
	"index": "show_keys", "indexes": "show_keys", "keys": "show_keys", "processlist": "show_processlist", "warnings": "show_warnings", "triggers": "show_triggers",
	"table status": "show_table_status", "create table": "show_create_table", "create view": "show_create_table", "create database": "show_create_db", "engines": "show_storage_engines",
	"charset": "show_charsets", "character set": "show_charsets", "collation": "show_collations", "events": "show_events", "plugins": "show_plugins",
}

func ddlVerb(action string) string {
	switch v := strings.ToLower(action); v {
	case ast.CreateStr, ast.AlterStr, ast.DropStr:
		return v
	}
	return ""
}

func ddlCommand(s *ast.DDL) string {
	verb, what := ddlVerb(s.Action), "table"
	switch {
	case s.Action == ast.TruncateStr:
		return "truncate"
	case s.Action == ast.RenameStr:
		return "rename_table"
	case verb == "":
		return ""
	case s.ViewSpec != nil, len(s.FromViews) > 0:
		what = "view"
	case s.TriggerSpec != nil:
		what = "trigger"
	case s.ProcedureSpec != nil:
		what = "procedure"
	case s.EventSpec != nil:
		what = "event"
	case s.User.Name != "":
		what = "user"
	case s.IndexSpec != nil: // CREATE INDEX and DROP INDEX are clauses of ALTER TABLE to the grammar
		if verb == ast.AlterStr {
			return strings.ToLower(s.IndexSpec.Action) + "_index"
		}
	}
	return verb + "_" + what
}
