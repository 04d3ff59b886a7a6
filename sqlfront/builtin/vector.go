package builtin

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"moka/sqlfront/sqlerr"
)

// vectorNames are the library's functions of vectors.
var vectorNames = []string{
	"vec_distance", "vec_distance_l2_squared", "vec_distance_euclidean", "vec_distance_cosine", "distance",
	"string_to_vector", "to_vector", "vec_fromtext", "vector_to_string", "from_vector", "vec_totext",
}

// VectorFunction is the library's function of vectors of that name with arguments that are no empty ones, on
// which it goes down: it takes the address of the first number.
func VectorFunction(name string) (sql.Function, bool) {
	library, ok := libraryFunction(name)
	if !ok || !slices.Contains(vectorNames, name) {
		return nil, false
	}
	call := func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		as := make([]sql.Expression, len(args))
		for i, a := range args {
			as[i] = &vector{expression.UnaryExpressionStub{Child: a}, name}
		}
		return library.NewInstance(ctx, as)
	}
	return sql.FunctionN{Name: name, Fn: call}, true
}

func libraryFunction(name string) (sql.Function, bool) {
	i := slices.IndexFunc(function.BuiltIns, func(f sql.Function) bool { return f.FunctionName() == name })
	if i < 0 {
		return nil, false
	}
	return function.BuiltIns[i], true
}

// vector is an argument that is no empty vector.
type vector struct {
	expression.UnaryExpressionStub
	of string
}

var (
	_ sql.Expression         = (*vector)(nil)
	_ sql.CollationCoercible = (*vector)(nil)
)

// Type implements sql.Expression.
func (v *vector) Type(ctx *sql.Context) sql.Type { return v.Child.Type(ctx) }

// String implements sql.Expression.
func (v *vector) String() string { return v.Child.String() }

// CollationCoercibility implements sql.CollationCoercible.
func (v *vector) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, v.Child)
}

// WithChildren implements sql.Expression.
func (v *vector) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(children), 1)
	}
	return &vector{expression.UnaryExpressionStub{Child: children[0]}, v.of}, nil
}

// Eval implements sql.Expression.
func (v *vector) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	value, err := v.Child.Eval(ctx, row)
	if err == nil {
		value, err = sql.UnwrapAny(ctx, value)
	}
	if err != nil || value == nil {
		return nil, err
	}
	empty := false
	switch x := value.(type) {
	case []byte:
		empty = len(x) == 0
	case []float32:
		empty = len(x) == 0
	case string, sql.JSONWrapper:
		floats, err := sql.ConvertToVector(ctx, x)
		empty = err == nil && len(floats) == 0
	}
	if empty {
		return nil, sqlerr.New(sqlerr.WrongExecuteArguments,
			"Incorrect arguments to %s: a vector has at least one number", v.of)
	}
	return value, nil
}
