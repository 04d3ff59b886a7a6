package catalog

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"

	"moka/sqlfront/moment"
	"moka/sqlfront/rowenc"
)

// Type is a column type as it is stored. It is kept in fields rather than as MySQL's type text, because
// the text loses what the engine's parser fills in from its surroundings: a string type without a COLLATE
// clause means the table's collation when it is declared and would mean the server's when it is read
// back; ENUM values would need quoting under the sql_mode of the day. SQL returns the engine's type and
// is the inverse of TypeOf.
type Type struct {
	// Kind is MySQL's word: tinyint … bigint, float, double, decimal, bit, year, date, time, datetime,
	// timestamp, char, varchar, text, binary, varbinary, blob, enum, set, json, vector, geometry,
	// point … geometrycollection.
	Kind     string `json:"kind"`
	Unsigned bool   `json:"unsigned,omitempty"`
	// Length is characters for char and varchar, bytes for text and the binary kinds, bits for bit,
	// dimensions for vector, the display width (1 or nothing) for tinyint.
	Length int64 `json:"length,omitempty"`
	// Precision and Scale are decimal's digits, and those of FLOAT(M,D) and DOUBLE(M,D); Precision is the
	// fraction's digits for datetime, timestamp and time. The engine has one TIME, with six: Length is 1 for
	// a time whose digits are declared, and 0 for one of an earlier version.
	Precision uint8    `json:"precision,omitempty"`
	Scale     uint8    `json:"scale,omitempty"`
	Collation string   `json:"collation,omitempty"`
	Values    []string `json:"values,omitempty"` // enum and set
	SRID      *uint32  `json:"srid,omitempty"`   // of the spatial types, if one was declared
}

// numberTypes are the types that have nothing but a name.
var numberTypes = map[query.Type]Type{
	sqltypes.Int8: {Kind: "tinyint"}, sqltypes.Uint8: {Kind: "tinyint", Unsigned: true},
	sqltypes.Int16: {Kind: "smallint"}, sqltypes.Uint16: {Kind: "smallint", Unsigned: true},
	sqltypes.Int24: {Kind: "mediumint"}, sqltypes.Uint24: {Kind: "mediumint", Unsigned: true},
	sqltypes.Int32: {Kind: "int"}, sqltypes.Uint32: {Kind: "int", Unsigned: true},
	sqltypes.Int64: {Kind: "bigint"}, sqltypes.Uint64: {Kind: "bigint", Unsigned: true},
	sqltypes.Float32: {Kind: "float"}, sqltypes.Float64: {Kind: "double"},
}

// TypeOf returns the stored form of an engine type; a type that Moka cannot store is refused
// with ErrUnsupportedType.
func TypeOf(t sql.Type) (Type, error) {
	base := t.Type()
	switch tt := t.(type) {
	case sql.EnumType:
		return Type{Kind: "enum", Values: slices.Clone(tt.Values()),
			Collation: collationName(tt.Collation())}, nil
	case sql.SetType:
		return Type{Kind: "set", Values: slices.Clone(tt.Values()),
			Collation: collationName(tt.Collation())}, nil
	case types.BitType:
		return Type{Kind: "bit", Length: int64(tt.NumberOfBits())}, nil
	case spatialType:
		return spatialTypeOf(tt)
	case moment.TimeType:
		return Type{Kind: "time", Precision: uint8(tt.Digits), Length: 1}, nil
	case types.VectorType:
		return Type{Kind: "vector", Length: int64(tt.Dimensions)}, nil
	case sql.DecimalType:
		if tt.IsDecimalType() {
			return Type{Kind: "decimal", Precision: tt.Precision(), Scale: tt.Scale()}, nil
		}
	case sql.StringType:
		if tt.IsStringType() {
			return stringTypeOf(tt)
		}
	case sql.DatetimeType:
		switch base {
		case sqltypes.Date:
			return Type{Kind: "date"}, nil
		case sqltypes.Datetime:
			return Type{Kind: "datetime", Precision: uint8(tt.Precision())}, nil
		case sqltypes.Timestamp:
			return Type{Kind: "timestamp", Precision: uint8(tt.Precision())}, nil
		}
	case sql.NumberType:
		if d, ok := numberTypes[base]; ok {
			if tt.DisplayWidth() == 1 {
				d.Length = 1
			}
			return d, nil
		}
	}
	switch base {
	case sqltypes.Year:
		return Type{Kind: "year"}, nil
	case sqltypes.Time:
		return Type{Kind: "time"}, nil
	case sqltypes.TypeJSON:
		return Type{Kind: "json"}, nil
	}
	return Type{}, &UnsupportedTypeError{Type: t.String()}
}

func stringTypeOf(t sql.StringType) (Type, error) {
	d := Type{Collation: collationName(t.Collation())}
	switch t.Type() {
	case sqltypes.Char:
		d.Kind, d.Length = "char", t.MaxCharacterLength()
	case sqltypes.VarChar:
		d.Kind, d.Length = "varchar", t.MaxCharacterLength()
	case sqltypes.Text:
		d.Kind, d.Length = "text", t.MaxByteLength()
	case sqltypes.Binary:
		d.Kind, d.Length = "binary", t.MaxByteLength()
	case sqltypes.VarBinary:
		d.Kind, d.Length = "varbinary", t.MaxByteLength()
	case sqltypes.Blob:
		d.Kind, d.Length = "blob", t.MaxByteLength()
	default:
		return Type{}, &UnsupportedTypeError{Type: t.String()}
	}
	return d, nil
}

var stringBases = map[string]query.Type{
	"char": sqltypes.Char, "varchar": sqltypes.VarChar, "text": sqltypes.Text,
	"binary": sqltypes.Binary, "varbinary": sqltypes.VarBinary, "blob": sqltypes.Blob,
}

// SQL builds the engine's type.
func (d Type) SQL() (sql.Type, error) {
	switch d.Kind {
	case "date":
		return types.Date, nil
	case "datetime":
		return types.CreateDatetimeType(sqltypes.Datetime, int(d.Precision))
	case "timestamp":
		return types.CreateDatetimeType(sqltypes.Timestamp, int(d.Precision))
	case "time":
		if n, ok := d.Digits(); ok {
			return moment.TimeType{Digits: n}, nil
		}
		return types.Time, nil
	case "year":
		return types.Year, nil
	case "json":
		return types.JSON, nil
	case "decimal":
		return types.CreateColumnDecimalType(d.Precision, d.Scale)
	case "bit":
		return types.CreateBitType(uint8(d.Length))
	case "vector":
		return types.CreateVectorType(int(d.Length))
	}
	if base, ok := stringBases[d.Kind]; ok {
		collation, err := d.collation()
		if err != nil {
			return nil, err
		}
		return types.CreateString(base, d.Length, collation)
	}
	if t, ok := spatialTypes[d.Kind]; ok {
		if d.SRID != nil {
			return checkedSpatial{t.SetSRID(*d.SRID).(spatialType)}, nil
		}
		return checkedSpatial{t}, nil
	}
	if d.Kind == "enum" || d.Kind == "set" {
		collation, err := d.collation()
		if err != nil {
			return nil, err
		}
		// the constructors keep, and may write to, the slice that they are given
		if d.Kind == "enum" {
			return types.CreateEnumType(slices.Clone(d.Values), collation)
		}
		return types.CreateSetType(slices.Clone(d.Values), collation)
	}
	for base, it := range numberTypes {
		if it.Kind == d.Kind && it.Unsigned == d.Unsigned {
			return types.CreateNumberTypeWithDisplayWidth(base, int(d.Length))
		}
	}
	return nil, &UnsupportedTypeError{Type: d.Kind}
}

// collationName is empty for a type whose collation nobody has filled in; Name would give the name of a
// default.
func collationName(c sql.CollationID) string {
	if c == sql.Collation_Unspecified {
		return ""
	}
	return c.Name()
}

// pads reports whether the type is of strings whose collation pads.
func (d Type) pads() bool {
	switch d.Kind {
	case "char", "varchar", "text":
		c, err := d.collation()
		return err == nil && rowenc.Pads(c)
	}
	return false
}

func (d Type) collation() (sql.CollationID, error) {
	c, err := sql.ParseCollation("", d.Collation, false)
	if err != nil {
		return 0, fmt.Errorf("catalog: stored type %s: %w", d.Kind, err)
	}
	return c, nil
}
