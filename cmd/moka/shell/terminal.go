package shell

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// historyLines bounds the history.
const historyLines = 1000

// history are the statements of before, the last one first; see term.History.
type history struct {
	lines []string // the last one last
	file  string   // empty for none
}

// loadHistory reads the file, or as much of it as there is.
func loadHistory(file string) *history {
	h := &history{file: file}
	f, err := os.Open(file)
	if file == "" || err != nil {
		return h
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		h.keep(in.Text())
	}
	return h
}

func (h *history) keep(line string) {
	if h.lines = append(h.lines, line); len(h.lines) > historyLines {
		h.lines = h.lines[1:]
	}
}

// Add implements term.History: lines are kept by statement, not as they come.
func (h *history) Add(string) {}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// remember adds what was entered. Statements that set a password are not kept.
func (h *history) remember(text string) {
	low := strings.ToLower(text)
	if strings.Contains(low, "identified") || strings.Contains(low, "password") {
		return
	}
	lines := []string{strings.Join(strings.Fields(text), " ")}
	if strings.Contains(text, "--") || strings.ContainsAny(text, "#'\"`") { // spaces and ends of lines matter
		lines = strings.Split(text, "\n")
	}
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t\r"); l != "" && (len(h.lines) == 0 || h.At(0) != l) {
			h.keep(l)
		}
	}
}

// save writes the file anew, for its owner alone.
func (h *history) save() error {
	if h.file == "" {
		return nil
	}
	text := strings.Join(h.lines, "\n")
	if text != "" {
		text += "\n"
	}
	return os.WriteFile(h.file, []byte(text), 0o600)
}

// lines is where Interactive reads from.
type lines interface {
	SetPrompt(string)
	ReadLine() (string, error)
}

const help = `Statements end with ; or with \G for a result with a line for each column. Ctrl-C ends a
statement that runs, Ctrl-D or quit ends this client.

  \q quit   leave               \h help   this text
  \c        forget the input    DELIMITER $$  what ends statements
`

// Interactive reads statements from a person at the terminal, which in and out are.
func (s *Shell) Interactive(ctx context.Context, in, out *os.File, historyFile, greeting string) error {
	// Ctrl-C ends what runs, and not this process.
	ctx = context.WithoutCancel(ctx)
	pressed := make(chan os.Signal, 1)
	signal.Notify(pressed, os.Interrupt)
	defer signal.Stop(pressed)
	interrupted := make(chan struct{})
	s.interrupted = interrupted
	quit := make(chan struct{})
	defer close(quit)
	go func() {
		for {
			select {
			case <-pressed:
			case <-quit:
				return
			}
			select {
			case interrupted <- struct{}{}:
			default: // nothing runs
			}
		}
	}()

	h := loadHistory(historyFile)
	t := &cooked{in: in, out: out, history: h}
	t.renew()
	s.Talks = true
	fmt.Fprint(out, greeting)
	s.converse(ctx, t, out, h)
	return h.save()
}

// cooked has the terminal raw while a line is being edited and no longer: results end their lines as they do,
// and Ctrl-C is a signal.
type cooked struct {
	*term.Terminal
	in, out *os.File
	history *history
}

// renew begins anew: a terminal that has read Ctrl-C reads it for ever.
func (c *cooked) renew() {
	c.Terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{c.in, c.out}, "")
	c.History = c.history
}

// ReadLine implements lines.
func (c *cooked) ReadLine() (string, error) {
	state, err := term.MakeRaw(int(c.in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(c.in.Fd()), state) }()
	if w, h, err := term.GetSize(int(c.in.Fd())); err == nil && w > 0 {
		_ = c.SetSize(w, h)
	}
	line, err := c.Terminal.ReadLine()
	switch err {
	case io.EOF:
		c.renew()
	case term.ErrPasteIndicator:
		err = nil
	}
	return line, err
}

// converse takes statements until the input ends.
func (s *Shell) converse(ctx context.Context, in lines, out io.Writer, h *history) {
	var split Splitter
	var entered []string
	for {
		split.line = 0 // errors are about what is seen
		prompt := "moka> "
		switch q := split.Quote(); {
		case q == '*':
			prompt = "   /*> "
		case q != 0:
			prompt = "    " + string(q) + "> "
		case split.Pending():
			prompt = "   -> "
		}
		in.SetPrompt(prompt)
		line, err := in.ReadLine()
		if err != nil {
			if split.Pending() { // the first Ctrl-C or Ctrl-D forgets the statement
				split.Discard()
				entered = nil
				fmt.Fprintln(out, "^C")
				continue
			}
			fmt.Fprintln(out, "Bye")
			return
		}
		word := strings.ToLower(strings.TrimRight(strings.TrimSpace(line), "; "))
		if split.Quote() == 0 && word == `\c` {
			split.Discard()
			entered = nil
			continue
		}
		if !split.Pending() {
			switch word {
			case "quit", "exit", `\q`:
				h.remember(line)
				fmt.Fprintln(out, "Bye")
				return
			case "help", `\h`, "?", `\?`:
				fmt.Fprint(out, help)
				continue
			}
		}
		entered = append(entered, line)
		list := split.Line(line)
		for _, st := range list {
			st.Line = 0
			if err := s.Do(ctx, st); err != nil {
				s.reconnect(ctx, err)
			}
		}
		if !split.Pending() {
			h.remember(strings.Join(entered, "\n"))
			entered = nil
		}
	}
}
