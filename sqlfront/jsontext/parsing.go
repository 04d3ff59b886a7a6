package jsontext

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// Parsing is an argument of CAST(… AS JSON), JSON_TYPE or JSON_TABLE: a long text is the document that it is.
// By is in whose name the statement is charged for that; nil is this expression itself.
type Parsing struct {
	sql.Expression // the argument, for everything but its value
	By             any
}

var (
	_ sql.Expression         = (*Parsing)(nil)
	_ sql.CollationCoercible = (*Parsing)(nil)
)

// NewParsing makes a Parsing of e, if it is none.
func NewParsing(e sql.Expression) sql.Expression {
	if _, ok := e.(*Parsing); ok {
		return e
	}
	return &Parsing{Expression: e}
}

// Eval implements sql.Expression.
func (p *Parsing) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := p.Expression.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	by := p.By
	if by == nil {
		by = p
	}
	doc, _, err := Document(ctx, by, 0, v)
	return doc, err
}

// Children implements sql.Expression.
func (p *Parsing) Children() []sql.Expression { return []sql.Expression{p.Expression} }

// WithChildren implements sql.Expression.
func (p *Parsing) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(p, len(children), 1)
	}
	return &Parsing{children[0], p.By}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (p *Parsing) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, p.Expression)
}
