package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"moka/cmd/moka/bench"
	"moka/tpce/failover"
)

// paperFlags are what the papers' experiments have in common.
type paperFlags struct {
	preset, svg string
	dir         string
	slice       time.Duration
	rounds      int
	callers     int
}

// presets name how much of an experiment is run. smoke proves that it works and says nothing about speed.
const presetHelp = "full, or smoke: a second of everything, which proves that it works and says nothing " +
	"about speed"

func (p *paperFlags) add(cmd *cobra.Command) {
	p.addCommon(cmd)
	f := cmd.Flags()
	f.DurationVar(&p.slice, "slice", 0, "length of one measured slice")
	f.IntVar(&p.rounds, "rounds", 0, "slices of each kind, taking turns")
	f.IntVar(&p.callers, "callers", 0, "concurrent callers")
}

func (p *paperFlags) addCommon(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.preset, "preset", "full", presetHelp)
	f.StringVar(&p.svg, "svg", "", "also draw the report into this file")
	f.StringVar(&p.dir, "data", "",
		"where the server keeps its data; default: a temporary directory that is removed")
	f.Bool("json", false, "print the report as one line of JSON")
}

// run gives an experiment a directory and prints what it finds.
func (p *paperFlags) run(cmd *cobra.Command,
	experiment func(ctx context.Context, server []string, dir string) (*bench.Report, error)) error {
	if p.preset != "full" && p.preset != "smoke" {
		return fmt.Errorf("--preset %q: %s", p.preset, presetHelp)
	}
	dir := p.dir
	if dir == "" {
		tmp, err := os.MkdirTemp("", "moka-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the server runs in a process of its own, for which this program must find "+
			"itself: %w", err)
	}
	r, err := experiment(cmd.Context(), []string{self, "bench", "serve"}, dir)
	if err != nil {
		return err
	}
	if p.svg != "" {
		if err := os.WriteFile(p.svg, []byte(r.SVG()), 0o644); err != nil {
			return err
		}
	}
	return printReport(cmd, r.Text(), r)
}

func (p *paperFlags) smoke() bool { return p.preset == "smoke" }

// benchServe is the other process of the experiments.
func benchServe() *cobra.Command {
	return &cobra.Command{
		Use: "serve", Hidden: true, Args: cobra.NoArgs,
		Short: "The server of the other bench commands, which start it",
		RunE: func(cmd *cobra.Command, _ []string) error {
			// An interrupt reaches both processes; the one that measures decides when this one goes.
			return bench.ServeChild(context.WithoutCancel(cmd.Context()), os.Stdin, os.Stdout)
		},
	}
}

func benchOracle() *cobra.Command {
	var p paperFlags
	var c bench.OracleConfig
	cmd := &cobra.Command{
		Use: "oracle", Args: cobra.NoArgs,
		Short: "Timestamps a second (Percolator §2.3)",
		Long: `Measures how many timestamps a second concurrent callers receive from an oracle in another process, over loopback gRPC, with the
ceiling made durable on disk: one at a time, many transactions in flight for each caller, and in ranges. Every timestamp is checked.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.run(cmd, func(ctx context.Context, server []string, dir string) (*bench.Report, error) {
				if p.smoke() {
					c.Rounds, c.Slice = 1, 200*time.Millisecond
				}
				p.apply(&c.Rounds, &c.Slice, &c.Callers)
				c.Server, c.Dir, c.Progress = server, dir, os.Stderr
				return bench.Oracle(ctx, c)
			})
		},
	}
	p.add(cmd)
	cmd.Flags().IntVar(&c.InFlight, "in-flight", 0,
		"transactions that a caller has begun at a time; default 64")
	return cmd
}

func benchMicro() *cobra.Command {
	var p paperFlags
	var c bench.MicroConfig
	cmd := &cobra.Command{
		Use: "micro", Args: cobra.NoArgs,
		Short: "Single-cell reads and writes, raw store against transactions (Percolator Figure 8)",
		Long: `Measures random reads and durable writes of single cells in one shard, everything cached: through the raw store and through
transactions, in one process and over loopback gRPC. Raw and transactional slices take turns.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.run(cmd, func(ctx context.Context, server []string, dir string) (*bench.Report, error) {
				if p.smoke() {
					c.Rounds, c.Slice, c.Cells = 1, 200*time.Millisecond, 2000
				}
				p.apply(&c.Rounds, &c.Slice, &c.Callers)
				c.Server, c.Dir, c.Progress = server, dir, os.Stderr
				return bench.Micro(ctx, c)
			})
		},
	}
	p.add(cmd)
	cmd.Flags().IntVar(&c.Cells, "cells", 0, "cells of each kind; default 100,000")
	cmd.Flags().IntVar(&c.Value, "value", 0, "bytes of a value; default 100")
	return cmd
}

func benchBigtable() *cobra.Command {
	var p paperFlags
	var c bench.BigtableConfig
	cmd := &cobra.Command{
		Use: "bigtable", Args: cobra.NoArgs,
		Short: "Random and sequential reads and writes, scans (Bigtable Figure 6)",
		Long: `Measures the raw store as Bigtable's Figure 6 does for one tablet server: values of 1,000 bytes, one in each row, read and written by
callers in another process, over loopback gRPC. Writes are durable.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.run(cmd, func(ctx context.Context, server []string, dir string) (*bench.Report, error) {
				if p.smoke() {
					c.Rounds, c.Slice, c.Rows = 1, 200*time.Millisecond, 4000
				}
				p.apply(&c.Rounds, &c.Slice, &c.Callers)
				c.Server, c.Dir, c.Progress = server, dir, os.Stderr
				return bench.Bigtable(ctx, c)
			})
		},
	}
	p.add(cmd)
	cmd.Flags().IntVar(&c.Rows, "rows", 0, "rows of the table; default 200,000")
	cmd.Flags().IntVar(&c.Value, "value", 0, "bytes of a value; default 1,000")
	cmd.Flags().IntVar(&c.CacheMiB, "cache-mib", 0, "the server's block cache; default 64")
	cmd.Flags().IntVar(&c.SeparateValues, "separate-values", 0, "as of moka start")
	cmd.Flags().StringSliceVar(&c.Only, "only", nil, "measure only these, such as \"scans,random writes\"")
	return cmd
}

func benchCommit() *cobra.Command {
	var p paperFlags
	var c bench.CommitConfig
	cmd := &cobra.Command{
		Use: "commit", Args: cobra.NoArgs,
		Short: "Durable commits of one row, against Pebble's own synced sets",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.run(cmd, func(ctx context.Context, server []string, dir string) (*bench.Report, error) {
				if p.smoke() {
					c.Rounds, c.Slice = 1, 200*time.Millisecond
				}
				p.apply(&c.Rounds, &c.Slice, &c.Callers)
				c.Dir, c.Progress = dir, os.Stderr
				return bench.Commit(ctx, c)
			})
		},
	}
	p.add(cmd)
	cmd.Flags().IntVar(&c.Value, "value", 0, "bytes of a value; default 100")
	return cmd
}

func benchMemory() *cobra.Command {
	var p paperFlags
	var c bench.MemoryConfig
	cmd := &cobra.Command{
		Use: "memory", Args: cobra.NoArgs,
		Short: "Resident memory of a server while cells are loaded and read",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.run(cmd, func(ctx context.Context, server []string, dir string) (*bench.Report, error) {
				if p.smoke() && c.Cells == 0 {
					c.Cells, c.CacheMiB = 100_000, 64
				}
				c.Server, c.Dir, c.Progress = server, dir, os.Stderr
				return bench.Memory(ctx, c)
			})
		},
	}
	f := cmd.Flags()
	p.addCommon(cmd)
	f.IntVar(&c.Cells, "cells", 0, "cells to load; default 10,000,000")
	f.IntVar(&c.Value, "value", 0, "bytes of a value; default 100")
	f.IntVar(&c.CacheMiB, "cache-mib", 0, "the server's cache; default 512")
	return cmd
}

// apply lets flags that were given win over the preset.
func (p *paperFlags) apply(rounds *int, slice *time.Duration, callers *int) {
	if p.rounds > 0 {
		*rounds = p.rounds
	}
	if p.slice > 0 {
		*slice = p.slice
	}
	if p.callers > 0 {
		*callers = p.callers
	}
}

// benchFailover measures what clients of a cluster see when a node dies.
func benchFailover() *cobra.Command {
	var c failover.Config
	var preset, svg, dir string
	cmd := &cobra.Command{
		Use: "failover", Args: cobra.NoArgs,
		Short: "Transactions a second while a node is killed and comes back (Percolator, Figure 10)",
		Long: `Starts a cluster of processes on this machine, runs transactions over its shards through
all nodes, kills (kill -9) the node that leads the first shard, and with it coordination and
the timestamp oracle, and starts it again later. Prints the rate over time and whether the
rest of the nodes reached nine tenths of the rate before within five seconds; and compares
what every node holds in the end with what was acknowledged: a lost transaction is the
command's error.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case preset == "smoke":
				c.Clients, c.Rows = 4, 500
				c.Before, c.Away, c.After = 2*time.Second, 6*time.Second, time.Second
			case preset != "full":
				return fmt.Errorf("--preset %q: %s", preset, presetHelp)
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("the nodes are processes of this program, which must find itself: %w", err)
			}
			if c.Dir = dir; dir == "" {
				if c.Dir, err = os.MkdirTemp("", "moka-bench-"); err != nil {
					return err
				}
				defer os.RemoveAll(c.Dir)
			}
			c.Program, c.Progress = []string{self}, os.Stderr
			r, err := failover.Run(cmd.Context(), c)
			if r == nil {
				return err
			}
			r.Machine = bench.Machine()
			if svg != "" && err == nil {
				err = os.WriteFile(svg, []byte(r.SVG()), 0o644)
			}
			if perr := printReport(cmd, r.Text(), r); err == nil {
				err = perr
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&preset, "preset", "full", presetHelp)
	f.IntVar(&c.Nodes, "nodes", 3, "processes of the cluster: 3 or 5")
	f.IntVar(&c.Kill, "kill", 1, "how many of them are killed at once")
	f.IntVar(&c.Clients, "clients", 8, "concurrent connections, spread over the nodes")
	f.IntVar(&c.Rows, "rows", 10_000, "rows of each of the three tables")
	f.DurationVar(&c.Before, "before", 10*time.Second, "how long the load runs before the kill")
	f.DurationVar(&c.Away, "away", 20*time.Second, "for how long the killed nodes are away")
	f.DurationVar(&c.After, "after", 10*time.Second, "how long the load goes on behind their restart")
	f.StringVar(&svg, "svg", "", "also draw the rate over time into this file")
	f.StringVar(&dir, "data", "", "where the nodes keep their data; default: a temporary directory that is "+
		"removed")
	f.Bool("json", false, "print the report as one line of JSON")
	return cmd
}
