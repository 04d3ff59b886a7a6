package parse

import (
	"cmp"
	"slices"
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
	slices.SortStableFunc(e, func(a, b edit) int { // what is put before a word comes before what replaces it
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
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
func (e edits) original(pos int) int { return e.places().original(pos) }

// places is the way back for many places: the edits, and where each begins in the edited text.
type places struct {
	edits  edits
	starts []int
}

func (e edits) places() places {
	p := places{edits: e, starts: make([]int, len(e))}
	shift := 0 // edited minus original, up to here
	for i, x := range e {
		p.starts[i] = x.start + shift
		shift += len(x.text) - (x.end - x.start)
	}
	return p
}

// original is as edits.original is.
func (p places) original(pos int) int {
	i := sort.SearchInts(p.starts, pos+1) - 1 // the last edit that begins at or before pos
	if i < 0 {
		return pos
	}
	x, into := p.edits[i], pos-p.starts[i]
	switch {
	case into >= len(x.text):
		return x.end + into - len(x.text)
	case len(x.text) == x.end-x.start:
		return x.start + into
	}
	return x.start
}
