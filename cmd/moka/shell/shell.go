package shell

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Shell runs statements on one connection.
type Shell struct {
	db     *sql.DB
	conn   *sql.Conn
	id     int64 // of the connection
	out    *bufio.Writer
	errs   io.Writer
	format string
	// Force goes on after a statement that failed.
	Force bool
	// Talks says after each statement what it did and how long it took.
	Talks       bool
	interrupted <-chan struct{} // by the user, who wants the statement ended; see Interactive
}

// Options of a Shell.
type Options struct {
	Config *mysql.Config
	Out    io.Writer
	Errors io.Writer
	Format string
}

// Open connects.
func Open(ctx context.Context, o Options) (_ *Shell, closes func(), err error) {
	connector, err := mysql.NewConnector(o.Config)
	if err != nil {
		return nil, nil, err
	}
	db := sql.OpenDB(connector)
	s := &Shell{db: db, out: bufio.NewWriterSize(o.Out, 64<<10), errs: o.Errors, format: o.Format}
	if err := s.connect(ctx); err != nil {
		db.Close()
		return nil, nil, err
	}
	return s, func() { s.conn.Close(); db.Close() }, nil
}

func (s *Shell) connect(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	if err := conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&s.id); err != nil {
		conn.Close()
		return err
	}
	if s.conn != nil {
		s.conn.Close()
	}
	s.conn = conn
	return nil
}

// reconnect gets another connection where the last one is lost.
func (s *Shell) reconnect(ctx context.Context, err error) {
	if !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, mysql.ErrInvalidConn) &&
		!errors.Is(err, sql.ErrConnDone) && !errors.Is(err, context.Canceled) {
		return
	}
	if err := s.connect(ctx); err != nil {
		fmt.Fprintln(s.errs, describe(err, 0))
		return
	}
	fmt.Fprintln(s.errs, "The connection was lost, and with it what the session had: its transaction, its "+
		"variables, its database. This is another one.")
}

// ErrFailed is what a run ends with when statements failed, which it has said before.
var ErrFailed = errors.New("a statement failed")

// Run runs the statements of a text, until one fails.
func (s *Shell) Run(ctx context.Context, r io.Reader) error {
	var split Splitter
	failed := false
	run := func(list []Statement) error {
		for _, st := range list {
			if err := s.Do(ctx, st); err != nil {
				failed = true
				if !s.Force || ctx.Err() != nil {
					return ErrFailed
				}
			}
		}
		return nil
	}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if line != "" || err == nil {
			if err := run(split.Line(strings.TrimRight(line, "\r\n"))); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if split.Quote() != 0 {
		fmt.Fprintf(s.errs, "ERROR: the text ends within %c, after its last statement\n", split.Quote())
		return ErrFailed
	}
	if err := run(split.Rest()); err != nil {
		return err
	}
	if failed {
		return ErrFailed
	}
	return nil
}

// Do runs one statement, and says so if it fails.
func (s *Shell) Do(ctx context.Context, st Statement) error {
	err := s.do(ctx, st)
	if e := s.out.Flush(); err == nil {
		err = e
	}
	if err != nil {
		fmt.Fprintln(s.errs, describe(err, st.Line))
	}
	return err
}

// describe words an error as the mysql client does.
func describe(err error, line int) string {
	at := ""
	if line > 0 {
		at = fmt.Sprintf(" at line %d", line)
	}
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprintf("ERROR %d (%s)%s: %s", e.Number, string(e.SQLState[:]), at, e.Message)
	}
	return fmt.Sprintf("ERROR%s: %v", at, err)
}

func (s *Shell) do(ctx context.Context, st Statement) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.interrupted != nil {
		var watch sync.WaitGroup
		watch.Go(func() { s.watch(ctx, cancel) })
		defer watch.Wait()
		defer cancel()
	}
	began := time.Now()
	if counts(st.Text) {
		res, err := s.conn.ExecContext(ctx, st.Text)
		if err != nil {
			return err
		}
		n, _ := res.RowsAffected()
		s.say(ctx, fmt.Sprintf("Query OK, %s affected", rowsOf(n)), began)
		return nil
	}
	rows, err := s.conn.QueryContext(ctx, st.Text)
	if err != nil {
		return err
	}
	defer rows.Close()
	format := s.format
	if st.Vertical {
		format = Vertical
	}
	for {
		n, columns, err := s.result(rows, format)
		if err != nil {
			return err
		}
		more := rows.NextResultSet()
		if !more {
			if err := rows.Err(); err != nil {
				return err
			}
			if err := rows.Close(); err != nil {
				return err
			}
		}
		switch {
		case !columns && more: // of a procedure
		case !columns:
			s.say(ctx, "Query OK", began)
		case n == 0:
			s.say(ctx, "Empty set", began)
		default:
			s.say(ctx, rowsOf(n)+" in set", began)
		}
		if !more {
			return nil
		}
	}
}

// watch ends the statement on the server when the user wants it to.
func (s *Shell) watch(ctx context.Context, cancel func()) {
	select {
	case <-ctx.Done():
		return
	case <-s.interrupted:
	}
	kill, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	// on another connection
	if _, err := s.db.ExecContext(kill, fmt.Sprintf("KILL QUERY %d", s.id)); err != nil {
		cancel() // which gives the connection up
	}
}

// counts tells whether a statement's answer is a number of rows and not rows.
func counts(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "insert", "replace", "update", "delete":
		for _, w := range words {
			if w == "returning" { // a column's name, maybe: then the number is not told
				return false
			}
		}
		return true
	case "load":
		return true
	}
	return false
}

func rowsOf(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// result prints one result, if it is one.
func (s *Shell) result(rows *sql.Rows, format string) (n int64, columns bool, err error) {
	types, err := rows.ColumnTypes()
	if err != nil || len(types) == 0 {
		return 0, false, err
	}
	cols, cells, dests := make([]column, len(types)), make([]cell, len(types)), make([]any, len(types))
	raw := make([]sql.RawBytes, len(types))
	for i, t := range types {
		name := t.DatabaseTypeName()
		cols[i] = column{name: t.Name(), number: isNumber(name),
			binary: strings.HasSuffix(name, "BINARY") || strings.HasSuffix(name, "BLOB") ||
				name == "GEOMETRY" || name == "BIT"}
		dests[i] = &raw[i]
	}
	p := newPrinter(format, s.out, cols)
	for ; rows.Next(); n++ {
		if err := rows.Scan(dests...); err != nil {
			return n, true, err
		}
		for i := range raw {
			cells[i] = raw[i]
		}
		if err := p.row(cells); err != nil {
			return n, true, err
		}
	}
	if err := rows.Err(); err != nil {
		return n, true, err
	}
	return n, true, p.end()
}

func isNumber(name string) bool {
	switch strings.TrimPrefix(name, "UNSIGNED ") {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "YEAR", "DECIMAL", "FLOAT", "DOUBLE":
		return true
	}
	return false
}

// say tells what a statement has done, and how many warnings it has.
func (s *Shell) say(ctx context.Context, what string, began time.Time) {
	if !s.Talks {
		return
	}
	took := time.Since(began)
	var warnings int64
	if s.conn.QueryRowContext(ctx, "SHOW COUNT(*) WARNINGS").Scan(&warnings) == nil && warnings > 0 {
		what += fmt.Sprintf(", %d warning", warnings)
		if warnings > 1 {
			what += "s"
		}
	}
	fmt.Fprintf(s.out, "%s (%.2f sec)\n\n", what, took.Seconds())
}
