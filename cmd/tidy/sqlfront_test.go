package tidy

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inside says which packages of sqlfront each may import; "." is sqlfront itself, which puts them together.
// It is the whole truth: an import that is not here needs a reason, and an entry that nobody uses any more
// goes. Tests may also import what these import.
var inside = map[string][]string{
	"charset":    {"sqlerr"},
	"inband":     {},
	"mysqlproto": {},
	"rowenc":     {},
	"statements": {},
	"icu":        {},
	"identifier": {},
	"moment":     {},
	"numeral":    {},
	"pace":       {},
	"spare":      {},
	"syntax":     {},

	"fulltext": {"rowenc"},
	"pushdown": {"rowenc"},
	"sqlerr":   {"inband"},

	"jsonsize": {"sqlerr"},
	"jsontext": {},

	"tempfile": {"sqlerr"},
	"textfile": {"sqlerr"},

	"account": {"sqlerr"},
	"catalog": {"identifier", "inband", "moment", "rowenc"},
	"expr": {"cast", "fulltext", "icu", "inband", "jsonsize", "jsontext", "moment", "numeral", "rowenc",
		"sqlerr", "syntax", "wildcard", "window"},
	"cast":     {"charset", "moment", "numeral", "sqlerr"},
	"wildcard": {"sqlerr"},
	"window":   {},
	"rights":   {"sqlerr", "syntax"},
	"past":     {"catalog", "rights", "sqlerr"},
	"system":   {"sqlerr"},
	"upcoming": {"inband"},

	"rowname":   {"catalog", "rowenc"},
	"resultset": {"charset", "moment", "mysqlproto", "numeral", "parse"},
	"stats":     {"catalog", "pushdown", "rowenc", "sqlerr"},

	"assign":    {"cast", "eval", "expr", "moment", "numeral", "sqlerr"},
	"chain":     {"expr", "rowenc"},
	"collate":   {"expr", "rowenc", "sqlerr"},
	"namedjoin": {"expr", "sqlerr", "syntax"},
	"namedlock": {"catalog", "sqlerr"},
	"viewname":  {"sqlerr", "syntax"},
	"routine":   {"assign", "expr", "jsonsize", "moment", "operator", "sqlerr", "syntax"},

	"gms":      {"collate", "eval", "expr", "jsontext", "moment", "parse", "routine", "sqlerr"},
	"builtin":  {"cast", "charset", "moment", "rowenc", "sqlerr"},
	"explain":  {},
	"node":     {"catalog", "namedlock", "sqlerr"},
	"operator": {"collate", "expr", "jsonsize", "rowenc", "sqlerr", "tempfile"},
	"eval":     {"collate", "expr", "rowenc"},
	"digest":   {"eval", "mysqlproto"},
	"plan":     {"eval", "expr", "rowenc"},
	"exec":     {"collate", "eval", "operator", "plan", "rowenc", "sqlerr"},
	"unions":   {"expr", "inband", "moment", "numeral", "syntax"},
	"parse": {"account", "catalog", "charset", "expr", "identifier", "inband", "loaddata", "rights",
		"routine", "sqlerr", "syntax", "unions", "upcoming"},

	"infoschema": {"catalog", "parse", "rights"},
	"frozen":     {"namedjoin", "parse", "sqlerr", "syntax"},
	"loaddata":   {"sqlerr", "textfile"},

	"prepared": {"parse"},

	"keyrange": {"pushdown", "rowenc"},

	"multitable": {"gms", "operator", "sqlerr"},
	"trail":      {},

	"engine": {
		"account", "assign", "builtin", "catalog", "chain", "charset", "collate", "digest", "eval", "exec",
		"explain", "expr", "frozen", "fulltext", "gms", "inband", "infoschema", "jsonsize", "keyrange",
		"loaddata", "moment", "multitable", "mysqlproto",
		"namedjoin", "namedlock", "operator", "parse", "past", "plan", "prepared", "pushdown", "resultset",
		"rights",
		"routine", "rowenc", "spare", "sqlerr", "stats", "syntax", "system", "tempfile", "textfile", "trail",
		"unions", "upcoming", "viewname",
	},
	"conn": {
		"account", "charset", "expr", "identifier", "mysqlproto", "pace", "parse", "resultset", "routine",
		"sqlerr", "statements", "tempfile",
	},

	"engine/conformance": {"catalog", "engine", "pushdown"},
	"incview":            {"catalog", "engine", "rowenc", "sqlerr"},
	"observer": {"catalog", "engine", "expr", "incview", "pace", "parse", "past", "rights", "spare",
		"sqlerr", "syntax", "system"},

	".": {
		"account", "catalog", "conn", "engine", "expr", "inband", "namedlock", "node", "observer", "operator",
		"pace", "parse", "pushdown", "rights", "rowenc", "rowname",
		"sqlerr", "statements", "system", "tempfile",
	},
}

func TestLayersOfSQL(t *testing.T) {
	used := map[[2]string]bool{}
	for _, s := range sources(t) {
		dir, ours := insideSQL(filepath.ToSlash(filepath.Dir(s.path)))
		if !ours {
			continue
		}
		direct, known := inside[dir]
		if !known {
			t.Errorf("%s: sqlfront/%s has no place among the packages of sqlfront, which are listed in "+
				"this test", s.path, dir)
			continue
		}
		for _, path := range imports(t, s) {
			to, ours := insideSQL(strings.TrimPrefix(path, module+"/"))
			if !ours || to == dir {
				continue
			}
			used[[2]string{dir, to}] = true
			switch {
			case slices.Contains(direct, to):
			case s.isTest() && slices.Contains(below(dir), to):
			default:
				t.Errorf("%s imports %s: sqlfront/%s may import only %v of its neighbours", s.path, path,
					dir, direct)
			}
		}
	}
	for dir, direct := range inside {
		for _, to := range direct {
			if !used[[2]string{dir, to}] {
				t.Errorf("sqlfront/%s does not import %s any more: take it off its list", dir, to)
			}
		}
	}
}

// insideSQL is the name of a package of sqlfront in the lists here.
func insideSQL(dir string) (name string, ours bool) {
	if dir == "sqlfront" {
		return ".", true
	}
	return strings.CutPrefix(dir, "sqlfront/")
}

// below is what a package imports, and what that imports.
func below(dir string) (all []string) {
	for _, to := range inside[dir] {
		all = append(append(all, to), below(to)...)
	}
	return all
}

func imports(t *testing.T, s source) (paths []string) {
	t.Helper()
	for _, spec := range s.ast.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// library lists, for parts of go-mysql-server and vitess, which packages may import them. The lists only
// shrink: in the end they are those of the rooms that bind and parse. The rooms that plan and run queries
// (plan, eval, exec, digest) are there for the library's types, until there is a room of our own for these.
var library = []struct {
	what     string
	modules  []string
	packages []string
}{
	{"go-mysql-server and vitess",
		[]string{"github.com/dolthub/go-mysql-server", "github.com/dolthub/vitess"}, []string{
			"sqlfront", "sqlfront/account", "sqlfront/builtin", "sqlfront/catalog", "sqlfront/chain",
			"sqlfront/charset",
			"sqlfront/collate",
			"sqlfront/digest", "sqlfront/engine", "sqlfront/eval", "sqlfront/exec", "sqlfront/explain",
			"sqlfront/plan",
			"sqlfront/engine/conformance", "sqlfront/expr", "sqlfront/fulltext", "sqlfront/gms",
			"sqlfront/incview", "sqlfront/infoschema", "sqlfront/jsonsize", "sqlfront/jsontext",
			"sqlfront/loaddata", // was in the engine
			"sqlfront/moment", "sqlfront/multitable",
			"sqlfront/namedjoin",
			"sqlfront/namedlock", "sqlfront/observer",
			"sqlfront/operator", "sqlfront/parse", "sqlfront/pushdown", "sqlfront/rights", "sqlfront/routine",
			"sqlfront/rowenc",
			"sqlfront/sqlerr", "sqlfront/stats", "sqlfront/syntax", "sqlfront/system", "sqlfront/conn",
			"sqlfront/resultset", "sqlfront/prepared", "sqlfront/rowname", "sqlfront/unions", "sqlfront/past",
			"sqlfront/cast", "sqlfront/wildcard", "sqlfront/window", // were in expr
			"sqlfront/viewname", "sqlfront/assign", "sqlfront/frozen",
			"sqlfront/upcoming", // was in parse
		}},
	{"go-mysql-server's execution of plans",
		[]string{"github.com/dolthub/go-mysql-server/sql/rowexec"}, []string{
			"sqlfront/engine", "sqlfront/operator",
		}},
	{"the protocol of go-mysql-server and vitess", []string{
		"github.com/dolthub/go-mysql-server/server", "github.com/dolthub/vitess/go/mysql",
	}, []string{
		"sqlfront/account", "sqlfront/engine", "sqlfront/engine/conformance", "sqlfront/expr",
		"sqlfront/parse", "sqlfront/routine",
		"sqlfront/sqlerr",
	}},
}

func TestLibrarySpreadsNoFurther(t *testing.T) {
	all := sources(t)
	for _, l := range library {
		using := map[string]bool{}
		for _, s := range all {
			dir := filepath.ToSlash(filepath.Dir(s.path))
			for _, path := range imports(t, s) {
				if !slices.ContainsFunc(l.modules, func(m string) bool {
					return path == m || strings.HasPrefix(path, m+"/")
				}) {
					continue
				}
				if using[dir] = true; !slices.Contains(l.packages, dir) {
					t.Errorf("%s imports %s: %s may be imported by %v only", s.path, path, l.what, l.packages)
				}
			}
		}
		for _, dir := range l.packages {
			if !using[dir] {
				t.Errorf("%s does not import %s any more: take it off the list", dir, l.what)
			}
		}
	}
}

// linknames are the files that reach into another module's unexported names, or into its memory. They only
// become fewer.
var linknames = []string{"sqlfront/engine/zone.go"}

func TestNobodyReachesIntoOtherModules(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		for _, group := range s.ast.Comments {
			for _, c := range group.List {
				if found[s.path] = found[s.path] ||
					strings.HasPrefix(c.Text, "//go:linkname "); found[s.path] {
					break
				}
			}
		}
		if found[s.path] && !slices.Contains(linknames, s.path) {
			t.Errorf("%s has a //go:linkname: ask the module for what you need, or write it", s.path)
		}
	}
	for _, path := range linknames {
		if !found[path] {
			t.Errorf("%s has no //go:linkname any more: take it off the list", path)
		}
	}
}
