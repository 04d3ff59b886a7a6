package unions

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	clock "moka/sqlfront/moment"
)

// common is the type that columns of several parts have in common, by MySQL's rules, and the coercibility of
// its collation. Nil: as the library has it.
//
// Where MySQL and MariaDB differ it is MySQL's: a signed and an unsigned integer are the next wider one, for
// which MariaDB has a DECIMAL. A YEAR and a TINYINT are a SMALLINT, as nothing may be lost.
func common(ctx *sql.Context, columns []column) (sql.Type, byte) {
	var all []traits
	var first column
	same := true
	for _, c := range columns {
		x := traitsOf(ctx, c)
		if x.kind == kindNull {
			continue
		}
		if len(all) == 0 {
			first = c
		}
		same = same && c.typ.Equals(first.typ)
		all = append(all, x)
	}
	has := func(kinds ...kind) bool {
		return slices.ContainsFunc(all, func(x traits) bool { return slices.Contains(kinds, x.kind) })
	}
	only := func(kinds ...kind) bool {
		return !slices.ContainsFunc(all, func(x traits) bool { return !slices.Contains(kinds, x.kind) })
	}
	switch {
	case len(all) == 0:
		return nil, 0
	case same && (len(all) == 1 || !has(kindEnum)):
		return first.typ, all[0].weight
	case has(kindOther):
		return nil, 0
	case only(kindBit):
		return types.MustCreateBitType(uint8(most(all, func(x traits) int { return x.bits }))), 5
	case only(kindInteger, kindDecimal, kindFloat, kindDouble, kindYear):
		return number(all, has), 5
	case only(kindTime):
		return clock.TimeType{Digits: most(all, func(x traits) int { return x.scale })}, 5
	case only(kindTimestamp):
		return moment(sqltypes.Timestamp, all), 5
	case only(kindDate, kindTime, kindDatetime, kindTimestamp):
		return moment(sqltypes.Datetime, all), 5
	}
	return text(all)
}

func most[T int | int64](all []traits, of func(traits) T) (n T) {
	for _, x := range all {
		n = max(n, of(x))
	}
	return n
}

// moment is a DATETIME or TIMESTAMP with the most digits.
func moment(base querypb.Type, all []traits) sql.Type {
	return types.MustCreateDatetimeType(base, most(all, func(x traits) int { return x.scale }))
}

// number is the type of numbers.
func number(all []traits, has func(...kind) bool) sql.Type {
	switch {
	case has(kindDouble):
		return types.Float64
	case has(kindFloat):
		if slices.ContainsFunc(all, func(x traits) bool {
			return x.kind == kindDecimal || x.kind == kindInteger && x.bits > 24
		}) {
			return types.Float64
		}
		return types.Float32
	case has(kindDecimal):
		whole := most(all, func(x traits) int { return x.whole })
		scale := most(all, func(x traits) int { return x.scale })
		return decimal(whole, scale)
	}
	return integer(all)
}

func decimal(whole, scale int) sql.Type {
	whole = min(whole, types.DecimalTypeMaxPrecision)
	scale = min(scale, types.DecimalTypeMaxScale, types.DecimalTypeMaxPrecision-whole)
	return types.MustCreateDecimalType(uint8(whole+scale), uint8(scale))
}

// integer is the type of integers and years.
func integer(all []traits) sql.Type {
	signed, unsigned := 0, 0
	for _, x := range all {
		switch {
		case x.kind == kindYear:
			signed = max(signed, 16)
		case x.unsigned:
			unsigned = max(unsigned, x.bits)
		default:
			signed = max(signed, x.bits)
		}
	}
	if signed == 0 {
		return map[int]sql.Type{8: types.Uint8, 16: types.Uint16, 24: types.Uint24, 32: types.Uint32,
			64: types.Uint64}[unsigned]
	}
	if unsigned >= signed { // one more bit
		if unsigned == 64 {
			return decimal(20, 0)
		}
		signed = map[int]int{8: 16, 16: 24, 24: 32, 32: 64}[unsigned]
	}
	return map[int]sql.Type{8: types.Int8, 16: types.Int16, 24: types.Int24, 32: types.Int32,
		64: types.Int64}[signed]
}

// text is the type of what has only texts in common.
func text(all []traits) (sql.Type, byte) {
	coll, weight := all[0].coll, all[0].weight
	for _, x := range all[1:] {
		coll, weight = resolved(coll, weight, x.coll, x.weight)
	}
	width := func(x traits) int64 { // in bytes
		if x.kind != kindText && x.kind != kindEnum && x.kind != kindJSON {
			return x.chars
		}
		return x.chars * x.coll.CharacterSet().MaxLength()
	}
	base, length := sqltypes.VarChar, most(all, func(x traits) int64 { return x.chars })
	if coll == sql.Collation_binary {
		base, length = sqltypes.VarBinary, most(all, width)
	}
	fixed := false
	for _, x := range all {
		if x.large || length*coll.CharacterSet().MaxLength() > types.TextBlobMax {
			return large(coll, most(all, width)), weight
		}
		fixed = fixed || x.char
	}
	if fixed && length <= 255 && !slices.ContainsFunc(all, func(x traits) bool {
		return x.kind == kindText && !x.char
	}) {
		if base = sqltypes.Char; coll == sql.Collation_binary {
			base = sqltypes.Binary
		}
	}
	t, err := types.CreateString(base, length, coll)
	if err != nil {
		return large(coll, most(all, width)), weight
	}
	return t, weight
}

// large is the TEXT or BLOB that has room for so many bytes.
func large(coll sql.CollationID, bytes int64) sql.Type {
	base := sqltypes.Text
	if coll == sql.Collation_binary {
		base = sqltypes.Blob
	}
	t, err := types.CreateString(base, min(bytes, types.LongTextBlobMax), coll)
	if err != nil {
		return types.CreateLongText(coll)
	}
	return t
}

// resolved is which of two collations it is: bytes, among equals.
func resolved(a sql.CollationID, i byte, b sql.CollationID, j byte) (sql.CollationID, byte) {
	if i == j && (a == sql.Collation_binary || b == sql.Collation_binary) {
		return sql.Collation_binary, i
	}
	return sql.ResolveCoercibility(a, i, b, j)
}
