package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"moka/tpce"
)

// tpceChecksum tells whether a freshly loaded database holds what was generated.
func tpceChecksum() *cobra.Command {
	var c tpce.Config
	cmd := &cobra.Command{
		Use: "checksum", Short: "Compare every row with what the load generates", Args: cobra.NoArgs,
		Long: "Reads every row of the 33 tables and compares it with the generator's. After a load all are " +
			"equal; a run changes some.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Progress = os.Stderr
			r, err := tpce.Checksum(cmd.Context(), c)
			if err != nil {
				return err
			}
			return printReport(cmd, r.Text(), r)
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Target, "target", "mysql://root@127.0.0.1:3306/tpce",
		"mysql:// or postgres://user:password@host:port/database")
	f.Bool("json", false, "print the report as one line of JSON")
	return cmd
}

func tpceCompare() *cobra.Command {
	var c tpce.CompareConfig
	var targets []string
	cmd := &cobra.Command{
		Use: "compare", Short: "Load, run and check several servers in turns, and make one table",
		Args: cobra.NoArgs,
		Long: `Loads each server, compares every row with the generator's, asks the consistency conditions, lets the servers run in turns for
some rounds, asks the conditions again, and makes one table: Trade-Results per second, and the processor time of the server's
processes for each (of servers on this machine, by Linux's /proc).

  moka tpce compare --preset smoke --rounds 3 --duration 60s --html report.html \
    --target moka:observer=mysql://root@127.0.0.1:3306/tpce \
    --target postgres=postgres://postgres@127.0.0.1:5432/tpce \
    --target mariadb:omit=mysql://root@127.0.0.1:3307/tpce

A target is NAME=URL, or NAME:TOTALS=URL with who keeps the brokers' totals: inline, omit or observer.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range targets {
				t, err := tpce.ParseCompareTarget(s)
				if err != nil {
					return err
				}
				c.Targets = append(c.Targets, t)
			}
			c.Progress = os.Stderr
			r, err := tpce.Compare(cmd.Context(), c)
			page, perr := r.HTML()
			return errors.Join(perr, printReport(cmd, r.Text(), r), writePage(cmd, page), err)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&targets, "target", nil, "NAME=URL of a server; once for each")
	f.IntVar(&c.Rounds, "rounds", 3, "runs of each server")
	f.BoolVar(&c.KeepData, "keep-data", false, "the targets are loaded: do not load, do not compare rows")
	f.BoolVar(&c.Drop, "drop", false, "drop the workload's tables first")
	f.StringVar(&c.Preset, "preset", "smoke", "size, from the smallest: demo, smoke, tiny, small, laptop")
	f.IntVar(&c.Connections, "connections", 8, "connections of customers")
	f.IntVar(&c.TradeWorkers, "trade-workers", 0, "connections of the market (default as --connections)")
	f.DurationVar(&c.Duration, "duration", 0, "measurement interval of a round (default 30s)")
	f.DurationVar(&c.RampUp, "ramp-up", 0, "time before it")
	f.Int64Var(&c.Transactions, "transactions", 0,
		"end a round after that many customers' transactions instead")
	f.DurationVar(&c.MarketDelay, "market-delay", 0, "mean delay of the market (default 1s)")
	f.DurationVar(&c.CurvePeriod, "curve-period", 0, "period of the price curve (default 15m)")
	f.DurationVar(&c.MaintenanceInterval, "maintenance-interval", 0,
		"time between two Data-Maintenances (default 1m)")
	f.Float64Var(&c.Rate, "rate", 0,
		"open loop: arrivals for so many Trade-Results per second (default a closed loop)")
	f.String("html", "", "write the report as a page to this file, too")
	f.Bool("json", false, "print the report as one line of JSON")
	return cmd
}

// writePage writes a report's page where --html says.
func writePage(cmd *cobra.Command, page string) error {
	file, _ := cmd.Flags().GetString("html")
	if file == "" {
		return nil
	}
	return os.WriteFile(file, []byte(page), 0o644)
}
