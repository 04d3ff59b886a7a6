package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"moka/tpce/micro"
)

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Measurements that can be repeated"}
	cmd.AddCommand(benchSQL(), benchSysbench(), benchMicro(), benchMemory(), benchCommit(), benchBigtable(),
		benchOracle(), benchServe())
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
