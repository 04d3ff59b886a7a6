package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/scripts: SQL in, results as text out. Directives: sql [s=name] runs the statements, one for each line
// group ended by a semicolon at the line's end, in the named session (default: a); restart starts the server again over its store.
// Rewrite the expected text with -rewrite.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		srv := newServer(t)
		sessions := map[string]*session{}
		boot := srv.session("")
		boot.exec("CREATE DATABASE d")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "restart":
				if err := srv.eng.Close(); err != nil {
					return err.Error()
				}
				srv.start()
				sessions = map[string]*session{}
				return "ok\n"
			case "sql":
				name := "a"
				d.MaybeScanArgs(t, "s", &name)
				s := sessions[name]
				if s == nil {
					s = srv.session("d")
					sessions[name] = s
				}
				var out strings.Builder
				for _, stmt := range split(d.Input) {
					out.WriteString(s.text(stmt))
				}
				return out.String()
			}
			d.Fatalf(t, "unknown directive %s", d.Cmd)
			return ""
		})
		wrong, err := srv.eng.CheckAll(context.Background())
		if err != nil || len(wrong) > 0 {
			t.Errorf("the tables are not what their indexes say: %v %q", err, wrong)
		}
	})
}

func split(input string) []string {
	var all []string
	var cur []string
	for _, line := range strings.Split(input, "\n") {
		cur = append(cur, line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			all = append(all, strings.TrimSuffix(strings.TrimSpace(strings.Join(cur, "\n")), ";"))
			cur = nil
		}
	}
	if rest := strings.TrimSpace(strings.Join(cur, "\n")); rest != "" {
		all = append(all, rest)
	}
	return all
}
