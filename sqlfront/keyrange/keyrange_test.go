package keyrange

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"moka/sqlfront/pushdown"
)

// TestBoxesHoldWhatConditionsAreTrueFor compares the boxes of random conditions over two columns with their
// truth, row by row: no row may be missing, and none be too many where the region says that it is exact.
func TestBoxesHoldWhatConditionsAreTrueFor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	column := func(i int) int { return 10 + i }
	exact := 0
	for range 4000 {
		e := condition(rng, 3)
		r := Of(e, false, column).Reduce()
		if r.Exact {
			exact++
		}
		for row := range 36 {
			keys := [2]int{row % 6, row / 6}
			want, got := truth(e, keys) == 1, r.All
			for _, b := range r.Boxes {
				got = got || holds(b, keys)
			}
			if want && !got || r.Exact && got != want {
				t.Fatalf("%+v of %v: is true %v, in its boxes %v: %+v", e, keys, want, got, r)
			}
		}
	}
	if exact < 2000 {
		t.Errorf("only %d regions were exact", exact)
	}
}

// key is that of a value; 0 is NULL.
func key(n int) []byte {
	if n == 0 {
		return NullKey
	}
	return []byte{1, byte(n)}
}

func holds(b Box, keys [2]int) bool {
	for col, vs := range b {
		in, k := false, key(keys[col-10])
		for _, v := range vs {
			in = in || bytes.Compare(v.From, k) <= 0 && bytes.Compare(k, v.To) < 0
		}
		if !in {
			return false
		}
	}
	return true
}

func condition(rng *rand.Rand, depth int) *pushdown.Expr {
	e := &pushdown.Expr{Column: rng.IntN(2)}
	if depth > 0 && rng.IntN(3) > 0 {
		e.Op = []pushdown.Op{pushdown.OpAnd, pushdown.OpOr, pushdown.OpNot}[rng.IntN(3)]
		for range 1 + rng.IntN(3) {
			e.Args = append(e.Args, condition(rng, depth-1))
		}
		return e
	}
	switch rng.IntN(4) {
	case 0:
		e.Op = pushdown.OpIsNull
	case 1:
		e.Op, e.HasNull = pushdown.OpIn, rng.IntN(3) == 0
		for n := 1; n < 6; n++ { // ascending, as the compiler of programs has them
			if rng.IntN(2) == 0 {
				e.Keys = append(e.Keys, key(n))
			}
		}
	default:
		e.Op, e.Key = pushdown.OpCompare, key(1+rng.IntN(5))
		e.Relation = []pushdown.Relation{pushdown.Equal, pushdown.NotEqual, pushdown.Less,
			pushdown.LessEqual, pushdown.Greater, pushdown.GreaterEqual}[rng.IntN(6)]
	}
	return e
}

// truth is 1, 0, or -1 for NULL.
func truth(e *pushdown.Expr, keys [2]int) int {
	of := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	is := keys[e.Column]
	switch e.Op {
	case pushdown.OpNot:
		if v := truth(e.Args[0], keys); v >= 0 {
			return 1 - v
		}
		return -1
	case pushdown.OpAnd, pushdown.OpOr:
		decides, null := of(e.Op == pushdown.OpOr), false
		for _, a := range e.Args {
			v := truth(a, keys)
			if v == decides {
				return v
			}
			null = null || v < 0
		}
		if null {
			return -1
		}
		return 1 - decides
	case pushdown.OpIsNull:
		return of(is == 0)
	}
	if is == 0 {
		return -1
	}
	if e.Op == pushdown.OpIn {
		for _, k := range e.Keys {
			if bytes.Equal(k, key(is)) {
				return 1
			}
		}
		if e.HasNull {
			return -1
		}
		return 0
	}
	n := bytes.Compare(key(is), e.Key)
	switch e.Relation {
	case pushdown.Equal:
		return of(n == 0)
	case pushdown.NotEqual:
		return of(n != 0)
	case pushdown.Less:
		return of(n < 0)
	case pushdown.LessEqual:
		return of(n <= 0)
	case pushdown.Greater:
		return of(n > 0)
	}
	return of(n >= 0)
}
