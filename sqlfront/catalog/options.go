package catalog

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"moka/sqlfront/inband"
)

// shownOptions are the table options that are kept, in the order in which MySQL shows them, with what is the
// same as not to have them.
var shownOptions = []struct{ name, none string }{
	{"min_rows", "0"}, {"max_rows", "0"}, {"avg_row_length", "0"}, {"pack_keys", "default"},
	{"stats_persistent", "default"}, {"stats_auto_recalc", "default"},
	{"stats_sample_pages", "default"}, {"checksum", "0"}, {"delay_key_write", "0"}, {"row_format", "default"},
	{"key_block_size", "0"},
}

// What travels with the options and is no option that is kept: the engine that was asked for, ALTER TABLE …
// ORDER BY, PARTITION BY, ALTER CHECK. Users are told what becomes of it.
const (
	OptionEngine     = "engine"
	OptionOrder      = "order by"
	OptionPartitions = "partition by"
	OptionCheck      = "check "               // and its name: whether it is to be enforced
	OptionDescending = "primary key descends" // the places of its columns that were declared DESC
)

// KnownOption reports whether a table keeps the option (in lower case).
func KnownOption(name string) bool {
	return slices.ContainsFunc(shownOptions, func(o struct{ name, none string }) bool {
		return o.name == name
	})
}

// SetOptions gives the table options; those with which it is as without them are taken away.
func (t *Table) SetOptions(options map[string]string) {
	for _, o := range shownOptions {
		v, ok := options[o.name]
		switch {
		case !ok:
		case strings.EqualFold(v, o.none):
			delete(t.Options, o.name)
		default:
			if t.Options == nil {
				t.Options = map[string]string{}
			}
			t.Options[o.name] = v
		}
	}
	if len(t.Options) == 0 {
		t.Options = nil
	}
}

// DeclareKey notes which columns of the primary key were declared DESC.
func (t *Table) DeclareKey(options map[string]string) {
	for n := range strings.SplitSeq(options[OptionDescending], ",") {
		if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < len(t.PrimaryKey) {
			t.PrimaryKey[i].Descending = true
		}
	}
}

// OptionsText is what SHOW CREATE TABLE prints of the options, each with a space in front.
func (t *Table) OptionsText() string {
	var b strings.Builder
	for _, o := range shownOptions {
		if v, ok := t.Options[o.name]; ok {
			b.WriteString(" " + strings.ToUpper(o.name) + "=" + strings.ToUpper(v))
		}
	}
	return b.String()
}

// Options travel from the parser to the catalog in front of the table's comment, which the
// planner hands on as it is.
var optionsMark = inband.New("options")

// MarkOptions puts options in front of a comment.
func MarkOptions(comment string, options map[string]string) string {
	list, err := json.Marshal(options) // names and values are the client's: nothing in them may end one
	if err != nil {
		panic(err) // texts can be written
	}
	return optionsMark + string(list) + "\x00" + comment
}

// TakeOptions takes them out again; nil says that there are none.
func TakeOptions(comment string) (rest string, options map[string]string) {
	text, ok := strings.CutPrefix(comment, optionsMark)
	if !ok {
		return comment, nil
	}
	list, rest, _ := strings.Cut(text, "\x00")
	if err := json.Unmarshal([]byte(list), &options); err != nil {
		panic(err) // nobody else knows the mark
	}
	return rest, options
}
