package builtin

import (
	"hash/crc32"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/charset"
)

// ofEncoded are the functions of bytes that take a text for the bytes that it has in its character set. Texts
// are UTF-8 here, and the library's functions took those: MD5 of latin1's 'ä' was that of two bytes.
var ofEncoded = map[string]bool{
	"md5": true, "sha": true, "sha1": true, "sha2": true, "crc32": true, "compress": true, "ascii": true,
	"ord": true, "bit_length": true, "aes_encrypt": true, "aes_decrypt": true,
}

// byteFunction is CRC32, ASCII or ORD, of which the library's refuse bytes.
func byteFunction(name string) (sql.Function, bool) {
	switch name {
	case "crc32", "ascii", "ord":
	default:
		return nil, false
	}
	return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
		t := resolvedType(ctx, e)
		if t != nil && !types.IsText(t) && !types.IsGeometry(t) {
			e = expression.NewConvert(e, expression.ConvertToChar)
		}
		character := func(b []byte) int { return 1 } // how many bytes the first one has
		if enc, ok := e.(*encoded); ok {
			character = charset.CharacterLength(enc.set)
		} else if t == nil || types.IsTextOnly(t) {
			character = charset.CharacterLength(sql.CharacterSet_utf8mb4)
		}
		typ := types.Uint32
		if name == "ord" {
			typ = types.Int64
		}
		return Of(name, typ, types.LongBlob, e, func(_ *sql.Context, args []any) (any, error) {
			b := args[0].([]byte)
			switch {
			case name == "crc32":
				return crc32.ChecksumIEEE(b), nil
			case len(b) == 0 && name == "ascii":
				return uint32(0), nil
			case len(b) == 0:
				return int64(0), nil
			case name == "ascii":
				return uint32(b[0]), nil
			}
			n := int64(0)
			for _, c := range b[:min(len(b), character(b))] {
				n = n<<8 | int64(c)
			}
			return n, nil
		})
	}}, true
}

// ofTheirBytes makes a function take its arguments for the bytes that they have in their character sets.
func ofTheirBytes(f sql.Function) sql.Function {
	return sql.FunctionN{Name: f.FunctionName(), Fn: func(ctx *sql.Context, args ...sql.Expression) (
		sql.Expression, error) {
		args = slices.Clone(args)
		for i, a := range args {
			if set, ok := setOfText(ctx, a); ok {
				args[i] = &encoded{expression.UnaryExpressionStub{Child: a}, set}
			}
		}
		return f.NewInstance(ctx, args)
	}}
}

// setOfText is the character set of a text whose bytes are not those of UTF-8.
func setOfText(ctx *sql.Context, e sql.Expression) (set sql.CharacterSetID, ok bool) {
	t, ok := resolvedType(ctx, e).(sql.StringType)
	if !ok || types.IsBinaryType(t) {
		return 0, false
	}
	switch set = t.CharacterSet(); set {
	case sql.CharacterSet_utf8mb4, sql.CharacterSet_binary, sql.CharacterSet_Unspecified:
		return 0, false
	}
	return set, set.Encoder() != nil
}

// encoded is a text as its bytes, with '?' for what its character set does not have.
type encoded struct {
	expression.UnaryExpressionStub
	set sql.CharacterSetID
}

var (
	_ sql.Expression         = (*encoded)(nil)
	_ sql.CollationCoercible = (*encoded)(nil)
)

func (e *encoded) String() string             { return e.Child.String() }
func (e *encoded) Type(*sql.Context) sql.Type { return types.LongBlob }

// CollationCoercibility implements sql.CollationCoercible.
func (*encoded) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 2
}

// WithChildren implements sql.Expression.
func (e *encoded) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(ch), 1)
	}
	return &encoded{expression.UnaryExpressionStub{Child: ch[0]}, e.set}, nil
}

// Eval implements sql.Expression.
func (e *encoded) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	text, ok := v.(string)
	if !ok || err != nil {
		return v, err
	}
	if text, _, err = charset.Spelled(ctx, e.set, text); err != nil {
		return nil, err
	}
	return e.set.Encoder().EncodeReplaceUnknown([]byte(text)), nil
}
