package builtin

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
)

// pairFunctions are the functions of the library that compare each point or line of a geometry with each of
// the other, or with each of its own, and hear nothing meanwhile.
var pairFunctions = []string{
	"st_contains", "st_crosses", "st_disjoint", "st_distance", "st_equals", "st_intersects", "st_issimple",
	"st_overlaps", "st_touches", "st_within",
}

// maxPairs is how many pairs of points one call may compare: some tenths of a second.
const maxPairs = 1 << 24

// SpatialPairs returns the library's function of that name, if it is one of those, with the sizes of its
// geometries looked at first.
func SpatialPairs(name string) (sql.Function, bool) {
	library, ok := libraryFunction(name)
	if !ok || !slices.Contains(pairFunctions, name) {
		return nil, false
	}
	bounded := func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		e, err := library.NewInstance(ctx, args)
		if f, ok := e.(sql.FunctionExpression); ok && err == nil {
			return &pairs{f}, nil
		}
		return e, err
	}
	return sql.FunctionN{Name: name, Fn: bounded}, true
}

// pairs is such a function.
type pairs struct{ sql.FunctionExpression }

var (
	_ sql.FunctionExpression = (*pairs)(nil)
	_ sql.CollationCoercible = (*pairs)(nil)
)

// CollationCoercibility implements sql.CollationCoercible.
func (*pairs) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (p *pairs) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := p.FunctionExpression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &pairs{e.(sql.FunctionExpression)}, nil
}

// Eval implements sql.Expression. The arguments are computed once.
func (p *pairs) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	args := slices.Clone(p.Children())
	var points []int64
	for i, a := range args {
		v, err := a.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if err != nil {
			return nil, err
		}
		if g, ok := v.(types.GeometryValue); ok {
			points = append(points, pointsOf(g))
		}
		args[i] = expression.NewLiteral(v, a.Type(ctx))
	}
	if len(args) == 1 && len(points) == 1 {
		points = append(points, points[0])
	}
	if len(points) > 1 && points[0] > maxPairs/max(1, points[1]) {
		return nil, sqlerr.New(sqlerr.GISMaxPoints,
			"Geometries of %d and %d points exceed the maximum number of pairs of points (%d) in %s.",
			points[0], points[1], maxPairs, p.FunctionName())
	}
	e, err := p.FunctionExpression.WithChildren(ctx, args...)
	if err != nil {
		return nil, err
	}
	return e.Eval(ctx, nil)
}

func pointsOf(g types.GeometryValue) (n int64) {
	switch g := g.(type) {
	case types.LineString:
		return int64(len(g.Points))
	case types.Polygon:
		for _, l := range g.Lines {
			n += int64(len(l.Points))
		}
	case types.MultiPoint:
		return int64(len(g.Points))
	case types.MultiLineString:
		for _, l := range g.Lines {
			n += int64(len(l.Points))
		}
	case types.MultiPolygon:
		for _, p := range g.Polygons {
			n += pointsOf(p)
		}
	case types.GeomColl:
		for _, c := range g.Geoms {
			n += pointsOf(c)
		}
	default:
		return 1
	}
	return n
}
