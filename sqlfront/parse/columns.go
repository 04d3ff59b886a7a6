package parse

import (
	"context"
	"strings"
	"unicode/utf8"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// CheckColumns refuses columns of a table that no statement could use rightly. was is what the table was, or
// nil: what an older release took stands until it is changed.
//
// Values are computed column by column: what names a column that is computed behind it has the value of the
// row that was there before, or none. And the library looks columns up by strings.EqualFold, so of two names
// that are equal under simple folding (s and ſ) but not in lower case it finds the first.
func CheckColumns(t, was *catalog.Table) error {
	if name, ok := alike(t); ok {
		if was == nil {
			return &catalog.ExistsError{Kind: catalog.KindColumn, Database: t.Name, Name: name}
		}
		if _, before := alike(was); !before {
			return &catalog.ExistsError{Kind: catalog.KindColumn, Database: t.Name, Name: name}
		}
	}
	now := misplaced(t)
	if len(now) == 0 {
		return nil
	}
	before := map[uint32]error{}
	if was != nil {
		before = misplaced(was)
	}
	for i := range t.Columns {
		if err := now[t.Columns[i].ID]; err != nil && before[t.Columns[i].ID] == nil {
			return err
		}
	}
	return nil
}

// alike is the name of a column whose name is an earlier one's but for its case.
func alike(t *catalog.Table) (string, bool) {
	ascii := true
	for i := range t.Columns {
		for _, b := range []byte(t.Columns[i].Name) {
			ascii = ascii && b < 0x80
		}
	}
	if ascii { // whose equality in lower case the catalog sees to
		return "", false
	}
	for i := range t.Columns {
		for j := range i {
			if strings.EqualFold(t.Columns[i].Name, t.Columns[j].Name) {
				return t.Columns[i].Name, true
			}
		}
	}
	return "", false
}

// misplaced are the columns whose expressions name themselves or columns behind them that are computed, too,
// by their ids.
func misplaced(t *catalog.Table) map[uint32]error {
	var wrong map[uint32]error
	computed := func(c *catalog.Column) bool {
		return c.Generated != "" || strings.HasPrefix(c.Default, "(")
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if !computed(c) {
			continue
		}
		text, err := c.Generated, error(nil)
		if text != "" {
			err = sqlerr.New(sqlerr.GeneratedNonPrior,
				"Generated column can refer only to generated columns defined prior to it.")
		} else {
			text = c.Default
			err = sqlerr.New(sqlerr.DefaultNonPrior, "Default value expression of column '%s' cannot refer "+
				"to a column defined after it if that column is a generated column or has an expression as "+
				"default value.", c.Name)
		}
		for _, name := range columnsIn(text) {
			at := t.Column(name)
			// A generated column is computed when the defaults are there.
			if at >= i && (t.Columns[at].Generated != "" || c.Generated == "" && computed(&t.Columns[at])) {
				if wrong == nil {
					wrong = map[uint32]error{}
				}
				wrong[c.ID] = err
			}
		}
	}
	return wrong
}

// columnsIn are the columns that a stored expression names; none of a text that cannot be read.
func columnsIn(text string) (names []string) {
	e, ok := readStored(context.Background(), text, ast.ParserOptions{})
	if !ok {
		return nil
	}
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) {
		if c, ok := n.(*ast.ColName); ok {
			names = append(names, c.Name.String())
		}
		return true, nil
	}, e)
	return names
}

// distinctColumns refuses a view that gives a name to two columns, or one that is too long. Those behind a
// star are not known here; names that nobody wrote are not compared, as in MySQL, which makes up others.
func distinctColumns(v *ast.ViewSpec) error {
	var names []string
	for _, c := range v.Columns {
		names = append(names, c.String())
	}
	if len(names) == 0 {
		query := v.ViewExpr
		for {
			if p, ok := query.(*ast.ParenSelect); ok {
				query = p.Select
			} else if u, ok := query.(*ast.SetOp); ok {
				query = u.Left
			} else {
				break
			}
		}
		s, ok := query.(*ast.Select)
		if !ok {
			return nil
		}
		for _, e := range s.SelectExprs {
			a, ok := e.(*ast.AliasedExpr)
			if !ok {
				continue
			}
			if !a.As.IsEmpty() {
				names = append(names, a.As.String())
			} else if c, ok := a.Expr.(*ast.ColName); ok {
				names = append(names, c.Name.String())
			}
		}
	}
	seen := map[string]bool{}
	for _, n := range names {
		if len(n) > maxColumnName && utf8.RuneCountInString(n) > maxColumnName {
			return sqlerr.New(sqlerr.WrongColumnName, "Incorrect column name '%.192s'", n)
		}
		if seen[strings.ToLower(n)] {
			return sqlerr.New(sqlerr.DuplicateColumn, "Duplicate column name '%s'", n)
		}
		seen[strings.ToLower(n)] = true
	}
	return nil
}

// maxColumnName is how many characters the name of a view's column has.
const maxColumnName = 64
