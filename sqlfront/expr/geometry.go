package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// geometryMakers are the functions that make geometries of many arguments or of texts, and texts of
// geometries.
func geometryMakers() (ms []*maker) {
	for _, name := range []string{"linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
		"geometrycollection", "geomcollection"} {
		ms = append(ms, &maker{name: name, size: sum})
	}
	for _, name := range []string{"st_astext", "st_aswkt"} {
		ms = append(ms, &maker{name: name, size: times(4, 1, 64)})
	}
	ms = append(ms, &maker{name: "st_asgeojson", size: times(4, 1, 256)})
	ms = append(ms, &maker{name: "st_geomfromgeojson", json: true,
		size: func(ctx *sql.Context, vs sql.Row) int64 {
			if s := textual(vs[0]); s != "" {
				return 64 + pointSize*int64(strings.Count(s, ","))
			}
			return 4*sum(ctx, vs) + 64 // of a document
		}})
	for _, kind := range []string{
		"geomcoll", "geometrycollection", "geometry", "geom", "line", "linestring", "mline",
		"multilinestring", "mpoint", "multipoint", "mpoly",
		"multipolygon", "point", "poly", "polygon",
	} {
		for _, form := range []string{"fromtext", "fromtxt"} {
			ms = append(ms, &maker{name: "st_" + kind + form, size: textSize})
		}
	}
	return ms
}

// textSize is how long a geometry in well-known text is at most: a comma stands between two points, and a
// parenthesis before a list.
func textSize(_ *sql.Context, vs sql.Row) int64 {
	s := textual(vs[0])
	return 64 + pointSize*int64(strings.Count(s, ",")) + 9*int64(strings.Count(s, "("))
}

// pointSize is a point of MULTIPOINT: two numbers behind its kind.
const pointSize = 21

// geometrySize is how long a geometry is when it is sent or stored.
func geometrySize(g types.GeometryValue) (n int64) {
	switch g := g.(type) {
	case types.LineString:
		return 13 + 16*int64(len(g.Points))
	case types.MultiPoint:
		return 13 + pointSize*int64(len(g.Points))
	case types.Polygon:
		for _, l := range g.Lines {
			n += geometrySize(l)
		}
	case types.MultiLineString:
		for _, l := range g.Lines {
			n += geometrySize(l)
		}
	case types.MultiPolygon:
		for _, p := range g.Polygons {
			n += geometrySize(p)
		}
	case types.GeomColl:
		for _, p := range g.Geoms {
			n += geometrySize(p)
		}
	default:
		return 25
	}
	return n + 13
}
