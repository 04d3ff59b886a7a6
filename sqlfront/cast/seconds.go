package cast

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Seconds is a TIME or DATETIME rounded to seconds.
type Seconds struct {
	expression.UnaryExpressionStub
	typ sql.Type
}

var (
	_ sql.Expression         = (*Seconds)(nil)
	_ sql.CollationCoercible = (*Seconds)(nil)
)

// NewSeconds is e rounded to seconds, which has the type typ then.
func NewSeconds(e sql.Expression, typ sql.Type) *Seconds {
	return &Seconds{expression.UnaryExpressionStub{Child: e}, typ}
}

func (s *Seconds) String() string             { return s.Child.String() }
func (s *Seconds) Type(*sql.Context) sql.Type { return s.typ }

// CollationCoercibility implements sql.CollationCoercible.
func (s *Seconds) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, s.Child)
}

// WithChildren implements sql.Expression.
func (s *Seconds) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(s, len(children), 1)
	}
	return NewSeconds(children[0], s.typ), nil
}

// Eval implements sql.Expression.
func (s *Seconds) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := s.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if text, ok := v.(string); ok && err == nil { // some functions have a text under their type
		if c, _, err := s.Child.Type(ctx).Convert(ctx, text); err == nil && c != nil {
			v = c
		}
	}
	return ToSeconds(v), err
}

// ToSeconds is a value of a TIME or DATETIME without a fraction of a second; all others stay.
func ToSeconds(v any) any {
	switch v := v.(type) {
	case time.Time:
		if v.Equal(types.ZeroTime) {
			return v
		}
		return v.Round(time.Second)
	case types.Timespan:
		return RoundTime(v, 0)
	}
	return v
}
