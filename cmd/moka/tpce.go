package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"moka/tpce"
)

func tpceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tpce",
		Short: "The TPC-E-like workload, against any MySQL-wire server or PostgreSQL",
		Long: `The TPC-E-like workload: a brokerage house, as an honest SQL client. It runs unchanged against Moka, MariaDB and PostgreSQL.
It is not TPC-E and its rate, trtps, is no tpsE.

  moka tpce load  --target mysql://root@127.0.0.1:3306/tpce --customers 1000 --days 5
  moka tpce run   --target mysql://root@127.0.0.1:3306/tpce --duration 60s
  moka tpce check --target mysql://root@127.0.0.1:3306/tpce
  moka tpce compare --target moka=mysql://… --target postgres=postgres://… --html report.html
  moka tpce load  --target postgres://postgres@127.0.0.1:5432/tpce --customers 1000 --days 5`,
	}
	cmd.AddCommand(tpceLoad(), tpceRun(), tpceCheck(), tpceChecksum(), tpceCompare())
	return cmd
}

// tpceConfig binds the flags that all sub-commands share.
func tpceConfig(cmd *cobra.Command, c *tpce.Config) {
	f := cmd.Flags()
	f.StringVar(&c.Target, "target", "mysql://root@127.0.0.1:3306/tpce",
		"mysql:// or postgres://user:password@host:port/database")
	f.IntVar(&c.Connections, "connections", 8, "concurrent connections")
	f.String("broker-totals", string(tpce.Inline),
		"who keeps the brokers' totals: inline, omit or observer (Moka only)")
	f.Bool("json", false, "print the report as one line of JSON")
}

func tpceLoad() *cobra.Command {
	var c tpce.Config
	cmd := &cobra.Command{
		Use: "load", Short: "Create the 33 tables and fill them", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			totals(cmd, &c)
			c.Progress = os.Stderr
			r, err := tpce.Load(cmd.Context(), c)
			if err != nil {
				return err
			}
			return printReport(cmd, r.Text(), r)
		},
	}
	tpceConfig(cmd, &c)
	f := cmd.Flags()
	f.IntVar(&c.Customers, "customers", 1000, "number of customers")
	f.IntVar(&c.Days, "days", 10, "initial trade days")
	f.StringVar(&c.Preset, "preset", "",
		"a named size instead, from the smallest: demo, smoke, tiny, small, laptop")
	f.Uint64Var(&c.Seed, "seed", 1, "equal seeds load equal rows")
	f.BoolVar(&c.Drop, "drop", false, "drop the workload's tables first")
	f.IntVar(&c.BatchRows, "batch-rows", 500, "rows of one INSERT")
	f.BoolVar(&c.DeferIndexes, "defer-indexes", false, "create secondary indexes after the rows are in")
	f.BoolVar(&c.OmitForeignKeys, "omit-foreign-keys", false, "declare no foreign keys")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		// A preset fills what is zero: flags that were left alone must be.
		if c.Preset != "" {
			if !cmd.Flags().Changed("customers") {
				c.Customers = 0
			}
			if !cmd.Flags().Changed("days") {
				c.Days = 0
			}
		}
	}
	return cmd
}

func tpceRun() *cobra.Command {
	var c tpce.Config
	var show asked
	cmd := &cobra.Command{
		Use: "run", Short: "Run the mix and report", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			totals(cmd, &c)
			c.Progress = os.Stderr
			if show.addr != "" {
				c.Watch = showOn(cmd.Context(), show, func(err error) {
					fmt.Fprintln(os.Stderr, "moka:", err)
				})
			}
			r, err := tpce.Run(cmd.Context(), c)
			if err != nil {
				return err
			}
			page, err := r.HTML()
			return errors.Join(err, printReport(cmd, r.Text(), r), writePage(cmd, page), r.Err())
		},
	}
	tpceConfig(cmd, &c)
	f := cmd.Flags()
	f.DurationVar(&c.Duration, "duration", 0, "measurement interval (default 30s)")
	f.DurationVar(&c.RampUp, "ramp-up", 0, "time before it")
	f.Float64Var(&c.Rate, "rate", 0,
		"open loop: arrivals for so many Trade-Results per second (default a closed loop)")
	f.String("html", "", "write the report as a page to this file, too")
	f.StringVar(&show.addr, "show-on", "",
		"http address of a Moka server on whose page the run is shown while it goes (docs/page.md)")
	f.StringVar(&show.data, "data", "moka-data",
		"that server's directory, for its token; a server on this machine says where that is")
	f.Int64Var(&c.Transactions, "transactions", 0, "end after that many customers' transactions instead")
	f.DurationVar(&c.MarketDelay, "market-delay", 0, "mean delay of the market (default 1s)")
	f.DurationVar(&c.CurvePeriod, "curve-period", 0, "period of the price curve (default 15m)")
	f.DurationVar(&c.MaintenanceInterval, "maintenance-interval", 0,
		"time between two Data-Maintenances (default 1m)")
	f.IntVar(&c.TradeWorkers, "trade-workers", 0, "connections of the market (default as --connections)")
	return cmd
}

func tpceCheck() *cobra.Command {
	var c tpce.Config
	cmd := &cobra.Command{
		Use: "check", Short: "Ask every consistency condition", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			totals(cmd, &c)
			c.Progress = os.Stderr
			r, err := tpce.Check(cmd.Context(), c)
			if err != nil && !errors.Is(err, tpce.ErrInconsistent) {
				return err
			}
			return errors.Join(printReport(cmd, r.Text(), r), err)
		},
	}
	tpceConfig(cmd, &c)
	return cmd
}

func totals(cmd *cobra.Command, c *tpce.Config) {
	s, _ := cmd.Flags().GetString("broker-totals")
	c.BrokerTotals = tpce.BrokerTotals(s)
}

func printReport(cmd *cobra.Command, text string, v any) error {
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		return writeJSON(os.Stdout, v)
	}
	_, err := fmt.Fprintln(io.Writer(os.Stdout), text)
	return err
}
