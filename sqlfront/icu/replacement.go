package icu

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What can be wrong with a replacement.
var (
	ErrGroup = errors.New("no such group")
	ErrName  = errors.New("no name of a group")
)

// Replacement is what takes the place of a match: texts, each with the group of the match that follows it.
//
//	$2            a group; as many digits as make the number of one, $0 is the match
//	${name}       a group that has a name
//	\c            the character c, whatever it is; \u0041 and \U00000041 are those of the numbers
type Replacement struct {
	parts []part
	fixed int // bytes of the texts
}

type part struct {
	text  string
	group int // -1: none
}

// NewReplacement reads a replacement for a pattern with the groups of these names, of which the first stands
// for the match.
func NewReplacement(text string, names []string) (*Replacement, error) {
	r := &Replacement{}
	var b strings.Builder
	add := func(group int) {
		r.parts, r.fixed = append(r.parts, part{b.String(), group}), r.fixed+b.Len()
		b.Reset()
	}
	for text != "" {
		at := strings.IndexAny(text, `\$`)
		if at < 0 {
			at = len(text)
		}
		b.WriteString(text[:at])
		if text = text[at:]; text == "" {
			break
		}
		sign := text[0]
		if text = text[1:]; sign == '\\' {
			text = unquote(&b, text)
			continue
		}
		group, rest, err := reference(text, names)
		if err != nil {
			return nil, err
		}
		add(group)
		text = rest
	}
	if b.Len() > 0 {
		add(-1)
	}
	return r, nil
}

// unquote writes the character behind a backslash and returns what follows it.
func unquote(b *strings.Builder, text string) (rest string) {
	if text == "" {
		return ""
	}
	if digits := map[byte]int{'u': 4, 'U': 8}[text[0]]; digits > 0 && len(text) > digits {
		if c, err := strconv.ParseUint(text[1:1+digits], 16, 32); err == nil && c <= utf8.MaxRune {
			b.WriteRune(rune(c))
			return text[1+digits:]
		}
	}
	_, n := utf8.DecodeRuneInString(text)
	b.WriteString(text[:n])
	return text[n:]
}

// reference is the group that is named behind a $.
func reference(text string, names []string) (group int, rest string, err error) {
	if name, named := strings.CutPrefix(text, "{"); named {
		name, rest, closed := strings.Cut(name, "}")
		for i, n := range names {
			if closed && name != "" && n == name {
				return i, rest, nil
			}
		}
		return 0, "", ErrName
	}
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		more := group*10 + int(text[n]-'0')
		if more >= len(names) {
			break
		}
		group, n = more, n+1
	}
	switch {
	case n > 0:
		return group, text[n:], nil
	case text != "" && text[0] >= '0' && text[0] <= '9':
		return 0, "", ErrGroup
	}
	return 0, "", ErrName
}

// Len is how long the replacement of a match is; at are the places of its groups, two for each, -1 of those
// that match nothing.
func (r *Replacement) Len(at []int) int {
	n := r.fixed
	for _, p := range r.parts {
		if p.group >= 0 && at[2*p.group] >= 0 {
			n += at[2*p.group+1] - at[2*p.group]
		}
	}
	return n
}

// Append appends the replacement of a match in text.
func (r *Replacement) Append(b []byte, text string, at []int) []byte {
	for _, p := range r.parts {
		b = append(b, p.text...)
		if p.group >= 0 && at[2*p.group] >= 0 {
			b = append(b, text[at[2*p.group]:at[2*p.group+1]]...)
		}
	}
	return b
}
