package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/frozen"
	"moka/sqlfront/parse"
	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
)

// The planner puts the query of a view in the place of its name, and calls itself for the views in that. So nothing may be built on a view that reads
// itself, be it by way of others; and what views over views amount to has bounds, as a statement has. A statement that makes such a view is refused, but
// RENAME TABLE may make one (as in MySQL), and older releases let others through: they are refused when they are read.
const (
	// maxViewLevels bounds views over views, and how deep their queries are nested one within the other, all together.
	maxViewLevels = 100
	maxViewDepth  = 10_000
	// maxViewTables bounds the tables and views that a view names, those in its views included, each as often as it is read.
	maxViewTables = 10_000
)

// nesting is what a view amounts to.
type nesting struct {
	levels, depth, tables int
}

// errViewRecursion and its like are why a view cannot be read, without its name.
var (
	errViewRecursion = errors.New("a view reads itself")
	errViewDeep      = errors.New("views are nested too deep")
	errViewTables    = errors.New("views read too many tables")
)

// viewReadable is the error of a view that is not to be given to the planner.
func (e *Engine) viewReadable(v *view, d *catalog.Database, w *catalog.View) error {
	if v.utc != nil {
		v = v.utc
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, err := e.nest(v, d, w, nil)
	return viewRefused(err, d.Name, w.Name)
}

// viewRefused words why a view cannot be read.
func viewRefused(err error, db, name string) error {
	switch {
	case errors.Is(err, errViewRecursion):
		return sqlerr.New(sqlerr.ViewRecursive, "`%s`.`%s` contains view recursion", db, name)
	case errors.Is(err, errViewDeep):
		return sqlerr.New(sqlerr.StackOverrun, "Thread stack overrun: view `%s`.`%s` is built on more than %d views one on the other, or nested more than %d levels deep with them",
			db, name, maxViewLevels, maxViewDepth)
	case errors.Is(err, errViewTables):
		return sqlerr.New(sqlerr.TooManyTables, "Too many tables; view `%s`.`%s` reads more than %d with the views that it is built on", db, name, maxViewTables)
	}
	return err
}

// above is a view, and those that are being looked at because of what they read.
type above struct {
	db, name string
	level    int
	outer    *above
}

func (a *above) has(db, name string) bool {
	for ; a != nil; a = a.outer {
		if strings.EqualFold(a.db, db) && strings.EqualFold(a.name, name) {
			return true
		}
	}
	return false
}

// nest looks at a view and all that it reads. v is locked.
func (e *Engine) nest(v *view, d *catalog.Database, w *catalog.View, outer *above) (nesting, error) {
	if n, known := v.nestings[w]; known {
		return n, nil
	}
	here := &above{db: d.Name, name: w.Name, outer: outer}
	if outer != nil {
		here.level = outer.level + 1
	}
	if here.level >= maxViewLevels {
		return nesting{}, errViewDeep
	}
	n, err := e.nestQuery(v, d, e.viewQuery(w.CreateStatement, w.SQLMode), here)
	if err != nil {
		return n, err
	}
	if v.nestings == nil {
		v.nestings = map[*catalog.View]nesting{}
	}
	v.nestings[w] = n
	return n, nil
}

// nestQuery looks at a query in database d and all that it reads.
func (e *Engine) nestQuery(v *view, d *catalog.Database, query ast.SelectStatement, here *above) (nesting, error) {
	if query == nil {
		return nesting{}, nil // the planner cannot read it, either
	}
	n := nesting{levels: 1}
	deepest := 0
	for _, name := range parse.Tables(query) {
		n.tables++
		in := d
		if name.Database != "" {
			var ok bool
			if in, ok = v.snap.Database(name.Database); !ok {
				continue
			}
		}
		if here.has(in.Name, name.Name) { // also of a view that is yet to be
			return nesting{}, errViewRecursion
		}
		under, ok := in.View(name.Name)
		if !ok {
			continue
		}
		u, err := e.nest(v, in, under, here)
		if err != nil {
			return nesting{}, err
		}
		n.levels = max(n.levels, u.levels+1)
		deepest = max(deepest, u.depth)
		n.tables = min(n.tables+u.tables, maxViewTables+1)
	}
	n.depth = parse.Depth(query) + deepest
	switch {
	case n.levels > maxViewLevels || n.depth > maxViewDepth:
		return n, errViewDeep
	case n.tables > maxViewTables:
		return n, errViewTables
	}
	return n, nil
}

// viewQuery is the query in the text of a CREATE VIEW; nil if it cannot be read.
func (e *Engine) viewQuery(create, mode string) ast.SelectStatement {
	p := e.opts.Parser
	if p == nil {
		p = sql.NewMysqlParser()
	}
	stmt, _, _, err := p.ParseWithOptions(context.Background(), create, ';', false, sql.NewSqlModeFromString(mode).ParserOptions())
	d, ok := stmt.(*ast.DDL)
	if err != nil || !ok || d.ViewSpec == nil {
		return nil
	}
	return d.ViewSpec.ViewExpr
}

// viewMay is the error of a view that is about to be made with a text.
func (e *Engine) viewMay(v *view, d *catalog.Database, w *catalog.View) error {
	if v.utc != nil {
		v = v.utc
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, err := e.nest(v, d, w, nil)
	delete(v.nestings, w)
	if errors.Is(err, errViewRecursion) {
		return sqlerr.UnknownTable(d.Name, w.Name) // it is not there for its own query
	}
	return viewRefused(err, d.Name, w.Name)
}

// InvalidView is for package conn, which has an unknown column (1054): the error of the view that was read
// last if it is in that, and no business of who reads it.
func (s *Session) InvalidView() error {
	snap := s.eng.catalog.Latest()
	if s.reads.Stored == nil || snap == nil {
		return nil
	}
	query := s.eng.viewQuery(s.reads.text, s.reads.mode)
	if query == nil || !frozen.Gone(query, func(t ast.TableName) (columns []string) {
		d, _ := snap.Database(cmp.Or(t.DbQualifier.String(), s.reads.Database))
		if d == nil {
			return nil
		}
		if of, ok := d.Table(t.Name.String()); ok {
			for _, c := range of.Columns {
				columns = append(columns, c.Name)
			}
		}
		return columns
	}) {
		return nil
	}
	return sqlerr.New(sqlerr.ViewInvalid, rights.InvalidView, s.reads.Database, s.reads.View)
}

// renames reports whether the statement at hand gives tables other names: a view is made again by the library then.
func (s *Session) renames() bool {
	_, ok := s.root.(*plan.RenameTable)
	return ok
}
