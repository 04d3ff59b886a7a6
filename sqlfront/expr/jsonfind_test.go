package expr

import (
	"math/rand/v2"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
)

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
		s, err := newFinder(ctx, nil, types.JSONDocument{Val: a}, types.JSONDocument{Val: b})
		if err != nil {
			t.Fatal(err)
		}
		want, err := types.ContainsJSON(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Contains(a, b); err != nil || got != want {
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
		if got, err := s.Overlaps(a, b); err != nil || got != overlap {
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
