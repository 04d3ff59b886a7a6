package loaddata

import (
	"cmp"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/sqlerr"
	"moka/sqlfront/textfile"
)

// Rows delivers records as the library's reader does: their texts, in the order of the INSERT's columns.
type Rows struct {
	schema  sql.Schema
	columns []int // of the INSERT
	fields  []destination
	set     []item
	records *textfile.Records
	before  uint64 // records before these
	i       int
	lenient bool // records may be too short or too long
	reader  *textfile.Reader
	skip    int64
	file    io.Closer
}

// item is one of SET.
type item struct {
	at, order int // in the row that is returned, and in SET
	value     sql.Expression
}

// New returns the rows of a statement; lenient if its records may be too short or too long. They come from
// Read or Take.
func New(n *plan.LoadData, lenient bool) (*Rows, error) {
	r := &Rows{schema: n.DestSch, lenient: lenient}
	columns, listed, err := inserted(n)
	if err != nil {
		return nil, err
	}
	r.columns = columns
	if r.fields, err = destinations(n, listed); err != nil {
		return nil, err
	}
	for i, e := range n.SetExprs {
		if e == nil {
			continue
		}
		at := slices.Index(columns, i)
		if at < 0 {
			return nil, sqlerr.New(sqlerr.BadField, "Unknown column '%s' in 'field list'", n.DestSch[i].Name)
		}
		it := item{at: at, value: e}
		if a, ok := e.(*assignment); ok {
			it.order, it.value = a.order, a.Child
		}
		if w, ok := it.value.(*expression.Wrapper); ok {
			it.value = w.Unwrap()
		}
		if d, ok := it.value.(*expression.DefaultColumn); ok {
			if name := d.String(); name != "" { // DEFAULT(column)
				i = n.DestSch.IndexOfColName(name)
			}
			if it.value, err = r.defaultOf(i); err != nil {
				return nil, err
			}
		}
		r.set = append(r.set, it)
	}
	if err := r.rest(); err != nil {
		return nil, err
	}
	slices.SortFunc(r.set, func(a, b item) int { return cmp.Compare(a.order, b.order) })
	return r, nil
}

// defaultOf is the default of column i.
func (r *Rows) defaultOf(i int) (sql.Expression, error) {
	if i < 0 {
		return nil, sqlerr.New(sqlerr.BadField, "Unknown column in 'field list'")
	}
	c := r.schema[i]
	switch {
	case c.Default != nil:
		return c.Default, nil
	case c.Nullable || c.AutoIncrement || c.Generated != nil:
		return expression.NewLiteral(nil, types.Null), nil
	case r.lenient:
		return expression.NewLiteral(c.Type.Zero(), c.Type), nil
	}
	return nil, sqlerr.New(sqlerr.NoDefaultForField, "Field '%s' doesn't have a default value", c.Name)
}

// rest has the columns of the INSERT that no field and no item of SET gives a value to get their defaults.
func (r *Rows) rest() error {
	for at, i := range r.columns {
		if slices.ContainsFunc(r.fields, func(d destination) bool { return d.at == at }) ||
			slices.ContainsFunc(r.set, func(s item) bool { return s.at == at }) {
			continue
		}
		value, err := r.defaultOf(i)
		if err != nil {
			return err
		}
		r.set = append(r.set, item{at: at, order: -1, value: value})
	}
	return nil
}

// Read has the records come from a file, which Close closes; the first skip lines are passed over.
func (r *Rows) Read(reader *textfile.Reader, skip int64, file io.Closer) *Rows {
	r.records, r.reader, r.skip, r.file = &textfile.Records{}, reader, skip, file
	return r
}

// Take has the rows come from records that were read, behind so many others.
func (r *Rows) Take(records *textfile.Records, before uint64) *Rows {
	r.records, r.before = records, before
	return r
}

// Next implements sql.RowIter.
func (r *Rows) Next(ctx *sql.Context) (sql.Row, error) {
	if r.reader != nil {
		if err := r.reader.Skip(r.skip); err != nil {
			return nil, err
		}
		r.before += uint64(len(r.records.Ends))
		r.records.Reset()
		r.i, r.skip = 0, 0
		if _, err := r.reader.Next(r.records); err != nil {
			return nil, err
		}
	}
	if r.i >= len(r.records.Ends) {
		return nil, io.EOF
	}
	fields := r.records.Record(r.i)
	r.i++
	if err := r.complain(ctx, len(fields)); err != nil {
		return nil, err
	}
	row, err := r.row(ctx, fields)
	if err == nil && len(r.set) > 0 {
		err = r.assign(ctx, row)
	}
	return row, err
}

// row puts the fields where they go.
func (r *Rows) row(ctx *sql.Context, fields []textfile.Field) (sql.Row, error) {
	row := make(sql.Row, len(r.columns))
	var late []int
	for i, to := range r.fields {
		var text any
		if i < len(fields) && !fields[i].Null {
			text = string(r.records.Text[fields[i].Start:fields[i].End])
		}
		if to.at < 0 {
			if err := ctx.SetUserVariable(ctx, to.variable, text, types.LongText); err != nil {
				return nil, err
			}
			continue
		}
		c := r.schema[r.columns[to.at]]
		switch {
		case i < len(fields):
			row[to.at] = text
		case !c.Nullable && !c.AutoIncrement:
			row[to.at] = c.Type.Zero()
		case c.Default != nil && c.Default.IsLiteral():
			v, err := c.Default.Eval(ctx, row)
			if err != nil {
				return nil, err
			}
			row[to.at] = v
		case c.Default != nil:
			late = append(late, to.at)
		}
	}
	if len(late) == 0 {
		return row, nil
	}
	whole, err := r.whole(ctx, row)
	for _, at := range late { // they may refer to the others
		if err == nil {
			row[at], err = r.schema[r.columns[at]].Default.Eval(ctx, whole)
		}
	}
	return row, err
}

// whole is the row of the table, in which each value has its column's type. A text that is none is left as it
// is, and the INSERT has its say.
func (r *Rows) whole(ctx *sql.Context, row sql.Row) (sql.Row, error) {
	whole := make(sql.Row, len(r.schema))
	for i, c := range r.schema {
		if c.Default != nil && c.Default.IsLiteral() && !slices.Contains(r.columns, i) {
			v, err := c.Default.Eval(ctx, nil)
			if err != nil {
				return nil, err
			}
			whole[i] = v
		}
	}
	for at := range row {
		r.give(ctx, whole, at, row[at])
	}
	return whole, nil
}

func (r *Rows) give(ctx *sql.Context, whole sql.Row, at int, v any) {
	i := r.columns[at]
	if whole[i] = v; v == nil {
		return
	}
	if v, in, err := r.schema[i].Type.Convert(ctx, v); err == nil && in == sql.InRange {
		whole[i] = v
	}
}

// assign does what SET says.
func (r *Rows) assign(ctx *sql.Context, row sql.Row) error {
	whole, err := r.whole(ctx, row)
	if err != nil {
		return err
	}
	for _, s := range r.set {
		if row[s.at], err = s.value.Eval(ctx, whole); err != nil {
			return err
		}
		r.give(ctx, whole, s.at, row[s.at])
	}
	return nil
}

// complain says what is wrong with the number of a record's fields.
func (r *Rows) complain(ctx *sql.Context, fields int) error {
	at := r.before + uint64(r.i)
	say := func(code int, text string) error {
		if !r.lenient {
			return sqlerr.New(code, text, at)
		}
		ctx.Warn(code, text, at)
		return nil
	}
	if fields > len(r.fields) {
		return say(sqlerr.TooManyFields,
			"Row %d was truncated; it contained more data than there were input columns")
	}
	for i := fields; i < len(r.fields); i++ {
		if err := say(sqlerr.TooFewFields, "Row %d doesn't contain data for all columns"); err != nil {
			return err
		}
	}
	return nil
}

// Close implements sql.RowIter.
func (r *Rows) Close(*sql.Context) error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
