package expr

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// A function of texts asks each argument for its type and for its collation, for its own type, its own
// collation, and when it is charged: three times as many questions for each level, so that fourteen nested
// IFs, or 300 bytes of CONCATs, never ended. So whoever is asked first keeps what those below him have said
// until he has answered. It is not kept for longer: a variable has another type when it is another value.

// said is what an expression has said.
type said struct {
	typ       sql.Type
	collation sql.CollationID
	strength  byte
	collated  bool
}

type saidKey struct{}

// ask is what e has said to whoever asked first, or where he keeps it, and the context to ask its children
// in.
func ask(ctx *sql.Context, e sql.Expression) (*said, *sql.Context) {
	if ctx == nil || !deep(e) {
		return &said{}, ctx
	}
	all, ok := ctx.Value(saidKey{}).(map[sql.Expression]*said)
	if !ok {
		all = map[sql.Expression]*said{}
		ctx = ctx.WithContext(context.WithValue(ctx.Context, saidKey{}, all))
	}
	s := all[e]
	if s == nil {
		s = &said{}
		all[e] = s
	}
	return s, ctx
}

// deep reports whether there is more below an expression than columns and constants.
func deep(e sql.Expression) bool {
	for _, c := range e.Children() {
		switch c.(type) {
		case nil, *expression.GetField, *expression.Literal, *expression.BindVar:
		default:
			return true
		}
	}
	return false
}

// askType is the type of e, which compute asks for.
func askType(ctx *sql.Context, e sql.Expression, compute func(*sql.Context) sql.Type) sql.Type {
	s, ctx := ask(ctx, e)
	if s.typ == nil {
		s.typ = compute(ctx)
	}
	return s.typ
}

// askCollation is the collation of e and its strength.
func askCollation(
	ctx *sql.Context, e sql.Expression, compute func(*sql.Context) (sql.CollationID, byte),
) (sql.CollationID, byte) {
	s, ctx := ask(ctx, e)
	if !s.collated {
		s.collation, s.strength = compute(ctx)
		s.collated = true
	}
	return s.collation, s.strength
}
