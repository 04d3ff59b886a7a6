package gms

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/jsontext"
	"moka/sqlfront/sqlerr"
)

// JSONTableRows are the rows of JSON_TABLE. The library follows paths of a language of its own, of which
// MySQL has a part: $[0] of null ended the statement, $[last] and $**.a found nothing or panicked, what is
// no path was nothing, $ of an array was its elements, and a NESTED PATH that finds nothing was a row beside
// those of its neighbours.
func JSONTableRows(ctx *sql.Context, t *plan.JSONTable, row sql.Row) (sql.RowIter, error) {
	root, err := jsonTableLevel(ctx, t.TableName, t.RootPath, t.Cols, row)
	if err != nil {
		return nil, err
	}
	document := &jsontext.Parsing{Expression: t.DataExpr, By: t}
	v, ok, err := documentOf(ctx, document, row)
	if err != nil {
		return nil, err
	}
	if !ok {
		if v, err := document.Eval(ctx, row); v == nil || err != nil {
			return sql.RowsToRowIter(), err
		}
		return nil, sqlerr.New(sqlerr.InvalidJSONText,
			"Invalid JSON text in argument 1 to function json_table")
	}
	if root.values, err = root.path.Find(ctx, v); err != nil {
		return nil, err
	}
	return &jsonTableRows{root}, nil
}

// jsonLevel is the columns of one path, and how far its rows are.
type jsonLevel struct {
	path    *jsontext.Path
	columns []jsonColumn
	width   int
	values  []any // that the path has found
	at      int   // the value whose row is next
	begun   bool  // the path has looked in the present value of the level above
	given   bool  // the value has given a row
}

// jsonColumn is a column, or those of a NESTED PATH.
type jsonColumn struct {
	level            *jsonLevel
	path             *jsontext.Path
	opts             *plan.JSONTableColOpts
	table            string
	onEmpty, onError any
}

func jsonTableLevel(ctx *sql.Context, table, path string, cols []plan.JSONTableCol, row sql.Row) (*jsonLevel,
	error) {
	p, err := tablePath(path)
	if err != nil {
		return nil, err
	}
	l := &jsonLevel{path: p}
	for _, c := range cols {
		if c.Opts == nil {
			nested, err := jsonTableLevel(ctx, table, c.Path, c.NestedCols, row)
			if err != nil {
				return nil, err
			}
			l.columns, l.width = append(l.columns, jsonColumn{level: nested}), l.width+nested.width
			continue
		}
		column := jsonColumn{opts: c.Opts, table: table}
		if !c.Opts.ForOrd {
			if column.path, err = tablePath(c.Path); err != nil {
				return nil, err
			}
		}
		if column.onEmpty, err = c.Opts.DefEmptyVal.Eval(ctx, row); err != nil {
			return nil, err
		}
		if column.onError, err = c.Opts.DefErrorVal.Eval(ctx, row); err != nil {
			return nil, err
		}
		l.columns, l.width = append(l.columns, column), l.width+1
	}
	return l, nil
}

func tablePath(text string) (*jsontext.Path, error) {
	p, err := jsontext.ParsePath(text)
	if bad := jsontext.PathError(0); errors.As(err, &bad) {
		return nil, sqlerr.New(sqlerr.InvalidJSONPath, "%s", bad.Error())
	}
	return p, err
}

type jsonTableRows struct{ root *jsonLevel }

// Close implements sql.RowIter.
func (*jsonTableRows) Close(*sql.Context) error { return nil }

// Next implements sql.RowIter.
func (r *jsonTableRows) Next(ctx *sql.Context) (sql.Row, error) {
	row := make(sql.Row, r.root.width)
	more, err := r.root.next(ctx, row)
	if err == nil && !more {
		err = io.EOF
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}

// begin makes the level's path look in a value of the one above, if it has not.
func (l *jsonLevel) begin(ctx *sql.Context, in any) (err error) {
	if !l.begun {
		l.values, err = l.path.Find(ctx, in)
		l.begun, l.at, l.given = true, 0, false
	}
	return err
}

// next fills in a row, unless there is none left. The NESTED PATHs of a value give their rows one after
// another, with NULL for those of the others; if none of them finds anything, the value has a row of its own.
func (l *jsonLevel) next(ctx *sql.Context, row sql.Row) (bool, error) {
	for l.at < len(l.values) {
		value, from := l.values[l.at], 0
		for i := range l.columns {
			nested := l.columns[i].level
			if nested == nil {
				from++
				continue
			}
			if err := nested.begin(ctx, value); err != nil {
				return false, err
			}
			more, err := nested.next(ctx, row[from:from+nested.width])
			if err != nil {
				return false, err
			}
			if more {
				l.given = true
				return true, l.fill(ctx, value, row)
			}
			from += nested.width
		}
		if !l.given {
			l.given = true
			return true, l.fill(ctx, value, row)
		}
		l.at, l.given = l.at+1, false
		for i := range l.columns {
			if nested := l.columns[i].level; nested != nil {
				nested.begun = false
			}
		}
	}
	return false, nil
}

// fill puts the columns of the level itself into a row.
func (l *jsonLevel) fill(ctx *sql.Context, value any, row sql.Row) error {
	at := 0
	for i := range l.columns {
		c := &l.columns[i]
		if c.level != nil {
			at += c.level.width
			continue
		}
		v, err := c.value(ctx, value, l.at+1)
		if err != nil {
			return err
		}
		row[at] = v
		at++
	}
	return nil
}

func (c *jsonColumn) value(ctx *sql.Context, in any, ordinal int) (any, error) {
	if c.opts.ForOrd {
		return ordinal, nil
	}
	found, err := c.path.Find(ctx, in)
	switch {
	case err != nil:
		return nil, err
	case c.opts.Exists:
		return c.converted(ctx, len(found) > 0)
	case len(found) == 0 && c.opts.ErrorOnEmpty:
		return nil, sqlerr.New(sqlerr.MissingJSONTableValue, "Missing value for JSON_TABLE column '%s'",
			c.opts.Name)
	case len(found) == 0:
		return c.given(ctx, c.onEmpty)
	}
	var v any = found
	if len(found) == 1 {
		v = found[0]
	}
	if types.IsJSON(c.opts.Type) {
		return types.JSONDocument{Val: v}, nil
	}
	switch v := v.(type) {
	case []any, map[string]any:
		if c.opts.ErrorOnError {
			return nil, sqlerr.New(sqlerr.WrongJSONTableValue,
				"Can't store an array or an object in the scalar column '%s' of JSON_TABLE '%s'",
				c.opts.Name, c.table)
		}
		return c.given(ctx, c.onError)
	case bool:
		if types.IsText(c.opts.Type) {
			return c.converted(ctx, map[bool]string{true: "true", false: "false"}[v])
		}
	}
	return c.converted(ctx, v)
}

// given is the value of ON EMPTY or ON ERROR.
func (c *jsonColumn) given(ctx *sql.Context, v any) (any, error) {
	v, _, err := c.opts.Type.Convert(ctx, v)
	if err != nil {
		return nil, sql.ErrInvalidJSONText.New(1, "JSON_TABLE", "Invalid value.")
	}
	return v, nil
}

// converted is a value as one of the column's type; what cannot be one is an error of ON ERROR.
func (c *jsonColumn) converted(ctx *sql.Context, v any) (any, error) {
	out, _, err := c.opts.Type.Convert(ctx, v)
	switch {
	case err == nil:
		return out, nil
	case c.opts.ErrorOnError:
		return nil, sql.ErrInvalidJSONText.New(1, "JSON_TABLE", "Invalid value.")
	}
	return c.given(ctx, c.onError)
}
