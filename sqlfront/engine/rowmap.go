package engine

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/assign"
	"moka/sqlfront/catalog"
	"moka/sqlfront/expr"
	"moka/sqlfront/multitable"
	"moka/sqlfront/sqlerr"
)

// rowMap makes rows of one form of a table into rows of another. All that it goes by is in the two descriptors, columns being known by
// their ids, so that any server can make the same map again; the clauses of the statement between them do not matter.
type rowMap struct {
	from, to *Table
	sources  []rowSource // by position in to
	// computed are columns with an expression, in the order in which they may refer to each other: defaults, then generated ones.
	computed []computedColumn
	checks   sql.CheckConstraints
	// number is the position of an AUTO_INCREMENT column that the rows get with the change, -1 if there is none.
	number int
	// lenient: values that do not fit are made to, with a warning.
	lenient bool
}

type rowSource struct {
	from  int // position in the old row, -1 for none
	same  bool
	value any // of a column that is new, unless it is computed
}

type computedColumn struct {
	at   int
	expr sql.Expression
}

func newRowMap(ctx *sql.Context, from, to *Table) (*rowMap, error) {
	m := &rowMap{from: from, to: to, number: -1, lenient: !sql.LoadSqlMode(ctx).Strict()}
	defs := slices.DeleteFunc(to.checkDefinitions(), func(c sql.CheckDefinition) bool { return !c.Enforced })
	schema, checks, err := to.resolved(ctx, defs)
	if err != nil {
		return nil, err
	}
	old := map[uint32]int{}
	for i, at := range from.ordinals {
		old[from.desc.Columns[at].ID] = i
	}
	m.sources = make([]rowSource, len(schema))
	var generated []computedColumn
	for i, col := range schema {
		c := &to.desc.Columns[to.ordinals[i]]
		s := &m.sources[i]
		s.from = -1
		if col.Generated != nil {
			generated = append(generated, computedColumn{i, col.Generated.Expr})
			continue
		}
		if j, ok := old[c.ID]; ok && from.pk.Schema[j].Generated == nil {
			o := &from.desc.Columns[from.ordinals[j]]
			s.from, s.same = j, reflect.DeepEqual(o.Type, c.Type)
			continue
		} else if ok { // a column that was generated and now is not keeps what it had
			s.from = j
			continue
		}
		switch {
		case col.AutoIncrement:
			m.number = i
		case c.Fill != nil:
			s.value, err = to.filled(c, col.Type)
		case col.Default != nil && !col.Default.IsLiteral():
			m.computed = append(m.computed, computedColumn{i, col.Default.Expr})
		case col.Default != nil:
			if s.value, err = col.Default.Eval(ctx, nil); err == nil && s.value != nil {
				s.value, _, err = col.Type.Convert(ctx, s.value)
			}
		case !col.Nullable:
			s.value, _, err = col.Type.Convert(ctx, col.Type.Zero())
		}
		if err != nil {
			return nil, err
		}
	}
	m.computed = append(m.computed, generated...)
	m.checks = checks
	return m, nil
}

// resolved is the table's schema with expressions that can be evaluated over its rows, and so are the checks.
func (t *Table) resolved(ctx *sql.Context, defs []sql.CheckDefinition) (schema sql.Schema, checks sql.CheckConstraints, err error) {
	defer func() { // the library's builder has no other way to fail here
		if p := recover(); p != nil {
			err = fmt.Errorf("an expression of table %s cannot be understood: %v", t.desc.Name, p)
		}
	}()
	schema = t.pk.Schema.Copy()
	n := len(schema)
	for _, c := range defs { // a check is resolved as if a column were computed by it
		schema = append(schema, &sql.Column{
			Name: "check " + c.Name, Type: types.Boolean, Nullable: true, Source: t.desc.Name, DatabaseSource: t.db,
			Generated: sql.NewUnresolvedColumnDefaultValue(c.CheckExpression),
		})
	}
	b := planbuilder.New(ctx, t.eng.sql.Analyzer.Catalog, nil)
	b.DisableAuth()
	schema = b.ResolveSchemaDefaults(t.db, t.desc.Name, schema)
	place := func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		f, ok := e.(*expression.GetField)
		if !ok {
			return e, transform.SameTree, nil
		}
		i := t.ordinal(f.Name())
		if i < 0 {
			return nil, transform.SameTree, sql.ErrTableColumnNotFound.New(t.desc.Name, f.Name())
		}
		return f.WithIndex(i), transform.NewTree, nil
	}
	for i, c := range schema {
		for _, d := range []*sql.ColumnDefaultValue{c.Default, c.Generated, c.OnUpdate} {
			if d == nil || d.Expr == nil {
				continue
			}
			if d.Expr, _, err = transform.Expr(ctx, d.Expr, place); err != nil {
				return nil, nil, err
			}
			if d.Expr, err = mendComputed(ctx, d.Expr, c.Type); err != nil {
				return nil, nil, err
			}
		}
		if i >= n {
			checks = append(checks, &sql.CheckConstraint{Name: defs[i-n].Name, Expr: c.Generated.Expr, Enforced: defs[i-n].Enforced})
		}
	}
	return schema[:n], checks, nil
}

// apply makes a new row. at is its number in errors; number is what it gets in a column that becomes AUTO_INCREMENT.
func (m *rowMap) apply(ctx *sql.Context, row sql.Row, at uint64, number func() (uint64, error)) (sql.Row, error) {
	out := make(sql.Row, len(m.sources))
	var err error
	for i := range m.sources {
		s := &m.sources[i]
		switch {
		case s.from < 0:
			out[i] = s.value
		case s.same || row[s.from] == nil:
			out[i] = row[s.from]
		default:
			if out[i], err = m.convert(ctx, s.from, i, row[s.from], at); err != nil {
				return nil, err
			}
		}
	}
	if m.number >= 0 {
		n, err := number()
		if err != nil {
			return nil, err
		}
		if out[m.number], _, err = m.to.pk.Schema[m.number].Type.Convert(ctx, n); err != nil {
			return nil, err
		}
	}
	if err := m.to.compute(ctx, m.computed, out); err != nil {
		return nil, err
	}
	return m.finish(ctx, out, at)
}

// compute fills in columns of a row by their expressions.
func (t *Table) compute(ctx *sql.Context, columns []computedColumn, row sql.Row) error {
	for _, c := range columns {
		v, err := c.expr.Eval(ctx, row)
		if err != nil {
			return err
		}
		if v != nil {
			if v, _, err = t.pk.Schema[c.at].Type.Convert(ctx, v); err != nil {
				return err
			}
		}
		row[c.at] = v
	}
	return nil
}

// generated are the columns that are computed of others. Those that are not stored count, too: indexes and checks look at them.
func (t *Table) generated(ctx *sql.Context) (columns []computedColumn, err error) {
	if !slices.ContainsFunc(t.pk.Schema, func(c *sql.Column) bool { return c.Generated != nil }) {
		return nil, nil
	}
	schema, _, err := t.resolved(ctx, nil)
	for i, c := range schema {
		if c.Generated != nil {
			columns = append(columns, computedColumn{i, c.Generated.Expr})
		}
	}
	return columns, err
}

// finish does what an INSERT would: rows as they are stored, and what must hold of them.
func (m *rowMap) finish(ctx *sql.Context, row sql.Row, at uint64) (sql.Row, error) {
	t := m.to
	for i, c := range t.pk.Schema {
		if row[i] != nil || c.Nullable || c.Virtual {
			continue
		}
		if c.Generated != nil {
			return nil, sql.ErrInsertIntoNonNullableProvidedNull.New(c.Name)
		}
		if !m.lenient {
			return nil, sqlerr.New(sqlerr.InvalidUseOfNull, "Invalid use of NULL value")
		}
		ctx.Warn(sqlerr.DataTruncated, "Data truncated for column '%s' at row %d", c.Name, at)
		v, _, err := c.Type.Convert(ctx, c.Type.Zero())
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	row, err := t.held(ctx, row)
	if err != nil {
		return nil, err
	}
	if len(t.narrow) > 0 {
		if row, err = t.fitCharsets(ctx, row, m.lenient); err != nil {
			return nil, err
		}
	}
	if len(t.stamps) > 0 {
		if row, err = t.fitStamps(ctx, row, m.lenient, at); err != nil {
			return nil, err
		}
	}
	return row, multitable.Violated(ctx, m.checks, row)
}

// convert makes a value of one column's type one of another's, as an assignment does.
func (m *rowMap) convert(ctx *sql.Context, from, to int, v any, at uint64) (any, error) {
	old, col := m.from.pk.Schema[from], m.to.pk.Schema[to]
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	if was, ok := old.Type.(sql.EnumType); ok {
		if is, ok := col.Type.(sql.EnumType); ok {
			return m.convertEnum(ctx, was, is, v, col.Name, at)
		}
	}
	if _, text := v.(string); !text && types.IsText(col.Type) {
		// As it is shown: the digits of a DECIMAL, a FLOAT or a TIME are part of the text.
		if _, binary := v.([]byte); !binary {
			s, err := old.Type.SQL(ctx, nil, v)
			if err != nil {
				return nil, err
			}
			v = s.ToString()
		}
	}
	if v, err = assign.Of(ctx, v, old.Type, col.Type); err == nil && types.IsTime(col.Type) {
		v, err = assign.Date(ctx, col, v, at, m.lenient)
	}
	if err != nil {
		return nil, err
	}
	var out any
	in := sql.InRange
	if _, rounds := col.Type.(sql.RoundingNumberType); rounds || types.IsDecimal(col.Type) {
		out, in, err = expr.Convert(ctx, col.Type, v)
	} else {
		out, in, err = types.TypeAwareConversion(ctx, v, old.Type, col.Type)
	}
	if err == nil && in == sql.InRange {
		return out, nil
	}
	word, known := assign.Unfit(col, v, in, err, at)
	if !m.lenient || !known {
		return nil, word
	}
	assign.Warn(ctx, word)
	return assign.Clipped(ctx, col.Type, v, out)
}

func (m *rowMap) convertEnum(ctx *sql.Context, was, is sql.EnumType, v any, name string, at uint64) (any, error) {
	n, ok := v.(uint16)
	if !ok || n == 0 { // 0 is what stands for a value that was none
		return v, nil
	}
	if text, ok := was.At(int(n)); ok {
		if i := is.IndexOf(text); i > 0 {
			return uint16(i), nil
		}
	}
	err := sqlerr.New(sqlerr.DataTruncated, "Data truncated for column '%s' at row %d", name, at)
	if !m.lenient {
		return nil, err
	}
	assign.Warn(ctx, err)
	return uint16(0), nil
}

// sameKeys reports whether rows have the same keys in both forms of a table, byte by byte.
func sameKeys(from, to *Table) bool {
	if from.primary == nil || to.primary == nil {
		return from.primary == nil && to.primary == nil
	}
	return from.desc.PadSpace == to.desc.PadSpace &&
		slices.EqualFunc(from.desc.PrimaryKey, to.desc.PrimaryKey, func(a, b catalog.IndexColumn) bool {
			i, j := from.desc.ColumnByID(a.Column), to.desc.ColumnByID(b.Column)
			return a.Column == b.Column && a.PrefixLength == b.PrefixLength && i >= 0 && j >= 0 &&
				from.desc.Columns[i].Generated == to.desc.Columns[j].Generated &&
				sameStorage(from.pk.Schema[from.ordinal(from.desc.Columns[i].Name)].Type, to.pk.Schema[to.ordinal(to.desc.Columns[j].Name)].Type)
		})
}
