package expr

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
	"moka/sqlfront/icu"
	"moka/sqlfront/sqlerr"
)

// The functions of regular expressions. The library's compile a pattern of any length, look for all
// matches although one is wanted, and build a replaced text without asking how long it gets; nothing ends
// them before they are through. A machine here takes at most time in proportion to the text times the
// program, so what is bounded is that: the pattern's length, the program's memory (regexp_stack_limit),
// the steps (regexp_time_limit), and a search that is more than a moment's work asks on its way whether
// its statement is to end.

const (
	// maxPattern is as many bytes as a pattern may have; PCRE's limit is 64 Ki, too.
	maxPattern = 64 << 10
	// stepUnit is how many instructions times characters one unit of regexp_time_limit is.
	stepUnit = 1 << 28
	// unasked is how many instructions times characters go by without asking: some ten milliseconds.
	unasked = 1 << 19
	// compileBytes is about what the parser needs for a byte, of \pL that is.
	compileBytes = 2 << 10
)

func regexpFunctions() (fs []sql.Function) {
	text := func(ctx *sql.Context, args []sql.Expression) sql.Type {
		c, _ := argsCollation(ctx, args[:1])
		return types.CreateLongText(c)
	}
	integer := func(*sql.Context, []sql.Expression) sql.Type { return types.Int32 }
	boolean := func(*sql.Context, []sql.Expression) sql.Type { return types.Boolean }
	for _, b := range []*builtin{
		{name: "regexp_like", min: 2, max: 3, typ: boolean},
		{name: "regexp_instr", min: 2, max: 6, typ: integer},
		{name: "regexp_substr", min: 2, max: 5, typ: text},
		{name: "regexp_replace", min: 3, max: 6, typ: text},
	} {
		fs = append(fs, sql.FunctionN{Name: b.name,
			Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
				e, err := b.function().NewInstance(ctx, args)
				if err != nil {
					return nil, err
				}
				return &regexpCall{e.(*call), new(atomic.Pointer[pattern])}, nil
			}})
	}
	return fs
}

// regexpCall remembers the pattern of the row before: nearly always it is this row's.
type regexpCall struct {
	*call
	known *atomic.Pointer[pattern]
}

// WithChildren implements sql.Expression.
func (c *regexpCall) WithChildren(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	e, err := c.call.WithChildren(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &regexpCall{e.(*call), new(atomic.Pointer[pattern])}, nil
}

// Eval implements sql.Expression.
func (c *regexpCall) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	vs := make([]any, len(c.args))
	for i, a := range c.args {
		v, err := a.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if err != nil || v == nil {
			return nil, err
		}
		vs[i] = v
	}
	s, err := c.search(ctx, vs)
	if err != nil {
		return nil, err
	}
	v, err := s.result(vs)
	if isLarge(v) && err == nil {
		uncharge(ctx, c.args)
		err = charge(ctx, c, length(v))
	}
	return v, err
}

// pattern is a compiled regular expression.
type pattern struct {
	*icu.Program
	text, flags string
	grouped     bool
}

// compile makes a pattern, if that is not too large; what it takes is charged to c meanwhile.
func (c *regexpCall) compile(ctx *sql.Context, text, flags string, grouped bool) (*pattern, error) {
	if p := c.known.Load(); p != nil && p.text == text && p.flags == flags && p.grouped == grouped {
		return p, nil
	}
	switch {
	case text == "":
		return nil, sqlerr.New(sqlerr.RegexpIllegalArgument, "Illegal argument to a regular expression.")
	case len(text) > maxPattern:
		return nil, tooBig()
	}
	if n := compileBytes * int64(len(text)); n > large {
		if err := charge(ctx, c, n); err != nil {
			return nil, err
		}
		defer func() { _ = charge(ctx, c, 0) }()
	}
	program, err := icu.Compile(text, flags, grouped, globalInteger("regexp_stack_limit", 8_000_000))
	switch {
	case errors.Is(err, icu.ErrSize):
		return nil, tooBig()
	case errors.Is(err, icu.ErrStack):
		return nil, sqlerr.New(sqlerr.RegexpStackOverflow,
			"Overflow in the regular expression backtrack stack.")
	case err != nil:
		return nil, sqlerr.New(sqlerr.RegexpRuleSyntax, "Syntax error in regular expression: %v", err)
	}
	p := &pattern{program, text, flags, grouped}
	c.known.Store(p)
	return p, nil
}

func tooBig() error {
	return sqlerr.New(sqlerr.RegexpPatternTooBig,
		"The regular expression pattern exceeds limits on size or complexity.")
}

func globalInteger(name string, otherwise int64) int64 {
	if _, v, ok := sql.SystemVariables.GetGlobal(name); ok {
		if n, ok := v.(int64); ok {
			return n
		}
	}
	return otherwise
}

// search is a pattern's way through a text.
type search struct {
	ctx   *sql.Context
	call  *regexpCall
	p     *pattern
	text  string
	from  int // where the next match may begin
	end   int // of the match before, -1 if there was none
	with  string
	at    []int // where the match and its groups are
	steps int64 // that it has taken
	limit int64
}

func (c *regexpCall) search(ctx *sql.Context, vs []any) (*search, error) {
	text, err := textOf(ctx, c.args[0], vs[0])
	if err != nil {
		return nil, err
	}
	expr, err := textOf(ctx, c.args[1], vs[1])
	if err != nil {
		return nil, err
	}
	flags := ""
	if collation, _ := argsCollation(ctx, c.args[:2]); strings.HasSuffix(collation.Name(), "_ci") &&
		!binaryArgs(ctx, c.args[:2]) {
		flags = "i"
	}
	if at := flagsAt[c.name]; at < len(vs) {
		more, err := textOf(ctx, c.args[at], vs[at])
		if err != nil {
			return nil, err
		}
		if strings.Trim(more, "icmnu") != "" {
			return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to %s.", c.name)
		}
		flags += more
	}
	with := ""
	if c.name == "regexp_replace" {
		if with, err = textOf(ctx, c.args[2], vs[2]); err != nil {
			return nil, err
		}
	}
	p, err := c.compile(ctx, expr, flags, strings.Contains(with, "$"))
	if err != nil {
		return nil, err
	}
	return &search{ctx: ctx, call: c, p: p, text: text, end: -1, with: with,
		limit: globalInteger("regexp_time_limit", 32) * stepUnit}, nil
}

// flagsAt is the argument that is the match type.
var flagsAt = map[string]int{"regexp_like": 2, "regexp_instr": 5, "regexp_substr": 4, "regexp_replace": 5}

// next is the next match; ok is false if there is none.
func (s *search) next() (from, to int, ok bool, err error) {
	for s.from <= len(s.text) {
		if err := s.ctx.Err(); err != nil {
			return 0, 0, false, sqlerr.From(context.Cause(s.ctx))
		}
		if from, to, ok, err = s.find(); err != nil || !ok {
			return 0, 0, false, err
		}
		_, n := utf8.DecodeRuneInString(s.text[to:])
		if s.from = to; from == to { // an empty one
			s.from += max(n, 1)
			if from == s.end {
				continue // right behind the one before, of which it is the end
			}
		}
		s.end = to
		return from, to, true, nil
	}
	return 0, 0, false, nil
}

// find is the first match from s.from on.
func (s *search) find() (from, to int, ok bool, err error) {
	re, base, group := s.p.Whole, 0, 0
	if s.from > 0 {
		_, n := utf8.DecodeLastRuneInString(s.text[:s.from])
		re, base, group = s.p.Later, s.from-n, 1
	}
	var at []int
	if rest := s.text[base:]; int64(len(rest))*s.p.Size <= unasked {
		at = re.FindStringSubmatchIndex(rest)
		last := len(rest)
		if at != nil {
			last = at[1]
		}
		s.steps += int64(last+1) * s.p.Size
	} else {
		r := &runes{search: s, rest: rest}
		at = re.FindReaderSubmatchIndex(r)
		if r.stopped {
			return 0, 0, false, sqlerr.From(context.Cause(s.ctx))
		}
	}
	if s.limit > 0 && s.steps > s.limit {
		return 0, 0, false, sqlerr.New(sqlerr.RegexpTimeOut, "Timeout exceeded in regular expression match.")
	}
	if at == nil {
		return 0, 0, false, nil
	}
	s.at = at[2*group:]
	for i := range s.at {
		if s.at[i] >= 0 {
			s.at[i] += base
		}
	}
	return s.at[0], s.at[1], true, nil
}

// runes is a text that ends when the statement does, or when the search has taken too many steps.
type runes struct {
	*search
	rest    string
	asked   int64 // the steps at which the statement was asked
	stopped bool
}

// ReadRune implements io.RuneReader.
func (r *runes) ReadRune() (c rune, n int, err error) {
	if r.rest == "" {
		return 0, 0, io.EOF
	}
	if r.steps += r.p.Size; r.steps-r.asked > unasked {
		if r.asked = r.steps; r.ctx.Err() != nil {
			r.stopped = true
			return 0, 0, io.EOF
		}
		if r.limit > 0 && r.steps > r.limit {
			return 0, 0, io.EOF
		}
	}
	c, n = utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[n:]
	return c, n, nil
}

// integer is an argument that is a number.
func (s *search) integer(vs []any, at int, otherwise int64) (int64, error) {
	if at >= len(vs) {
		return otherwise, nil
	}
	return cast.Characters(s.ctx, vs[at])
}

// begin skips to a character, counted from 1.
func (s *search) begin(pos int64) error {
	if pos >= 1 {
		for ; pos > 1 && s.from < len(s.text); pos-- {
			_, n := utf8.DecodeRuneInString(s.text[s.from:])
			s.from += n
		}
		if pos == 1 {
			return nil
		}
	}
	return outOfBounds()
}

func outOfBounds() error {
	return sqlerr.New(sqlerr.RegexpOutOfBounds, "Index out of bounds in regular expression search.")
}

// occurrence is the nth match from a character on.
func (s *search) occurrence(vs []any, posAt int) (from, to int, ok bool, err error) {
	pos, err := s.integer(vs, posAt, 1)
	if err != nil {
		return 0, 0, false, err
	}
	n, err := s.integer(vs, posAt+1, 1)
	if err == nil {
		err = s.begin(pos)
	}
	if err != nil {
		return 0, 0, false, err
	}
	for ; ; n-- {
		if from, to, ok, err = s.next(); err != nil || !ok || n <= 1 {
			return from, to, ok, err
		}
	}
}

func (s *search) result(vs []any) (any, error) {
	switch s.call.name {
	case "regexp_instr":
		from, to, ok, err := s.occurrence(vs, 2)
		if err != nil || !ok {
			return int32(0), err
		}
		behind, err := s.integer(vs, 4, 0)
		if err != nil {
			return nil, err
		}
		if behind == 1 {
			from = to
		}
		return int32(utf8.RuneCountInString(s.text[:from]) + 1), nil
	case "regexp_substr":
		from, to, ok, err := s.occurrence(vs, 2)
		if err != nil || !ok {
			return nil, err
		}
		return s.text[from:to], nil
	case "regexp_replace":
		return s.replace(vs)
	}
	_, _, ok, err := s.next()
	if err != nil {
		return nil, err
	}
	if ok {
		return int8(1), nil
	}
	return int8(0), nil
}

// replacement reads what a match is replaced with. MySQL does that when there is one, and says then what is
// wrong.
func (s *search) replacement() (*icu.Replacement, error) {
	r, err := icu.NewReplacement(s.with, s.p.Names)
	switch {
	case errors.Is(err, icu.ErrGroup):
		return nil, outOfBounds()
	case err != nil:
		return nil, sqlerr.New(sqlerr.RegexpGroupName, "A capture group has an invalid name.")
	}
	return r, nil
}

// replace is the text with a match, or all, replaced.
func (s *search) replace(vs []any) (any, error) {
	pos, err := s.integer(vs, 3, 1)
	if err != nil {
		return nil, err
	}
	only, err := s.integer(vs, 4, 0)
	if err != nil {
		return nil, err
	}
	if s.text == "" && pos == 1 {
		s.from = 0
	} else if err := s.begin(pos); err != nil {
		return nil, err
	}
	limit := MaxPacket(s.ctx)
	var with *icu.Replacement
	var out []byte
	var charged int
	copied := 0
	for n := int64(1); ; n++ {
		from, to, ok, err := s.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if only > 0 && n != only {
			continue
		}
		if with == nil {
			if with, err = s.replacement(); err != nil {
				return nil, err
			}
		}
		if need := len(out) + from - copied + with.Len(s.at); int64(need) > limit {
			return overflow(s.ctx, s.call.name, limit)
		} else if need > max(large, charged) {
			charged = 2 * need // append doubles
			if err := charge(s.ctx, s.call, int64(charged)); err != nil {
				return nil, err
			}
		}
		out = with.Append(append(out, s.text[copied:from]...), s.text, s.at)
		if copied = to; only > 0 {
			break
		}
	}
	if copied == 0 && len(out) == 0 {
		return s.text, nil
	}
	if n := int64(len(out) + len(s.text) - copied); n > limit {
		return overflow(s.ctx, s.call.name, limit)
	} else if n > large {
		if err := charge(s.ctx, s.call, 3*n); err != nil { // the bytes, and the text of them
			return nil, err
		}
	}
	return string(append(out, s.text[copied:]...)), nil
}
