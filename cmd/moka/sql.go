package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"moka/cmd/moka/shell"
)

// sqlOptions are the settings of "moka sql".
type sqlOptions struct {
	addr, socket, user, password string
	ask                          bool
	passwordFile, tls            string
	execute                      []string
	file, format, history        string
	force                        bool
}

func sqlCommand() *cobra.Command {
	var o sqlOptions
	cmd := &cobra.Command{
		Use:   "sql [DATABASE]",
		Short: "A small SQL client",
		Long: `Runs SQL on a server of the MySQL protocol: what --execute says, a file, or standard input.
At a terminal it asks for statements, over several lines and with those of before (up and down arrow).
A statement ends with ; or with \G, which shows a row as lines; DELIMITER changes the end.
It stops at the first error with status 1, unless --force says to go on.

  moka sql shop -e 'SELECT * FROM line' --format json
  moka sql shop < schema.sql`,
		Args: cobra.MaximumNArgs(1),
		PreRunE: func(*cobra.Command, []string) error {
			switch {
			case o.format != "auto" && !slices.Contains(shell.Formats, o.format):
				return usagef("--format %q is not auto, %s", o.format, strings.Join(shell.Formats, ", "))
			case !slices.Contains(tlsWays, o.tls):
				return usagef("--tls %q is not one of %s", o.tls, strings.Join(tlsWays, ", "))
			case len(o.execute) > 0 && o.file != "":
				return usagef("--execute with --file: leave one of them away")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{""}
			}
			return o.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.addr, "sql-addr", "127.0.0.1:3306", "address of the server")
	f.StringVar(&o.socket, "sql-socket", "", "its unix socket instead")
	f.StringVarP(&o.user, "user", "u", "root", "who logs in")
	f.BoolVarP(&o.ask, "ask-password", "p", false, "ask for the password")
	f.StringVar(&o.password, "password", "",
		"the password; others see it in the list of processes, but not in the environment")
	f.StringVar(&o.passwordFile, "password-file", "", "file of the password")
	f.StringVar(&o.tls, "tls", "preferred", "preferred, off, required (any certificate) or verify")
	f.StringArrayVarP(&o.execute, "execute", "e", nil, "run this; repeat it for more")
	f.StringVar(&o.file, "file", "", "run the statements of a file")
	f.StringVar(&o.format, "format", "auto",
		"table, vertical, json, csv or tsv; auto is table at a terminal and tsv elsewhere")
	f.BoolVar(&o.force, "force", false, "go on after statements that fail")
	f.StringVar(&o.history, "history", "~/.moka_history", "file of what was entered before; empty for none")
	for _, flag := range []string{"sql-addr", "sql-socket"} {
		_ = f.SetAnnotation(flag, likeServer, []string{"true"})
	}
	formats := append([]string{"auto"}, shell.Formats...)
	for flag, words := range map[string][]string{"format": formats, "tls": tlsWays} {
		_ = cmd.RegisterFlagCompletionFunc(flag,
			cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

var tlsWays = []string{"preferred", "off", "required", "verify"}

func (o *sqlOptions) config(database string) (*mysql.Config, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.DBName = o.user, o.password, database
	c.Net, c.Addr = "tcp", o.addr
	if host, port, err := net.SplitHostPort(o.addr); err == nil {
		if host == "" {
			host = "127.0.0.1"
		}
		c.Addr = net.JoinHostPort(host, port)
		c.Addr = net.JoinHostPort(dialable(c.Addr))
	} else if o.socket == "" {
		return nil, usagef("--sql-addr %q is not HOST:PORT, such as 127.0.0.1:3306: %w", o.addr, err)
	}
	c.TLSConfig = map[string]string{"preferred": "preferred", "off": "false", "required": "skip-verify",
		"verify": "true"}[o.tls]
	if o.socket != "" {
		c.Net, c.Addr, c.TLSConfig = "unix", o.socket, "false"
	}
	if o.passwordFile != "" {
		b, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return nil, fmt.Errorf("--password-file: %w", err)
		}
		c.Passwd = strings.TrimRight(string(b), "\r\n")
	}
	if o.ask {
		fmt.Fprint(os.Stderr, "Password: ")
		b, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(os.Stderr)
		if err != nil {
			return nil, fmt.Errorf("--ask-password: %w", err)
		}
		c.Passwd = string(b)
	}
	return c, nil
}

func (o *sqlOptions) run(cmd *cobra.Command, database string) error {
	c, err := o.config(database)
	if err != nil {
		return err
	}
	talks := len(o.execute) == 0 && o.file == "" && term.IsTerminal(int(os.Stdin.Fd())) &&
		term.IsTerminal(int(os.Stdout.Fd()))
	format := o.format
	if format == "auto" {
		format = shell.TSV
		if term.IsTerminal(int(os.Stdout.Fd())) {
			format = shell.Table
		}
	}
	s, closes, err := shell.Open(cmd.Context(), shell.Options{Config: c, Out: os.Stdout, Errors: os.Stderr,
		Format: format})
	if err != nil {
		var refused *mysql.MySQLError
		if errors.As(err, &refused) {
			return err
		}
		return fmt.Errorf("no server answers on %s (%w); is it running, and is this its --sql-addr?", c.Addr,
			err)
	}
	defer closes()
	s.Force = o.force
	switch {
	case talks:
		return s.Interactive(cmd.Context(), os.Stdin, os.Stdout, inHome(o.history),
			fmt.Sprintf("Connected to %s as %s. Statements end with ; (help for more)\n", c.Addr, c.User))
	case len(o.execute) > 0:
		err = s.Run(cmd.Context(), strings.NewReader(strings.Join(o.execute, "\n;\n")))
	case o.file != "":
		f, openErr := os.Open(o.file)
		if openErr != nil {
			return fmt.Errorf("--file: %w", openErr)
		}
		defer f.Close()
		err = s.Run(cmd.Context(), f)
	default:
		err = s.Run(cmd.Context(), os.Stdin)
	}
	if errors.Is(err, shell.ErrFailed) {
		return quietError{err} // it has been said
	}
	return err
}

// quietError ends the process with status 1 and says nothing more.
type quietError struct{ error }

// inHome replaces ~ by the user's directory.
func inHome(file string) string {
	rest, ok := strings.CutPrefix(file, "~/")
	if !ok {
		return file
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, rest)
}
