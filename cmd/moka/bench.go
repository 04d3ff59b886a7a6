package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moka/cmd/moka/bench"
	"moka/cmd/moka/suite"
	"moka/tpce/micro"
	"moka/tpce/outbox"
)

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Measurements that can be repeated"}
	cmd.AddCommand(benchSQL(), benchSysbench(), benchObserver(), benchMicro(), benchMemory(),
		benchCommit(), benchBigtable(), benchOracle(), benchFailover(), benchAll(), benchServe())
	return cmd
}

// benchAll runs every experiment and makes one page.
func benchAll() *cobra.Command {
	var c suite.Config
	var targets []string
	var smoke bool
	cmd := &cobra.Command{
		Use: "all", Args: cobra.NoArgs,
		Short: "Every experiment of the papers, and comparisons, as one page",
		Long: `Runs the experiments of the two papers one after the other, each with a server of its own in a
temporary directory, and, with other servers named, the comparisons: statements, sysbench, observers beside
the outbox, the TPC-E-like mix. Prints the tables; --html writes a page with plots. --smoke runs a moment of
everything: that it works, not how fast.

  moka bench all --html report.html --target mariadb=mysql://root@127.0.0.1:3307 \
    --target postgres=postgres://postgres@127.0.0.1:5432

On the other servers the databases moka_bench, sbtest and tpce are used, and their tables made anew.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range targets {
				t, err := suite.ParseTarget(s)
				if err != nil {
					return usagef("--target: %w", err)
				}
				c.Targets = append(c.Targets, t)
			}
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("the servers are processes of this program, which must find itself: %w",
					err)
			}
			if c.Dir == "" {
				if c.Dir, err = os.MkdirTemp("", "moka-bench-"); err != nil {
					return err
				}
				defer os.RemoveAll(c.Dir)
			}
			c.Program, c.Progress, c.Smoke = []string{self}, os.Stderr, smoke
			c.About = []string{bench.Machine(), "moka " + version}
			r, err := suite.Run(cmd.Context(), c)
			if len(r.Page.Parts) == 0 {
				return err
			}
			page, perr := r.Page.HTML()
			return errors.Join(perr, printReport(cmd, r.Text(), r), writePage(cmd, page), err)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&smoke, "smoke", false, "a moment of everything, which proves that it works and says nothing "+
		"about speed")
	f.StringSliceVar(&c.Only, "only", nil, "run only these: "+strings.Join(suite.Names(), ", "))
	f.StringArrayVar(&targets, "target", nil, "NAME=URL of another server, without a database; repeat it")
	f.StringVar(&c.Dir, "data", "", "where the servers keep their data; default: a temporary directory that "+
		"is removed")
	f.String("html", "", "write the report as a page to this file, too")
	f.Bool("json", false, "print the report as one line of JSON")
	return cmd
}

func benchSQL() *cobra.Command {
	var c micro.Config
	var targets []string
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "Point select and single-row update, several servers side by side",
		Long: `Runs a point select and a single-row update, as text and prepared, against every target in short slices that take turns,
so that whatever else the machine does meets all of them. With a pid the server's processor time per statement is measured.

  moka bench sql --target moka=127.0.0.1:3306,pid=4711 --target mariadb=127.0.0.1:3307,pid=4712`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if c.Targets, err = benchTargets(targets); err != nil {
				return err
			}
			c.Progress = os.Stderr
			r, err := micro.Run(cmd.Context(), c)
			if err != nil {
				return err
			}
			return printReport(cmd, r.Text(), r)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&targets, "target", nil,
		"NAME=HOST:PORT[,pid=PID][,user=USER][,password=PASSWORD]; repeat it")
	f.IntVar(&c.Rows, "rows", 10_000, "rows of the table")
	f.IntVar(&c.Connections, "connections", 8, "concurrent connections")
	f.IntVar(&c.Rounds, "rounds", 5, "slices of each target and statement")
	f.DurationVar(&c.Slice, "slice", 2*time.Second, "length of a slice")
	f.Bool("json", false, "print the report as one line of JSON")
	return cmd
}

func benchSysbench() *cobra.Command {
	var c micro.Sysbench
	var targets []string
	cmd := &cobra.Command{
		Use:   "sysbench",
		Short: "sysbench's OLTP workloads and LOAD DATA, several servers side by side",
		Long: `Runs the installed sysbench (one table, prepared statements) and LOAD DATA of a file with one secondary index against every
target, in slices that take turns, and prints transactions per second and, with a pid, the server's processor time for each,
compared with the last target. The database sbtest of each target is used, and its table sbtest1 made anew.

  moka bench sysbench --target moka=127.0.0.1:3306,pid=4711 --target mariadb=127.0.0.1:3307,pid=4712`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if c.Targets, err = benchTargets(targets); err != nil {
				return err
			}
			c.Progress = os.Stderr
			r, err := micro.RunSysbench(cmd.Context(), c)
			if err != nil {
				return err
			}
			return printReport(cmd, r.Text(), r)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&targets, "target", nil,
		"NAME=HOST:PORT[,pid=PID][,user=USER][,password=PASSWORD]; repeat it")
	f.StringSliceVar(&c.Workloads, "workloads", micro.Workloads,
		"what to run, by sysbench's names; load_data is LOAD DATA")
	f.IntVar(&c.TableSize, "rows", 100_000, "rows of sysbench's table")
	f.IntVar(&c.LoadRows, "load-rows", 1_000_000, "rows of the file of load_data")
	f.IntVar(&c.Threads, "threads", 8, "concurrent connections")
	f.IntVar(&c.Rounds, "rounds", 5, "slices of each target and workload")
	f.DurationVar(&c.Slice, "slice", 10*time.Second, "length of a slice, in whole seconds")
	f.Bool("json", false, "print the report as one line of JSON")
	return cmd
}

func benchObserver() *cobra.Command {
	var c outbox.Config
	var targets []string
	cmd := &cobra.Command{
		Use:   "observer",
		Short: "An observer beside the outbox pattern on other servers",
		Long: `Makes changes that each have a derived row: by an observer on Moka; on other servers by an
outbox, which a trigger fills and workers empty with SELECT … FOR UPDATE SKIP LOCKED. One writer, several, and
a backlog; targets take turns. Reports changes per second, the server's processor time for each (of servers on
this machine), and the time from commit to effect. The tables event, effect and outbox are made anew.

  moka bench observer --target moka=mysql://root@127.0.0.1:3306/bench \
    --target postgres=postgres://postgres@127.0.0.1:5432/bench \
    --target mariadb=mysql://root@127.0.0.1:3307/bench

The target that is called moka has observers; all others have an outbox.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, t := range targets {
				name, url, ok := strings.Cut(t, "=")
				if !ok {
					return usagef("--target %q is not NAME=URL", t)
				}
				c.Targets = append(c.Targets, outbox.Target{Name: name, URL: url, Observer: name == "moka"})
			}
			c.Progress = os.Stderr
			r, err := outbox.Run(cmd.Context(), c)
			if err != nil {
				return err
			}
			return printReport(cmd, r.Text(), r)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&targets, "target", nil, "NAME=URL; repeat it")
	f.IntVar(&c.Writers, "writers", 8, "writers at a time")
	f.IntVar(&c.Workers, "workers", 4, "workers that empty an outbox")
	f.IntVar(&c.Batch, "batch", 100, "events that a worker takes at a time")
	f.DurationVar(&c.Poll, "poll", time.Millisecond, "how long a worker rests that has found nothing")
	f.IntVar(&c.Rounds, "rounds", 5, "slices of each target and kind of work")
	f.DurationVar(&c.Slice, "slice", 3*time.Second, "length of a slice with writers")
	f.IntVar(&c.Backlog, "backlog", 20_000, "changes that wait before anybody takes one")
	f.Bool("json", false, "print the report as one line of JSON")
	return cmd
}

func benchTargets(specs []string) (targets []micro.Target, err error) {
	for _, s := range specs {
		t, err := benchTarget(s)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("name at least one --target NAME=HOST:PORT[,pid=PID]")
	}
	return targets, nil
}

func benchTarget(s string) (t micro.Target, err error) {
	name, rest, ok := strings.Cut(s, "=")
	if !ok {
		return t, fmt.Errorf("--target %q is not NAME=HOST:PORT[,pid=PID]", s)
	}
	parts := strings.Split(rest, ",")
	user, password := "root", ""
	for _, p := range parts[1:] {
		k, v, _ := strings.Cut(p, "=")
		switch k {
		case "pid":
			if t.PID, err = strconv.Atoi(v); err != nil {
				return t, fmt.Errorf("--target %q: pid %q is not a number", s, v)
			}
		case "user":
			user = v
		case "password":
			password = v
		default:
			return t, fmt.Errorf("--target %q: %q is not pid, user or password", s, k)
		}
	}
	t.Name = name
	if password != "" {
		user += ":" + password
	}
	t.DSN = fmt.Sprintf("%s@tcp(%s)/moka_bench", user, parts[0])
	return t, nil
}

func writeJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }
