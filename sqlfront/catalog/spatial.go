package catalog

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/rowenc"
)

// spatialType is a type of the library that can have an SRID.
type spatialType interface {
	sql.Type
	sql.SpatialColumnType
	sql.CollationCoercible
}

var spatialTypes = map[string]spatialType{
	"geometry": types.GeometryType{}, "point": types.PointType{}, "linestring": types.LineStringType{},
	"polygon":    types.PolygonType{},
	"multipoint": types.MultiPointType{}, "multilinestring": types.MultiLineStringType{},
	"multipolygon":       types.MultiPolygonType{},
	"geometrycollection": types.GeomCollType{},
}

func spatialTypeOf(t spatialType) (Type, error) {
	if c, ok := t.(checkedSpatial); ok {
		t = c.spatialType
	}
	for kind, it := range spatialTypes {
		if !t.Equals(it) {
			continue
		}
		d := Type{Kind: kind}
		if srid, declared := t.GetSpatialTypeSRID(); declared {
			d.SRID = &srid
		}
		return d, nil
	}
	return Type{}, &UnsupportedTypeError{Type: t.String()}
}

// checkedSpatial is the library's type, which looks at bytes before it believes them (see
// rowenc.CheckGeometry).
type checkedSpatial struct{ spatialType }

// Checked returns t, or for a spatial type of the library the one that looks at bytes before it believes
// them.
func Checked(t sql.Type) sql.Type {
	if _, ok := t.(checkedSpatial); ok {
		return t
	}
	if s, ok := t.(spatialType); ok {
		return checkedSpatial{s}
	}
	return t
}

// Convert implements sql.Type.
func (t checkedSpatial) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, sql.InRange, err
	}
	switch b := v.(type) {
	case []byte:
		err = rowenc.CheckGeometry(b)
	case string:
		err = rowenc.CheckGeometry([]byte(b))
	}
	if err != nil {
		return nil, sql.InRange, sql.ErrSpatialTypeConversion.New()
	}
	return t.spatialType.Convert(ctx, v)
}

// Equals implements sql.Type.
func (t checkedSpatial) Equals(other sql.Type) bool {
	if c, ok := other.(checkedSpatial); ok {
		other = c.spatialType
	}
	return t.spatialType.Equals(other)
}

// Promote implements sql.Type.
func (t checkedSpatial) Promote() sql.Type { return t }

// SetSRID implements sql.SpatialColumnType.
func (t checkedSpatial) SetSRID(srid uint32) sql.Type {
	return checkedSpatial{t.spatialType.SetSRID(srid).(spatialType)}
}
