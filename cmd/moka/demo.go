package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"moka/tpce"
)

func demoCommand() *cobra.Command {
	var o stackOptions
	var duration time.Duration
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start in a temporary directory, load a small TPC-E-like database, run it, report",
		Long: `Starts a database in a temporary directory, loads a small TPC-E-like brokerage house, declares an observer that keeps the
brokers' totals from a side table, runs the mix, checks every consistency condition, and prints the report and how to connect.
With --keep it goes on serving until Ctrl-C.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := newLogger(cmd, os.Stderr)
			if err != nil {
				return err
			}
			o.Logger = log
			dir, err := os.MkdirTemp("", "moka-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(dir)
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
	c := tpce.Config{
		Target: "mysql://root@" + s.sqlAddr + "/tpce", Preset: "demo", BrokerTotals: tpce.Observer,
		Progress: os.Stderr,
	}
	fmt.Print(s.greeting())
	fmt.Println("\n1. Loading a brokerage house: 33 tables, generated.")
	loaded, err := tpce.Load(ctx, c)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	fmt.Println(loaded.Text())
	fmt.Println("\n2. The observer that keeps the brokers' totals:\n\n" + tpce.ObserverDDL + ";")
	fmt.Printf("\n3. The mix, for %v: customers trade, the market answers, the observer adds up.\n", duration)
	run := c
	run.Preset, run.Duration = "", duration
	// A market that answers at once, so that half a minute shows something.
	run.MarketDelay, run.CurvePeriod = 100*time.Millisecond, 30*time.Second
	run.MaintenanceInterval = duration / 13 // each of its twelve tables once
	ran, err := tpce.Run(ctx, run)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	fmt.Println(ran.Text())
	if err := ran.Err(); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	fmt.Println("\n4. Every consistency condition, asked in SQL; the last one compares the observer's " +
		"totals with the base tables.")
	run.Preset = ""
	checked, err := tpce.Check(ctx, run)
	fmt.Println(checked.Text())
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	fmt.Println("\nAll conditions hold. To look around yourself: moka demo --keep, or moka start.")
	return nil
}
