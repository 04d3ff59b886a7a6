package catalog

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Every column type comes back as it was, through JSON: equal, with the same text, and the same limits.
func TestTypeRoundTrip(t *testing.T) {
	for _, text := range []string{
		"tinyint", "tinyint(1)", "tinyint unsigned", "smallint", "smallint unsigned", "mediumint",
		"mediumint unsigned", "int",
		"int unsigned", "bigint", "bigint unsigned", "boolean", "float", "double", "decimal(1,0)",
		"decimal(10,2)", "decimal(65,30)",
		"bit", "bit(1)", "bit(64)", "year", "date", "time", "datetime", "datetime(3)", "datetime(6)",
		"timestamp", "timestamp(6)",
		"char", "char(10)", "char(255) collate utf8mb4_bin", "varchar(255)", "varchar(0)", "varchar(16383)",
		"varchar(20) character set latin1", "varchar(20) collate utf8mb4_0900_ai_ci",
		"varchar(20) collate utf8mb4_general_ci",
		"tinytext", "text", "mediumtext", "longtext", "text collate utf8mb4_bin",
		"tinytext character set latin1",
		"binary", "binary(16)", "varbinary(200)", "tinyblob", "blob", "mediumblob", "longblob",
		"enum('a','b','c')", "enum('it''s','x y') collate utf8mb4_bin", "set('a','b')",
		"set('1','2') character set latin1",
		"json", "vector(3)",
		"geometry", "point", "point srid 4326", "geometry srid 0", "linestring", "polygon", "multipoint",
		"multilinestring", "multipolygon", "geometrycollection",
	} {
		typ, err := planbuilder.ParseColumnTypeString(ctx, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d, err := TypeOf(typ)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var read Type
		if err := json.Unmarshal(b, &read); err != nil {
			t.Fatal(err)
		}
		back, err := read.SQL()
		if err != nil {
			t.Errorf("%s, stored as %s: %v", text, b, err)
			continue
		}
		if c, ok := back.(checkedSpatial); ok {
			if !c.Equals(typ) || !c.Equals(c) {
				t.Errorf("%s is not what it was", text)
			}
			back = c.spatialType
		}
		if !typ.Equals(back) || !back.Equals(typ) || typ.String() != back.String() ||
			typ.Type() != back.Type() {
			t.Errorf("%s, stored as %s, came back as %s", text, b, back)
		}
		if a, ok := typ.(sql.SpatialColumnType); ok {
			srid, declared := a.GetSpatialTypeSRID()
			if s, d := back.(sql.SpatialColumnType).GetSpatialTypeSRID(); s != srid || d != declared {
				t.Errorf("%s, stored as %s, has another SRID", text, b)
			}
		}
		if a, ok := typ.(sql.StringType); ok {
			z := back.(sql.StringType)
			if a.MaxByteLength() != z.MaxByteLength() || a.MaxCharacterLength() != z.MaxCharacterLength() ||
				a.Collation() != z.Collation() {
				t.Errorf("%s, stored as %s, has other limits", text, b)
			}
		}
		if a, ok := typ.(sql.NumberType); ok && a.DisplayWidth() != back.(sql.NumberType).DisplayWidth() {
			t.Errorf("%s, stored as %s, has another display width", text, b)
		}
	}
}

func TestTypeRefusals(t *testing.T) {
	for _, typ := range []sql.Type{types.Null, types.CreateTuple(types.Int8)} {
		if d, err := TypeOf(typ); !errors.Is(err, ErrUnsupportedType) {
			t.Errorf("%s: %v, %v", typ, d, err)
		}
	}
	for _, d := range []Type{{}, {Kind: "circle"}, {Kind: "varchar", Length: 3, Collation: "klingon_ci"},
		{Kind: "vector"}} {
		if typ, err := d.SQL(); err == nil {
			t.Errorf("%+v is %s", d, typ)
		}
	}
}
