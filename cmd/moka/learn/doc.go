// Package learn has the tutorials of "moka learn": the papers' examples, step by step, on a running server.
//
//	figure4    Percolator's figure 4: Bob gives 7 to Joe; the cells of both rows before and after each
//	           step of the commit, and what becomes of them when the process that commits is killed
//	webindex   Percolator's §1: documents, links, duplicates and an inverted link table, kept by observers
//
// What they show is what happens: statements go over the wire as those of any client, cells are read from
// the store, and the process that is killed is one. A tutorial that finds anything else than it tells fails,
// which makes it a test of the paper's claims, too.
package learn

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Tour is where a tutorial is shown.
type Tour struct {
	DB  *sql.DB
	Out io.Writer
	// In is asked for a line between the steps; nil: the tutorial goes on by itself.
	In *bufio.Reader
}

// say prints a paragraph.
func (t *Tour) say(format string, args ...any) { fmt.Fprintf(t.Out, format+"\n\n", args...) }

// pause waits for the reader.
func (t *Tour) pause() {
	if t.In == nil {
		return
	}
	fmt.Fprint(t.Out, "── Enter ──")
	_, _ = t.In.ReadString('\n') // at its end the tutorial goes on by itself
	fmt.Fprintln(t.Out)
}

// do shows a statement and runs it.
func (t *Tour) do(ctx context.Context, statement string) error {
	t.show(statement + ";")
	if _, err := t.DB.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", firstLine(statement), err)
	}
	return nil
}

func (t *Tour) show(statement string) {
	for i, l := range strings.Split(statement, "\n") {
		prompt := "moka> "
		if i > 0 {
			prompt = "    > "
		}
		fmt.Fprintln(t.Out, prompt+l)
	}
}

// ask shows a query with its rows, and returns them.
func (t *Tour) ask(ctx context.Context, query string) ([][]string, error) {
	t.show(query + ";")
	columns, rows, err := t.rows(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", firstLine(query), err)
	}
	tw := tabwriter.NewWriter(t.Out, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "      "+strings.Join(columns, "\t"))
	for _, r := range rows {
		fmt.Fprintln(tw, "      "+strings.Join(r, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return nil, err
	}
	fmt.Fprintln(t.Out)
	return rows, nil
}

func (t *Tour) rows(ctx context.Context, query string) (columns []string, rows [][]string, err error) {
	found, err := t.DB.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	if columns, err = found.Columns(); err != nil {
		return nil, nil, err
	}
	for found.Next() {
		values, to := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := found.Scan(to...); err != nil {
			return nil, nil, err
		}
		row := make([]string, len(columns))
		for i, v := range values {
			if row[i] = v.String; !v.Valid {
				row[i] = "NULL"
			}
		}
		rows = append(rows, row)
	}
	return columns, rows, found.Err()
}

// expect fails unless the rows are those that the tutorial tells.
func expect(rows [][]string, want string) error {
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join(r, " "))
	}
	if got := strings.Join(lines, "; "); got != want {
		return fmt.Errorf("found %q, where the tutorial tells %q", got, want)
	}
	return nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
