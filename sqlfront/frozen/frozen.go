package frozen

import (
	"slices"
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/namedjoin"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/sqlfront/syntax"
)

// Reader knows what a text means.
type Reader struct {
	// Query is the query of a CREATE VIEW; nil if it cannot be read.
	Query      func(create string) ast.SelectStatement
	Columns    namedjoin.Columns
	ANSIQuotes bool
}

// mostStars bounds the stars of a text, which is read once more with a name for each.
const mostStars = 4096

func refused() error {
	return sqlerr.Unsupported("* or NATURAL JOIN in the query of such a view; list the columns")
}

// View is the text of a CREATE VIEW without stars and NATURAL, and that of its query, which is a part of it.
func (r Reader) View(create, query string) (frozenCreate, frozenQuery string, err error) {
	t := r.find(create)
	if len(t.stars)+len(t.naturals) == 0 {
		return create, query, nil
	}
	if len(t.stars)+len(t.naturals) > mostStars {
		return "", "", refused()
	}
	read, err := r.marked(t)
	if err != nil {
		return "", "", err
	}
	known, err := namedjoin.Expand(read.query, r.Columns)
	if err != nil {
		return "", "", err
	}
	var edits []edit
	for i, s := range t.stars {
		if list, ok := known.Stars[read.stars[i]]; ok && !read.exists[read.stars[i]] {
			edits = append(edits, edit{s.from, s.to, s.before + spelled(list) + s.after})
		} else if !ok {
			return "", "", refused()
		}
	}
	for i, n := range t.naturals {
		edits = append(edits, n.edits(known.Naturals[read.naturals[i]])...)
	}
	from := strings.LastIndex(create, query)
	if from < 0 {
		return "", "", refused()
	}
	frozenCreate, _ = edited(create, 0, len(create), edits)
	frozenQuery, ok := edited(create, from, from+len(query), edits)
	if !ok {
		return "", "", refused()
	}
	return frozenCreate, frozenQuery, r.same(create, frozenCreate)
}

// same refuses a text that has not the columns of another. An expression without an alias is called as it is
// written, a subquery with a star too.
func (r Reader) same(a, b string) error {
	was, is := r.Query(a), r.Query(b)
	if was == nil {
		return refused()
	}
	of, known := namedjoin.Names(was, r.Columns)
	if is == nil {
		for i, c := range of {
			if slices.ContainsFunc(of[:i], func(o string) bool { return strings.EqualFold(o, c) }) {
				return sqlerr.New(sqlerr.DuplicateColumn, "Duplicate column name '%s'", c)
			}
		}
		return refused()
	}
	by, ok := namedjoin.Names(is, r.Columns)
	if !known || !ok || !slices.EqualFunc(of, by, strings.EqualFold) {
		return refused()
	}
	return nil
}

// tree is a query whose stars and NATURAL are known by their places in the text.
type tree struct {
	query    ast.SelectStatement
	stars    []*ast.StarExpr
	exists   map[*ast.StarExpr]bool // stars that stand for nothing
	naturals []*ast.JoinTableExpr
}

// marked reads the text with a name in the place of each.
func (r Reader) marked(t text) (*tree, error) {
	var edits []edit
	for i, s := range t.stars {
		edits = append(edits, edit{s.mark, s.to, s.before + quoted(mark(starMark, i)) + s.after})
	}
	for i, n := range t.naturals {
		edits = append(edits, n.edits([]string{mark(naturalMark, i)})...)
	}
	named, _ := edited(t.text, 0, len(t.text), edits)
	m := &tree{query: r.Query(named), stars: make([]*ast.StarExpr, len(t.stars)),
		exists: map[*ast.StarExpr]bool{}, naturals: make([]*ast.JoinTableExpr, len(t.naturals))}
	if m.query == nil {
		return nil, refused()
	}
	asked := map[ast.SelectStatement]bool{}
	strange := false
	_ = syntax.Walk(func(n ast.SQLNode) (bool, error) { // the visitor has no errors
		switch n := n.(type) {
		case *ast.ExistsExpr:
			partsOf(n.Subquery.Select, asked)
		case *ast.Select:
			for i, e := range n.SelectExprs {
				if s := m.star(e); s != nil {
					n.SelectExprs[i], m.exists[s] = s, asked[n]
				} else if s, star := e.(*ast.StarExpr); star {
					_, known := m.exists[s] // the walk comes by some nodes twice
					strange = strange || !known && !ofValues(n)
				}
			}
		case *ast.JoinTableExpr:
			m.natural(n)
		}
		return true, nil
	}, m.query)
	if strange || slices.Contains(m.stars, nil) || slices.Contains(m.naturals, nil) {
		return nil, refused()
	}
	return m, nil
}

// ofValues reports whether a query is one that the parser puts around the rows of VALUES, whose star nobody
// has written.
func ofValues(n *ast.Select) bool {
	if len(n.From) != 1 {
		return false
	}
	a, ok := n.From[0].(*ast.AliasedTableExpr)
	if !ok {
		return false
	}
	_, ok = a.Expr.(*ast.ValuesStatement)
	return ok
}

// partsOf are the SELECTs of a query.
func partsOf(q ast.SelectStatement, in map[ast.SelectStatement]bool) {
	switch q := q.(type) {
	case *ast.Select:
		in[q] = true
	case *ast.ParenSelect:
		partsOf(q.Select, in)
	case *ast.SetOp:
		partsOf(q.Left, in)
		partsOf(q.Right, in)
	}
}

// star is the star for which a mark stands; nil if it is none.
func (m *tree) star(e ast.SelectExpr) *ast.StarExpr {
	a, ok := e.(*ast.AliasedExpr)
	if !ok || !a.As.IsEmpty() {
		return nil
	}
	c, ok := a.Expr.(*ast.ColName)
	if !ok {
		return nil
	}
	i := marked(c.Name.String(), starMark, len(m.stars))
	if i < 0 || m.stars[i] != nil {
		return nil
	}
	m.stars[i] = &ast.StarExpr{TableName: c.Qualifier}
	return m.stars[i]
}

// natural gives a join its NATURAL back.
func (m *tree) natural(j *ast.JoinTableExpr) {
	if len(j.Condition.Using) != 1 {
		return
	}
	i := marked(j.Condition.Using[0].String(), naturalMark, len(m.naturals))
	if i < 0 || m.naturals[i] != nil {
		return
	}
	m.naturals[i], j.Condition.Using = j, nil
	switch strings.ToLower(j.Join) {
	case ast.LeftJoinStr:
		j.Join = ast.NaturalLeftJoinStr
	case ast.RightJoinStr:
		j.Join = ast.NaturalRightJoinStr
	case ast.FullOuterJoinStr:
		j.Join = ast.NaturalFullJoinStr
	default:
		j.Join = ast.NaturalJoinStr
	}
}

// What begins the names that stand for stars and NATURAL; a number is behind it.
const starMark, naturalMark = "moka star ", "moka natural "

func mark(kind string, i int) string { return kind + strconv.Itoa(i) }

// marked is the number of a mark of the kind, less than n; -1 for another name.
func marked(name, kind string, n int) int {
	number, ok := strings.CutPrefix(name, kind)
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= n {
		return -1
	}
	return i
}

// spelled are columns as a text.
func spelled(list ast.SelectExprs) string {
	var all []string
	for _, e := range list {
		a := e.(*ast.AliasedExpr)
		text := column(a.Expr)
		if !a.As.IsEmpty() {
			text += " AS " + quoted(a.As.String())
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// column is a column of a table, or the first of some that is not NULL.
func column(e ast.Expr) string {
	if f, ok := e.(*ast.FuncExpr); ok {
		var of []string
		for _, x := range f.Exprs {
			of = append(of, column(x.(*ast.AliasedExpr).Expr))
		}
		return "coalesce(" + strings.Join(of, ", ") + ")"
	}
	c := e.(*ast.ColName)
	text := quoted(c.Name.String())
	if !c.Qualifier.Name.IsEmpty() {
		text = quoted(c.Qualifier.Name.String()) + "." + text
	}
	if !c.Qualifier.DbQualifier.IsEmpty() {
		text = quoted(c.Qualifier.DbQualifier.String()) + "." + text
	}
	return text
}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// edit puts another text in a place.
type edit struct {
	from, to int
	by       string
}

// edited is a part of a text with what is to be put there; ok is false if some of it is for another part.
func edited(text string, from, to int, edits []edit) (out string, ok bool) {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var b strings.Builder
	at := from
	for _, e := range edits {
		if e.from < at || e.to > to {
			return "", false
		}
		b.WriteString(text[at:e.from])
		b.WriteString(e.by)
		at = e.to
	}
	b.WriteString(text[at:to])
	return b.String(), true
}

// find looks for stars and NATURAL in a text.
func (r Reader) find(create string) text {
	t := text{text: create, code: parse.Unwrap(create, r.ANSIQuotes)}
	lower := strings.ToLower(t.code)
	if !strings.Contains(lower, "*") && !strings.Contains(lower, "natural") &&
		!strings.Contains(lower, "table") {
		return t
	}
	t.tokens = parse.Tokens(t.code, r.ANSIQuotes)
	for i := range t.tokens {
		switch {
		case t.punct(i-1, ".") && !t.punct(i, "*"): // t.table is a column
		case t.isStar(i):
			t.stars = append(t.stars, star{place{t.qualified(i), t.tokens[i].End}, t.tokens[i].Start, "", ""})
		case t.is(i, "table"):
			t.stars = append(t.stars, star{place{t.tokens[i].Start, t.tokens[i].End}, t.tokens[i].Start,
				"select ", " from"})
		case t.is(i, "natural"):
			t.naturals = append(t.naturals, t.natural(i))
		}
	}
	return t
}
