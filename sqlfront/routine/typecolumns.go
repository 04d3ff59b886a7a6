package routine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// TypeColumns are a type's DATA_TYPE, two lengths, precision, scale, digits of a second, character set,
// collation and DTD_IDENTIFIER, in the order of information_schema.
func TypeColumns(t sql.Type) []any {
	full := strings.ToLower(t.String())
	if i := strings.Index(full, " character set"); i >= 0 {
		full = full[:i]
	}
	if i := strings.Index(full, " collate"); i >= 0 {
		full = full[:i]
	}
	name, _, _ := strings.Cut(strings.Fields(full)[0], "(")
	var length, octets, precision, scale, fraction, charset, collation any
	switch t := t.(type) {
	case sql.StringType:
		length, octets = t.MaxCharacterLength(), t.MaxByteLength()
		if t.Collation() != sql.Collation_binary {
			charset, collation = t.Collation().CharacterSet().Name(), t.Collation().Name()
		}
	case sql.DecimalType:
		precision, scale = uint32(t.Precision()), int64(t.Scale())
	case sql.DatetimeType:
		if !types.IsDateType(t) {
			fraction = uint32(t.Precision())
		}
	case sql.NumberType:
		digits := map[string]uint32{"tinyint": 3, "smallint": 5, "mediumint": 7, "int": 10, "bigint": 19,
			"float": 12, "double": 22}
		if p, ok := digits[name]; ok {
			if precision = p; types.IsInteger(t) {
				scale = int64(0)
			}
			if name == "bigint" && types.IsUnsigned(t) {
				precision = uint32(20)
			}
		}
	}
	return []any{name, length, octets, precision, scale, fraction, charset, collation, full}
}
