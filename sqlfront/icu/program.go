package icu

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

const (
	// maxProgram is as many instructions as a pattern may have.
	maxProgram = 64 << 10
	// threadBytes is about what the machine needs for an instruction.
	threadBytes = 120
)

var (
	// ErrSize is for patterns that become too many instructions.
	ErrSize = errors.New("the pattern is too large")
	// ErrStack is for patterns whose machine needs more memory than it may have.
	ErrStack = errors.New("the pattern needs too much memory")
)

// Program is a compiled pattern.
type Program struct {
	Names []string // of the groups that are asked for, the first that of the match
	Size  int64    // in instructions, more if there are groups to be kept
	// Whole is for a search from the start of a text. Later is for one from behind a character, with which
	// its text begins: that is how ^ and \b know what is before. Its first group is the match.
	Whole, Later *regexp.Regexp
}

// Compile makes the program of a pattern under the letters of a match type, with its groups if they are
// asked for, if it is not too large for so many bytes of memory (any, if that is 0). Its error is that of
// the syntax if it is none of this package.
func Compile(pattern, flags string, grouped bool, memory int64) (*Program, error) {
	opts := syntax.Perl
	for _, f := range flags {
		opts = opts&^clearing[f] | setting[f]
	}
	tree, err := syntax.Parse(Pattern(pattern), opts)
	if err != nil {
		return nil, err
	}
	p := &Program{Names: []string{""}, Size: instructions(tree)}
	if grouped {
		p.Names = tree.CapNames()
		p.Size += p.Size * int64(len(p.Names)) / 8 // each thread of the machine has its own
	} else {
		tree = uncaptured(tree)
	}
	switch {
	case p.Size > maxProgram:
		return nil, ErrSize
	case memory > 0 && p.Size*threadBytes > memory:
		return nil, ErrStack
	}
	plain := tree.String()
	if p.Whole, err = regexp.Compile(plain); err == nil {
		p.Later, err = regexp.Compile(`(?s:\A.)(?s:.*?)(` + plain + `)`)
	}
	return p, err
}

// setting and clearing are what the letters of a match type do to the flags of the syntax.
var (
	setting  = map[rune]syntax.Flags{'i': syntax.FoldCase, 'n': syntax.DotNL}
	clearing = map[rune]syntax.Flags{'c': syntax.FoldCase, 'm': syntax.OneLine}
)

// instructions is about how many a pattern becomes. Nothing is made to know it: x{1000}{1000} would be large.
func instructions(re *syntax.Regexp) (n int64) {
	for _, s := range re.Sub {
		if n += 1 + instructions(s); n > maxProgram {
			return n
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		n += int64(len(re.Rune))
	case syntax.OpCharClass:
		n += 1 + int64(len(re.Rune))/8
	case syntax.OpRepeat:
		n *= int64(max(re.Max, re.Min+1))
	}
	return n + 1
}

// uncaptured takes the groups out of a pattern: what they match nobody asks, and the machine would keep it
// for each of its threads.
func uncaptured(re *syntax.Regexp) *syntax.Regexp {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	for i, s := range re.Sub {
		re.Sub[i] = uncaptured(s)
	}
	return re
}
