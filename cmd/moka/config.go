package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A setting is a flag of a command, and has the same name in three places. Those of the server are the short
// ones:
//
//	moka start --sql-addr A          MOKA_SQL_ADDR=A               sql-addr = "A", or under [start]
//	moka bench commit --slice 2s     MOKA_BENCH_COMMIT_SLICE=2s    slice = "2s" under [bench.commit]
//	moka ctl --http-addr A …         MOKA_CTL_HTTP_ADDR=A          http-addr = "A" under [ctl]
//
// The command line wins over the environment, which wins over the file. Each command has names of its own, so
// that the server's MOKA_DATA is not where a bench writes; only "moka ctl" falls back to the server's, since
// it speaks to it. A variable MOKA_… and a key of the file that name no setting of any command are errors: a
// typing mistake must not start a database with a default.

const (
	envPrefix = "MOKA_"
	configEnv = envPrefix + "CONFIG"
)

// likeServer is an annotation of flags that have the server's setting of the same name where they have none.
const likeServer = "server"

// setting is one flag of one command.
type setting struct {
	path []string // of the command that has the flag, below the root: bench, commit
	flag *pflag.Flag
}

func (s setting) env() string {
	words := append(slices.Clone(s.path), s.flag.Name)
	if s.ofServer() {
		words = words[1:]
	}
	return envPrefix + strings.ToUpper(strings.ReplaceAll(strings.Join(words, "_"), "-", "_"))
}

// key is the name in the settings file.
func (s setting) key() string { return strings.Join(append(slices.Clone(s.path), s.flag.Name), ".") }

func (s setting) ofServer() bool { return len(s.path) == 1 && s.path[0] == "start" }

// settings are all settings of cmd and of the commands below it.
func settings(cmd *cobra.Command, path []string) (list []setting) {
	add := func(f *pflag.Flag) {
		if f.Name != "config" && f.Name != "help" && f.Name != "version" {
			list = append(list, setting{path, f})
		}
	}
	cmd.LocalFlags().VisitAll(add)
	for _, c := range cmd.Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			list = append(list, settings(c, append(slices.Clone(path), c.Name()))...)
		}
	}
	return list
}

// settingsOf are those that apply to cmd: its own and those of the commands that it is under.
func settingsOf(cmd *cobra.Command, all []setting) (list []setting) {
	path := strings.Fields(cmd.CommandPath())[1:]
	for _, s := range all {
		if len(s.path) <= len(path) && slices.Equal(s.path, path[:len(s.path)]) {
			list = append(list, s)
		}
	}
	return list
}

// sources is where settings come from beside the command line.
type sources struct {
	all  []setting
	file string              // empty for none
	keys map[string][]string // values of the file by key
}

// readSources reads the settings file and looks at the environment. Names that are nobody's setting are
// errors.
func readSources(cmd *cobra.Command) (*sources, error) {
	s := &sources{all: settings(cmd.Root(), nil), keys: map[string][]string{}}
	s.file, _ = cmd.Flags().GetString("config")
	if s.file == "" {
		s.file = os.Getenv(configEnv)
	}
	if err := s.checkEnv(os.Environ()); err != nil {
		return nil, err
	}
	if s.file == "" {
		return s, nil
	}
	var doc map[string]any
	if _, err := toml.DecodeFile(s.file, &doc); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("settings file %s does not exist; leave --config away to run on defaults",
				s.file)
		}
		return nil, usagef("settings file %s: %w", s.file, err)
	}
	return s, s.flatten(doc)
}

// checkEnv refuses variables that look like settings and are none.
func (s *sources) checkEnv(environ []string) error {
	known := map[string]bool{configEnv: true}
	for _, x := range s.all {
		known[x.env()] = true
	}
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, envPrefix) && !known[name] {
			return usagef("the environment variable %s is no setting%s", name,
				didYouMean(closest(name, slices.Collect(maps.Keys(known)))))
		}
	}
	return nil
}

// flatten turns the tables of the file into keys, and refuses those that are no settings.
func (s *sources) flatten(doc map[string]any) error {
	known, sections := map[string]bool{}, map[string]bool{}
	for _, x := range s.all {
		known[x.key()] = true
		for i := range x.path {
			sections[strings.Join(x.path[:i+1], ".")] = true
		}
	}
	var wrong []string
	var walk func(at string, m map[string]any)
	walk = func(at string, m map[string]any) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			name := at + k
			if sub, ok := m[k].(map[string]any); ok {
				if sections[name] {
					walk(name+".", sub)
				} else {
					near := closest(name, slices.Collect(maps.Keys(sections)))
					wrong = append(wrong, "["+name+"]"+didYouMean(near))
				}
				continue
			}
			key := name
			if at == "" {
				key = "start." + k
			}
			if !known[key] {
				var names []string
				for n := range known {
					if rest, ok := strings.CutPrefix(n, strings.TrimSuffix(key, k)); ok {
						names = append(names, rest)
					}
				}
				wrong = append(wrong, name+didYouMean(closest(k, names)))
				continue
			}
			s.keys[key] = texts(m[k])
		}
	}
	walk("", doc)
	if len(wrong) > 0 {
		return usagef("settings file %s has what is no setting: %s\n'moka config show' lists those of the "+
			"server, 'moka config show COMMAND' those of another command", s.file, strings.Join(wrong, ", "))
	}
	return nil
}

// texts are the values of a key as the command line would have them.
func texts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{fmt.Sprint(v)}
	}
	words := make([]string, 0, len(list))
	for _, e := range list {
		words = append(words, fmt.Sprint(e))
	}
	return words
}

// find says what the environment or the file have for a setting, and which of them.
func (s *sources) find(x setting) (values []string, where string, ok bool) {
	if v, set := os.LookupEnv(x.env()); set {
		return []string{v}, "the environment variable " + x.env(), true
	}
	if v, set := s.keys[x.key()]; set {
		return v, s.file, true
	}
	if x.flag.Annotations[likeServer] == nil {
		return nil, "", false
	}
	for _, y := range s.all {
		if y.ofServer() && y.flag.Name == x.flag.Name {
			return s.find(y)
		}
	}
	return nil, "", false
}

// apply gives the flags of cmd that the command line left alone what the environment and the file have. It
// returns where each setting comes from, in the order of the flags.
func (s *sources) apply(cmd *cobra.Command) ([]origin, error) {
	var list []origin
	for _, x := range settingsOf(cmd, s.all) {
		o := origin{setting: x, where: "default"}
		if x.flag.Changed {
			o.where = "command line"
		} else if values, where, ok := s.find(x); ok {
			if err := set(x.flag, values); err != nil {
				return nil, usagef("%s in %s: %q is not a %s: %w", x.flag.Name, where,
					strings.Join(values, ","), x.flag.Value.Type(), err)
			}
			o.where = where
		}
		if err := notNegative(x.flag); err != nil {
			return nil, err
		}
		if x.flag.Annotations == nil {
			x.flag.Annotations = map[string][]string{}
		}
		x.flag.Annotations[settingFrom] = []string{o.where}
		list = append(list, o)
	}
	return list, nil
}

// settingFrom is the annotation of a flag that says where its value comes from, for who shows it later.
const settingFrom = "moka-from"

// origin is a setting and where its value comes from.
type origin struct {
	setting
	where string
}

func set(f *pflag.Flag, values []string) error {
	f.Changed = true
	if list, ok := f.Value.(pflag.SliceValue); ok && len(values) != 1 {
		return list.Replace(values)
	}
	if len(values) != 1 {
		return errors.New("a list is given, one value is taken")
	}
	return f.Value.Set(values[0])
}

// bindSettings fills the flags that the command line left alone.
func bindSettings(cmd *cobra.Command) error {
	s, err := readSources(cmd)
	if err == nil {
		_, err = s.apply(cmd)
	}
	return err
}
