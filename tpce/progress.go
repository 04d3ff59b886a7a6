package tpce

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// progress shows how far a long piece of work is: one line rewritten in place on a terminal, a line every
// few seconds elsewhere.
type progress struct {
	out   io.Writer
	label string
	unit  string
	total int64 // 0: unknown
	done  atomic.Int64
	start time.Time
	stop  chan struct{}
	ended chan struct{}
	tty   bool
	extra func() string // more to say, may be nil
}

func startProgress(out io.Writer, label, unit string, total int64, extra func() string) *progress {
	p := &progress{
		out: out, label: label, unit: unit, total: total, start: time.Now(), extra: extra,
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	if f, ok := out.(*os.File); ok {
		p.tty = term.IsTerminal(int(f.Fd()))
	}
	go p.loop()
	return p
}

func (p *progress) loop() {
	defer close(p.ended)
	every := 5 * time.Second
	if p.tty {
		every = 200 * time.Millisecond
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if p.tty {
				fmt.Fprintf(p.out, "\r\x1b[K%s", p.line())
			} else {
				fmt.Fprintln(p.out, p.line())
			}
		case <-p.stop:
			if p.tty {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		}
	}
}

// finish ends the display and waits until nothing more is written.
func (p *progress) finish() {
	close(p.stop)
	<-p.ended
}

func (p *progress) line() string {
	done, elapsed := p.done.Load(), time.Since(p.start)
	rate := float64(done) / max(elapsed.Seconds(), 0.001)
	var b strings.Builder
	fmt.Fprintf(&b, "%s ", p.label)
	if p.total > 0 {
		const width = 24
		full := int(min(done, p.total) * width / p.total)
		fmt.Fprintf(&b, "[%s%s] %3d%% %s/%s %s", strings.Repeat("=", full), strings.Repeat(" ", width-full),
			min(done, p.total)*100/p.total, grouped(done), grouped(p.total), p.unit)
	} else {
		fmt.Fprintf(&b, "%s %s", grouped(done), p.unit)
	}
	fmt.Fprintf(&b, ", %s/s", grouped(int64(rate)))
	if p.total > 0 && rate > 0 {
		left := time.Duration(float64(max(p.total-done, 0)) / rate * float64(time.Second))
		fmt.Fprintf(&b, ", %s left", left.Round(time.Second))
	} else {
		fmt.Fprintf(&b, ", %s", elapsed.Round(time.Second))
	}
	if p.extra != nil {
		b.WriteString(p.extra())
	}
	return b.String()
}

// grouped prints 1234567 as 1,234,567.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
