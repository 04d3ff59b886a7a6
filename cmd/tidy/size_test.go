package tidy

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false,
	"write longlines.txt anew, if no package has more long lines than it says")

const (
	maxPackageFiles = 40
	maxPackageLines = 10_000
	maxColumns      = 110
	tabColumns      = 4
)

// size is that of a package, without tests.
type size struct{ files, lines int }

// largePackages may exceed the limits, up to the figures here, which only go down.
var largePackages = map[string]size{
	"sqlfront/engine": {121, 37_740},
	"txn":             {40, 10_570},
}

func TestPackagesStaySmall(t *testing.T) {
	sizes := map[string]size{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(s.path))
		sizes[dir] = size{sizes[dir].files + 1, sizes[dir].lines + s.lines}
	}
	for dir, is := range sizes {
		most, listed := largePackages[dir]
		small := is.files <= maxPackageFiles && is.lines <= maxPackageLines
		switch {
		case !listed && !small:
			t.Errorf("%s has %d files and %d lines, more than %d or %d: move what belongs together into a "+
				"package of its own",
				dir, is.files, is.lines, maxPackageFiles, maxPackageLines)
		case listed && (is.files > most.files || is.lines > most.lines):
			t.Errorf("%s has grown to %d files and %d lines from %v; it may only shrink", dir, is.files,
				is.lines, most)
		case listed && small:
			t.Errorf("%s has %d files and %d lines: take it off the list of large packages", dir,
				is.files, is.lines)
		case listed && (is.files < most.files-3 || is.lines < most.lines-500):
			t.Errorf("%s has shrunk to %d files and %d lines: lower its figures from %v", dir, is.files,
				is.lines, most)
		}
	}
	for dir := range largePackages {
		if sizes[dir] == (size{}) {
			t.Errorf("%s is gone: take it off the list of large packages", dir)
		}
	}
}

// TestLinesStayShort counts the lines of each package, tests included, that are longer than maxColumns, a tab
// being tabColumns. What is in longlines.txt may be longer, and only becomes less:
//
//	go test ./cmd/tidy -run TestLinesStayShort -update
func TestLinesStayShort(t *testing.T) {
	const file = "longlines.txt"
	allowed := longLinesOf(t, file)
	found, first := map[string]int{}, map[string]string{}
	for _, s := range sources(t) {
		data, err := os.ReadFile(filepath.Join(root, s.path))
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.ToSlash(filepath.Dir(s.path))
		for i, l := range strings.Split(string(data), "\n") {
			if columns(l) <= maxColumns {
				continue
			}
			if found[dir]++; found[dir] == allowed[dir]+1 {
				first[dir] = fmt.Sprintf("%s:%d", s.path, i+1)
			}
		}
	}
	for dir, n := range found {
		switch {
		case n > allowed[dir]:
			t.Errorf("%s has %d lines of more than %d columns, and had %d; one of them is %s", dir, n,
				maxColumns, allowed[dir], first[dir])
		case n < allowed[dir]-20 && !*update:
			t.Errorf("%s has %d long lines left of %d: run this test with -update", dir, n, allowed[dir])
		}
	}
	for dir := range allowed {
		if found[dir] == 0 && !*update {
			t.Errorf("%s has no long lines left: run this test with -update", dir)
		}
	}
	if *update && !t.Failed() {
		var b strings.Builder
		for _, dir := range slices.Sorted(maps.Keys(found)) {
			fmt.Fprintf(&b, "%s %d\n", dir, found[dir])
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// columns is how wide a line is on a screen.
func columns(line string) int {
	return utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
}

func longLinesOf(t *testing.T, file string) map[string]int {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var dir string
		var n int
		if _, err := fmt.Sscan(lines.Text(), &dir, &n); err != nil {
			t.Fatalf("%s: %q: %v", file, lines.Text(), err)
		}
		all[dir] = n
	}
	return all
}

func TestColumnsAreCounted(t *testing.T) {
	for line, want := range map[string]int{"": 0, "\ta": 5, "é…": 2, "a\tb": 6} {
		if got := columns(line); got != want {
			t.Errorf("%q has %d columns, want %d", line, got, want)
		}
	}
}
