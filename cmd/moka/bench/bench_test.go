package bench

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"moka/kv"
)

// The test binary is its own server's process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bench-serve" {
		if err := ServeChild(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func server(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "bench-serve"}
}

// checkReport verifies what every report owes its reader: rows with figures, JSON that says the same, and a
// plot that is well-formed.
func checkReport(t *testing.T, r *Report, rows ...string) {
	t.Helper()
	text, svg := r.Text(), r.SVG()
	t.Log("\n" + text)
	for _, name := range rows {
		x, ok := r.Row(name)
		if !ok || x.Value <= 0 {
			t.Errorf("row %q: %+v, %v", name, x, ok)
		}
		if !strings.Contains(text, name) || !strings.Contains(svg, strings.ReplaceAll(name, ">", "&gt;")) {
			t.Errorf("row %q is not in the table, or not in the plot", name)
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(b, &back); err != nil || len(back.Rows) != len(r.Rows) ||
		back.Rows[0] != r.Rows[0] {
		t.Errorf("the JSON says something else: %s, %v", b, err)
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the plot: %v", err)
		}
	}
}

const short = 50 * time.Millisecond

func TestOracle(t *testing.T) {
	r, err := Oracle(t.Context(), OracleConfig{Server: server(t), Dir: t.TempDir(), Callers: 8, InFlight: 16,
		Rounds: 2, Slice: short})
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r, "one at a time", "16 in flight", "range of 16")
}

// The check must find what it looks for.
func TestTimestampCheckFinds(t *testing.T) {
	for name, f := range map[string]func(c *timestampCheck) error{
		"a caller's own order": func(c *timestampCheck) error {
			return c.add(&c.callers[0], 0, []kv.Timestamp{7, 6})
		},
		"the same twice": func(c *timestampCheck) error {
			return c.add(&c.callers[0], 0, []kv.Timestamp{7, 7})
		},
		"below what others had": func(c *timestampCheck) error {
			return c.add(&c.callers[0], 9, []kv.Timestamp{9})
		},
		"two owners": func(c *timestampCheck) error {
			err := errors.Join(c.add(&c.callers[0], 0, []kv.Timestamp{5, 6, 7}),
				c.add(&c.callers[1], 0, []kv.Timestamp{7, 8}))
			if err != nil {
				return fmt.Errorf("found too early: %v", err)
			}
			_, err = c.verify()
			return err
		},
	} {
		if err := f(newTimestampCheck(2)); !errors.Is(err, errTimestampOrder) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := newTimestampCheck(2)
	err := errors.Join(good.add(&good.callers[0], 0, []kv.Timestamp{5, 7}),
		good.add(&good.callers[1], 0, []kv.Timestamp{6, 8, 9}))
	if n, verr := good.verify(); n != 5 || err != nil || verr != nil {
		t.Errorf("%d timestamps, %v, %v", n, err, verr)
	}
}

// A child that cannot open its directory says so, and goes.
func TestChildReportsFailure(t *testing.T) {
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := StartChild(t.Context(), server(t), ServerOptions{Dir: file}); err == nil ||
		!strings.Contains(err.Error(), file) {
		t.Errorf("a file for a directory: %v", err)
	}
}

func TestMicro(t *testing.T) {
	r, err := Micro(t.Context(), MicroConfig{Server: server(t), Dir: t.TempDir(), Cells: 1000, Callers: 8,
		Rounds: 1, Slice: short})
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"in process", "grpc"} {
		checkReport(t, r, "read raw, "+place, "read txn, "+place, "read txn, snapshot, "+place,
			"write raw, "+place, "write txn, "+place)
	}
	if x, _ := r.Row("read txn, grpc"); x.Ratio() <= 0 {
		t.Errorf("no ratio: %+v", x)
	}
}

func TestBigtable(t *testing.T) {
	c := BigtableConfig{Server: server(t), Dir: t.TempDir(), Rows: 1200, Callers: 8, ScanRows: 100, Rounds: 1,
		Slice: short}
	r, err := Bigtable(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r, "random reads", "random reads (mem)", "random writes", "sequential reads",
		"sequential writes", "scans")
	if len(r.Rows) != len(bigtablePaper) {
		t.Errorf("%d rows, the paper has %d", len(r.Rows), len(bigtablePaper))
	}
}

func TestCommit(t *testing.T) {
	r, err := Commit(t.Context(), CommitConfig{Dir: t.TempDir(), Callers: 8, Rounds: 1, Slice: short})
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r, "Pebble, synced set", "transaction, one row")
}

// The bound is a promise at any size; the long form of this test is moka bench memory.
func TestMemory(t *testing.T) {
	c := MemoryConfig{Server: server(t), Dir: t.TempDir(), Cells: 30_000, CacheMiB: 64}
	if os.Getenv("MOKA_SOAK") != "" {
		c.Cells, c.CacheMiB = 10_000_000, 512
	}
	r, err := Memory(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r, "resident while loading", "resident while reading", "memtables")
	for _, x := range r.Rows {
		if x.Reference > 0 && c.CacheMiB >= 512 && x.Ratio() > 1 {
			t.Errorf("%s: %.0f MiB, the bound is %.0f", x.Name, x.Value, x.Reference)
		}
	}
}
