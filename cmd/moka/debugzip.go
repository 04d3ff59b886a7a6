package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// What a server tells of itself in one file, for who looks into a problem: "moka debug zip" fetches it. Each
// part is bounded, and a part that fails leaves the others alone.

const (
	zipPart     = 16 << 20         // bytes of a part
	zipPartTime = 10 * time.Second // to collect one
	zipRows     = 10_000           // of a table
	zipPath     = "/debug/zip"
	logLines    = 5_000 // that a process keeps
	logLineSize = 4 << 10
)

// logTail keeps the last lines of the log.
type logTail struct {
	to io.Writer

	mu    sync.Mutex
	lines []string // a ring
	next  int
}

// Write implements io.Writer; a handler of slog writes a line at a time.
func (l *logTail) Write(b []byte) (int, error) {
	line := string(b[:min(len(b), logLineSize)])
	l.mu.Lock()
	if len(l.lines) < logLines {
		l.lines = append(l.lines, line)
	} else {
		l.lines[l.next] = line
		l.next = (l.next + 1) % logLines
	}
	l.mu.Unlock()
	return l.to.Write(b)
}

func (l *logTail) writeTo(w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.lines {
		if _, err := io.WriteString(w, l.lines[(l.next+i)%len(l.lines)]); err != nil {
			return err
		}
	}
	return nil
}

var errPartFull = errors.New("the part is longer than it may be, and was cut")

// part is what is written of one file of the archive.
type part struct {
	w    io.Writer
	left int
}

func (p *part) Write(b []byte) (int, error) {
	if len(b) > p.left {
		n, _ := p.w.Write(b[:p.left])
		p.left = 0
		return n, errPartFull
	}
	p.left -= len(b)
	return p.w.Write(b)
}

// collect writes one file of the archive; what went wrong is a line of problems.
type collected struct {
	zip      *zip.Writer
	problems strings.Builder
}

func (c *collected) add(name string, f func(w io.Writer) error) {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now().UTC()}
	w, err := c.zip.CreateHeader(h)
	if err == nil {
		err = f(&part{w, zipPart})
	}
	if err != nil {
		fmt.Fprintf(&c.problems, "%s: %v\n", name, err)
	}
}

// debugZip answers zipPath.
func (h *httpServer) debugZip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/zip")
	c := &collected{zip: zip.NewWriter(w)}
	h.stack.collect(r.Context(), c, func(path string, to io.Writer) error {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		h.metrics.ServeHTTP(inside{to, http.Header{}}, req)
		return nil
	})
	c.add("problems.txt", func(w io.Writer) error {
		_, err := io.WriteString(w, c.problems.String())
		return err
	})
	_ = c.zip.Close() // else the client sees that its file ends early
}

// inside is an answer of our own that goes into the archive.
type inside struct {
	io.Writer
	header http.Header
}

func (p inside) Header() http.Header { return p.header }
func (p inside) WriteHeader(int)     {}

func (s *stack) collect(ctx context.Context, c *collected, ask func(path string, to io.Writer) error) {
	value := func(f func(context.Context) (any, error)) func(io.Writer) error {
		return func(w io.Writer) error {
			ctx, cancel := context.WithTimeout(ctx, zipPartTime)
			defer cancel()
			v, err := f(ctx)
			if err != nil {
				return err
			}
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(v)
		}
	}
	c.add("version.json", value(func(context.Context) (any, error) { return buildOf(), nil }))
	c.add("settings.json", value(func(context.Context) (any, error) { return s.o.Settings, nil }))
	c.add("status.json", value(s.status))
	for _, name := range []string{"tablets", "locks", "gc"} {
		c.add(name+".json", value(func(ctx context.Context) (any, error) {
			return controls[name].run(ctx, s, nil)
		}))
	}
	c.add("metrics.txt", func(w io.Writer) error { return ask("/metrics", w) })
	c.add("goroutines.txt", func(w io.Writer) error { return pprof.Lookup("goroutine").WriteTo(w, 1) })
	c.add("heap.pb.gz", func(w io.Writer) error { return pprof.Lookup("heap").WriteTo(w, 0) })
	if s.sql != nil {
		within, cancel := context.WithTimeout(ctx, zipPartTime)
		defer cancel()
		for _, d := range s.sql.Dumps(within, zipRows) {
			c.add("tables/"+d.Name+".tsv", func(w io.Writer) error {
				fmt.Fprintln(w, strings.Join(d.Columns, "\t"))
				for _, r := range d.Rows {
					for i := range r {
						r[i] = tabs.Replace(hidePasswords(r[i]))
					}
					if _, err := fmt.Fprintln(w, strings.Join(r, "\t")); err != nil {
						return err
					}
				}
				if d.Cut {
					return fmt.Errorf("there are more than %d rows", zipRows)
				}
				return d.Err
			})
		}
	}
	if s.o.Log != nil {
		c.add("log.txt", s.o.Log.writeTo)
	}
}

// passwords are where statements have them.
var passwords = regexp.MustCompile(`(?i)\b(by|as|password\s*(?:=|\())\s*('(?:[^'\\]|\\.|'')*'?|` +
	`"(?:[^"\\]|\\.|"")*"?|` +
	`0x[0-9a-f]+)`)

// hidePasswords replaces texts by *** in statements that may set one.
func hidePasswords(text string) string {
	low := strings.ToLower(text)
	if !strings.Contains(low, "identified") && !strings.Contains(low, "password") {
		return text
	}
	return passwords.ReplaceAllString(text, "$1 '***'")
}

var tabs = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`)

func debugCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "debug", Short: "Collect what helps to look into a problem"}
	to := &asked{}
	collect := &cobra.Command{
		Use: "zip [FILE]", Short: "What a server tells of itself, in one file", Args: cobra.MaximumNArgs(1),
		Long: `Fetches from a running server its version, settings, counters, goroutines, heap profile,
list of processes, the tables of the database moka and the end of its log. Each part is bounded. There are no
rows in it, but there are statements, and keys of rows that are locked or where tablets begin: look at it
before you give it away.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "moka-debug-" + time.Now().UTC().Format("20060102-150405") + ".zip"
			if len(args) > 0 {
				file = args[0]
			}
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err != nil {
				return err
			}
			q := question{addr: to.addr, path: zipPath, of: control{keys: true}}
			b, err := askControl(cmd.Context(), q, to.data, to.file)
			if err == nil {
				_, err = f.Write(b)
			}
			if err = errors.Join(err, f.Close()); err != nil {
				_ = os.Remove(file)
				return err
			}
			fmt.Println(file)
			return nil
		},
	}
	to.bind(collect.Flags())
	cmd.AddCommand(collect)
	return cmd
}
