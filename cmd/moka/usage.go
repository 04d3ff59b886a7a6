package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"moka/cmd/moka/sbom"
)

// exitUsage is what the process ends with when it was called wrongly, as getopt's users and Go's flag package
// do. 1 is for what went wrong later.
const exitUsage = 2

// usageError is a mistake in the command line, the environment or the settings file: nothing was begun.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode is what the process ends with after err.
func exitCode(err error) int {
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return 1
}

// strict makes mistakes of cmd and all below it usage errors. A command that only holds others is an error by
// itself when a word behind it names none: cobra would print its help and succeed, and a script that misspelt
// a command would go on.
func strict(cmd *cobra.Command) {
	if args := cmd.Args; args != nil {
		cmd.Args = func(cmd *cobra.Command, words []string) error {
			if err := args(cmd, words); err != nil {
				return usagef("%w\nrun '%s --help' for how it is used", err, cmd.CommandPath())
			}
			return nil
		}
	}
	if !cmd.Runnable() {
		cmd.Args = func(cmd *cobra.Command, words []string) error {
			if len(words) == 0 {
				return nil
			}
			return usagef("unknown command %q for %q%s\nrun '%s --help' for the commands that exist",
				words[0], cmd.CommandPath(), didYouMean(cmd.SuggestionsFor(words[0])), cmd.CommandPath())
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if cmd.SuggestionsMinimumDistance == 0 {
		cmd.SuggestionsMinimumDistance = 2
	}
	for _, c := range cmd.Commands() {
		strict(c)
	}
}

// didYouMean words the names that were probably meant, as the end of a line.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// nearFlag words the flags of cmd that were probably meant, if err is of one that it has not.
func nearFlag(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := closest(unknown.GetSpecifiedName(), names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return didYouMean(near)
}

// notNegative refuses numbers and durations below zero, but for settings whose default is one: none of the
// others means anything, and most would be taken for the default.
func notNegative(f *pflag.Flag) error {
	switch f.Value.Type() {
	case "int", "int64", "float64", "duration":
		if strings.HasPrefix(f.Value.String(), "-") && !strings.HasPrefix(f.DefValue, "-") {
			return usagef("--%s %s: it cannot be negative", f.Name, f.Value)
		}
	}
	return nil
}

// closest are those of the names that word may be a misspelling of.
func closest(word string, names []string) []string {
	list := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, n := range names {
		list.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	found := list.SuggestionsFor(word)
	slices.Sort(found)
	return found
}

// build says what this binary was made of, as far as the Go tool wrote it down.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the tree had changes that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildOf() build {
	b := build{Version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	b.Commit, b.Modified = set["vcs.revision"], set["vcs.modified"] == "true"
	b.Platform = set["GOOS"] + "/" + set["GOARCH"]
	return b
}

func versionCommand() *cobra.Command {
	var bill string
	cmd := &cobra.Command{
		Use: "version", Short: "The version, and the commit it was built from", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if bill != "" {
				info, err := buildinfo.ReadFile(bill)
				if err != nil {
					return err
				}
				return sbom.Write(os.Stdout, info, version)
			}
			b := buildOf()
			text := "moka " + b.Version
			if b.Commit != "" {
				text += " (" + b.Commit[:min(12, len(b.Commit))]
				if b.Modified {
					text += ", modified"
				}
				text += ")"
			}
			return printReport(cmd, fmt.Sprintf("%s, %s, %s", text, b.Go, b.Platform), b)
		},
	}
	cmd.Flags().Bool("json", false, "print JSON")
	cmd.Flags().StringVar(&bill, "sbom", "", "print instead the bill of materials (CycloneDX) of the binary in "+
		"this file, which may be for another platform")
	return cmd
}
