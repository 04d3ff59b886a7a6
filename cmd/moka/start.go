package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// drainTime bounds how long a stop waits for statements that are running.
const drainTime = 30 * time.Second

// closeTime bounds how long the rest of a stop takes, when statements have been interrupted.
const closeTime = 15 * time.Second

// errStuck is what a stop ends with that something does not let go on.
var errStuck = errors.New("something that does not hear that it is to end keeps the server from closing; " +
	"the process ends without. What was acknowledged is on disk, and is recovered at the next start")

func startCommand() *cobra.Command {
	var o stackOptions
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start a database, or join one",
		Long: `Start a database in one process: the store, the timestamp oracle, transactions, observers and the SQL server.
The directory is created on first start. SIGTERM (or Ctrl-C) drains; kill -9 loses nothing that was acknowledged.

With --join the process serves SQL for a database whose storage is elsewhere.`,
		Args: cobra.NoArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			o.shardsAsked = cmd.Flags().Changed("shards")
			o.Log, o.Settings = &logTail{to: os.Stderr}, map[string]string{}
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { o.Settings[f.Name] = f.Value.String() })
			o.Origins = originsOf(cmd)
			if o.Logger, err = newLogger(cmd, o.Log); err == nil {
				err = o.validate()
			}
			if err != nil {
				return usageError{err}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := openStack(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Print(s.greeting())
			return s.runUntil(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.bind(f)
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("log-format", "text", "text or json")
	for flag, words := range map[string][]string{"log-level": {"debug", "info", "warn", "error"},
		"log-format": {"text", "json"}, "plan-cache": {"on", "off"},
		"roles": {roleStorage, roleSQL, roleWorker}} {
		_ = cmd.RegisterFlagCompletionFunc(flag,
			cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, flag := range []string{"data", "secure-file-priv", "log-dir", "cert-dir"} {
		_ = cmd.MarkFlagDirname(flag)
	}
	return cmd
}

func newLogger(cmd *cobra.Command, to io.Writer) (*slog.Logger, error) {
	name, _ := cmd.Flags().GetString("log-level")
	var level slog.Level
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return nil, fmt.Errorf("--log-level %q is not debug, info, warn or error", name)
	}
	ho := &slog.HandlerOptions{Level: level}
	switch format, _ := cmd.Flags().GetString("log-format"); format {
	case "text":
		return slog.New(slog.NewTextHandler(to, ho)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(to, ho)), nil
	default:
		return nil, fmt.Errorf("--log-format %q is not text or json", format)
	}
}

// greeting tells a person how to go on. Tests read the addresses out of it.
func (s *stack) greeting() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Moka %s is ready.\n", version)
	if s.sqlAddr != "" {
		host, port := dialable(s.sqlAddr)
		fmt.Fprintf(&b, "  SQL     mariadb -h %s -P %s -u root      (any MySQL client; no password for the "+
			"user who started it)\n", host, port)
	}
	if s.httpAddr != "" {
		fmt.Fprintf(&b, "  status  http://%s/\n", net.JoinHostPort(dialable(s.httpAddr)))
	}
	if s.o.Cluster {
		fmt.Fprintf(&b, "  cluster %s, node %d of %s\n", s.node.ClusterID(), s.node.ID(),
			strings.Join(s.nodeList(), ","))
		fmt.Fprintf(&b, "  WARNING %s\n", labWarning)
	} else if s.nodeAddr != "" {
		fmt.Fprintf(&b, "  nodes   moka start --roles sql --join %s\n", s.nodeAddr)
	}
	if s.o.Insecure {
		fmt.Fprintf(&b, "  WARNING %s\n", insecureWarning)
	}
	switch {
	case s.o.Join != "" && !s.o.joins:
		fmt.Fprintf(&b, "  storage at %s\n", s.o.Join)
	case s.o.Memory:
		fmt.Fprintf(&b, "  data    in memory: gone with this process\n")
	case s.o.Cluster:
		fmt.Fprintf(&b, "  data    %s\n", s.o.Data)
		b.WriteString("          every commit is synced first on most of the nodes that have its shard\n")
	default:
		fmt.Fprintf(&b, "  data    %s\n", s.o.Data)
		b.WriteString("          every commit is synced to disk first; there is one copy: a lost disk is " +
			"lost data\n")
	}
	return b.String()
}

// dialable is where a client of this machine reaches an address that a listener has: :: and 0.0.0.0 are all
// addresses of the machine, and none that one can ask for.
func dialable(addr string) (host, port string) {
	host, port, _ = net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return host, port
}

// runUntil serves until ctx ends or a part fails, then drains.
func (s *stack) runUntil(ctx context.Context) error {
	var failed error
	select {
	case <-ctx.Done():
		s.o.Logger.Info("stopping: waiting for statements that are running", "at_most", drainTime)
	case failed = <-s.failed:
		s.o.Logger.Error("a part of the server failed; stopping", "err", failed)
	}
	if err := s.end(); err != nil && failed == nil {
		failed = err
	}
	return failed
}

// end drains and closes, in a bounded time whatever a statement does: one that hears nothing kept a server
// from ending for as long as it ran. Nothing hangs on the closing but that the next start is quicker, as
// nothing is acknowledged before it is durable.
func (s *stack) end() error {
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- s.close(drain) }()
	late := time.NewTimer(drainTime + closeTime)
	defer late.Stop()
	select {
	case err := <-closed:
		return err
	case <-late.C:
		return errStuck
	}
}
