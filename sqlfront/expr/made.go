package expr

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/jsonsize"
	"moka/sqlfront/jsontext"
	"moka/sqlfront/sqlerr"
)

// made is a call of a function whose result may be longer than its arguments: REPEAT('x', 10000000000) would
// take all memory there is, and CONCAT(CONCAT(x, x), CONCAT(x, x)) grows as fast as it is written. How long
// the result will be is known from the values of the arguments, before anything is made: as in MySQL, one
// that is longer than max_allowed_packet is NULL, with warning 1301. What is allowed is charged to the
// statement if it is large.
//
// The arguments are evaluated once. The function, the library's or ours, then sees their values: inner
// is the call over slots.
type made struct {
	sql.Expression // over the arguments
	*maker
	inner sql.Expression
}

// maker is what is known of such a function.
type maker struct {
	name string
	// size is how long the result can be at most. It may put another form of an argument in the place of one.
	size func(ctx *sql.Context, vs sql.Row) int64
	// nulls: the function has something to say of NULL.
	nulls bool
	// json: arguments that are texts will be parsed, and the result shares parts with
	// arguments: it is measured.
	json bool
	// documents is how many arguments in front are documents, or texts of such: they are parsed here.
	documents int
	// code is the number of the warning if it is not 1301.
	code int
	// format: the second argument is a format, which the library reads in the square of its length. So it is
	// given in parts.
	format bool
}

var (
	_ sql.FunctionExpression = (*made)(nil)
	_ sql.CollationCoercible = (*made)(nil)
)

// parsedBytes is about what a byte of a JSON text takes when it is parsed.
const parsedBytes = 12

func sum(_ *sql.Context, vs sql.Row) (n int64) {
	for _, v := range vs {
		n += length(v)
	}
	return n
}

// times is a result that is at most k/d times as long as all arguments together, and c.
func times(k, d, c int64) func(*sql.Context, sql.Row) int64 {
	return func(ctx *sql.Context, vs sql.Row) int64 { return sum(ctx, vs)/d*k + k + c }
}

// count is an argument that is a number of characters.
func count(ctx *sql.Context, v any) int64 {
	n, _, err := types.Int64.Convert(ctx, v)
	i, ok := n.(int64)
	if err != nil && !sql.ErrTruncatedIncorrect.Is(err) || !ok {
		return 0
	}
	return max(0, i)
}

// product is a·b, or as much as there is.
func product(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// makers are all functions of the library and of ours whose result can be longer than their arguments, but
// for the aggregates, for what makes a few dozen bytes of anything, and for the regular expressions, which
// are in regexp.go. TestEveryFunctionIsBounded holds every name that the library knows against it.
var makers = func() map[string]*maker {
	all := map[string]*maker{}
	for _, m := range []*maker{
		{name: "concat", size: sum},
		{name: "concat_ws", nulls: true, size: func(ctx *sql.Context, vs sql.Row) int64 {
			return sum(ctx, vs) + product(length(vs[0]), int64(max(0, len(vs)-3)))
		}},
		{name: "repeat", size: func(ctx *sql.Context, vs sql.Row) int64 {
			n := count(ctx, vs[1])
			if n == 0 {
				vs[1] = int64(0) // the library refuses less
			}
			return product(length(vs[0]), n)
		}},
		{name: "space", size: func(ctx *sql.Context, vs sql.Row) int64 { return count(ctx, vs[0]) }},
		{name: "lpad", size: padSize},
		{name: "rpad", size: padSize},
		{name: "insert", size: sum},
		{name: "replace", size: func(_ *sql.Context, vs sql.Row) int64 {
			s, was := textual(vs[0]), textual(vs[1])
			if was == "" {
				return length(vs[0])
			}
			return int64(len(s)) + product(int64(strings.Count(s, was)),
				max(0, length(vs[2])-int64(len(was))))
		}},
		{name: "hex", size: times(2, 1, 0)},
		{name: "quote", nulls: true, size: times(2, 1, 2)},
		{name: "to_base64", size: times(3, 2, 4)},
		{name: "make_set", nulls: true, size: func(ctx *sql.Context, vs sql.Row) int64 {
			return sum(ctx, vs[1:]) + int64(len(vs))
		}},
		{name: "export_set", size: func(_ *sql.Context, vs sql.Row) int64 {
			n := max(length(vs[1]), length(vs[2])) + 1
			if len(vs) > 3 {
				n += length(vs[3])
			}
			return 64 * n
		}},
		{name: "date_format", format: true, size: times(6, 1, 0)},
		{name: "time_format", format: true, size: times(6, 1, 0)},
		{name: "from_unixtime", size: times(6, 1, 0)},
		{name: "aes_encrypt", size: func(_ *sql.Context, vs sql.Row) int64 { return length(vs[0]) + 16 }},
		{name: "compress", size: times(1, 1, 1<<10)},
		{name: "uncompress", code: 1256, size: func(_ *sql.Context, vs sql.Row) int64 {
			if s := textual(vs[0]); len(s) > 4 { // the length stands in front
				return int64(binary.LittleEndian.Uint32([]byte(s[:4])) & (1<<30 - 1))
			}
			return 0
		}},
		{name: CharFunction, nulls: true, size: func(_ *sql.Context, vs sql.Row) int64 {
			return 8 * int64(len(vs))
		}},
		{name: BinaryFunction, size: func(ctx *sql.Context, vs sql.Row) int64 {
			return max(length(vs[0]), count(ctx, vs[1]))
		}},

		{name: "json_pretty", json: true, size: func(ctx *sql.Context, vs sql.Row) int64 {
			return measured(jsonsize.Value(ctx, &vs[0]), func(v any, left *int64) {
				jsonsize.Pretty(v, 0, left)
			}) + sum(ctx, vs)
		}},
		{name: "json_search", json: true, nulls: true, size: func(ctx *sql.Context, vs sql.Row) int64 {
			return measured(jsonsize.Value(ctx, &vs[0]), func(v any, left *int64) { jsonsize.Paths(v, 1, left) })
		}},
		{name: "json_quote", size: times(6, 1, 2)},
	} {
		all[m.name] = m
	}
	for _, m := range geometryMakers() {
		all[m.name] = m
	}
	for _, name := range []string{"string_to_vector", "to_vector", "vec_fromtext"} {
		all[name] = &maker{name: name, json: true, size: times(2, 1, 4)}
	}
	for _, name := range []string{"vector_to_string", "from_vector", "vec_totext"} {
		all[name] = &maker{name: name, size: times(4, 1, 2)}
	}
	for _, name := range []string{
		"json_array", "json_object", "json_array_append", "json_array_insert", "json_contains",
		"json_contains_path", "json_depth", "json_extract",
		"json_insert", "json_keys", "json_length", "json_merge", "json_merge_patch", "json_merge_preserve",
		"json_overlaps", "json_remove",
		"json_replace", "json_schema_valid", "json_schema_validation_report", "json_set", "json_storage_free",
		"json_storage_size",
		"json_unquote", "json_valid", "json_value",
		// vectors may be texts
		"distance", "vec_distance", "vec_distance_cosine", "vec_distance_euclidean",
		"vec_distance_l2_squared",
	} {
		// Not JSON_TYPE, which makes a word, and looks at what its argument is an expression of.
		all[name] = &maker{name: name, json: true, nulls: true, size: func(*sql.Context, sql.Row) int64 {
			return 0
		}}
	}
	for name, n := range jsontext.Arguments {
		all[name].documents = n
	}
	return all
}()

// padSize counts four bytes for each character, as MySQL does; the warning is pad's own.
func padSize(ctx *sql.Context, vs sql.Row) int64 {
	return max(0, min(product(4, count(ctx, vs[1])), MaxPacket(ctx)))
}

// measured is what a walk over a document takes of what it may.
func measured(v any, walk func(v any, left *int64)) int64 {
	const most = 1 << 31 // above any max_allowed_packet
	left := int64(most)
	walk(v, &left)
	return most - left
}

func textual(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// Bounded makes the result of a function of that name end at max_allowed_packet: of f, or, if ok is false, of
// the library's of that name.
func Bounded(name string, f sql.Function, ok bool) (sql.Function, bool) {
	m := makers[name]
	if m == nil {
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
			return m.over(ctx, e)
		}}, true
}

// over is a call of the function.
func (m *maker) over(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	args := e.Children()
	if len(args) == 0 {
		return e, nil
	}
	slots := make([]sql.Expression, len(args))
	for i, a := range args {
		slots[i] = &slot{a, i}
	}
	inner, err := e.WithChildren(ctx, slots...)
	if err != nil {
		return nil, err
	}
	return &made{e, m, inner}, nil
}

// FunctionName implements sql.FunctionExpression.
func (m *made) FunctionName() string { return m.name }

// Description implements sql.FunctionExpression.
func (m *made) Description() string { return "a value of at most max_allowed_packet bytes." }

// CollationCoercibility implements sql.CollationCoercible.
func (m *made) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, m.Expression)
}

// WithChildren implements sql.Expression.
func (m *made) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := m.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return m.over(ctx, e)
}

// Eval implements sql.Expression.
func (m *made) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := m.Children()
	vs := make(sql.Row, len(args))
	heavy, others, parsed := false, int64(0), int64(0)
	for i, a := range args {
		v, err := a.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if err != nil || v == nil && !m.nulls {
			return nil, err
		}
		if vs[i] = v; !isLarge(v) {
			continue
		}
		if heavy = true; makesUncharged(a) { // while the other arguments are made
			others += length(v)
			if err := charge(ctx, m, others); err != nil {
				return nil, err
			}
		}
		if i < m.documents {
			doc, n, err := jsontext.Document(ctx, m, others, v)
			if err != nil {
				return nil, sqlerr.From(err)
			}
			vs[i], others, parsed = doc, others+n, parsed+n
		} else if err := jsontext.BoundedPath(m.name, i, v); err != nil {
			return nil, sqlerr.From(err)
		}
	}
	n := m.size(ctx, vs)
	most := n + others
	if n > 1<<10 { // the least that max_allowed_packet can be
		if limit := MaxPacket(ctx); n > limit {
			return m.tooLong(ctx, limit)
		}
	}
	if heavy && m.json { // a document has been measured when it was made
		for _, v := range vs {
			if s := textual(v); s != "" {
				most += parsedBytes * int64(len(s))
			}
		}
	}
	if most > large {
		if err := charge(ctx, m, most); err != nil {
			return nil, err
		}
	}
	v, err := m.evaluate(ctx, vs)
	if m.json && err == nil {
		if doc, ok := v.(sql.JSONWrapper); ok {
			limit := MaxPacket(ctx)
			if n, ok = jsonsize.Text(doc, limit); !ok {
				return m.tooLong(ctx, limit)
			}
			if err := jsonsize.Shallow(doc); err != nil {
				return nil, err
			}
			n, heavy = n+parsed, false // it shares parts with the arguments: their charges stay
		}
	} else {
		n = length(v)
	}
	if heavy {
		uncharge(ctx, args)
	}
	if err == nil && most > large {
		err = charge(ctx, m, n) // which is less
	}
	return v, err
}

// evaluate calls the function.
func (m *made) evaluate(ctx *sql.Context, vs sql.Row) (any, error) {
	format, _ := vs[len(vs)-1].(string)
	if !m.format || len(format) <= formatPart {
		return m.inner.Eval(ctx, vs)
	}
	var out strings.Builder
	for len(format) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n := 0 // where the part ends: not behind the sign of a specifier
		for n < len(format) && n < formatPart {
			if n++; format[n-1] == '%' && n < len(format) {
				n++
			}
		}
		v, err := m.inner.Eval(ctx, sql.Row{vs[0], format[:n]})
		part, ok := v.(string)
		if err != nil || !ok {
			return v, err
		}
		out.WriteString(part)
		format = format[n:]
	}
	return out.String(), nil
}

// formatPart is how much of a format the library reads at a time.
const formatPart = 1 << 10

// makesUncharged reports whether e makes its value anew, and charges nobody for it.
func makesUncharged(e sql.Expression) bool {
	switch e.(type) {
	case *made, *result, *regexpCall, *expression.GetField, *expression.Literal, *expression.UserVar:
		return false
	}
	return true
}

func isLarge(v any) bool {
	switch v := v.(type) {
	case string:
		return len(v) > large
	case []byte:
		return len(v) > large
	}
	return false
}

func (m *made) tooLong(ctx *sql.Context, limit int64) (any, error) {
	if m.code == 1256 {
		ctx.Warn(1256, "Uncompressed data size too large; the maximum size is %d (probably, length of "+
			"uncompressed data was corrupted)", limit)
		return nil, nil
	}
	return overflow(ctx, m.name, limit)
}

// Copied is a value to be kept: a part of a longer one, as TRIM and SUBSTRING_INDEX make it, keeps all of
// that in memory, which nobody is charged for.
func Copied(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case []byte:
		return bytes.Clone(v)
	}
	return v
}

// slot is an argument of a call whose value is known: the row that it is evaluated with is the
// values of the arguments.
type slot struct {
	sql.Expression // the argument, for its type
	at             int
}

var (
	_ sql.Expression                 = (*slot)(nil)
	_ sql.CollationCoercible         = (*slot)(nil)
	_ sql.NonDeterministicExpression = (*slot)(nil)
)

// Eval implements sql.Expression.
func (s *slot) Eval(_ *sql.Context, row sql.Row) (any, error) { return row[s.at], nil }

// Children implements sql.Expression: what is below has been evaluated.
func (s *slot) Children() []sql.Expression { return nil }

// WithChildren implements sql.Expression.
func (s *slot) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(children), 0)
	}
	return s, nil
}

// IsNonDeterministic implements sql.NonDeterministicExpression: its value is another for each row.
func (s *slot) IsNonDeterministic() bool { return true }

// CollationCoercibility implements sql.CollationCoercible.
func (s *slot) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, s.Expression)
}
