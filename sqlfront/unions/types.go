package unions

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"moka/sqlfront/expr"
)

// column is a column of a part.
type column struct {
	name  string
	typ   sql.Type
	value sql.Expression // what is selected, if it is known
	// fraction is how many digits the fraction of a TIME has.
	fraction int
	// unsettled says that what is selected is replaced after it has been bound, and may have another type
	// then.
	unsettled bool
}

// fits reports whether a column has a type, and keeps it.
func (c column) fits(t sql.Type) bool { return t == nil || !c.unsettled && t.Equals(c.typ) }

// Session is what a session knows of its statement.
type Session interface {
	// Settled is what a bound expression will be replaced by before it is run: types that the library does
	// not know, the digits of a DATETIME that is moved, are known then.
	Settled(ctx *sql.Context, e sql.Expression) (sql.Expression, error)
	// Asks says that what is bound now is bound again. forget takes back what was noted until it is called.
	Asks() (forget func())
}

// columnsOf are the columns of a bound query.
func columnsOf(ctx *sql.Context, n sql.Node) []column {
	schema := n.Schema(ctx)
	values := selected(n)
	out := make([]column, len(schema))
	for i, c := range schema {
		out[i] = column{name: c.Name, typ: c.Type}
		if len(values) == len(schema) {
			out[i].value = values[i]
			if a, ok := values[i].(*expression.Alias); ok {
				out[i].value = a.Child
			}
		}
		out[i].settle(ctx, n)
	}
	return out
}

// settle finds the type that the column of a bound query will have.
func (c *column) settle(ctx *sql.Context, n sql.Node) {
	switch e := c.value.(type) {
	case *expression.Literal:
	case *expression.GetField:
		if tableOf(n, e.Table()) == nil {
			c.unsettled = moves(c.typ)
		}
	case nil:
		c.unsettled = moves(c.typ)
	default:
		c.unsettled = moves(c.typ)
		if s, ok := ctx.Session.(Session); ok && e.Resolved() {
			if later, err := s.Settled(ctx, e); err == nil && later.Resolved() {
				t := later.Type(ctx)
				c.unsettled = c.unsettled || !t.Equals(c.typ)
				c.typ, c.value = t, later
			}
		}
	}
	if expr.IsSpan(c.typ) {
		c.fraction = timeDigits(c.typ)
	}
}

// timeDigits is how many digits the fraction of a TIME has.
func timeDigits(t sql.Type) int {
	if p, ok := t.(interface{ Precision() int }); ok {
		return p.Precision()
	}
	return 6
}

// moves reports whether expressions of the type are given other digits after they have been bound.
func moves(t sql.Type) bool { return types.IsTime(t) && !types.IsDateType(t) }

// selected are the expressions of a select list.
func selected(n sql.Node) []sql.Expression {
	switch n := n.(type) {
	case *plan.Project:
		return n.Projections
	case *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Sort, *plan.TopN, *plan.Having:
		return selected(n.Children()[0])
	}
	return nil
}

// kind is what a type is to the rules by which types are brought together.
type kind uint8

const (
	kindNull kind = iota
	kindInteger
	kindDecimal
	kindFloat
	kindDouble
	kindYear
	kindBit
	kindDate
	kindTime
	kindDatetime
	kindTimestamp
	kindEnum
	kindText
	kindJSON
	kindOther
)

// traits are what a column brings to the common type.
type traits struct {
	kind     kind
	bits     int // of an integer, or of a BIT
	unsigned bool
	whole    int // digits before the point
	scale    int // and behind it, or those of a fraction of a second
	chars    int64
	char     bool // CHAR or BINARY
	large    bool // TEXT or BLOB
	coll     sql.CollationID
	weight   byte // the coercibility of the collation
}

func underlying(t sql.Type) sql.Type {
	if v, ok := t.(sql.SystemVariableType); ok {
		return v.UnderlyingType()
	}
	return t
}

// traitsOf is what is known of a column.
func traitsOf(ctx *sql.Context, c column) traits {
	t := underlying(c.typ)
	x := traits{coll: ctx.GetCollation(), weight: 5}
	switch {
	case types.IsNullType(t):
		return traits{weight: 6}
	case types.IsDeferredType(t):
		return traits{weight: 6}
	case types.IsBit(t):
		n, _ := t.(types.BitType)
		x.kind, x.bits, x.chars = kindBit, int(n.NumberOfBits()), 20
	case types.IsYear(t):
		x.kind, x.whole, x.chars = kindYear, 4, 4
	case types.IsInteger(t):
		integerTraits(&x, t, c.value)
	case types.IsFloat(t):
		x.kind, x.chars = kindDouble, 22
		if t == types.Float32 {
			x.kind, x.chars = kindFloat, 12
		}
	case types.IsDecimal(t):
		d := t.(sql.DecimalType)
		x.kind, x.scale = kindDecimal, int(d.Scale())
		x.whole = int(d.Precision()) - x.scale
		x.chars = int64(d.Precision()) + 2
		if x.scale == 0 {
			x.chars--
		}
	case types.IsTime(t):
		momentTraits(&x, t)
	case expr.IsSpan(t):
		x.kind, x.chars, x.scale = kindTime, 10, c.fraction
		if x.scale > 0 {
			x.chars += int64(x.scale) + 1
		}
	case expr.IsEnum(t):
		x.kind, x.chars = kindEnum, labelChars(t)
		x.coll, x.weight = collationOf(ctx, c)
	case types.IsJSON(t):
		x.kind, x.large, x.chars = kindJSON, true, 1<<30
		x.coll, x.weight = sql.Collation_utf8mb4_bin, 2
	default:
		if s, ok := t.(sql.StringType); ok {
			textTraits(ctx, &x, s, c)
			return x
		}
		x.kind = kindOther
	}
	return x
}

// integerTraits are those of an integer. What is computed is at least an INT, and a literal as long as it is:
// the library has the smallest type for each.
func integerTraits(x *traits, t sql.Type, value sql.Expression) {
	x.kind, x.unsigned = kindInteger, types.IsUnsigned(t)
	switch t {
	case types.Int8, types.Uint8, types.Boolean:
		x.bits, x.whole, x.chars = 8, 3, 4
	case types.Int16, types.Uint16:
		x.bits, x.whole, x.chars = 16, 5, 6
	case types.Int24, types.Uint24:
		x.bits, x.whole, x.chars = 24, 8, 9
	case types.Int32, types.Uint32:
		x.bits, x.whole, x.chars = 32, 10, 11
	default:
		x.bits, x.whole, x.chars = 64, 19, 20
	}
	if x.unsigned && x.bits < 64 {
		x.chars--
	} else if x.unsigned {
		x.whole++
	}
	if _, column := value.(*expression.GetField); column || value == nil {
		return
	}
	if l, ok := value.(*expression.Literal); ok {
		text := strings.TrimPrefix(l.String(), "-")
		if _, err := strconv.ParseUint(text, 10, 64); err == nil {
			x.whole, x.chars = len(text), int64(len(l.String()))
			_, err = strconv.ParseInt(text, 10, 64)
			x.unsigned = err != nil && text == l.String()
			if x.bits = 64; x.whole <= 9 {
				x.bits = 32
			}
			return
		}
	}
	if x.bits < 32 {
		x.bits, x.whole, x.chars, x.unsigned = 32, 10, 11, false
	}
}

func momentTraits(x *traits, t sql.Type) {
	if types.IsDateType(t) {
		x.kind, x.chars = kindDate, 10
		return
	}
	if x.kind = kindDatetime; types.IsTimestampType(t) {
		x.kind = kindTimestamp
	}
	d, _ := t.(sql.DatetimeType)
	x.chars, x.scale = 19, d.Precision()
	if x.scale > 0 {
		x.chars += int64(x.scale) + 1
	}
}

// tableOf is the stored table that a query knows by a name; nil if it is none.
func tableOf(n sql.Node, name string) (found *plan.ResolvedTable) {
	transform.Inspect(n, func(n sql.Node) bool {
		switch n := n.(type) {
		case *plan.SubqueryAlias:
			return false
		case *plan.TableAlias:
			if strings.EqualFold(n.Name(), name) {
				found, _ = n.Child.(*plan.ResolvedTable)
			}
			return false
		case *plan.ResolvedTable:
			if strings.EqualFold(n.Name(), name) {
				found = n
			}
		}
		return found == nil
	})
	return found
}

// labelChars is the length of the longest text of an ENUM or SET.
func labelChars(t sql.Type) (n int64) {
	switch t := t.(type) {
	case sql.EnumType:
		for _, v := range t.Values() {
			n = max(n, int64(utf8.RuneCountInString(v)))
		}
	case sql.SetType:
		for _, v := range t.Values() {
			n += int64(utf8.RuneCountInString(v)) + 1
		}
		n = max(0, n-1)
	}
	return n
}

func textTraits(ctx *sql.Context, x *traits, t sql.StringType, c column) {
	x.kind, x.chars = kindText, t.MaxCharacterLength()
	switch t.Type() {
	case sqltypes.Char, sqltypes.Binary:
		x.char = true
	case sqltypes.Text, sqltypes.Blob:
		x.large = true
	}
	x.coll, x.weight = collationOf(ctx, c)
	l, ok := c.value.(*expression.Literal)
	if !ok {
		return
	}
	switch v := l.Value().(type) {
	case string:
		x.large, x.chars = false, int64(utf8.RuneCountInString(v))
	case []byte:
		x.large, x.chars = false, int64(len(v))
	}
}

// collationOf is the collation of a text, and how much it insists on it: the less, the more.
func collationOf(ctx *sql.Context, c column) (sql.CollationID, byte) {
	own := sql.Collation_binary
	if t, ok := underlying(c.typ).(interface{ Collation() sql.CollationID }); ok {
		own = t.Collation()
	}
	if _, query := c.value.(*plan.Subquery); query || c.value == nil {
		return own, 2
	}
	coll, weight := sql.GetCoercibility(ctx, c.value)
	if types.IsText(c.typ) && own == sql.Collation_binary || coll == sql.Collation_Unspecified {
		coll = own
	}
	return coll, weight
}
