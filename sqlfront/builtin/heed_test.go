package builtin

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

var errKilled = errors.New("killed")

// killing is an expression whose first evaluation is when somebody kills the statement.
type killing struct {
	expression.Literal
	kill      context.CancelCauseFunc
	evaluated int
}

func (k *killing) Eval(*sql.Context, sql.Row) (any, error) {
	k.evaluated++
	k.kill(errKilled)
	return int64(1), nil
}

func call(t *testing.T, ctx *sql.Context, name string, args ...any) sql.Expression {
	t.Helper()
	f, ok := Function(name)
	if !ok { // the library's, if there is none here
		f = function.BuiltIns[slices.IndexFunc(function.BuiltIns, func(f sql.Function) bool {
			return f.FunctionName() == name
		})]
	}
	var es []sql.Expression
	for _, a := range args {
		switch a := a.(type) {
		case sql.Expression:
			es = append(es, a)
		case string:
			es = append(es, expression.NewLiteral(a, types.LongText))
		case int:
			es = append(es, expression.NewLiteral(int64(a), types.Int64))
		}
	}
	e, err := f.NewInstance(ctx, es)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestBenchmarkHearsKill: it asked after 1024 evaluations, which of SHA2 of 60 MB are five minutes.
func TestBenchmarkHearsKill(t *testing.T) {
	inner, cancel := context.WithCancelCause(t.Context())
	ctx := sql.NewContext(inner)
	k := &killing{*expression.NewLiteral(int64(1), types.Int64), cancel, 0}
	_, err := call(t, ctx, "benchmark", 1000, k).Eval(ctx, nil)
	if !errors.Is(err, errKilled) || k.evaluated != 1 {
		t.Errorf("BENCHMARK ended with %v after %d evaluations, want %v after 1", err, k.evaluated, errKilled)
	}
}

// TestSubstringIndex: what MySQL 8.0 makes of texts in utf8mb4, which it counts from the left for negative
// counts, too.
func TestSubstringIndex(t *testing.T) {
	ctx := sql.NewEmptyContext()
	for _, x := range []struct {
		text, delim string
		count       int
		want        string
	}{
		{"www.mysql.com", ".", 2, "www.mysql"}, {"www.mysql.com", ".", -2, "mysql.com"},
		{"www.mysql.com", ".", 3, "www.mysql.com"}, {"www.mysql.com", ".", -3, "www.mysql.com"},
		{"www.mysql.com", ".", 9, "www.mysql.com"}, {"www.mysql.com", ".", -9, "www.mysql.com"},
		{"www.mysql.com", ".", 0, ""}, {"www.mysql.com", "", 1, ""}, {"", ".", 1, ""}, {"", ".", -1, ""},
		{"www.mysql.com", "M", 1, "www.mysql.com"}, {"aaa", "aa", 1, ""}, {"aaa", "aa", -1, "a"},
		{".a.", ".", 1, ""}, {".a.", ".", 2, ".a"}, {".a.", ".", -1, ""}, {".a.", ".", -2, "a."},
		{"äöäöä", "ö", 2, "äöä"}, {"äöäöä", "ö", -2, "äöä"}, {"a", "aa", 1, "a"},
		{"a,b", ",", -9223372036854775808, "a,b"}, {"a,b", ",", 9223372036854775807, "a,b"},
	} {
		got, err := call(t, ctx, "substring_index", x.text, x.delim, x.count).Eval(ctx, nil)
		if err != nil || got != x.want {
			t.Errorf("SUBSTRING_INDEX(%q, %q, %d) is %q (%v), want %q", x.text, x.delim, x.count, got, err,
				x.want)
		}
	}
}

// TestSubstringIndexMakesNoList: it made a list of all parts of its text, sixteen bytes for each, which
// nobody was charged for: of 60 MB of delimiters a gigabyte.
func TestSubstringIndexMakesNoList(t *testing.T) {
	ctx := sql.NewEmptyContext()
	text := strings.Repeat(",", 4<<20)
	for _, count := range []int{1 << 20, -1 << 20, 1 << 40} {
		e := call(t, ctx, "substring_index", text, ",", count)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := e.Eval(ctx, nil)
		runtime.ReadMemStats(&after)
		// The conversion of the argument copies it.
		if n := int(after.TotalAlloc - before.TotalAlloc); n > 3*len(text) || err != nil {
			t.Errorf("of %d parts it took %d bytes (%v)", count, n, err)
		}
		if s, _ := got.(string); len(s) != min(len(text), max(count-1, -count-1)) {
			t.Errorf("of %d parts it made %d bytes", count, len(s))
		}
	}
}

// TestSubstringIndexHearsKill: 60 MB of delimiters are read for seconds.
func TestSubstringIndexHearsKill(t *testing.T) {
	inner, cancel := context.WithCancelCause(t.Context())
	cancel(errKilled)
	ctx := sql.NewContext(inner)
	text := strings.Repeat(",", 1<<20)
	for _, count := range []int{1 << 19, -1 << 19} {
		_, err := call(t, ctx, "substring_index", text, ",", count).Eval(ctx, nil)
		if !errors.Is(err, errKilled) {
			t.Errorf("SUBSTRING_INDEX ended with %v, want %v", err, errKilled)
		}
	}
}

// TestConversionHearsKill: CONVERT of 60 MB to latin1 took 17 s, in which nothing could end its statement.
func TestConversionHearsKill(t *testing.T) {
	inner, cancel := context.WithCancelCause(t.Context())
	ctx := sql.NewContext(inner)
	text := expression.NewLiteral(strings.Repeat("ä", 100_000), types.LongText)
	e := NewConvertUsing(expression.NewConvertUsing(text, sql.CharacterSet_latin1))
	if v, err := e.Eval(ctx, nil); err != nil || v != text.Value() {
		t.Errorf("before: %v", err)
	}
	cancel(errKilled)
	if _, err := e.Eval(ctx, nil); !errors.Is(err, errKilled) {
		t.Errorf("ended with %v, want %v", err, errKilled)
	}
}
