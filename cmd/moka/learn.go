package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"moka/cmd/moka/learn"
)

func learnCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Tutorials: the papers' examples, step by step, in a temporary directory",
	}
	yes := cmd.PersistentFlags().BoolP("yes", "y", false, "do not wait for Enter between the steps")
	tutorial := func(use, short, long string, run func(context.Context, learn.Tour, *stack) error) {
		cmd.AddCommand(&cobra.Command{
			Use: use, Short: short, Long: long, Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return teach(cmd.Context(), !*yes && term.IsTerminal(int(os.Stdin.Fd())), run)
			},
		})
	}
	tutorial("figure4", "Percolator's figure 4: Bob gives 7 to Joe, cell by cell, with a kill between",
		`Starts a database in a temporary directory with two shards, and transfers money between two rows, one
in each. A process of its own commits, one step after the other; the cells of both rows are shown between the
steps. Then the process is killed (kill -9) before and behind its commit point, and a client reads.`, figure4)
	tutorial("webindex", "Percolator's §1: an index of the web, kept by observers",
		`Starts a database in a temporary directory and builds an index of crawled pages there: links,
clusters of duplicates, and who links to whom, kept by three observers in SQL. One page is crawled again; then
the same is done by building everything anew, as a batch would.`,
		func(ctx context.Context, t learn.Tour, _ *stack) error {
			w := learn.WebIndex{Tour: t}
			return w.Run(ctx)
		})
	cmd.AddCommand(coordinatorCommand())
	return cmd
}

// teach runs a tutorial on a server of its own.
func teach(ctx context.Context, asks bool, run func(context.Context, learn.Tour, *stack) error) (err error) {
	dir, err := os.MkdirTemp("", "moka-learn-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := openStack(ctx, stackOptions{
		Data: filepath.Join(dir, "data"), SQLAddr: "127.0.0.1:0", NodeAddr: "127.0.0.1:0", Shards: 2,
		CacheMiB: 64, Runners: 16, MaxConns: 100, BallastMiB: -1, Retention: time.Hour,
		MaxHold: 24 * time.Hour, Ephemeral: true, leaveOrphans: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer func() {
		if stopped := s.end(); err == nil {
			err = stopped
		}
	}()
	db, err := sql.Open("mysql", "root@tcp("+s.sqlAddr+")/")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // USE is for one connection
	t := learn.Tour{DB: db, Out: os.Stdout}
	if asks {
		t.In = bufio.NewReader(os.Stdin)
	}
	return run(ctx, t, s)
}

const accounts = "bank.account"

func figure4(ctx context.Context, t learn.Tour, s *stack) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	f := learn.Figure4{Tour: t, Coordinator: []string{self, "learn", "coordinator", s.nodeAddr}}
	f.Cells = func(ctx context.Context, name string) (found []learn.Cell, err error) {
		row, err := s.rowOf(ctx, accounts, name)
		if err != nil {
			return nil, err
		}
		cells, err := s.cellsOf(ctx, row)
		for _, c := range cells {
			found = append(found, learn.Cell{Record: c.Record, At: c.At, StartTS: c.Refers, What: c.What,
				Value: c.Value, Primary: c.Primary})
		}
		return found, err
	}
	f.Separate = func(ctx context.Context, name string) error {
		row, err := s.rowOf(ctx, accounts, name)
		if err != nil {
			return err
		}
		left, right, err := s.node.Split(ctx, row)
		if err != nil {
			return err
		}
		for _, id := range s.node.Shards() {
			if id != left.Shard {
				_, err = s.node.Move(ctx, right.ID, id)
				return err
			}
		}
		return fmt.Errorf("there is but one shard")
	}
	return f.Run(ctx)
}

// coordinatorCommand is the process that commits in a tutorial, one step after the other.
func coordinatorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "coordinator ADDR STATEMENT", Hidden: true, Args: cobra.ExactArgs(2),
		Short: "The process that commits, which the tutorials start",
		RunE: func(cmd *cobra.Command, args []string) error {
			return coordinate(cmd.Context(), args[0], args[1], os.Stdin, os.Stdout)
		},
	}
}

func coordinate(ctx context.Context, addr, statement string, in io.Reader, out io.Writer) error {
	steps := learn.NewStepper(in, out)
	s, err := openStack(ctx, stackOptions{
		Join: addr, Roles: []string{roleSQL}, SQLAddr: "127.0.0.1:0", Shards: 1, Runners: 1, MaxConns: 10,
		CacheMiB: 64, Retention: time.Hour, MaxHold: 24 * time.Hour, steps: steps,
	})
	if err != nil {
		return err
	}
	db, err := sql.Open("mysql", "root@tcp("+s.sqlAddr+")/")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range []string{"Bob", "Joe"} {
		row, err := s.rowOf(ctx, accounts, name)
		if err != nil {
			return err
		}
		steps.Add(row)
	}
	if _, err = db.ExecContext(ctx, statement); err != nil {
		return steps.Say("end %v", err)
	}
	if err := steps.Say("end"); err != nil {
		return err
	}
	return s.end()
}
