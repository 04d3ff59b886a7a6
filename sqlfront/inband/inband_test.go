package inband_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"moka/sqlfront/inband"
)

// variables are names of system variables, which clients write, and names that older releases have stored.
var variables = map[string]bool{
	"moka_plan_cache": true, "moka_push_down": true, "moka_query_memory": true, "moka_txn_mode": true,
	"moka_snapshot":       true,
	"moka_session_memory": true, "moka_interval": true, "moka_units": true,
}

// TestNoMarkOutside: what looks like a mark in the front's sources is made here, so that no client can write
// it.
func TestNoMarkOutside(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "inband.go" {
			return err
		}
		files++
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			suspect := len(s) > 1 && (s[0] == 0 && s != "\x00\x00" || strings.HasPrefix(s, "__") ||
				strings.HasPrefix(s, "moka_") && !variables[s])
			if suspect {
				t.Errorf("%s: %q looks like a mark that a client could write; make it by inband.New or "+
					"inband.Function", set.Position(lit.Pos()), s)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 100 {
		t.Fatal(err, files)
	}
}

func TestWithout(t *testing.T) {
	mark, function := inband.New("test"), inband.Function("test")
	if mark == function || !inband.In(mark) || !inband.In("a"+function+"b") || inband.In("moka_test") {
		t.Errorf("%q %q", mark, function)
	}
	if got := inband.Without("x " + function + "(1) " + mark + "y"); inband.In(got) ||
		!strings.HasPrefix(got, "x moka_test(1) ") {
		t.Error(got)
	}
}
