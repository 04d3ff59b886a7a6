package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// ends are the integers at which arithmetic goes wrong; random ones join them.
var ends = []any{
	int64(0), int64(1), int64(-1), int64(2), int64(math.MaxInt64), int64(math.MaxInt64 - 1),
	int64(math.MinInt64), int64(math.MinInt64 + 1),
	uint64(0), uint64(1), uint64(math.MaxInt64), uint64(1 << 63), uint64(1<<63 + 1), uint64(math.MaxUint64),
	uint64(math.MaxUint64 - 1),
	int8(-128), uint8(255), int32(math.MinInt32), uint32(math.MaxUint32),
}

func bigOf(v any) *big.Int {
	n, _ := wide(v)
	b := new(big.Int).SetUint64(n.abs)
	if n.negative {
		b.Neg(b)
	}
	return b
}

func typeOf(v any) sql.Type {
	switch v.(type) {
	case int8:
		return types.Int8
	case uint8:
		return types.Uint8
	case int32:
		return types.Int32
	case uint32:
		return types.Uint32
	case uint64:
		return types.Uint64
	}
	return types.Int64
}

// TestIntegers compares with arithmetic that has no ends: the same value if the result's type
// has it, else an error.
func TestIntegers(t *testing.T) {
	ctx := sql.NewEmptyContext()
	values := ends
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		values = append(values, int64(r.Uint64()), r.Uint64(), int64(r.Uint64()>>33), r.Uint64()>>40)
	}
	for _, a := range values {
		for _, b := range values {
			for _, op := range []string{"+", "-", "*", "div"} {
				e := newArithmetic(ctx, op, expression.NewLiteral(a, typeOf(a)),
					expression.NewLiteral(b, typeOf(b)))
				want := new(big.Int)
				switch x, y := bigOf(a), bigOf(b); {
				case op == "+":
					want.Add(x, y)
				case op == "-":
					want.Sub(x, y)
				case op == "*":
					want.Mul(x, y)
				case y.Sign() == 0:
					want = nil
				default:
					want.Quo(x, y)
				}
				got, err := e.Eval(ctx, nil)
				_, wide := a.(uint64) // what is written down is unsigned if it has to be
				_, wide2 := b.(uint64)
				unsigned := wide || wide2
				if unsigned != types.IsUnsigned(e.Type(ctx)) {
					t.Fatalf("%v %s %v is a %v", a, op, b, e.Type(ctx))
				}
				switch fits := want != nil && (unsigned && want.IsUint64() || !unsigned && want.IsInt64()); {
				case want == nil:
					if got != nil || err != nil {
						t.Fatalf("%v %s %v = %v, %v", a, op, b, got, err)
					}
				case fits:
					if err != nil || bigOf(got).Cmp(want) != 0 {
						t.Fatalf("%v %s %v = %v, %v; want %v", a, op, b, got, err, want)
					}
				case err == nil:
					t.Fatalf("%v %s %v = %v, which is %v", a, op, b, got, want)
				}
			}
		}
		n := newNegation(ctx, &variable{expression.NewLiteral(a, typeOf(a))})
		got, err := n.Eval(ctx, nil)
		if want := new(big.Int).Neg(bigOf(a)); want.IsInt64() != (err == nil) ||
			err == nil && bigOf(got).Cmp(want) != 0 {
			t.Fatalf("-%v = %v, %v", a, got, err)
		}
	}
}

// variable hides that an expression is a literal.
type variable struct{ *expression.Literal }

// TestTotals adds in all orders what has a known sum, with runs that leave the machine word and come back.
func TestTotals(t *testing.T) {
	ctx := sql.NewEmptyContext()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var sum total
		want, n := new(apd.Decimal), 0
		for range r.IntN(50) {
			var v any
			switch r.IntN(4) {
			case 0:
				v = nil
			case 1:
				v = ends[r.IntN(len(ends))]
			case 2:
				v = apd.New(r.Int64()-r.Int64(), -int32(r.IntN(5)))
			default:
				v = int32(r.IntN(100))
			}
			if err := sum.add(ctx, v); err != nil {
				t.Fatal(err)
			}
			switch x := v.(type) {
			case nil:
				continue
			case *apd.Decimal:
				_, _ = exactly.Add(want, want, x)
			default:
				d, _, err := apd.NewFromString(bigOf(x).String())
				if err != nil {
					t.Fatal(err)
				}
				_, _ = exactly.Add(want, want, d)
			}
			n++
		}
		got, err := sum.value(false)
		switch {
		case err != nil:
			t.Fatal(err)
		case n == 0 && got != nil, n > 0 && (got == nil || got.(*apd.Decimal).Cmp(want) != 0):
			t.Fatalf("the sum of %d values is %v, want %v", n, got, want)
		}
	}
}
