package rights

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// whole is the library's handler that is asked about whole names of databases. The library takes a/b for a revision of the database a: who has
// rights on a had them on a/b, and created as many of those as he liked. What it is given instead is a name that no grant is about, so that the rights
// for the whole server count and no others. CREATE DATABASE refuses such names; older releases took them.
type whole struct{ sql.AuthorizationHandler }

// wholeName is what stands for a database in a question to the library; an empty name is the current one.
func wholeName(ctx *sql.Context, database string) string {
	if database == "" {
		if database = ctx.GetCurrentDatabase(); !strings.Contains(database, "/") {
			return ""
		}
	}
	return strings.ReplaceAll(database, "/", "\x00")
}

// HandleAuth implements sql.AuthorizationHandler.
func (w whole) HandleAuth(ctx *sql.Context, state sql.AuthorizationQueryState, a ast.AuthInformation) error {
	step := 2
	switch a.TargetType {
	case ast.AuthTargetType_DatabaseIdentifiers:
		step = 1
	case ast.AuthTargetType_TableColumn:
		step = 3
	}
	copied := false
	for i := 0; i < len(a.TargetNames) && a.AuthType != ast.AuthType_ALTER_USER; i += step { // that one is about an account
		name := wholeName(ctx, a.TargetNames[i])
		if name == a.TargetNames[i] {
			continue
		}
		if !copied {
			a.TargetNames, copied = slices.Clone(a.TargetNames), true
		}
		a.TargetNames[i] = name
	}
	return w.AuthorizationHandler.HandleAuth(ctx, state, a)
}

// CheckDatabase implements sql.AuthorizationHandler.
func (w whole) CheckDatabase(ctx *sql.Context, state sql.AuthorizationQueryState, database string) error {
	return w.AuthorizationHandler.CheckDatabase(ctx, state, wholeName(ctx, database))
}

// CheckSchema implements sql.AuthorizationHandler.
func (w whole) CheckSchema(ctx *sql.Context, state sql.AuthorizationQueryState, database, schema string) error {
	return w.AuthorizationHandler.CheckSchema(ctx, state, wholeName(ctx, database), schema)
}

// CheckTable implements sql.AuthorizationHandler.
func (w whole) CheckTable(ctx *sql.Context, state sql.AuthorizationQueryState, database, schema, table string) error {
	return w.AuthorizationHandler.CheckTable(ctx, state, wholeName(ctx, database), schema, table)
}
