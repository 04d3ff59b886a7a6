package incview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/rowenc"
	"moka/triggers"
	"moka/txn"
)

// Run brings the view up to date with a row of the anchor, in t, which is the transaction of ctx. suffix is
// the row's key behind its table's prefix; ask returns what Query says of it now, nil for nothing. It returns
// triggers.ErrSkip if nothing is to be written.
func (v *View) Run(ctx *sql.Context, t *txn.Txn, suffix []byte, ask func() (sql.Row, error)) error {
	key := compact(suffix, rowBytes)
	stored, err := v.contributions.get(ctx, t, key)
	if err != nil {
		return err
	}
	was, err := v.counted(ctx, key, stored)
	if err != nil {
		return err
	}
	parts, err := ask()
	if err != nil {
		return err
	}
	var is sql.Row
	if parts != nil {
		if is, err = v.contribution(ctx, key, parts); err != nil {
			return err
		}
	}
	if stored == nil && was == nil && is == nil {
		return triggers.ErrSkip
	}
	if was != nil && is != nil {
		if same, err := v.same(ctx, was, is); err != nil || same {
			return errors.Join(err, triggers.ErrSkip)
		}
	}
	if err := v.contributions.write(ctx, stored, is); err != nil {
		return err
	}
	// Groups in the order of their keys: two runs that share two of them meet at the first.
	from, to := groupOf(was), groupOf(is)
	switch order := bytes.Compare(from, to); {
	case was != nil && is != nil && order == 0:
		return v.change(ctx, t, to, was, is)
	case was == nil && is == nil:
		return nil
	case was == nil:
		return v.change(ctx, t, to, nil, is)
	case is == nil:
		return v.change(ctx, t, from, was, nil)
	case order < 0:
		if err := v.change(ctx, t, from, was, nil); err != nil {
			return err
		}
		return v.change(ctx, t, to, nil, is)
	default:
		if err := v.change(ctx, t, to, nil, is); err != nil {
			return err
		}
		return v.change(ctx, t, from, was, nil)
	}
}

func groupOf(contribution sql.Row) []byte {
	if contribution == nil {
		return nil
	}
	return bytesOf(contribution[1])
}

func bytesOf(v any) []byte {
	switch v := v.(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	}
	return nil
}

// errDamaged says that the view is not the sum of its contributions: somebody else has written there.
var errDamaged = fmt.Errorf("%w: the incremental view does not have what its contributions say; CHECK "+
	"INCREMENTAL VIEW tells", triggers.ErrHopeless)

// change takes a contribution away from a group and adds one. The contributions are those that are behind
// the change already.
func (v *View) change(ctx *sql.Context, t *txn.Txn, group []byte, minus, plus sql.Row) error {
	old, err := v.view.get(ctx, t, group)
	if err != nil {
		return err
	}
	if old == nil && minus != nil {
		return errDamaged
	}
	var row sql.Row
	if old == nil {
		row = v.empty(group)
	} else {
		row = append(sql.Row(nil), old...)
	}
	rows := toInt(row[v.rows()]) + has(plus) - has(minus)
	if rows < 0 {
		return errDamaged
	}
	if rows == 0 {
		return v.view.write(ctx, old, nil)
	}
	row[v.rows()] = rows
	for n, i := range v.summed {
		count, err := v.add(ctx, row, n, v.value(minus, i), v.value(plus, i))
		if err != nil {
			return err
		}
		if count < 0 {
			return errDamaged
		}
	}
	if err := v.spell(ctx, t, row, group, old == nil, minus, plus); err != nil {
		return err
	}
	for at, o := range v.Shape.Outputs {
		if row[at], err = v.output(ctx, t, o, row[at], row, group, minus, plus); err != nil {
			return err
		}
	}
	if v.planted.LazyGroups && old != nil && reflect.DeepEqual(old, row) {
		return nil
	}
	// Written even if it is what it was: of two runs that change what the group has, each with an eye on
	// what the other does not see, one must lose.
	return v.view.write(ctx, old, row)
}

func has(contribution sql.Row) int64 {
	if contribution == nil {
		return 0
	}
	return 1
}

// empty is a group without rows.
func (v *View) empty(group []byte) sql.Row {
	row := make(sql.Row, len(v.view.types))
	row[v.key()], row[v.rows()] = group, int64(0)
	for n := range v.summed {
		row[v.count(n)], row[v.sum(n)] = int64(0), new(apd.Decimal)
	}
	for at, o := range v.Shape.Outputs {
		if o.Kind == Distinct {
			row[at] = int64(0)
		}
	}
	return row
}

func toInt(v any) int64 {
	n, _ := rowenc.Int64(v)
	return n
}

// exact is arithmetic that rounds nothing: sums have 65 digits at most.
var exact = apd.BaseContext.WithPrecision(200)

// add changes the n-th count and sum by an argument that goes and one that comes, nil for NULL or none.
func (v *View) add(ctx *sql.Context, row sql.Row, n int, minus, plus any) (count int64, err error) {
	count = toInt(row[v.count(n)])
	sum, ok := row[v.sum(n)].(*apd.Decimal)
	if !ok {
		return 0, fmt.Errorf("incview: a sum is a %T", row[v.sum(n)])
	}
	sum = new(apd.Decimal).Set(sum)
	t := v.view.types[v.sum(n)]
	for _, x := range []struct {
		value any
		by    int64
	}{{minus, -1}, {plus, 1}} {
		if x.value == nil {
			continue
		}
		count += x.by
		if !v.Shape.uses(v.summed[n], Sum, Avg) {
			continue
		}
		d, _, err := t.Convert(ctx, x.value)
		if err != nil {
			return 0, err
		}
		value, ok := d.(*apd.Decimal)
		if !ok {
			return 0, fmt.Errorf("incview: a summand is a %T", d)
		}
		if x.by < 0 {
			_, err = exact.Sub(sum, sum, value)
		} else {
			_, err = exact.Add(sum, sum, value)
		}
		if err != nil {
			return 0, err
		}
	}
	row[v.count(n)], row[v.sum(n)] = count, sum
	return count, nil
}

// spell has the group's columns be those of a row that is in the group: values that are equal under their
// collation may be written in several ways.
func (v *View) spell(ctx *sql.Context, t *txn.Txn, row sql.Row, group []byte, fresh bool,
	minus, plus sql.Row) error {
	of := plus
	if !fresh && !v.spells {
		return nil
	}
	if !fresh && minus != nil {
		shown := true // by the row that goes
		for i := range v.Shape.Groups {
			at, typ := v.Shape.outputOf(i), v.contributions.types[v.group(i)]
			if minus[v.group(i)] == nil || row[at] == nil {
				continue
			}
			same, err := sameBytes(ctx, typ, minus[v.group(i)], row[at])
			if err != nil {
				return err
			}
			shown = shown && same
		}
		if !shown {
			return nil
		}
		if of == nil {
			var err error
			if of, err = v.anyOf(ctx, t, group, minus); err != nil {
				return err
			}
		}
	}
	if of == nil || !fresh && minus == nil {
		return nil
	}
	for at, o := range v.Shape.Outputs {
		if o.Kind == Group {
			row[at] = of[v.group(o.At)]
		}
	}
	return nil
}

// output is the new value of an output.
func (v *View) output(ctx *sql.Context, t *txn.Txn, o Output, was any, row sql.Row, group []byte,
	minus, plus sql.Row) (any, error) {
	switch o.Kind {
	case Group:
		return was, nil
	case CountRows:
		return row[v.rows()], nil
	case Min, Max:
		return v.end(ctx, t, o, was, group, minus, plus)
	case Distinct:
		return v.distinct(ctx, t, o.At, was, group, minus, plus)
	}
	n := 0
	for v.summed[n] != o.At {
		n++
	}
	count := toInt(row[v.count(n)])
	if o.Kind == Count {
		return count, nil
	}
	if count == 0 {
		return nil, nil
	}
	typ := v.view.types[v.outputAt(o)]
	sum := row[v.sum(n)].(*apd.Decimal)
	if o.Kind == Avg {
		average, err := quotient(sum, count, int32(typ.(sql.DecimalType).Scale()))
		if err != nil {
			return nil, err
		}
		sum = average
	}
	value, in, err := typ.Convert(ctx, sum)
	if err == nil && in != sql.InRange {
		err = fmt.Errorf("%w: a sum is out of the range of %s", triggers.ErrHopeless, typ)
	}
	return value, err
}

func (v *View) outputAt(o Output) int {
	for i, other := range v.Shape.Outputs {
		if other == o {
			return i
		}
	}
	return 0
}

// quotient is a sum by a count, rounded once, halves away from zero.
func quotient(sum *apd.Decimal, count int64, scale int32) (*apd.Decimal, error) {
	q := new(apd.Decimal)
	c := exact.WithPrecision(200)
	c.Rounding = apd.RoundDown // and once more below, with the rest in sight
	if _, err := c.Quo(q, sum, apd.New(count, 0)); err != nil {
		return nil, err
	}
	c.Rounding = apd.RoundHalfUp
	_, err := c.Quantize(q, q, -scale)
	return q, err
}

// end is the new MIN or MAX of a group: that of what comes, if it is one; else, if what goes was one, that of
// the contributions.
func (v *View) end(ctx *sql.Context, t *txn.Txn, o Output, was any, group []byte, minus, plus sql.Row) (any,
	error) {
	last := o.Kind == Max
	out, in := v.value(minus, o.At), v.value(plus, o.At)
	beyond := func(a, b any) (bool, error) { // a is as far out as b
		n, err := v.compare(ctx, o.At, a, b)
		return last && n >= 0 || !last && n <= 0, err
	}
	if was == nil {
		return in, nil
	}
	if in != nil {
		if is, err := beyond(in, was); err != nil || is {
			return in, err
		}
	}
	if out == nil {
		return was, nil
	}
	if is, err := beyond(out, was); err != nil || !is {
		return was, err
	}
	if v.planted.Rows != nil {
		rows, err := v.planted.Rows(ctx)
		if err != nil {
			return nil, err
		}
		return v.endOfRows(ctx, rows, o.At, last, group)
	}
	found, err := v.next(ctx, t, o.At, last, group, minus)
	if err != nil || found == nil {
		return nil, err
	}
	return found[v.arg(o.At)], nil
}

func (v *View) value(contribution sql.Row, arg int) any {
	if contribution == nil {
		return nil
	}
	return contribution[v.arg(arg)]
}

func (v *View) compare(ctx context.Context, arg int, a, b any) (int, error) {
	x, err := v.argKeys[arg].Encode(ctx, nil, a)
	if err != nil {
		return 0, err
	}
	y, err := v.argKeys[arg].Encode(ctx, nil, b)
	return bytes.Compare(x, y), err
}

// distinct is the new number of different values of a group.
func (v *View) distinct(ctx *sql.Context, t *txn.Txn, arg int, was any, group []byte, minus,
	plus sql.Row) (any,
	error) {
	n, out, in := toInt(was), v.value(minus, arg), v.value(plus, arg)
	if out != nil && in != nil {
		if c, err := v.compare(ctx, arg, out, in); err != nil || c == 0 {
			return n, err
		}
	}
	if out != nil {
		left, err := v.others(ctx, t, arg, group, out, minus)
		if err != nil {
			return nil, err
		}
		if !left {
			n--
		}
	}
	if in != nil {
		there, err := v.others(ctx, t, arg, group, in, plus)
		if err != nil {
			return nil, err
		}
		if !there {
			n++
		}
	}
	if n < 0 {
		return nil, errDamaged
	}
	return n, nil
}
