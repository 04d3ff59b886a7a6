package parse

import (
	"sort"
	"strings"
)

// edit replaces s[start:end] by text.
type edit struct {
	start, end int
	text       string
}

// edits is a list of replacements that do not overlap. It keeps the way back: errors and statement ends are
// found in the edited text and reported in the user's.
type edits []edit

func (e *edits) replace(start, end int, text string) { *e = append(*e, edit{start, end, text}) }

// blank wipes a piece out and keeps all places.
func (e *edits) blank(start, end int) { e.replace(start, end, strings.Repeat(" ", end-start)) }

func (e edits) apply(s string) string {
	if len(e) == 0 {
		return s
	}
	sort.Slice(e, func(i, j int) bool { return e[i].start < e[j].start })
	var b strings.Builder
	at := 0
	for _, x := range e {
		b.WriteString(s[at:x.start])
		b.WriteString(x.text)
		at = x.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// original maps a place in the edited text to the user's text; a place inside a replacement
// maps to where it begins.
func (e edits) original(pos int) int {
	shift := 0 // edited minus original, up to here
	for _, x := range e {
		if pos < x.start+shift {
			break
		}
		if pos < x.start+shift+len(x.text) {
			if len(x.text) == x.end-x.start {
				return pos - shift
			}
			return x.start
		}
		shift += len(x.text) - (x.end - x.start)
	}
	return pos - shift
}
