package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"moka/tpce"
	"moka/tpce/failover"
)

func demoCommand() *cobra.Command {
	var o stackOptions
	var duration time.Duration
	var keep bool
	var nodes int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start in a temporary directory, load a small TPC-E-like database, run it, report",
		Long: `Starts a database in a temporary directory, loads a small TPC-E-like brokerage house,
declares an observer that keeps the brokers' totals from a side table, runs the mix, checks
every consistency condition, and prints the report and how to connect. With --keep it goes
on serving until Ctrl-C.

With --nodes 3 it is a cluster of three processes, of which one is killed (kill -9) at half
time: the one that leads coordination and the timestamp oracle. The mix goes on through
another one; the dip is shown as a line.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := newLogger(cmd, os.Stderr)
			if err != nil {
				return err
			}
			o.Logger = log
			if nodes != 1 && nodes != 3 {
				return fmt.Errorf("--nodes %d: 1, or 3 for a cluster of processes", nodes)
			}
			dir, err := os.MkdirTemp("", "moka-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
			if nodes == 3 {
				for _, f := range []string{"sql-addr", "http-addr"} {
					if cmd.Flags().Changed(f) {
						return fmt.Errorf("--%s with --nodes 3: the processes have addresses of their own", f)
					}
				}
				return demoCluster(cmd.Context(), o, dir, duration, keep)
			}
			o.Data = filepath.Join(dir, "data")
			return demo(cmd.Context(), o, duration, keep)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.SQLAddr, "sql-addr", "127.0.0.1:0",
		"address of the MySQL protocol; port 0: any that is free")
	f.StringVar(&o.HTTPAddr, "http-addr", "127.0.0.1:0", "address of the status page")
	f.IntVar(&o.Shards, "shards", 3, "number of shards")
	f.IntVar(&o.CacheMiB, "cache-mib", 256, "block cache in MiB")
	f.IntVar(&o.Runners, "observer-runners", 16, "observers that run at a time")
	f.IntVar(&o.MaxConns, "max-connections", 1000, "SQL connections")
	f.IntVar(&nodes, "nodes", 1, "processes: 1, or 3 for a cluster")
	f.DurationVar(&duration, "duration", 30*time.Second, "how long the mix runs")
	f.BoolVar(&keep, "keep", false, "go on serving afterwards")
	f.String("log-level", "warn", "debug, info, warn or error")
	f.String("log-format", "text", "text or json")
	return cmd
}

// demo is the tour. Any error in any step is the command's error: nothing is hidden behind a report.
func demo(ctx context.Context, o stackOptions, duration time.Duration, keep bool) error {
	s, err := openStack(ctx, o)
	if err != nil {
		return err
	}
	tour := tourOf(ctx, s, duration)
	if tour == nil && keep {
		fmt.Print(s.greeting())
		fmt.Println("Serving until Ctrl-C; the data is gone then.")
		return s.runUntil(ctx)
	}
	return errors.Join(tour, s.end())
}

func tourOf(ctx context.Context, s *stack, duration time.Duration) error {
	t := tour{target: "mysql://root@" + s.sqlAddr + "/tpce", duration: duration,
		watch: func(l tpce.Live) { s.mix.Store(mixOf(l)) }}
	fmt.Print(s.greeting())
	if err := t.load(ctx); err != nil {
		return err
	}
	fmt.Printf("\n3. The mix, for %v: customers trade, the market answers, the observer adds up.\n", duration)
	if _, err := t.run(ctx); err != nil {
		return err
	}
	if err := t.check(ctx); err != nil {
		return err
	}
	fmt.Println("\nAll conditions hold. To look around yourself: moka demo --keep, or moka start.")
	return nil
}

// tour are the steps of a demo.
type tour struct {
	target   string
	duration time.Duration
	watch    func(tpce.Live) // shows how the mix goes, nil for nowhere
}

func (t tour) config() tpce.Config {
	return tpce.Config{Target: t.target, BrokerTotals: tpce.Observer, Progress: os.Stderr}
}

func (t tour) load(ctx context.Context) error {
	c := t.config()
	c.Preset = "demo"
	fmt.Println("\n1. Loading a brokerage house: 33 tables, generated.")
	loaded, err := tpce.Load(ctx, c)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	fmt.Println(loaded.Text())
	fmt.Println("\n2. The observer that keeps the brokers' totals:\n\n" + tpce.ObserverDDL + ";")
	return nil
}

func (t tour) run(ctx context.Context) (tpce.RunReport, error) {
	run := t.config()
	run.Duration = t.duration
	// A market that answers at once, so that half a minute shows something.
	run.MarketDelay, run.CurvePeriod = 100*time.Millisecond, 30*time.Second
	run.MaintenanceInterval = t.duration / 13 // each of its twelve tables once
	run.Watch = t.watch
	ran, err := tpce.Run(ctx, run)
	if err != nil {
		return ran, fmt.Errorf("run: %w", err)
	}
	fmt.Println(ran.Text())
	if err := ran.Err(); err != nil {
		return ran, fmt.Errorf("run: %w", err)
	}
	return ran, nil
}

func (t tour) check(ctx context.Context) error {
	fmt.Println("\n4. Every consistency condition, asked in SQL; the last one compares the observer's " +
		"totals with the base tables.")
	checked, err := tpce.Check(ctx, t.config())
	fmt.Println(checked.Text())
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

// demoCluster is the tour over three processes of this program, of which one dies.
func demoCluster(
	ctx context.Context, o stackOptions, dir string, duration time.Duration, keep bool,
) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("the nodes are processes of this program, which must find itself: %w", err)
	}
	fmt.Println("Starting three processes, each of them storage, SQL and observers.")
	c, err := failover.StartCluster(ctx, failover.ClusterOptions{Program: []string{self}, Dir: dir, Nodes: 3,
		Args: []string{"--shards", fmt.Sprint(o.Shards), "--cache-mib", fmt.Sprint(o.CacheMiB),
			"--observer-runners", fmt.Sprint(o.Runners), "--max-connections", fmt.Sprint(o.MaxConns)}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	victim, err := c.Leader(ctx, 1)
	if err != nil {
		return err
	}
	at := c.Nodes[victim.ID%len(c.Nodes)] // another one
	connect := func() {
		for _, n := range c.Nodes {
			host, port, _ := net.SplitHostPort(n.SQL) // it listens there
			fmt.Printf("  node %d   mariadb -h %s -P %s -u root tpce      status http://%s/\n", n.ID, host,
				port, n.HTTP)
		}
	}
	connect()
	t := tour{target: "mysql://root@" + at.SQL + "/tpce", duration: duration}
	if err := t.load(ctx); err != nil {
		return err
	}
	fmt.Printf("\n3. The mix through node %d, for %v; at half time kill -9 of node %d, which leads "+
		"coordination and the timestamp oracle.\n", at.ID, duration, victim.ID)
	var killed time.Time
	began := time.Now()
	var killer sync.WaitGroup
	run, over := context.WithCancel(ctx)
	killer.Go(func() {
		half := time.NewTimer(duration / 2)
		defer half.Stop()
		select {
		case <-half.C:
			victim.Kill()
			killed = time.Now()
		case <-run.Done():
		}
	})
	ran, err := t.run(ctx)
	over()
	killer.Wait()
	if err != nil {
		return err
	}
	if killed.IsZero() {
		return errors.New("the mix was over before half time")
	}
	rates, step := ran.Timeline.Transactions, ran.Timeline.StepSeconds
	when := killed.Sub(began).Seconds() // the mix begins a little later
	line, under := failover.Line(rates, step, min(60, len(rates)), map[float64]rune{when: 'x'})
	fmt.Printf("Transactions a second, of every kind:\n%s\n%s  x kill -9 of node %d\n", line, under,
		victim.ID)
	if err := t.check(ctx); err != nil {
		return err
	}
	fmt.Printf("\n5. Node %d is started again, and the conditions are asked of it.\n", victim.ID)
	if err := victim.Start(); err != nil {
		return err
	}
	if err := victim.Await(ctx); err != nil {
		return err
	}
	t.target = "mysql://root@" + victim.SQL + "/tpce"
	if err := t.check(ctx); err != nil {
		return err
	}
	fmt.Println("\nAll conditions hold, on a node that stayed and on the one that was killed.")
	if keep {
		connect()
		fmt.Println("Serving until Ctrl-C; the data is gone then.")
		<-ctx.Done()
		return nil
	}
	fmt.Println("To look around yourself: moka demo --nodes 3 --keep, or docs/cluster.md.")
	return nil
}
