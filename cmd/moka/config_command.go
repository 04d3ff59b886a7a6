package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Check and show settings, and where each comes from",
		Long: `Settings come from the command line, the environment and a file (TOML), in this order.

  moka config show                 the server's settings: value, name in the environment, where it comes from
  moka config show bench commit    those of another command
  moka config check --config FILE  whether a file and the environment are right; nothing is started`,
	}
	show := &cobra.Command{
		Use: "show [COMMAND…]", Short: "Settings of a command (default: start), and where each comes from",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				words = []string{"start"}
			}
			of, rest, err := cmd.Root().Find(words)
			if err != nil || len(rest) > 0 {
				return usagef("there is no command %q; 'moka --help' lists them", strings.Join(words, " "))
			}
			return showSettings(cmd, of)
		},
	}
	show.Flags().Bool("json", false, "print JSON")
	check := &cobra.Command{
		Use: "check", Short: "Check the environment and the settings file", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := readSources(cmd)
			if err != nil {
				return err
			}
			if err := checkSettings(cmd.Root(), s); err != nil {
				return err
			}
			file := s.file
			if file == "" {
				file = "no file; --config FILE or " + configEnv + " names one"
			}
			fmt.Printf("the settings are right (%s)\n", file)
			return nil
		},
	}
	cmd.AddCommand(show, check)
	return cmd
}

// checkSettings gives every command its settings, and has it look at them.
func checkSettings(cmd *cobra.Command, s *sources) error {
	if _, err := s.apply(cmd); err != nil {
		return err
	}
	if cmd.PreRunE != nil {
		if err := cmd.PreRunE(cmd, nil); err != nil {
			return fmt.Errorf("%s: %w", cmd.CommandPath(), err)
		}
	}
	for _, c := range cmd.Commands() {
		if err := checkSettings(c, s); err != nil {
			return err
		}
	}
	return nil
}

// shown is one line of "moka config show".
type shown struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Env   string `json:"env"`
	From  string `json:"from"`
}

func showSettings(cmd, of *cobra.Command) error {
	s, err := readSources(cmd)
	if err != nil {
		return err
	}
	list, err := s.apply(of)
	if err != nil {
		return err
	}
	lines := make([]shown, 0, len(list))
	for _, o := range list {
		lines = append(lines, shown{o.flag.Name, o.flag.Value.String(), o.env(), o.where})
	}
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		return writeJSON(os.Stdout, lines)
	}
	tw := tabwriter.NewWriter(os.Stdout, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "setting\tvalue\tenvironment\tfrom")
	for _, l := range lines {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", l.Name, l.Value, l.Env, l.From)
	}
	return tw.Flush()
}
