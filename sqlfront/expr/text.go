package expr

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/cast"
	"moka/sqlfront/inband"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
)

// What functions make of texts has the collation of the texts, so that ORDER BY, GROUP BY and DISTINCT see it
// in the type. The library announces most of it as LONGTEXT under a collation of bytes.
var textFunctions = []string{
	"coalesce", "concat", "concat_ws", "elt", "export_set", "if", "ifnull", "lcase", "left", "lower", "ltrim",
	"make_set", "mid", "nullif",
	"regexp_replace", "regexp_substr", "repeat", "replace", "reverse", "right", "rtrim", "substr",
	"substring", "substring_index", "trim",
	"ucase", "upper",
	// of numbers and dates: the connection's
	"bin", "char", "conv", "date_format", "dayname", "format", "hex", "monthname", "oct", "space",
	"time_format",
}

// CollatedFunction makes the result of a function of text have its collation: of f, or, if ok is false, of
// the library's of that name.
func CollatedFunction(name string, f sql.Function, ok bool) (sql.Function, bool) {
	if !slices.Contains(textFunctions, name) {
		return f, ok
	}
	if !ok {
		if f, ok = libraryFunction(name); !ok {
			return nil, false
		}
	}
	return sql.FunctionN{Name: name,
		Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			e, err := f.NewInstance(ctx, args)
			if err != nil {
				return nil, err
			}
			return collatedResult(exactResult(ctx, e)), nil
		}}, true
}

// result is a text with the collation of what it was made of.
type result struct{ sql.Expression }

var (
	_ sql.FunctionExpression = (*result)(nil)
	_ sql.CollationCoercible = (*result)(nil)
)

func collatedResult(e sql.Expression) sql.Expression {
	if _, ok := e.(sql.FunctionExpression); !ok {
		return e
	}
	return &result{e}
}

// FunctionName implements sql.FunctionExpression.
func (r *result) FunctionName() string { return r.Expression.(sql.FunctionExpression).FunctionName() }

// Description implements sql.FunctionExpression.
func (r *result) Description() string { return r.Expression.(sql.FunctionExpression).Description() }

// Eval implements sql.Expression: what the functions of text make that is no longer than their
// arguments counts, too.
func (r *result) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := r.Expression.Eval(ctx, row)
	if isLarge(v) && err == nil {
		if _, done := r.Expression.(*made); !done {
			uncharge(ctx, r.Children())
			err = charge(ctx, r, length(v))
		}
	}
	return v, err
}

// Function is the library's expression within one of ours, or e itself.
func Function(e sql.Expression) sql.Expression {
	switch e := e.(type) {
	case *result:
		return Function(e.Expression)
	case *made:
		return e.Expression
	case *Case:
		return e.Case
	}
	return e
}

// texts are the arguments that the result is made of.
func (r *result) texts() []sql.Expression {
	args := r.Children()
	switch r.FunctionName() {
	case "bin", "char", "conv", "date_format", "dayname", "format", "hex", "monthname", "oct", "space",
		"time_format":
		return nil // a new text, of the connection's collation
	case "if", "elt", "make_set":
		return args[1:]
	case "nullif":
		return args[:1]
	}
	return args
}

// Type implements sql.Expression.
func (r *result) Type(ctx *sql.Context) sql.Type {
	return askType(ctx, r, func(ctx *sql.Context) sql.Type {
		return collatedType(ctx, r.Expression.Type(ctx), r.texts())
	})
}

// collatedType is a type of text with the collation of what the text is made of.
func collatedType(ctx *sql.Context, t sql.Type, texts []sql.Expression) sql.Type {
	s, ok := t.(sql.StringType)
	if ctx == nil || !ok || !types.IsTextOnly(t) || binaryArgs(ctx, texts) {
		return t
	}
	with, ok := t.(sql.TypeWithCollation)
	c, _ := argsCollation(ctx, texts)
	if !ok || c == s.Collation() || c == sql.Collation_binary || c == sql.Collation_Unspecified {
		return t
	}
	collated, err := with.WithNewCollation(c)
	if err != nil {
		return t
	}
	return collated
}

// CollationCoercibility implements sql.CollationCoercible.
func (r *result) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return askCollation(ctx, r, func(ctx *sql.Context) (sql.CollationID, byte) {
		if !types.IsTextOnly(r.Expression.Type(ctx)) || binaryArgs(ctx, r.texts()) {
			return sql.GetCoercibility(ctx, r.Expression)
		}
		return argsCollation(ctx, r.texts())
	})
}

// Case is CASE, with a result that has the collation of its values.
type Case struct{ *expression.Case }

var (
	_ sql.Expression         = (*Case)(nil)
	_ sql.CollationCoercible = (*Case)(nil)
)

func (c *Case) texts() (values []sql.Expression) {
	for _, b := range c.Branches {
		values = append(values, b.Value)
	}
	if c.Else != nil {
		values = append(values, c.Else)
	}
	return values
}

// Type implements sql.Expression.
func (c *Case) Type(ctx *sql.Context) sql.Type {
	return askType(ctx, c, func(ctx *sql.Context) sql.Type {
		if t, ok := exactType(ctx, c.texts()); ok {
			return t
		}
		if t, ok := momentType(ctx, c.texts()); ok && IsSpan(t) {
			return t
		}
		return collatedType(ctx, c.Case.Type(ctx), c.texts())
	})
}

// Eval implements sql.Expression.
func (c *Case) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Case.Eval(ctx, row)
	if v == nil || err != nil {
		return nil, err
	}
	if t, ok := exactType(ctx, c.texts()); ok {
		return toScale(ctx, t, v)
	}
	return v, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (c *Case) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return askCollation(ctx, c, func(ctx *sql.Context) (sql.CollationID, byte) {
		if !types.IsTextOnly(c.Case.Type(ctx)) || binaryArgs(ctx, c.texts()) {
			return c.Case.CollationCoercibility(ctx)
		}
		return argsCollation(ctx, c.texts())
	})
}

// WithChildren implements sql.Expression.
func (c *Case) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := c.Case.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return &Case{e.(*expression.Case)}, nil
}

// newCase binds CASE: its operands are the expression, if there is one, pairs of WHEN and THEN, and
// ELSE, if there is one.
func newCase(ctx *sql.Context, operands []sql.Expression, hasExpr, hasElse bool) sql.Expression {
	c := &expression.Case{}
	if hasExpr {
		c.Expr, operands = operands[0], operands[1:]
	}
	if hasElse {
		c.Else, operands = operands[len(operands)-1], operands[:len(operands)-1]
	}
	for i := 0; i+1 < len(operands); i += 2 {
		c.Branches = append(c.Branches, expression.CaseBranch{Cond: operands[i], Value: operands[i+1]})
	}
	if types.IsText(c.Type(ctx)) {
		enum := func(e sql.Expression) sql.Expression {
			if e != nil && types.IsEnum(e.Type(ctx)) {
				return expression.NewEnumToString(e)
			}
			return e
		}
		branches := make([]expression.CaseBranch, len(c.Branches))
		for i, b := range c.Branches {
			branches[i] = expression.CaseBranch{Cond: b.Cond, Value: enum(b.Value)}
		}
		c = expression.NewCase(c.Expr, branches, enum(c.Else))
	}
	return &Case{c}
}

// WithChildren implements sql.Expression.
func (r *result) WithChildren(ctx *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	e, err := r.Expression.WithChildren(ctx, cs...)
	if err != nil {
		return nil, err
	}
	return collatedResult(e), nil
}

// searchFunctions compare texts, or count their characters.
func searchFunctions() []sql.Function {
	integer := func(*sql.Context, []sql.Expression) sql.Type { return types.Int64 }
	text := func(ctx *sql.Context, args []sql.Expression) sql.Type {
		if binaryArgs(ctx, args) {
			return types.LongBlob
		}
		c, _ := argsCollation(ctx, args)
		return types.CreateLongText(c)
	}
	var fs []sql.Function
	for _, b := range []*builtin{
		{name: "locate", min: 2, max: 3, typ: integer,
			eval: func(ctx *sql.Context, c *call, vs []any) (any, error) {
				from := int64(1)
				if len(vs) == 3 {
					var err error
					if from, err = cast.Characters(ctx, vs[2]); err != nil {
						return nil, err
					}
				}
				return locate(ctx, c, vs[0], vs[1], 0, 1, from)
			}},
		{name: "instr", min: 2, max: 2, typ: integer,
			eval: func(ctx *sql.Context, c *call, vs []any) (any, error) {
				return locate(ctx, c, vs[1], vs[0], 1, 0, 1)
			}},
		{name: "strcmp", min: 2, max: 2, typ: integer,
			eval: func(ctx *sql.Context, c *call, vs []any) (any, error) {
				keys, err := keysOf(ctx, c, vs)
				if err != nil {
					return nil, err
				}
				return int64(slices.Compare(keys[0], keys[1])), nil
			}},
		{name: "quote", min: 1, max: 1, typ: text, nulls: true, eval: quote},
		{name: "soundex", min: 1, max: 1, typ: text, eval: soundex},
		{name: "find_in_set", min: 2, max: 2, typ: integer, eval: findInSet},
		{name: "lpad", min: 3, max: 3, typ: text, eval: pad},
		{name: "rpad", min: 3, max: 3, typ: text, eval: pad},
		{name: "insert", min: 4, max: 4, typ: text, eval: insert},
		{name: BinaryFunction, min: 2, max: 2, typ: func(*sql.Context, []sql.Expression) sql.Type {
			return types.LongBlob
		}, eval: castBinary},
	} {
		fs = append(fs, b.function())
	}
	for _, b := range []*builtin{
		{name: "field", min: 2, typ: integer, nulls: true, eval: field},
		{name: "greatest", min: 2, typ: text, eval: extreme},
		{name: "least", min: 2, typ: text, eval: extreme},
	} {
		library, _ := libraryFunction(b.name)
		fs = append(fs, sql.FunctionN{Name: b.name,
			Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
				if args = slices.Clone(args); b.name != "field" {
					args = withoutEnums(ctx, jsonTexts(ctx, args))
				} else if mixed(ctx, args) {
					for i, a := range args {
						if args[i] = expression.NewConvert(a, expression.ConvertToDouble); isText(ctx, a) {
							args[i] = newNumber(ctx, a, types.Float64)
						}
					}
				}
				if _, ok := exactType(ctx, args); ok && b.name != "field" && len(args) >= b.min {
					return &call{&builtin{name: b.name, eval: exactExtreme,
						typ: func(ctx *sql.Context, args []sql.Expression) sql.Type {
							t, _ := exactType(ctx, args)
							return t
						}}, args}, nil
				}
				t := wholeType(ctx, args)
				for i := 0; t == types.Float64 && b.name != "field" && i < len(args); i++ {
					args[i] = expression.NewConvert(args[i], expression.ConvertToDouble)
				}
				if t != nil && t != types.Float64 && b.name != "field" && len(args) >= b.min {
					return &call{&builtin{name: b.name, eval: exactExtreme,
						typ: func(*sql.Context, []sql.Expression) sql.Type { return t }}, args}, nil
				}
				if b.name != "field" && len(args) >= b.min {
					if texts := spanTexts(ctx, args); texts != nil {
						return &call{b, texts}, nil
					}
					if bytesAmong(ctx, args) {
						return &call{b, args}, nil
					}
				}
				if _, ok := CollationOf(ctx, args...); !ok || len(args) < b.min {
					return library.NewInstance(ctx, args) // numbers compare as numbers
				}
				return &call{b, args}, nil
			}})
	}
	return fs
}

// mixed reports whether there is a number among the operands of FIELD, and not integers alone: all are
// compared as DOUBLEs then.
func mixed(ctx *sql.Context, args []sql.Expression) bool {
	number := func(e sql.Expression) bool { return e.Resolved() && types.IsNumber(e.Type(ctx)) }
	whole := func(e sql.Expression) bool { return e.Resolved() && types.IsInteger(e.Type(ctx)) }
	return slices.ContainsFunc(args, number) &&
		slices.ContainsFunc(args, func(e sql.Expression) bool { return !whole(e) })
}

// jsonTexts are operands of GREATEST and LEAST, to which JSON is a text.
func jsonTexts(ctx *sql.Context, args []sql.Expression) []sql.Expression {
	for i, a := range args {
		if a.Resolved() && types.IsJSON(a.Type(ctx)) {
			args[i] = expression.NewConvert(a, expression.ConvertToChar)
		}
	}
	return args
}

func libraryFunction(name string) (sql.Function, bool) {
	i := slices.IndexFunc(function.BuiltIns, func(f sql.Function) bool { return f.FunctionName() == name })
	if i < 0 {
		return nil, false
	}
	return function.BuiltIns[i], true
}

// keysOf are the keys of arguments under the collation that they are compared by; nil for NULL.
func keysOf(ctx *sql.Context, c *call, vs []any) ([][]byte, error) {
	binary := binaryArgs(ctx, c.args)
	collation, _ := argsCollation(ctx, c.args)
	keys := make([][]byte, len(vs))
	for i, v := range vs {
		if v == nil {
			continue
		}
		s, err := textOf(ctx, c.args[i], v)
		if err != nil {
			return nil, err
		}
		if keys[i] = []byte(s); !binary {
			if key, ok := rowenc.Key(nil, collation, s); ok {
				keys[i] = key
			}
		}
	}
	return keys, nil
}

// field is FIELD of texts: NULL is nowhere.
func field(ctx *sql.Context, c *call, vs []any) (any, error) {
	keys, err := keysOf(ctx, c, vs)
	if err != nil || keys[0] == nil {
		return int64(0), err
	}
	for i, k := range keys[1:] {
		if k != nil && slices.Equal(k, keys[0]) {
			return int64(i + 1), nil
		}
	}
	return int64(0), nil
}

// weightsOf are the weights of a text's characters; of bytes, themselves.
func weightsOf(c sql.CollationID, s string, binary bool) []int32 {
	ws := make([]int32, 0, len(s))
	if weight := c.Sorter(); !binary && weight != nil {
		for _, r := range s {
			ws = append(ws, weight(r))
		}
		return ws
	}
	for i := range len(s) {
		ws = append(ws, int32(s[i]))
	}
	return ws
}

// locate finds one text in another, from a character on.
func locate(ctx *sql.Context, c *call, part, whole any, partArg, wholeArg int, from int64) (any, error) {
	p, err := textOf(ctx, c.args[partArg], part)
	if err != nil {
		return nil, err
	}
	w, err := textOf(ctx, c.args[wholeArg], whole)
	if err != nil {
		return nil, err
	}
	args := []sql.Expression{c.args[partArg], c.args[wholeArg]}
	collation, _ := argsCollation(ctx, args)
	x := textSearch{weight: collation.Sorter()}
	if binaryArgs(ctx, args) {
		x.weight = nil
	}
	if n := 8 * int64(len(p)); n > large && len(p) <= len(w) {
		if err := charge(ctx, c, n); err != nil {
			return nil, err
		}
		defer func() { _ = charge(ctx, c, 0) }() // giving back does not fail
	}
	return x.find(ctx, p, w, from)
}

// textSearch finds texts under a collation, or bytes if weight is nil.
type textSearch struct{ weight func(rune) int32 }

// next is the weight of the character that s begins with, and its length.
func (x textSearch) next(s string) (weight int32, n int) {
	if x.weight == nil {
		return int32(s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return x.weight(r), n
}

// find is the number of the character of whole where part begins, from a character on; 0 for nowhere. As in
// MySQL, what is equal has as many bytes, too: 'e' is not found in 'é'. Knuth, Morris and Pratt: a client may
// look for a megabyte in sixty, and the weights of the long text are not kept. Each character of whole is
// decoded when it is compared, and when it becomes the first of those that may match.
func (x textSearch) find(ctx *sql.Context, part, whole string, from int64) (any, error) {
	if from < 1 || len(part) > len(whole) {
		return int64(0), nil
	}
	head, at := 0, int64(1) // where what may match begins, and the number of its first character
	for ; at < from && head < len(whole); at++ {
		_, n := x.next(whole[head:])
		head += n
	}
	if at < from {
		return int64(0), nil
	}
	if part == "" {
		return at, nil
	}
	want, back := x.borders(part)
	// characters of want that are the last of those read; characters from head on
	matched, span, steps := 0, 0, 0
	for tail := head; tail < len(whole); {
		if steps++; steps%askEvery == 0 && ctx.Err() != nil {
			return nil, sqlerr.From(context.Cause(ctx))
		}
		w, n := x.next(whole[tail:])
		tail += n
		for matched > 0 && (matched == len(want) || want[matched] != w) {
			matched = int(back[matched-1])
		}
		if want[matched] == w {
			matched++
		}
		for span++; span > matched; span-- {
			_, n := x.next(whole[head:])
			head, at = head+n, at+1
		}
		if matched == len(want) && tail-head == len(part) {
			return at, nil
		}
	}
	return int64(0), nil
}

// askEvery is after how many characters a search asks whether its statement is to end.
const askEvery = 1 << 20

// borders are the weights of a text, and for each of its beginnings how long the longest shorter one
// is with which it ends.
func (x textSearch) borders(text string) (weights, back []int32) {
	weights = make([]int32, 0, len(text))
	for text != "" {
		w, n := x.next(text)
		weights, text = append(weights, w), text[n:]
	}
	back = make([]int32, len(weights))
	k := int32(0)
	for i, w := range weights[1:] {
		for k > 0 && weights[k] != w {
			k = back[k-1]
		}
		if weights[k] == w {
			k++
		}
		back[i+1] = k
	}
	return weights, back
}

// extreme is GREATEST and LEAST of texts.
func extreme(ctx *sql.Context, c *call, vs []any) (any, error) {
	keys, err := keysOf(ctx, c, vs)
	if err != nil {
		return nil, err
	}
	best := 0
	for i := range keys {
		if n := slices.Compare(keys[i], keys[best]); c.name == "greatest" && n > 0 ||
			c.name == "least" && n < 0 {
			best = i
		}
	}
	return textOf(ctx, c.args[best], vs[best])
}

func findInSet(ctx *sql.Context, c *call, vs []any) (any, error) {
	texts, err := textsOf(ctx, c, vs)
	if err != nil {
		return nil, err
	}
	binary := binaryArgs(ctx, c.args)
	collation, _ := argsCollation(ctx, c.args)
	want := weightsOf(collation, texts[0], binary)
	if texts[1] == "" || strings.Contains(texts[0], ",") {
		return int64(0), nil
	}
	n := int64(0)
	for item := range strings.SplitSeq(texts[1], ",") {
		if n++; slices.Equal(want, weightsOf(collation, item, binary)) {
			return n, nil
		}
		if n%askEvery == 0 && ctx.Err() != nil {
			return nil, sqlerr.From(context.Cause(ctx))
		}
	}
	return int64(0), nil
}

// pad is LPAD and RPAD.
func pad(ctx *sql.Context, c *call, vs []any) (any, error) {
	n, err := cast.Characters(ctx, vs[1])
	if err != nil || n < 0 {
		return nil, err
	}
	s, err := textOf(ctx, c.args[0], vs[0])
	if err != nil {
		return nil, err
	}
	with, err := textOf(ctx, c.args[2], vs[2])
	if err != nil {
		return nil, err
	}
	if binaryArgs(ctx, []sql.Expression{c.args[0], c.args[2]}) {
		b, ok := filled(ctx, c, []byte(s), []byte(with), n, 1)
		if !ok {
			return nil, nil
		}
		return b, nil
	}
	r, ok := filled(ctx, c, []rune(s), []rune(with), n, 4)
	if !ok {
		return nil, nil
	}
	return string(r), nil
}

// filled brings s to n items of a size; ok is false if that is more than may be.
func filled[T any](ctx *sql.Context, c *call, s, with []T, n, size int64) (out []T, ok bool) {
	switch {
	case n <= int64(len(s)):
		return s[:n], true
	case n > MaxPacket(ctx)/size:
		_, _ = overflow(ctx, c.name, MaxPacket(ctx)) // which is NULL
		return nil, false
	case len(with) == 0:
		return []T{}, true
	}
	fill := make([]T, 0, n-int64(len(s)))
	for room := cap(fill); room > 0; room = cap(fill) - len(fill) {
		fill = append(fill, with[:min(len(with), room)]...)
	}
	if c.name == "lpad" {
		return append(fill, s...), true
	}
	return append(slices.Clone(s), fill...), true
}

// MaxPacket is the max_allowed_packet of the session, which bounds what functions make.
func MaxPacket(ctx *sql.Context) int64 {
	v, err := ctx.GetSessionVariable(ctx, "max_allowed_packet")
	if err == nil {
		switch n := v.(type) {
		case int64:
			return n
		case uint64:
			return int64(n)
		}
	}
	return 64 << 20
}

// insert is INSERT(text, place, length, new).
func insert(ctx *sql.Context, c *call, vs []any) (any, error) {
	at, err := cast.Characters(ctx, vs[1])
	if err != nil {
		return nil, err
	}
	n, err := cast.Characters(ctx, vs[2])
	if err != nil {
		return nil, err
	}
	s, err := textOf(ctx, c.args[0], vs[0])
	if err != nil {
		return nil, err
	}
	with, err := textOf(ctx, c.args[3], vs[3])
	if err != nil {
		return nil, err
	}
	if binaryArgs(ctx, []sql.Expression{c.args[0], c.args[3]}) {
		return inserted([]byte(s), []byte(with), at, n), nil
	}
	return string(inserted([]rune(s), []rune(with), at, n)), nil
}

func inserted[T any](s, with []T, at, n int64) []T {
	if at < 1 || at > int64(len(s)) {
		return s
	}
	rest := int64(len(s)) - at + 1
	if n < 0 || n > rest {
		n = rest
	}
	return slices.Concat(s[:at-1], with, s[at-1+n:])
}

// soundex is SOUNDEX: the first letter, and a digit for each kind of consonant that follows.
func soundex(ctx *sql.Context, c *call, vs []any) (any, error) {
	s, err := textOf(ctx, c.args[0], vs[0])
	if err != nil {
		return nil, err
	}
	const codes = "01230120022455012623010202"
	code := func(r rune) byte {
		if r >= 'A' && r <= 'Z' {
			return codes[r-'A']
		}
		return '0'
	}
	var b strings.Builder
	n, last := 0, byte(0)
	for _, r := range s {
		if r >= 'a' && r <= 'z' {
			r -= 'a' - 'A'
		}
		if !(r >= 'A' && r <= 'Z') && (r < 0xC0 || !unicode.IsLetter(r)) {
			continue
		}
		switch k := code(r); {
		case n == 0:
			b.WriteRune(r)
			n, last = 1, k
		case k != '0' && k != last:
			b.WriteByte(k)
			n, last = n+1, k
		}
	}
	for ; n > 0 && n < 4; n++ {
		b.WriteByte('0')
	}
	return b.String(), nil
}

// quote is QUOTE: a text as a constant, and of NULL the word.
func quote(ctx *sql.Context, c *call, vs []any) (any, error) {
	if vs[0] == nil {
		return "NULL", nil
	}
	s, err := textOf(ctx, c.args[0], vs[0])
	if err != nil {
		return nil, err
	}
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'", "\x00", "\\0", "\x1a",
		"\\Z").Replace(s) + "'", nil
}

// BinaryFunction is CAST(… AS BINARY(n)) of many bytes.
var BinaryFunction = inband.Function("binary")

// castBinary cuts a text to n bytes, or fills it with zeros.
func castBinary(ctx *sql.Context, c *call, vs []any) (any, error) {
	n, err := cast.Characters(ctx, vs[1])
	if err != nil {
		return nil, err
	}
	s, err := textOf(ctx, c.args[0], vs[0])
	if err != nil {
		return nil, err
	}
	out := make([]byte, n)
	copy(out, s)
	return out, nil
}

// spaceFunctions is SPACE(n). The library's copies what it has for each character more: a minute for ten
// megabytes, and does not hear of KILL.
func spaceFunctions() []sql.Function {
	typ := func(*sql.Context, []sql.Expression) sql.Type { return types.LongText }
	b := &builtin{name: "space", min: 1, max: 1, typ: typ,
		eval: func(ctx *sql.Context, _ *call, vs []any) (any, error) {
			n, err := cast.Characters(ctx, vs[0])
			if err != nil {
				return nil, err
			}
			return strings.Repeat(" ", int(max(0, min(n, MaxPacket(ctx))))), nil
		}}
	return []sql.Function{b.function()}
}
