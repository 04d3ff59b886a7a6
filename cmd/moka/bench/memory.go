package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"moka/tpce/plot"
)

// MemoryConfig configures Memory. Zero values mean the defaults.
type MemoryConfig struct {
	Server   []string  `json:"-"`
	Dir      string    `json:"-"`
	Cells    int       // default 10,000,000
	Value    int       // bytes; default 100
	CacheMiB int       // the server's; default 512
	Progress io.Writer `json:"-"`
}

func (c MemoryConfig) withDefaults() MemoryConfig {
	if c.Cells <= 0 {
		c.Cells = 10_000_000
	}
	if c.Value <= 0 {
		c.Value = 100
	}
	if c.CacheMiB <= 0 {
		c.CacheMiB = 512
	}
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	return c
}

// MemoryBound is what the server's process may take, as a multiple of its cache.
const MemoryBound = 1.25

// Memory loads cells, reads some of them, and watches the resident memory of the server's process meanwhile.
func Memory(ctx context.Context, c MemoryConfig) (_ *Report, err error) {
	c = c.withDefaults()
	s, err := OpenStore(ctx, c.Server,
		ServerOptions{Dir: filepath.Join(c.Dir, "memory"), CacheMiB: c.CacheMiB})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	k, err := newCells(ctx, s, "memory", c.Cells, c.Value)
	if err != nil {
		return nil, err
	}
	r := newReport("memory", fmt.Sprintf("Memory of a server with a cache of %d MiB, %d cells of %d bytes",
		c.CacheMiB, c.Cells, c.Value), "MiB", c)
	r.Reference = fmt.Sprintf("%.2f × cache", MemoryBound)
	watch := func(name string, f func() error) error {
		peak, err := s.watchMemory(ctx, c.Progress, name, f)
		r.Rows = append(r.Rows, Row{Name: name, Value: mib(peak.ResidentBytes),
			Reference: MemoryBound * float64(c.CacheMiB)})
		return err
	}
	began := time.Now()
	if err := watch("resident while loading", func() error { return k.load(ctx, k.loadRaw) }); err != nil {
		return nil, err
	}
	loaded := time.Since(began)
	if err := watch("resident while reading", func() error {
		_, err := loop(ctx, nil, 64, min(10*time.Second, loaded), k.readRaw)
		return err
	}); err != nil {
		return nil, err
	}
	st, err := s.Stats()
	if err != nil {
		return nil, err
	}
	r.Rows = append(r.Rows,
		Row{Name: "block cache", Value: mib(uint64(st.Engine.CacheBytes))},
		Row{Name: "memtables", Value: mib(st.Engine.MemTableBytes)},
		Row{Name: "Go heap in use", Value: mib(st.GoBytes)},
		Row{Name: "on disk", Value: mib(st.Engine.TableBytes)})
	r.Notes = []string{
		fmt.Sprintf("loaded at %s cells/s; the runtime's limit is %.0f MiB; %d collections took %.1f %% of "+
			"one processor", plot.Figure(float64(c.Cells)/loaded.Seconds()),
			mib(uint64(st.MemoryLimit)), st.Collections, 100*st.CollectCPU),
		"memtables are taken from the cache's budget",
	}
	return r, nil
}

func mib(b uint64) float64 { return float64(b) / (1 << 20) }

// watchMemory runs f and returns the figures at the moment when the server's process was largest.
func (s *Store) watchMemory(ctx context.Context, progress io.Writer, name string,
	f func() error) (peak ServerStats, err error) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	var werr error
	wg.Go(func() {
		t := time.NewTicker(200 * time.Millisecond)
		defer t.Stop()
		told := time.Now()
		for last := false; ; {
			st, err := s.Stats()
			if err != nil {
				werr = err
				return
			}
			if st.ResidentBytes > peak.ResidentBytes {
				peak = st
			}
			if time.Since(told) > 5*time.Second {
				told = time.Now()
				fmt.Fprintf(progress, "%s: %.0f MiB, at most %.0f; %.0f MiB on disk\n", name,
					mib(st.ResidentBytes), mib(peak.ResidentBytes), mib(st.Engine.TableBytes))
			}
			if last {
				return
			}
			select {
			case <-t.C:
			case <-done:
				last = true
			case <-ctx.Done():
				werr = ctx.Err()
				return
			}
		}
	})
	err = f()
	close(done)
	wg.Wait()
	return peak, errors.Join(err, werr)
}
