package statements

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// slowLog is the file that it was last written to.
type slowLog struct {
	o Options

	mu     sync.Mutex
	name   string
	file   *os.File
	broken string // the last complaint
}

func (s *slowLog) init(o Options) { s.o = o }

// ErrFileName is the answer to a name that leads out of the slow log's directory.
var ErrFileName = errors.New("statements: the slow log's file is given by its name alone; it lies in the " +
	"server's log directory")

// CheckFileName says whether the slow log may have that name. Who may set variables must not be able to write
// anywhere on the machine.
func CheckFileName(name string) error {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return ErrFileName
	}
	return nil
}

// Slow writes a statement to the slow log:
//
//	# Time: 2026-11-21T18:20:00.123456Z
//	# User@Host: root[root] @ localhost []  Id:     8
//	# Query_time: 0.000123  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1
//	use shop;
//	SET timestamp=1795371600;
//	SELECT …;
func (r *Recorder) Slow(x *Execution, file string) { r.slow.write(x, file) }

// Rotate ends the file, so that a log that was renamed is let go of; the next statement begins a new one.
func (r *Recorder) Rotate() error {
	r.slow.mu.Lock()
	defer r.slow.mu.Unlock()
	return r.slow.closeLocked()
}

// Close ends the slow log.
func (r *Recorder) Close() error { return r.Rotate() }

func (s *slowLog) closeLocked() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

func (s *slowLog) write(x *Execution, name string) {
	if s.o.Dir == "" {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Time: %s\n", x.Began.Add(x.Took).UTC().Format("2006-01-02T15:04:05.000000Z"))
	fmt.Fprintf(&b, "# User@Host: %s[%s] @ %s []  Id: %5d\n", oneLine(x.User), oneLine(x.User),
		oneLine(x.Host), x.Connection)
	fmt.Fprintf(&b, "# Query_time: %.6f  Lock_time: %.6f Rows_sent: %d  Rows_examined: %d\n",
		x.Took.Seconds(), x.Locked.Seconds(), x.Sent, x.Examined)
	if x.Database != "" {
		fmt.Fprintf(&b, "use %s;\n", oneLine(x.Database))
	}
	fmt.Fprintf(&b, "SET timestamp=%d;\n", x.Began.Unix())
	b.WriteString(strings.TrimRight(loggable(x.Text), "; \t\r\n"))
	b.WriteString(";\n")

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.openLocked(name); err != nil {
		s.complain(err)
		return
	}
	if _, err := s.file.WriteString(b.String()); err != nil {
		s.complain(err)
		_ = s.closeLocked()
	}
}

// maxLogged is where a statement ends in the log: a bulk load is as long as its rows.
const maxLogged = 64 << 10

// loggable is the text as it may be written down: without passwords, which stand in statements about
// accounts.
func loggable(text string) string {
	head := strings.ToLower(text[:min(len(text), 1<<10)])
	if strings.Contains(head, "identified") || strings.Contains(head, "password") {
		return DigestText(text)
	}
	if len(text) > maxLogged {
		text = text[:maxLogged]
	}
	return strings.ToValidUTF8(text, "?")
}

// oneLine keeps a name from writing lines of its own.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func (s *slowLog) openLocked(name string) error {
	if s.file != nil && s.name == name {
		return nil
	}
	if err := CheckFileName(name); err != nil {
		return err
	}
	_ = s.closeLocked()
	if err := os.MkdirAll(s.o.Dir, 0o750); err != nil {
		return err
	}
	path := filepath.Join(s.o.Dir, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err == nil && st.Size() == 0 {
		// Readers of the log know these lines by their form, and pass over them.
		program, _ := os.Executable()
		_, port, _ := net.SplitHostPort(s.o.Addr)
		_, err = fmt.Fprintf(f, "%s, Version: %s (Moka). started with:\nTcp port: %s  Unix socket: -\nTime "+
			"                Id Command    Argument\n", program, s.o.Version, port)
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	s.file, s.name, s.broken = f, name, ""
	return nil
}

// complain says once what is wrong, not for each statement.
func (s *slowLog) complain(err error) {
	if text := err.Error(); text != s.broken {
		s.broken = text
		s.o.Logger.Warn("the slow log cannot be written", "err", err, "at", time.Now())
	}
}
