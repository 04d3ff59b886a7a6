package tidy

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	direct = regexp.MustCompile(`(?m)^\t(\S+) v\S+$`) // a line of go.mod without "// indirect"
	listed = regexp.MustCompile("`([a-zA-Z0-9.-]+\\.[a-z]+/[^`]+)`")
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// docs/dependencies.md says why each module is there that go.mod names directly, and names no other.
func TestDependenciesAreListed(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, "|") {
			for _, m := range listed.FindAllStringSubmatch(line, -1) {
				said[m[1]] = true
			}
		}
	}
	found := direct.FindAllStringSubmatch(string(mod), -1)
	if len(found) < 10 {
		t.Fatalf("go.mod names %d modules: this test does not read it", len(found))
	}
	for _, m := range found {
		if !said[m[1]] {
			t.Errorf("docs/dependencies.md does not say what %s is for", m[1])
		}
		delete(said, m[1])
	}
	for m := range said {
		t.Errorf("docs/dependencies.md names %s, which go.mod does not need directly", m)
	}
}

// Links within the documents lead somewhere, and every page of the manual is in its index.
func TestLinksLeadSomewhere(t *testing.T) {
	files := map[string]bool{}
	texts := map[string]string{}
	walk(t, func(name string, data []byte) {
		files[name] = true
		if strings.HasSuffix(name, ".md") {
			texts[name] = string(data)
		}
	})
	seen := 0
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to, _, _ := strings.Cut(m[1], "#")
			if to == "" || strings.Contains(to, "://") || strings.ContainsAny(to, "`'\"") {
				continue
			}
			seen++
			if to = path.Join(path.Dir(name), to); !files[to] && !isDir(to) {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
		if page, ok := strings.CutPrefix(name, "docs/"); ok && page != "README.md" &&
			!strings.Contains(texts["docs/README.md"], "("+page+")") {
			t.Errorf("docs/README.md, the index, lacks %s", page)
		}
	}
	if seen < 20 {
		t.Errorf("%d links found: this test does not see them", seen)
	}
}

func isDir(name string) bool {
	info, err := os.Stat(filepath.Join(root, name))
	return err == nil && info.IsDir()
}
