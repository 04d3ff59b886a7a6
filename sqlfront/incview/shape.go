package incview

import (
	"slices"
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/sqlfront/catalog"
	"moka/sqlfront/sqlerr"
)

// Kind is what a column of a view is.
type Kind uint8

const (
	Group Kind = iota
	CountRows
	Count
	Sum
	Avg
	Min
	Max
	Distinct // COUNT(DISTINCT x)
)

var kindNames = map[Kind]string{CountRows: "COUNT(*)", Count: "COUNT", Sum: "SUM", Avg: "AVG", Min: "MIN",
	Max: "MAX", Distinct: "COUNT(DISTINCT)"}

// Output is a column of the view: which group column, or an aggregate of which argument.
type Output struct {
	Kind Kind
	At   int // in Groups, or in Args
}

// Source is a table of FROM.
type Source struct {
	Table *catalog.Table
	Alias string
	Left  bool // LEFT JOIN
	// Parent is the source whose columns, Refer, refer to the primary key, and Index where rows of it are
	// found by these: the id of an index, or zero for the row store.
	Parent int
	Refer  []uint32
	Index  uint32
	on     ast.Expr
	reads  map[uint32]bool // ids of columns
}

// Shape is what an incremental view's query is made of.
type Shape struct {
	Sources []*Source // the anchor first
	Outputs []Output
	Groups  []string // expressions, with all columns qualified
	Args    []string
	from    string
	where   string
}

func refuse(what, instead string) error {
	if instead != "" {
		instead = ": " + instead
	}
	return sqlerr.New(sqlerr.UnsupportedFeature,
		"This version of Moka doesn't yet support '%s in an incremental "+
			"view'%s", what, instead)
}

// ShapeOf takes a query apart. find looks a table up by its name, in the database of the view. The tree is
// changed: its columns are qualified.
func ShapeOf(sel *ast.Select, find func(ast.TableName) (*catalog.Table, error)) (*Shape, error) {
	s := &Shape{}
	if err := refuseClauses(sel); err != nil {
		return nil, err
	}
	if len(sel.From) != 1 {
		return nil, refuse("tables joined by a comma", "write JOIN … ON")
	}
	if err := s.source(sel.From[0], find); err != nil {
		return nil, err
	}
	for _, src := range s.Sources {
		if src.on == nil {
			continue
		}
		if err := s.check(src.on, "ON"); err != nil {
			return nil, err
		}
	}
	for i := 1; i < len(s.Sources); i++ {
		if err := s.refers(i); err != nil {
			return nil, err
		}
	}
	if sel.Where != nil {
		if err := s.check(sel.Where.Expr, "WHERE"); err != nil {
			return nil, err
		}
		s.where = ast.String(sel.Where.Expr)
	}
	groups, err := s.groups(sel)
	if err != nil {
		return nil, err
	}
	selected := make([]bool, len(groups))
	for _, e := range sel.SelectExprs {
		if err := s.output(e, groups, selected); err != nil {
			return nil, err
		}
	}
	if i := slices.Index(selected, false); i >= 0 {
		return nil, refuse("GROUP BY "+groups[i]+", which is not selected", "select it, too")
	}
	s.Groups = groups
	s.from = ast.String(sel.From)
	return s, nil
}

func refuseClauses(sel *ast.Select) error {
	later := "say it when you read the view"
	opts := sel.QueryOpts
	switch {
	case sel.With != nil:
		return refuse("WITH", "")
	case sel.Into != nil:
		return refuse("INTO", "")
	case sel.Limit != nil:
		return refuse("LIMIT", later)
	case len(sel.OrderBy) > 0:
		return refuse("ORDER BY", later)
	case sel.Having != nil:
		return refuse("HAVING", later)
	case len(sel.Window) > 0:
		return refuse("WINDOW", "")
	case sel.Lock != nil && sel.Lock.Type != "":
		return refuse("a locking clause", "")
	case opts.Distinct:
		return refuse("DISTINCT", "GROUP BY the columns, with COUNT(*)")
	case len(sel.GroupBy) == 0:
		return refuse("a query without GROUP BY", "group by a column, and add up when you read the view")
	}
	return nil
}

// source takes in the tables of FROM, from left to right.
func (s *Shape) source(e ast.TableExpr, find func(ast.TableName) (*catalog.Table, error)) error {
	switch e := e.(type) {
	case *ast.AliasedTableExpr:
		name, ok := e.Expr.(ast.TableName)
		if !ok {
			return refuse("a derived table", "make it an incremental view of its own")
		}
		if e.AsOf != nil {
			return refuse("AS OF", "")
		}
		if e.Hints != nil || len(e.Partitions) > 0 {
			return refuse("index hints and partitions", "")
		}
		t, err := find(name)
		if err != nil {
			return err
		}
		alias := t.Name
		if !e.As.IsEmpty() {
			alias = e.As.String()
		}
		if strings.EqualFold(alias, "new") || strings.EqualFold(alias, "old") {
			return refuse("a table that is called "+alias, "give it another alias")
		}
		for _, other := range s.Sources {
			if strings.EqualFold(other.Alias, alias) {
				return sqlerr.New(sqlerr.NonUniqueTable, "Not unique table/alias: '%s'", alias)
			}
		}
		s.Sources = append(s.Sources, &Source{Table: t, Alias: alias, reads: map[uint32]bool{}})
		return nil
	case *ast.JoinTableExpr:
		return s.join(e, find)
	case *ast.ParenTableExpr:
		if len(e.Exprs) == 1 && len(s.Sources) == 0 {
			return s.source(e.Exprs[0], find)
		}
		return refuse("parentheses in FROM", "join from left to right")
	}
	return refuse("such a FROM", "join tables from left to right")
}

func (s *Shape) join(e *ast.JoinTableExpr, find func(ast.TableName) (*catalog.Table, error)) error {
	if err := s.source(e.LeftExpr, find); err != nil {
		return err
	}
	if _, ok := e.RightExpr.(*ast.AliasedTableExpr); !ok {
		return refuse("a join in parentheses", "join from left to right")
	}
	switch {
	case len(e.Condition.Using) > 0:
		return refuse("USING", "write ON")
	case e.Join != ast.JoinStr && e.Join != ast.LeftJoinStr && e.Join != ast.StraightJoinStr:
		instead := "write JOIN or LEFT JOIN … ON"
		if e.Join == ast.RightJoinStr {
			instead = "write it as a LEFT JOIN, the other way around"
		}
		return refuse(strings.ToUpper(e.Join), instead)
	case e.Condition.On == nil:
		return refuse("a join without ON", "")
	}
	if err := s.source(e.RightExpr, find); err != nil {
		return err
	}
	last := s.Sources[len(s.Sources)-1]
	last.Left, last.on = e.Join == ast.LeftJoinStr, e.Condition.On
	if last.Table.Incremental != nil {
		return refuse("an incremental view that is joined", "begin FROM with it")
	}
	return nil
}

// check qualifies the columns of an expression, and refuses what has another value when it is asked again.
func (s *Shape) check(e ast.Expr, where string) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.ColName:
			return true, s.qualify(n, where)
		case *ast.Subquery, *ast.ExistsExpr:
			return false, refuse("a subquery in "+where, "join the table by its primary key")
		case *ast.GroupConcatExpr:
			return false, refuse("GROUP_CONCAT", "")
		case *ast.MatchExpr:
			return false, refuse("MATCH", "")
		case *ast.Default, *ast.ValuesFuncExpr, ast.ListArg:
			return false, refuse(ast.String(n), "")
		case *ast.FuncExpr:
			name := strings.ToLower(n.Name.String())
			switch {
			case n.Over != nil:
				return false, refuse("the window function "+strings.ToUpper(name), "")
			case aggregates[name]:
				return false, refuse(strings.ToUpper(name)+" within an expression",
					"select the aggregate by "+
						"itself, and compute when you read the view")
			case !n.Qualifier.IsEmpty() || !steady[name]:
				return false, refuse("the function "+strings.ToUpper(name), "only functions are known to it "+
					"whose value depends on their arguments alone")
			}
		case *ast.SQLVal:
			if n.Type == ast.ValArg {
				return false, refuse("a parameter", "")
			}
		}
		return true, nil
	}, e)
}

func (s *Shape) qualify(c *ast.ColName, where string) error {
	name := c.Name.String()
	if strings.HasPrefix(name, "@") {
		return refuse("the variable "+name, "")
	}
	var in *Source
	for _, src := range s.Sources {
		if q := c.Qualifier.Name; !q.IsEmpty() && !strings.EqualFold(q.String(), src.Alias) {
			continue
		}
		i := src.Table.Column(name)
		if i < 0 || src.Table.Columns[i].HiddenSystem {
			continue
		}
		if in != nil {
			return sqlerr.New(sqlerr.NonUniqueColumn, "Column '%s' in %s is ambiguous", name, where)
		}
		in = src
		col := src.Table.Columns[i]
		src.reads[col.ID] = true
		c.Name = ast.NewColIdent(col.Name)
	}
	if in == nil {
		return sqlerr.New(sqlerr.BadField, "Unknown column '%s' in '%s'", ast.String(c), where)
	}
	c.Qualifier = ast.TableName{Name: ast.NewTableIdent(in.Alias)}
	return nil
}

// groups are the expressions of GROUP BY, as texts.
func (s *Shape) groups(sel *ast.Select) (texts []string, err error) {
	for _, e := range sel.GroupBy {
		if v, ok := e.(*ast.SQLVal); ok && v.Type == ast.IntVal {
			n, err := strconv.Atoi(string(v.Val))
			if err != nil || n < 1 || n > len(sel.SelectExprs) {
				return nil, sqlerr.New(sqlerr.BadField, "Unknown column '%s' in 'group statement'", v.Val)
			}
			a, ok := sel.SelectExprs[n-1].(*ast.AliasedExpr)
			if !ok {
				return nil, refuse("*", "name the columns")
			}
			e = a.Expr
		}
		if c, ok := e.(*ast.ColName); ok && c.Qualifier.IsEmpty() {
			e = s.aliased(c, sel)
		}
		if err := s.check(e, "group statement"); err != nil {
			return nil, err
		}
		if text := ast.String(e); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// aliased is what a name in GROUP BY stands for: a column of a table, before an alias.
func (s *Shape) aliased(c *ast.ColName, sel *ast.Select) ast.Expr {
	for _, src := range s.Sources {
		if src.Table.Column(c.Name.String()) >= 0 {
			return c
		}
	}
	for _, x := range sel.SelectExprs {
		if a, ok := x.(*ast.AliasedExpr); ok && a.As.EqualString(c.Name.String()) {
			return a.Expr
		}
	}
	return c
}

// output takes in a column of the select list.
func (s *Shape) output(x ast.SelectExpr, groups []string, selected []bool) error {
	a, ok := x.(*ast.AliasedExpr)
	if !ok {
		return refuse("*", "name the columns")
	}
	f, ok := a.Expr.(*ast.FuncExpr)
	if !ok || !aggregates[strings.ToLower(f.Name.String())] || f.Over != nil {
		if err := s.check(a.Expr, "field list"); err != nil {
			return err
		}
		i := slices.Index(groups, ast.String(a.Expr))
		if i < 0 {
			return sqlerr.New(sqlerr.WrongFieldWithGroup,
				"Expression '%s' of the SELECT list is not in GROUP BY "+
					"clause, nor is it an aggregate: an incremental view has nothing else",
				ast.String(a.Expr))
		}
		selected[i] = true
		s.Outputs = append(s.Outputs, Output{Group, i})
		return nil
	}
	return s.aggregate(f)
}

func (s *Shape) aggregate(f *ast.FuncExpr) error {
	name := strings.ToLower(f.Name.String())
	kinds := map[string]Kind{"count": Count, "sum": Sum, "avg": Avg, "min": Min, "max": Max}
	kind, ok := kinds[name]
	if !ok {
		return refuse(strings.ToUpper(name), "")
	}
	if len(f.Exprs) != 1 {
		return refuse(strings.ToUpper(name)+" of several expressions", "")
	}
	if _, star := f.Exprs[0].(*ast.StarExpr); star && kind == Count && !f.Distinct {
		s.Outputs = append(s.Outputs, Output{CountRows, 0})
		return nil
	}
	a, ok := f.Exprs[0].(*ast.AliasedExpr)
	if !ok {
		return refuse(ast.String(f), "")
	}
	switch {
	case f.Distinct && kind == Count:
		kind = Distinct
	case f.Distinct && kind != Min && kind != Max:
		return refuse(strings.ToUpper(name)+"(DISTINCT)", "")
	}
	if err := s.check(a.Expr, "field list"); err != nil {
		return err
	}
	text := ast.String(a.Expr)
	if kind == Count { // whether it is NULL is all that counts
		text = "IF((" + text + ") IS NULL, NULL, 1)"
	}
	i := slices.Index(s.Args, text)
	if i < 0 {
		i, s.Args = len(s.Args), append(s.Args, text)
	}
	s.Outputs = append(s.Outputs, Output{kind, i})
	return nil
}

// aggregates are all functions of several rows, known to this package or not.
var aggregates = set("count sum avg min max std stddev stddev_pop stddev_samp variance var_pop var_samp " +
	"bit_and bit_or bit_xor json_arrayagg json_objectagg group_concat any_value first last")

// steady are functions whose value depends on their arguments alone, given the SQL mode and the time zone
// that a view keeps from its creation.
var steady = set("abs ascii acos asin atan atan2 bin bit_length ceil ceiling char_length character_length " +
	"coalesce concat concat_ws conv convert_tz cos cot crc32 date date_add date_format date_sub " +
	"datediff day " +
	"dayname dayofmonth dayofweek dayofyear degrees elt exp extract field find_in_set floor format " +
	"from_days from_unixtime greatest hex hour if ifnull inet_aton inet_ntoa instr interval isnull " +
	"json_contains json_extract json_length json_type json_unquote json_valid last_day lcase least left " +
	"length ln locate log log10 log2 lower lpad ltrim makedate maketime md5 microsecond mid minute " +
	"mod month " +
	"monthname nullif oct octet_length ord period_add period_diff pi position pow power quarter " +
	"quote radians " +
	"regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right round rpad rtrim " +
	"sec_to_time second sha sha1 sha2 sign sin soundex space sqrt str_to_date strcmp substr substring " +
	"substring_index subtime tan time time_format time_to_sec timediff timestampdiff timestampadd to_days " +
	"to_seconds trim truncate ucase unhex upper week weekday weekofyear year yearweek")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// Reads are the ids of the columns that the query reads of a table, and of its primary key.
func (s *Source) Reads() (ids []uint32) {
	for id := range s.reads {
		ids = append(ids, id)
	}
	for _, k := range s.Table.PrimaryKey {
		if !s.reads[k.Column] {
			ids = append(ids, k.Column)
		}
	}
	slices.Sort(ids)
	return ids
}

// Steady reports whether a change of the columns that it reads is seen by who writes the row: not if one is
// computed when it is read.
func (s *Source) Steady() bool {
	for id := range s.reads {
		if s.Table.Columns[s.Table.ColumnByID(id)].Virtual {
			return false
		}
	}
	return true
}
