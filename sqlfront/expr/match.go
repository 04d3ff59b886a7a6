package expr

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/fulltext"
	"moka/sqlfront/sqlerr"
)

// Match is MATCH (columns) AGAINST (text). The planner sees an expression like any other; the library's own
// would look for the tables that the library keeps for a FULLTEXT index. What it is worth knows the engine,
// which gives it a Scorer when iterators are built.
type Match struct {
	columns []sql.Expression
	against sql.Expression
	option  string
	scorer  Scorer
	truth   bool // only whether the row matches is asked for
}

// Scorer finds out how well a row answers.
type Scorer interface {
	// Score is the rank of a row with these texts. If truth is set, it is any number but 0 for a row that
	// matches.
	Score(ctx *sql.Context, texts []string, against string, truth bool) (float64, error)
}

var (
	_ sql.Expression         = (*Match)(nil)
	_ sql.CollationCoercible = (*Match)(nil)
)

const matchOperator = "match"

func newMatch(ctx *sql.Context, option string, operands []sql.Expression) (sql.Expression, error) {
	last := len(operands) - 1
	for _, c := range operands[:last] {
		if _, ok := c.(*expression.GetField); !ok {
			return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to MATCH")
		}
	}
	if !fixed(ctx, operands[last]) {
		return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to AGAINST")
	}
	return &Match{columns: operands[:last], against: operands[last], option: option}, nil
}

// fixed reports whether an expression has one value for all rows.
func fixed(ctx *sql.Context, e sql.Expression) bool {
	ok := true
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case *expression.GetField, *plan.Subquery:
			ok = false
		}
		return ok
	})
	return ok
}

// Mode is how the text is read.
func (m *Match) Mode() fulltext.Mode {
	switch m.option {
	case ast.BooleanModeStr:
		return fulltext.Boolean
	case ast.QueryExpansionStr, ast.NaturalLanguageModeWithQueryExpansionStr:
		return fulltext.Expansion
	}
	return fulltext.Natural
}

// Columns are the columns that are looked at.
func (m *Match) Columns() []sql.Expression { return m.columns }

// Against is the text that is looked for; ok is false if it is NULL.
func (m *Match) Against(ctx *sql.Context) (text string, ok bool, err error) {
	v, err := m.against.Eval(ctx, nil)
	if v == nil || err != nil {
		return "", false, err
	}
	text, err = asText(ctx, v)
	return text, err == nil, err
}

func asText(ctx *sql.Context, v any) (string, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	return types.ConvertToString(ctx, v, types.LongText.(sql.StringType), nil)
}

// Bound reports whether there is a scorer.
func (m *Match) Bound() bool { return m.scorer != nil }

// Bind gives it one. truth says that only whether a row matches is asked for.
func (m *Match) Bind(s Scorer, truth bool) *Match {
	again := *m
	again.scorer, again.truth = s, truth
	return &again
}

// Eval implements sql.Expression.
func (m *Match) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if m.scorer == nil {
		return nil, sql.ErrNoFullTextIndexFound.New("")
	}
	against, ok, err := m.Against(ctx)
	if !ok || err != nil {
		return 0.0, err
	}
	texts := make([]string, 0, len(m.columns))
	for _, c := range m.columns {
		v, err := c.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		s, err := asText(ctx, v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, s)
	}
	return m.scorer.Score(ctx, texts, against, m.truth)
}

// Resolved implements sql.Expression.
func (m *Match) Resolved() bool {
	for _, e := range m.Children() {
		if !e.Resolved() {
			return false
		}
	}
	return true
}

// Type implements sql.Expression.
func (m *Match) Type(*sql.Context) sql.Type { return types.Float64 }

// IsNullable implements sql.Expression.
func (m *Match) IsNullable(*sql.Context) bool { return false }

// Children implements sql.Expression.
func (m *Match) Children() []sql.Expression {
	return append(m.columns[:len(m.columns):len(m.columns)], m.against)
}

// String implements sql.Expression.
func (m *Match) String() string {
	names := make([]string, len(m.columns))
	for i, c := range m.columns {
		names[i] = c.String()
	}
	return "match (" + strings.Join(names, ",") + ") against (" + m.against.String() + m.option + ")"
}

// CollationCoercibility implements sql.CollationCoercible.
func (*Match) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren implements sql.Expression.
func (m *Match) WithChildren(_ *sql.Context, ch ...sql.Expression) (sql.Expression, error) {
	if len(ch) != len(m.columns)+1 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(ch), len(m.columns)+1)
	}
	again := *m
	again.columns, again.against = ch[:len(m.columns)], ch[len(m.columns)]
	return &again, nil
}
