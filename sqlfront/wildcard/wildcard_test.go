package wildcard

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
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
			mine, err := New(pattern, escape, collation)
			if (failed == nil) != (err == nil) {
				t.Fatalf("pattern %q escape %q under %s: %v, and the library %v", pattern, escape,
					collation.Name(), err, failed)
			}
			if err != nil {
				continue
			}
			want := theirs.Match(text)
			got, err := mine.Match(ctx, text)
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
	w, err := New("%"+strings.Repeat("a", 1<<20)+"b", '\\', sql.Collation_utf8mb4_0900_bin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Match(sql.NewContext(within), strings.Repeat("a", 1<<22)); err == nil {
		t.Error("it went on after its statement")
	}
}
