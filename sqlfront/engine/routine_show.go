package engine

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/account"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/past"
	"moka/sqlfront/rights"
	"moka/sqlfront/routine"
	"moka/sqlfront/system"
)

// ShowCreateRoutine is SHOW CREATE PROCEDURE and SHOW CREATE FUNCTION.
func (e *Engine) ShowCreateRoutine(_ context.Context, r parse.RoutineName) (ast.Statement, error) {
	title := "Procedure"
	if r.Kind == routine.Function {
		title = "Function"
	}
	var columns sql.Schema
	for _, c := range []string{title, "sql_mode", "Create " + title, "character_set_client", "collation_connection", "Database Collation"} {
		columns = append(columns, &sql.Column{Name: c, Type: types.LongText, Nullable: true})
	}
	report := system.NewReport("SHOW CREATE "+string(r.Kind), columns, func(ctx *sql.Context) ([]sql.Row, error) {
		db, err := currentDatabase(ctx, r.Name)
		if err != nil {
			return nil, err
		}
		c, err := e.routine(ctx, r.Kind, db, r.Name.Name)
		if err != nil {
			return nil, err
		}
		if c == nil || !e.maySeeRoutine(ctx, c) {
			return nil, noRoutine(r.Kind, db, r.Name.Name)
		}
		var text any // NULL to who may run it and no more
		if e.maySeeBody(ctx, c) {
			text = c.withDefiner()
		}
		v, err := e.viewOf(ctx)
		if err != nil {
			return nil, err
		}
		d, _ := v.snap.Database(db)
		return []sql.Row{{c.stored.Name, c.under.mode, text, c.under.CharacterSetClient,
			c.under.CollationConnection, d.Collation}}, nil
	})
	return ast.InjectedStatement{Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Statement: report}, nil
}

// maySeeRoutine reports whether the user may know that there is a routine: one that he may run, change or
// read, and that was not that of another database which had the name then.
func (e *Engine) maySeeRoutine(ctx *sql.Context, c *compiled) bool {
	if e.maySeeBody(ctx, c) {
		return true
	}
	return !past.OfOthers(ctx, e.accounts(), c.body.Database, "") && (e.mayExecute(ctx, c) == nil ||
		rights.OnTable(ctx, e.accounts(), c.body.Database, "", sql.PrivilegeType_CreateRoutine,
			sql.PrivilegeType_AlterRoutine))
}

// maySeeBody reports whether the user may read the routine: its definer, and who may read everything.
func (e *Engine) maySeeBody(ctx *sql.Context, c *compiled) bool {
	client := ctx.Client()
	return c.definer.User == client.User && c.definer.Address == client.Address || rights.Has(ctx, e.accounts(), sql.PrivilegeType_Select, sql.PrivilegeType_Super)
}

// withDefiner is the text of the CREATE, which says who the definer is.
func (c *compiled) withDefiner() string {
	if c.parsed.Spec.Definer != "" || nobody(c.definer) {
		return strings.TrimSpace(c.stored.CreateStatement)
	}
	return withDefiner(c.stored.CreateStatement, c.under.mode,
		account.Name{User: c.definer.User, Host: c.definer.Address})
}

// withDefiner puts a DEFINER clause into the text of a CREATE, in the place of the one that it may have.
func withDefiner(text, mode string, definer account.Name) string {
	return parse.WithDefiner(text, definer, ansiQuotes(mode))
}

func ansiQuotes(mode string) bool { return sql.NewSqlModeFromString(mode).ParserOptions().AnsiQuotes }

func quoteIdentifier(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

// routineTable gives information_schema.ROUTINES and PARAMETERS rows of ours: the library knows procedures only.
func (e *Engine) routineTable(ctx *sql.Context, t sql.Table) sql.Table {
	if _, ok := e.opts.Parser.(RoutineParser); !ok {
		return t
	}
	var rows func(*sql.Context, *catalog.Database, *compiled) []sql.Row
	switch {
	case strings.EqualFold(t.Name(), information_schema.RoutinesTableName):
		rows = routineRow
	case strings.EqualFold(t.Name(), information_schema.ParametersTableName):
		rows = parameterRows
	default:
		return t
	}
	own := &system.Table{TableName: t.Name(), Columns: t.Schema(ctx), Rows: func(ctx *sql.Context) ([]sql.Row, error) {
		v, err := e.viewOf(ctx)
		if err != nil {
			return nil, err
		}
		var all []sql.Row
		for _, d := range v.snap.Databases() {
			add := func(kind routine.Kind, name string) {
				// One that cannot be parsed any more is not shown, as it cannot be called.
				if c, err := e.routine(ctx, kind, d.Name, name); err == nil && c != nil && e.maySeeRoutine(ctx, c) {
					all = append(all, e.readable(ctx, c, t, rows(ctx, d, c))...)
				}
			}
			for _, p := range d.Procedures() {
				add(routine.Procedure, p.Name)
			}
			for _, f := range d.Functions() {
				add(routine.Function, f.Name)
			}
		}
		for _, row := range all {
			for i, c := range t.Schema(ctx) {
				if row[i] == nil {
					continue
				}
				if row[i], _, err = c.Type.Convert(ctx, row[i]); err != nil {
					return nil, err
				}
			}
		}
		return all, nil
	}}
	return own.In(sql.InformationSchemaDatabaseName)
}

// readable takes the body out of a row of ROUTINES for those who may not read it.
func (e *Engine) readable(ctx *sql.Context, c *compiled, t sql.Table, rows []sql.Row) []sql.Row {
	const definition = 15 // ROUTINE_DEFINITION
	if strings.EqualFold(t.Name(), information_schema.RoutinesTableName) && !e.maySeeBody(ctx, c) {
		for _, r := range rows {
			r[definition] = nil
		}
	}
	return rows
}

func routineRow(_ *sql.Context, d *catalog.Database, c *compiled) []sql.Row {
	deterministic, access, security, comment := "NO", "CONTAINS SQL", "DEFINER", ""
	for _, x := range c.parsed.Spec.Characteristics {
		switch x.Type {
		case ast.CharacteristicValue_NoSql:
			access = "NO SQL"
		case ast.CharacteristicValue_ReadsSqlData:
			access = "READS SQL DATA"
		case ast.CharacteristicValue_ModifiesSqlData:
			access = "MODIFIES SQL DATA"
		case ast.CharacteristicValue_Comment:
			comment = x.Comment
		}
	}
	if c.body.Deterministic {
		deterministic = "YES"
	}
	if c.invoker {
		security = "INVOKER"
	}
	row := sql.Row{c.stored.Name, "def", d.Name, c.stored.Name, string(c.body.Kind)}
	if c.body.Kind == routine.Function {
		row = append(row, routine.TypeColumns(c.body.Returns)...)
	} else {
		row = append(row, "", nil, nil, nil, nil, nil, nil, nil, nil)
	}
	return []sql.Row{append(row, "SQL", c.parsed.BodyText, nil, "SQL", "SQL", deterministic, access, nil, security,
		c.stored.Created.UTC(), c.stored.Modified.UTC(), c.under.mode, comment,
		c.definer.User+"@"+c.definer.Address,
		c.under.CharacterSetClient, c.under.CollationConnection, d.Collation)}
}

func parameterRows(_ *sql.Context, d *catalog.Database, c *compiled) (rows []sql.Row) {
	add := func(position uint64, mode, name any, t sql.Type) {
		row := sql.Row{"def", d.Name, c.stored.Name, position, mode, name}
		rows = append(rows, append(append(row, routine.TypeColumns(t)...), string(c.body.Kind)))
	}
	if c.body.Kind == routine.Function {
		add(0, nil, nil, c.body.Returns)
	}
	for i, p := range c.body.Params {
		add(uint64(i+1), p.Direction.String(), p.Name, p.Type)
	}
	return rows
}
