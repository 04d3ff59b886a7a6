package expr

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestWildcardsAsTheLibrary: what a LIKE finds is what the library's matcher finds, where that ends.
func TestWildcardsAsTheLibrary(t *testing.T) {
	ctx := sql.NewEmptyContext()
	r := rand.New(rand.NewPCG(1, 2))
	word := func(most int, letters ...string) string {
		var b strings.Builder
		for range r.IntN(most) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	found := 0
	for range 20000 {
		text := word(9, "a", "b", "á", "B", "日", "%", "_", `\`, " ")
		pattern := word(8, "a", "b", "A", "á", "%", "_", "%", `\`, "|", "日", " ")
		escape := []rune{'\\', '|', 0, 'a'}[r.IntN(4)]
		for _, collation := range []sql.CollationID{
			sql.Collation_utf8mb4_0900_ai_ci, sql.Collation_utf8mb4_0900_bin,
			sql.Collation_utf8mb4_general_ci, sql.Collation_binary,
		} {
			theirs, failed := expression.ConstructLikeMatcher(collation, pattern, escape)
			mine, err := newWildcards(pattern, escape, collation)
			if (failed == nil) != (err == nil) {
				t.Fatalf("pattern %q escape %q under %s: %v, and the library %v", pattern, escape,
					collation.Name(), err, failed)
			}
			if err != nil {
				continue
			}
			want := theirs.Match(text)
			got, err := mine.match(ctx, text)
			if err != nil || got != want {
				t.Fatalf("%q LIKE %q ESCAPE %q under %s: %v, %v, want %v", text, pattern, escape,
					collation.Name(), got, err, want)
			}
			if want {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d of the texts matched", found)
	}
}

// TestWildcardsStop: a LIKE that takes long ends with its statement.
func TestWildcardsStop(t *testing.T) {
	within, cancel := context.WithCancel(context.Background())
	cancel()
	w, err := newWildcards("%"+strings.Repeat("a", 1<<20)+"b", '\\', sql.Collation_utf8mb4_0900_bin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.match(sql.NewContext(within), strings.Repeat("a", 1<<22)); err == nil {
		t.Error("it went on after its statement")
	}
}

// TestDocumentsAsTheLibrary: JSON_CONTAINS and JSON_OVERLAPS are what the library makes of documents that it
// compares piece by piece.
func TestDocumentsAsTheLibrary(t *testing.T) {
	ctx := sql.NewEmptyContext()
	r := rand.New(rand.NewPCG(3, 4))
	var document func(depth int) any
	document = func(depth int) any {
		switch n := r.IntN(10); {
		case n < 4 || depth == 0:
			return []any{nil, true, false, 0.0, 1.0, 2.5, "", "a", "1"}[r.IntN(9)]
		case n < 8:
			a := make([]any, r.IntN(4))
			for i := range a {
				a[i] = document(depth - 1)
			}
			return a
		}
		o := map[string]any{}
		for range r.IntN(3) {
			o[[]string{"a", "b", "c"}[r.IntN(3)]] = document(depth - 1)
		}
		return o
	}
	contained, common := 0, 0
	for range 20000 {
		a, b := document(3), document(2)
		s := &finder{ctx: ctx}
		want, err := types.ContainsJSON(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.contains(a, b); err != nil || got != want {
			t.Fatalf("JSON_CONTAINS(%v, %v) is %v, %v, want %v", a, b, got, err, want)
		}
		theirs, err := json.NewJSONOverlaps(ctx,
			expression.NewLiteral(types.JSONDocument{Val: a}, types.JSON),
			expression.NewLiteral(types.JSONDocument{Val: b}, types.JSON))
		if err != nil {
			t.Fatal(err)
		}
		overlap, err := theirs.Eval(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.overlaps(a, b); err != nil || got != overlap {
			t.Fatalf("JSON_OVERLAPS(%v, %v) is %v, %v, want %v", a, b, got, err, overlap)
		}
		if want {
			contained++
		}
		if overlap == true {
			common++
		}
	}
	if contained < 100 || common < 100 {
		t.Errorf("only %d contained and %d overlapped", contained, common)
	}
}
