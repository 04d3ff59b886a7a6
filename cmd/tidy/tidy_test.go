package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root     = "../.."
	module   = "moka"
	maxLines = 800
)

// mayImport says, for each top-level folder, which other folders of ours it may import. Packages are under
// test too: a test that reaches upwards ties the layers together just as well.
var mayImport = map[string][]string{
	"kv":       {},
	"oracle":   {"kv"},
	"txn":      {"kv"},
	"triggers": {"txn", "kv"},
	"sqlfront": {"triggers", "txn", "kv"},
	"tpce":     {},
	"cmd":      {"tpce", "sqlfront", "triggers", "txn", "oracle", "kv"},
}

// onlyIn says which folders may import modules that must not spread.
var onlyIn = map[string]string{
	"github.com/dolthub/go-mysql-server": "sqlfront",
	"github.com/dolthub/vitess":          "sqlfront",
	"github.com/cockroachdb/pebble":      "kv",
	"go.etcd.io/raft":                    "kv",
}

// rooms says what single packages may import of ours: theirs is a narrower rule than their folder's.
var rooms = map[string][]string{
	// It measures the layers below SQL: its child is storage and transactions, put together as moka does.
	"cmd/moka/bench": {"moka/kv", "moka/kv/bigtable", "moka/kv/client", "moka/kv/coord/local",
		"moka/kv/engine", "moka/kv/keys", "moka/kv/node", "moka/kv/rpc", "moka/oracle", "moka/triggers",
		"moka/txn", "moka/tpce/plot"},
	"kv/raft": {"moka/kv", "moka/kv/keys"},
	"kv/sim":  {"moka/kv", "moka/kv/keys", "moka/kv/raft"},
}

// roomsOnly says in which packages alone a module may be seen.
var roomsOnly = map[string][]string{
	"go.etcd.io/raft": {"kv/raft", "kv/sim"},
}

// longFiles may exceed maxLines, up to the figure here. The figures only go down; a file that is short again
// leaves the list.
var longFiles = map[string]int{}

// source is one hand-written Go file.
type source struct {
	path  string // from the root, with slashes
	lines int
	ast   *ast.File
	fset  *token.FileSet
}

func (s source) folder() string { return strings.SplitN(s.path, "/", 2)[0] }
func (s source) isTest() bool   { return strings.HasSuffix(s.path, "_test.go") }

// sources parses the tree once for a test.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	walk(t, func(path string, data []byte) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".pb.go") {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, data, parser.ParseComments)
		if err != nil {
			t.Errorf("%v", err)
			return
		}
		if !ast.IsGenerated(file) {
			all = append(all, source{path, strings.Count(string(data), "\n"), file, fset})
		}
	})
	if len(all) < 50 {
		t.Fatalf("found %d Go files: this test does not see the tree", len(all))
	}
	return all
}

// walk calls f for every file that belongs to the project.
func walk(t *testing.T, f func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".git" || rel == "bin" || rel == "dist" || rel == "moka-data" {
				return fs.SkipDir
			}
			return nil
		}
		// in a linked worktree it is a file, and names where the repository is
		if !d.Type().IsRegular() || rel == ".git" {
			return nil
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // another tool's temporary file
		}
		if err == nil {
			f(rel, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsGoDown(t *testing.T) {
	for _, s := range sources(t) {
		allowed, known := mayImport[s.folder()]
		if !known {
			t.Errorf("%s: the folder %s has no place in the house; the folders are listed in this test",
				s.path, s.folder())
			continue
		}
		for _, spec := range s.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if inner, ours := strings.CutPrefix(path, module+"/"); ours {
				to := strings.SplitN(inner, "/", 2)[0]
				if to != s.folder() && !slices.Contains(allowed, to) {
					t.Errorf("%s imports %s: %s may import only %v", s.path, path, s.folder(), allowed)
				}
			}
			for prefix, folder := range onlyIn {
				// cmd/itest and the like may not, either: they see the database through its wire.
				if (path == prefix || strings.HasPrefix(path, prefix+"/")) && s.folder() != folder &&
					!excused(s.path, prefix) {
					t.Errorf("%s imports %s, which belongs into %s", s.path, path, folder)
				}
			}
		}
	}
}

// excused lists the exceptions from onlyIn, each with its reason.
func excused(path, prefix string) bool {
	// cmd/moka and its bench hand a file system to the node: the in-memory one of --memory. Tests hand it
	// one that forgets what was not synced.
	return prefix == "github.com/cockroachdb/pebble" && (strings.HasPrefix(path, "cmd/moka/") ||
		strings.HasSuffix(path, "_test.go"))
}

func TestRoomsKeepTheirWalls(t *testing.T) {
	for _, s := range sources(t) {
		dir := filepath.ToSlash(filepath.Dir(s.path))
		allowed, walled := rooms[dir]
		for _, spec := range s.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for prefix, homes := range roomsOnly {
				if strings.HasPrefix(path, prefix+"/") && !slices.Contains(homes, dir) {
					t.Errorf("%s imports %s, which belongs into %v", s.path, path, homes)
				}
			}
			if walled && strings.HasPrefix(path, module+"/") && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: %s may import only %v", s.path, path, dir, allowed)
			}
		}
	}
}

// TestDriverIsAFunction: the same inputs give the same outputs, or the simulator proves nothing. So the
// driver of Raft has no goroutine, clock, file or lock, and no map, whose order would be another one each
// time.
func TestDriverIsAFunction(t *testing.T) {
	seen := false
	for _, s := range sources(t) {
		if filepath.ToSlash(filepath.Dir(s.path)) != "kv/raft" || s.isTest() {
			continue
		}
		seen = true
		for _, what := range impurities(s.ast) {
			t.Errorf("%s: %s in the driver", s.path, what)
		}
	}
	if !seen {
		t.Error("the driver is gone: this test with it")
	}
}

func impurities(file *ast.File) (found []string) {
	for _, spec := range file.Imports {
		switch spec.Path.Value {
		case `"os"`, `"sync"`, `"math/rand"`, `"math/rand/v2"`, `"crypto/rand"`, `"context"`, `"net"`:
			found = append(found, "import of "+spec.Path.Value)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, "a goroutine")
		case *ast.MapType:
			found = append(found, "a map")
		case *ast.CallExpr:
			if c := callee(n); strings.HasPrefix(c, "time.") && c != "time.Duration" {
				found = append(found, c)
			}
		}
		return true
	})
	return found
}

func TestImpuritiesAreFound(t *testing.T) {
	const src = `package p
import "os"
func f() { go f(); var m map[int]int; _ = time.Now(); _ = time.Duration(1) }`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if found := impurities(file); len(found) != 4 {
		t.Errorf("found %q", found)
	}
}

func TestFilesStayReadable(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range sources(t) {
		limit, listed := longFiles[s.path]
		seen[s.path] = true
		switch {
		case !listed && s.lines > maxLines:
			t.Errorf("%s has %d lines, more than %d: split it by verb", s.path, s.lines, maxLines)
		case listed && s.lines > limit:
			t.Errorf("%s has grown from %d to %d lines; it may only shrink", s.path, limit, s.lines)
		case listed && s.lines <= maxLines:
			t.Errorf("%s has %d lines: take it off the list of long files", s.path, s.lines)
		case listed && s.lines < limit-50:
			t.Errorf("%s has shrunk to %d lines: lower its figure from %d", s.path, s.lines, limit)
		}
	}
	for path := range longFiles {
		if !seen[path] {
			t.Errorf("%s is gone: take it off the list of long files", path)
		}
	}
}

func TestPackagesHaveTheirChapter(t *testing.T) {
	documented := make(map[string]bool)
	for _, s := range sources(t) {
		dir := filepath.Dir(s.path)
		documented[dir] = documented[dir] || s.ast.Doc != nil && len(s.ast.Doc.Text()) >= 60
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment that deserves the name: give it a doc.go", dir)
		}
	}
}

// TestNoSleepInTests finds calls of time.Sleep that do not lie in a function literal handed to synctest.Test.
// In a file that uses synctest, functions that are not tests themselves are taken for parts of its bubbles;
// in other files of the package, those whose comment says that they run in a bubble. Test kits are not looked
// at: the delays of a simulated disk or network are what they are for.
func TestNoSleepInTests(t *testing.T) {
	all := sources(t)
	// directories whose tests use synctest: helpers may be in files that do not
	inBubbles := map[string]bool{}
	for _, s := range all {
		dir := filepath.Dir(s.path)
		inBubbles[dir] = inBubbles[dir] || s.isTest() && usesBubbles(s.ast)
	}
	for _, s := range all {
		if !s.isTest() {
			continue
		}
		for _, pos := range sleeps(s.ast, inBubbles[filepath.Dir(s.path)]) {
			t.Errorf("%s: time.Sleep in a test; wait for the event, or run in a synctest bubble",
				s.fset.Position(pos))
		}
	}
}

func usesBubbles(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == `"testing/synctest"`
	})
}

func sleeps(file *ast.File, bubbles bool) []token.Pos {
	var found []token.Pos
	wrappers := bubbleMakers(file)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if strings.HasPrefix(n.Name.Name, "Test") {
				return true
			}
			return !bubbles && !strings.Contains(n.Doc.Text(), "bubble")
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && wrappers[f.Name] {
				return false
			}
			switch callee(n) {
			case "synctest.Test":
				return false
			case "time.Sleep":
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

// bubbleMakers are the functions of a file that call synctest.Test themselves: what is handed to them runs in
// a bubble.
func bubbleMakers(file *ast.File) map[string]bool {
	makers := map[string]bool{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && callee(c) == "synctest.Test" {
				makers[f.Name.Name] = true
			}
			return true
		})
	}
	return makers
}

func callee(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return pkg.Name + "." + sel.Sel.Name
}

func TestSleepsAreFound(t *testing.T) {
	const body = `
func TestA() { time.Sleep(1) }
func TestB() { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }
func c() { func() { time.Sleep(2) }() }
func bubble(f func()) { synctest.Test(t, f) }
// helper sleeps in the bubble's time.
func helper() { time.Sleep(4) }
func TestD() { bubble(func() { time.Sleep(3) }) }`
	for head, want := range map[string]int{"package p\n": 2, "package p\nimport \"testing/synctest\"\n": 1} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", head+body, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(sleeps(file, usesBubbles(file))); n != want {
			t.Errorf("after %q: found %d sleeps, want %d", head, n, want)
		}
	}
}

// workplace matches absolute paths of machines on which this is developed: no reader has them. Written so
// that it does not match itself.
var workplace = regexp.MustCompile(
	`(^|[^A-Za-z0-9_.~-])/(work|home|root)/[a-z.]|/tmp/(plan|src|research|bench)\b|\.libr` +
		`ary\b|shared/(ref|design)`)

func TestNoWorkplaceInTheTree(t *testing.T) {
	walk(t, func(path string, data []byte) {
		if path == "go.sum" || path == "cmd/tidy/tidy_test.go" {
			return
		}
		for i, line := range strings.Split(string(data), "\n") {
			if m := workplace.FindString(line); m != "" {
				t.Errorf("%s:%d names a workplace: %q", path, i+1, m)
			}
		}
	})
}

func TestWorkplaceIsFound(t *testing.T) {
	for line, want := range map[string]bool{
		"see /" + "work/main":            true,
		`"/` + `home/me/moka"`:           true,
		"the network/work/x of somebody": false,
		"/tmp/moka-demo":                 false,
		"frame/work load":                false,
	} {
		if got := workplace.MatchString(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
