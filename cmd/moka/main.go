package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the build: -ldflags "-X main.version=…".
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once: somebody is in a hurry, and nothing
	// acknowledged can be lost by it.
	context.AfterFunc(ctx, stop)
	if err := root().ExecuteContext(ctx); err != nil {
		if !errors.As(err, new(quietError)) {
			fmt.Fprintln(os.Stderr, "moka:", err)
		}
		os.Exit(exitCode(err))
	}
}

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use: "moka",
		Short: "A MySQL-wire distributed SQL database: Percolator transactions and observers over a " +
			"Bigtable-like store",
		Long: `Moka is a MySQL-wire distributed SQL database. SQL tables live in a Bigtable-like store of sharded Pebble nodes,
Percolator transactions give snapshot isolation across them, and observers, declared in SQL, run after a change commits.

  moka start              start a database in ./moka-data, SQL on 127.0.0.1:3306
  moka demo               a guided tour in a temporary directory
  moka learn              tutorials: the papers' examples, step by step
  moka sql                a small SQL client
  moka ctl                ask and steer a running server
  moka backup             a backup of a running database; moka restore makes a database of it
  moka recover            go on with what is left of a cluster whose quorum is lost for good
  moka debug zip          what a server tells of itself, in one file
  moka config             check and show settings, and where each comes from
  moka cert               certificates, for nodes on several machines
  moka tpce load|run      the TPC-E-like workload, against any MySQL-wire server or PostgreSQL`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return bindSettings(cmd)
		},
	}
	cmd.PersistentFlags().String("config", "", "TOML file with settings (also MOKA_CONFIG)")
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w%s\nrun '%s --help' for the flags that exist", err, nearFlag(c, err),
			c.CommandPath())
	})
	cmd.AddCommand(startCommand(), demoCommand(), learnCommand(), tpceCommand(), benchCommand(), ctlCommand(),
		certCommand(), configCommand(), debugCommand(), backupCommand(), restoreCommand(), versionCommand(),
		sqlCommand(), recoverCommand())
	strict(cmd)
	return cmd
}
