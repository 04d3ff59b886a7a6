package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"moka/tpce/client"
)

// Target is a server.
type Target struct {
	Name string
	// URL is mysql://… or postgres://…, with a database. Its tables event, effect and outbox are made anew.
	URL string
	// Observer: it has observers; all others have an outbox.
	Observer bool
}

// Config of a comparison. The zero value of each number means its default.
type Config struct {
	Targets []Target
	Writers int           // default 8
	Workers int           // that empty the outbox; default 4
	Batch   int           // events that a worker takes at a time; default 100
	Poll    time.Duration // how long a worker rests that has found nothing; default 1ms
	Rounds  int           // default 5
	Slice   time.Duration // of a round with writers; default 3s
	Backlog int           // changes; default 20,000
	// Progress gets a line for each slice. Default: discard.
	Progress io.Writer
}

func (c Config) withDefaults() Config {
	c.Writers = cmp.Or(c.Writers, 8)
	c.Workers = cmp.Or(c.Workers, 4)
	c.Batch = cmp.Or(c.Batch, 100)
	c.Poll = cmp.Or(c.Poll, time.Millisecond)
	c.Rounds = cmp.Or(c.Rounds, 5)
	c.Slice = cmp.Or(c.Slice, 3*time.Second)
	c.Backlog = cmp.Or(c.Backlog, 20_000)
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c
}

func (c Config) validate() error {
	if len(c.Targets) == 0 {
		return errors.New("name at least one target")
	}
	seen := map[string]bool{}
	for _, t := range c.Targets {
		if t.Name == "" || seen[t.Name] {
			return fmt.Errorf("targets need names of their own; %q is not", t.Name)
		}
		seen[t.Name] = true
	}
	for name, n := range map[string]int{"writers": c.Writers, "workers": c.Workers, "batch": c.Batch,
		"rounds": c.Rounds, "backlog": c.Backlog} {
		if n < 1 {
			return fmt.Errorf("%s: %d is not a positive number", name, n)
		}
	}
	if c.Slice <= 0 || c.Poll <= 0 {
		return errors.New("the slice and the workers' rest are longer than nothing")
	}
	return nil
}

// slice is one target's part of a round.
type slice struct {
	changes int
	took    time.Duration
	cpu     time.Duration // of the server; negative: not known
	latency *hdrhistogram.Histogram
}

// work is what a slice does: writers for a while, or a backlog to be emptied.
type work struct {
	name    string
	writers int
	backlog bool
}

// Run measures all targets in turns.
func Run(ctx context.Context, c Config) (r Report, err error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return r, err
	}
	var servers []*server
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.close())
		}
	}()
	for _, t := range c.Targets {
		s, err := open(ctx, c, t)
		if err != nil {
			return r, fmt.Errorf("%s: %w", t.Name, err)
		}
		servers = append(servers, s)
	}
	works := []work{{name: "1 writer", writers: 1}, {name: fmt.Sprintf("%d writers", c.Writers),
		writers: c.Writers}, {name: fmt.Sprintf("backlog of %d", c.Backlog), backlog: true}}
	found := map[string][]slice{}
	for _, w := range works {
		for round := range c.Rounds {
			for i := range servers {
				s := servers[(i+round)%len(servers)]
				got, err := s.slice(ctx, w)
				if err != nil {
					return r, fmt.Errorf("%s, %s: %w", s.Name, w.name, err)
				}
				key := w.name + "/" + s.Name
				found[key] = append(found[key], got)
				fmt.Fprintf(c.Progress, "%-18s round %d  %-10s %.0f changes/s\n", w.name, round+1, s.Name,
					float64(got.changes)/got.took.Seconds())
			}
		}
	}
	r = Report{Bench: "observer", Time: time.Now().UTC().Truncate(time.Second), Writers: c.Writers,
		Workers: c.Workers, Batch: c.Batch, Rounds: c.Rounds, SliceSecs: c.Slice.Seconds(),
		Backlog: c.Backlog}
	for _, w := range works {
		for _, s := range servers {
			r.Lines = append(r.Lines, summarize(w.name, s.Name, found[w.name+"/"+s.Name]))
		}
	}
	return r, nil
}

// highest is the longest latency that is told apart from longer ones.
const highest = time.Minute

func newLatency() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, highest.Microseconds(), 3)
}

// cpuOf is the server's processor time, if it is to be had.
func cpuOf(url string) (used func() time.Duration, known bool) {
	p, err := client.FindServer(url)
	if err != nil {
		return nil, false
	}
	return func() time.Duration {
		d, err := p.Used()
		if err != nil {
			return -1
		}
		return d
	}, true
}
