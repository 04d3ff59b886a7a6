package rowenc

import (
	"context"
	"encoding/binary"

	"github.com/dolthub/go-mysql-server/sql/types"
)

// geometry reads a value of any of the spatial types; which one it is the bytes say. They are MySQL's
// and a client's form, too:
//
//	┌──────────┬────┬──────────┬────────────────────────────────────────────────────┐
//	│ SRID     │ 01 │ type     │ coordinates, as doubles; counts in 4 bytes before  │
//	│ 4 bytes  │    │ 4 bytes  │ repetitions; parts with 01 and type of their own   │
//	└──────────┴────┴──────────┴────────────────────────────────────────────────────┘
//	01: little endian, all of it. What follows the SRID is WKB ("well-known binary", OGC 06-103r4 §8)
func geometry(b []byte) (any, error) {
	if CheckGeometry(b) != nil {
		return nil, corrupt("geometry")
	}
	v, _, err := types.GeometryType{}.Convert(context.Background(), b)
	if err != nil {
		return nil, corrupt("geometry: " + err.Error())
	}
	return v, nil
}

// maxGeometryDepth bounds collections within collections.
const maxGeometryDepth = 32

// CheckGeometry reports whether b is a geometry in its stored form. The library's decoders have to be given
// no other: they make room for as many parts as the bytes say, 4 billion if asked to, and follow collections
// down to the end of the stack.
func CheckGeometry(b []byte) error {
	if len(b) < types.SRIDSize {
		return badGeometry
	}
	return CheckWKB(b[types.SRIDSize:])
}

// CheckWKB is CheckGeometry for the form without the SRID.
func CheckWKB(b []byte) error {
	if rest, ok := skipWKB(b, 0, maxGeometryDepth); !ok || len(rest) > 0 {
		return badGeometry
	}
	return nil
}

var badGeometry = corrupt("geometry")

// skipWKB steps over one geometry of the wanted type; 0 is any.
func skipWKB(b []byte, want uint32, depth int) (rest []byte, ok bool) {
	if len(b) < types.WKBHeaderSize || b[0] > 1 || depth == 0 {
		return nil, false
	}
	order := binary.ByteOrder(binary.BigEndian)
	if b[0] == 1 {
		order = binary.LittleEndian
	}
	typ := order.Uint32(b[types.EndianSize:])
	b = b[types.WKBHeaderSize:]
	if want != 0 && typ != want {
		return nil, false
	}
	part := func(want uint32) func([]byte) ([]byte, bool) {
		return func(b []byte) ([]byte, bool) { return skipWKB(b, want, depth-1) }
	}
	points := func(b []byte) ([]byte, bool) { return skipMany(b, order, skipPoint) }
	switch typ {
	case types.WKBPointID:
		return skipPoint(b)
	case types.WKBLineID:
		return points(b)
	case types.WKBPolyID:
		return skipMany(b, order, points)
	case types.WKBMultiPointID:
		return skipMany(b, order, part(types.WKBPointID))
	case types.WKBMultiLineID:
		return skipMany(b, order, part(types.WKBLineID))
	case types.WKBMultiPolyID:
		return skipMany(b, order, part(types.WKBPolyID))
	case types.WKBGeomCollID:
		return skipMany(b, order, part(0))
	}
	return nil, false
}

func skipPoint(b []byte) ([]byte, bool) {
	if len(b) < types.PointSize {
		return nil, false
	}
	return b[types.PointSize:], true
}

// skipMany steps over a count and that many parts. No part is of no bytes, so the bytes bound the steps.
func skipMany(b []byte, order binary.ByteOrder, skip func([]byte) ([]byte, bool)) ([]byte, bool) {
	if len(b) < types.CountSize {
		return nil, false
	}
	n := order.Uint32(b)
	b = b[types.CountSize:]
	for ; n > 0; n-- {
		var ok bool
		if b, ok = skip(b); !ok {
			return nil, false
		}
	}
	return b, true
}
