package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// One setting has one name in three places: --sql-addr on the command line, MOKA_SQL_ADDR in the environment,
// sql-addr in the TOML file (under the sub-command's name or at the top). The command line wins over the
// environment, which wins over the file. An unknown key in the file is an error: a typing mistake must not
// start a database with a default.

const envPrefix = "MOKA_"

// bindSettings fills the flags that the command line left alone from the environment and the file.
func bindSettings(cmd *cobra.Command) error {
	values := map[string]string{}
	file, _ := cmd.Flags().GetString("config")
	if file == "" {
		file = os.Getenv(envPrefix + "CONFIG")
	}
	if file != "" {
		if err := readConfig(file, cmd, values); err != nil {
			return err
		}
	}
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "config" || f.Name == "help" || failed != nil {
			return
		}
		where := "in " + file
		value, ok := values[f.Name]
		if v, set := os.LookupEnv(envName(f.Name)); set {
			value, ok, where = v, true, "in the environment variable "+envName(f.Name)
		}
		if !ok {
			return
		}
		if err := f.Value.Set(value); err != nil {
			failed = fmt.Errorf("%s %s: %q is not a %s: %w", f.Name, where, value, f.Value.Type(), err)
		}
	})
	return failed
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readConfig reads settings of cmd from a TOML file: top-level keys, overridden by the table named after the
// command. Keys of other commands' tables are checked by those commands.
func readConfig(file string, cmd *cobra.Command, values map[string]string) error {
	var doc map[string]any
	if _, err := toml.DecodeFile(file, &doc); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("config file %s does not exist; leave --config away to run on defaults", file)
		}
		return fmt.Errorf("config file %s: %w", file, err)
	}
	known := map[string]bool{}
	everyFlag(cmd.Root(), known)
	var unknown []string
	add := func(at string, m map[string]any) {
		for k, v := range m {
			if _, table := v.(map[string]any); table {
				continue
			}
			if !known[k] {
				unknown = append(unknown, at+k)
				continue
			}
			values[k] = fmt.Sprint(v)
		}
	}
	add("", doc)
	if t, ok := doc[cmd.Name()].(map[string]any); ok {
		add(cmd.Name()+".", t)
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return fmt.Errorf("config file %s has unknown settings: %s; the settings are the flags that %s "+
			"--help lists",
			file, strings.Join(unknown, ", "), cmd.CommandPath())
	}
	return nil
}

func everyFlag(cmd *cobra.Command, known map[string]bool) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	for _, c := range cmd.Commands() {
		everyFlag(c, known)
	}
}
