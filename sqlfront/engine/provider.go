package engine

import (
	"slices"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/catalog"
	"moka/sqlfront/charset"
	"moka/sqlfront/infoschema"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/system"
)

// provider finds databases for the SQL engine: the stored ones and those that the server brings along.
type provider struct {
	eng    *Engine
	extra  map[string]sql.Database
	procs  sql.ExternalStoredProcedureRegistry
	tableF map[string]sql.TableFunction
	funcs  map[string]sql.Function
	// The engine asks for the database "mysql" in each statement while privileges are off; making the error costs a stack
	// capture, a few per cent of a point select.
	noMySQL error
}

var (
	_ sql.MutableDatabaseProvider         = (*provider)(nil)
	_ sql.CollatedDatabaseProvider        = (*provider)(nil)
	_ sql.TableFunctionProvider           = (*provider)(nil)
	_ sql.ExternalStoredProcedureProvider = (*provider)(nil)
)

func newProvider(e *Engine) *provider {
	p := &provider{
		eng: e, extra: map[string]sql.Database{}, tableF: map[string]sql.TableFunction{}, funcs: map[string]sql.Function{},
		procs: sql.NewExternalStoredProcedureRegistry(), noMySQL: sql.ErrDatabaseNotFound.New("mysql"),
	}
	for _, d := range e.opts.Databases {
		if of, ok := d.(*system.Database); ok {
			d = &sightDatabase{of}
		}
		p.extra[strings.ToLower(d.Name())] = d
	}
	for _, f := range e.opts.TableFunctions {
		p.tableF[strings.ToLower(f.Name())] = f
	}
	p.funcs["last_insert_id"] = sql.FunctionN{Name: "last_insert_id", Fn: newLastInsertID}
	for _, f := range e.opts.Functions {
		p.funcs[strings.ToLower(f.FunctionName())] = f
	}
	for _, d := range e.opts.Procedures {
		p.procs.Register(d)
	}
	return p
}

// Database implements sql.DatabaseProvider.
func (p *provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	lower := strings.ToLower(name)
	if s := sessionOf(ctx); s != nil && s.ofClient {
		s.NameDatabase(lower)
	}
	if d, ok := p.extra[lower]; ok {
		return d, nil
	}
	if lower == "mysql" {
		return nil, p.noMySQL
	}
	v, err := p.eng.viewOf(ctx)
	if err != nil {
		return nil, err
	}
	d, ok := v.snap.Database(name)
	if !ok {
		if err := p.maySee(ctx, name); err != nil {
			return nil, err
		}
		return nil, sql.ErrDatabaseNotFound.New(name)
	}
	if err := p.maySee(ctx, d.Name); err != nil {
		return nil, err
	}
	own := &Database{eng: p.eng, name: d.Name}
	if known := p.knownInstead(ctx, d.Name); known != "" {
		return &aroundDatabase{own, known}, nil
	}
	return own, nil
}

// maySee refuses a database to who may do nothing in it.
func (p *provider) maySee(ctx *sql.Context, name string) error {
	s := sessionOf(ctx)
	if s == nil || s.looksInto(name) || !s.Restricted() || rights.Within(ctx, p.eng.accounts(), name) {
		return nil
	}
	return rights.DatabaseDenied(ctx, name)
}

// looksInto reports whether a database need not be one of which the user knows: the planner looks around, or
// it is named by a view, whose definer was asked.
func (s *Session) looksInto(database string) bool {
	return s.bound || s.reading != nil || s.behind != "" && strings.EqualFold(s.behind, database)
}

// aroundDatabase is a database of which the user may not know, found by the planner when the statement is
// bound, and what the user has named was looked at: a foreign key leads there, and has to be kept whoever
// writes; or before, when a view that he writes to names it, whose definer was asked for the table. Whether
// one may see it is asked of a database that he has named.
type aroundDatabase struct {
	*Database
	known string
}

// AliasedName implements sql.AliasedDatabase.
func (d *aroundDatabase) AliasedName() string { return d.known }

// knownInstead is a database that the user knows, if he does not know the one of that name and the
// planner looks around, or for what a view names; else it is empty.
func (p *provider) knownInstead(ctx *sql.Context, name string) string {
	s := sessionOf(ctx)
	if s == nil || !s.looksInto(name) || !s.Restricted() || !p.eng.asks() {
		return ""
	}
	all := p.eng.accounts().UserActivePrivilegeSet(ctx)
	if rights.Within(ctx, p.eng.accounts(), name) {
		return ""
	}
	for _, d := range all.GetDatabases() {
		if d.HasPrivileges() {
			return d.Name()
		}
	}
	return ""
}

// HasDatabase implements sql.DatabaseProvider.
func (p *provider) HasDatabase(ctx *sql.Context, name string) bool {
	_, err := p.Database(ctx, name)
	return err == nil
}

// AllDatabases implements sql.DatabaseProvider.
func (p *provider) AllDatabases(ctx *sql.Context) []sql.Database {
	var all []sql.Database
	for _, d := range p.extra {
		all = append(all, d)
	}
	if v, err := p.eng.viewOf(ctx); err == nil {
		s := sessionOf(ctx)
		for _, d := range v.snap.Databases() {
			if s != nil && s.ofClient {
				s.NameDatabase(d.Name)
			}
			if s == nil || s.bound || !s.Restricted() || rights.Listed(ctx, p.eng.accounts(), d.Name) {
				all = append(all, &Database{eng: p.eng, name: d.Name})
			}
		}
	}
	if l := infoschema.LimitOf(ctx); l != nil {
		all = slices.DeleteFunc(all, func(d sql.Database) bool { return !l.Database(d.Name()) })
	}
	sort.Slice(all, func(i, j int) bool { return strings.ToLower(all[i].Name()) < strings.ToLower(all[j].Name()) })
	return all
}

// CreateDatabase implements sql.MutableDatabaseProvider.
func (p *provider) CreateDatabase(ctx *sql.Context, name string) error {
	return p.CreateCollatedDatabase(ctx, name, sql.Collation_Unspecified)
}

// CreateCollatedDatabase implements sql.CollatedDatabaseProvider.
func (p *provider) CreateCollatedDatabase(ctx *sql.Context, name string, collation sql.CollationID) error {
	if _, ok := p.extra[strings.ToLower(name)]; ok {
		return sql.ErrDatabaseExists.New(name)
	}
	if strings.ContainsAny(name, "/\x00") { // see rights.whole
		return sqlerr.New(sqlerr.WrongDatabaseName, "Incorrect database name '%s': it may not have a slash", name)
	}
	if collation == sql.Collation_Unspecified {
		collation = serverCollation(ctx)
	}
	if !charset.Storable(collation.CharacterSet()) {
		return sqlerr.New(sqlerr.UnknownCharset, "Unknown character set: '%s'", collation.CharacterSet().Name())
	}
	return p.eng.ddl(ctx, func(tx *Tx) error {
		_, err := p.eng.catalog.CreateDatabase(ctx, tx.store(), name, collation.Name())
		return err
	})
}

// DropDatabase implements sql.MutableDatabaseProvider.
func (p *provider) DropDatabase(ctx *sql.Context, name string) error {
	return p.eng.removal(ctx, func(tx *Tx) error {
		v, err := p.eng.viewOf(ctx)
		if err != nil {
			return err
		}
		if err := checkParents(ctx, v.snap, name); err != nil {
			return err
		}
		return p.eng.catalog.DropDatabase(ctx, tx.store(), name)
	})
}

// checkParents refuses to drop a database to which foreign keys of other databases point.
func checkParents(ctx *sql.Context, snap *catalog.Snapshot, name string) error {
	d, ok := snap.Database(name)
	if !ok || !foreignKeyChecks(ctx) {
		return nil
	}
	for _, t := range d.Tables() {
		for _, r := range snap.References(d.Name, t.Name) {
			if r.Database.ID != d.ID {
				return sql.ErrForeignKeyDropTable.New(t.Name, r.Key.Name)
			}
		}
	}
	return nil
}

func foreignKeyChecks(ctx *sql.Context) bool {
	v, err := ctx.GetSessionVariable(ctx, "foreign_key_checks")
	if err != nil {
		return true
	}
	on, err := sql.ConvertToBool(ctx, v)
	return err != nil || on
}

func serverCollation(ctx *sql.Context) sql.CollationID {
	v, err := ctx.GetSessionVariable(ctx, "collation_server")
	if err == nil {
		if s, ok := v.(string); ok {
			if c, err := sql.ParseCollation("", s, false); err == nil && c != sql.Collation_Unspecified {
				return c
			}
		}
	}
	return sql.Collation_Default
}

// TableFunction implements sql.TableFunctionProvider.
func (p *provider) TableFunction(ctx *sql.Context, name string) (sql.TableFunction, bool) {
	f, ok := p.tableF[strings.ToLower(name)]
	return f, ok
}

// WithTableFunctions implements sql.TableFunctionProvider.
func (p *provider) WithTableFunctions(fs ...sql.TableFunction) (sql.TableFunctionProvider, error) {
	c := *p
	c.tableF = map[string]sql.TableFunction{}
	for _, f := range fs {
		c.tableF[strings.ToLower(f.Name())] = f
	}
	return &c, nil
}

// ExternalStoredProcedure implements sql.ExternalStoredProcedureProvider.
func (p *provider) ExternalStoredProcedure(_ *sql.Context, name string, params int) (*sql.ExternalStoredProcedureDetails, error) {
	return p.procs.LookupByNameAndParamCount(name, params)
}

// ExternalStoredProcedures implements sql.ExternalStoredProcedureProvider.
func (p *provider) ExternalStoredProcedures(_ *sql.Context, name string) ([]sql.ExternalStoredProcedureDetails, error) {
	return p.procs.LookupByName(name)
}
