package collate

import (
	"io"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/expr"
)

// rangeFrame is a RANGE frame with a distance in one of its bounds: RANGE BETWEEN 2 PRECEDING AND
// CURRENT ROW, RANGE INTERVAL 7 DAY PRECEDING. To the library NULL is within any distance, and
// DESC is no other order.
type rangeFrame struct{ sql.WindowFrame }

// withDistances returns the frame to use in the place of the window's; nil if it has no distance, or is not
// of numbers or moments.
func withDistances(ctx *sql.Context, e sql.WindowAdaptableExpression) sql.WindowFrame {
	w := e.Window()
	f := w.Frame
	if f == nil || !strings.HasPrefix(f.String(), "RANGE") || len(w.OrderBy) != 1 {
		return nil
	}
	if _, done := f.(rangeFrame); done {
		return nil
	}
	t := w.OrderBy[0].Expr.Type(ctx)
	distances := 0
	for _, d := range []sql.Expression{f.StartNPreceding(), f.StartNFollowing(), f.EndNPreceding(),
		f.EndNFollowing()} {
		if d == nil {
			continue
		}
		distances++
		_, interval := d.(*expression.Interval)
		if interval != types.IsTime(t) || !interval && !(types.IsNumber(t) && types.IsNumber(d.Type(ctx))) {
			return nil
		}
	}
	if distances == 0 {
		return nil
	}
	return rangeFrame{f}
}

// NewFramer implements sql.WindowFrame.
func (f rangeFrame) NewFramer(w *sql.WindowDefinition) (sql.WindowFramer, error) {
	return &rangeFramer{frame: f, by: w.OrderBy[0].Expr, down: w.OrderBy[0].Order == sql.Descending}, nil
}

// rangeFramer gives the frame of each row of a partition in turn. Rows are sorted, so both ends of
// the frame only move on.
type rangeFramer struct {
	frame    rangeFrame
	by       sql.Expression
	down     bool
	part     sql.WindowInterval
	known    sql.WindowInterval // rows that are not NULL; those that are, are peers
	keys     []any              // of the partition
	next     int
	from, to int
	last     sql.WindowInterval
}

var _ sql.WindowFramer = (*rangeFramer)(nil)

// NewFramer implements sql.WindowFramer.
func (f *rangeFramer) NewFramer(part sql.WindowInterval) (sql.WindowFramer, error) {
	return &rangeFramer{frame: f.frame, by: f.by, down: f.down, part: part, next: part.Start,
		last: sql.WindowInterval{Start: -1, End: -1}}, nil
}

// Next implements sql.WindowFramer.
func (f *rangeFramer) Next(ctx *sql.Context, rows sql.WindowBuffer) (sql.WindowInterval, error) {
	if f.next >= f.part.End {
		return sql.WindowInterval{}, io.EOF
	}
	if f.keys == nil {
		if err := f.read(ctx, rows); err != nil {
			return sql.WindowInterval{}, err
		}
	}
	at := f.next
	f.next++
	var frame sql.WindowInterval
	if key := f.key(at); key == nil {
		frame = sql.WindowInterval{Start: f.part.Start, End: f.known.Start} // the peers
		if at >= f.known.End {
			frame = sql.WindowInterval{Start: f.known.End, End: f.part.End}
		}
	} else {
		low, err := f.bound(ctx, key, f.frame.StartNPreceding(), f.frame.StartNFollowing())
		if err != nil {
			return sql.WindowInterval{}, err
		}
		high, err := f.bound(ctx, key, f.frame.EndNPreceding(), f.frame.EndNFollowing())
		if err != nil {
			return sql.WindowInterval{}, err
		}
		for f.from < f.known.End && f.before(f.key(f.from), low) {
			f.from++
		}
		for f.to < f.known.End && !f.before(high, f.key(f.to)) {
			f.to++
		}
		frame = sql.WindowInterval{Start: f.from, End: max(f.from, f.to)}
	}
	if f.frame.UnboundedPreceding() {
		frame.Start = f.part.Start
	}
	if f.frame.UnboundedFollowing() {
		frame.End = f.part.End
	}
	f.last = frame
	return frame, nil
}

func (f *rangeFramer) key(at int) any { return f.keys[at-f.part.Start] }

// read computes the keys of the partition, and where NULLs end or begin.
func (f *rangeFramer) read(ctx *sql.Context, rows sql.WindowBuffer) error {
	f.keys = make([]any, f.part.End-f.part.Start)
	f.known = sql.WindowInterval{Start: f.part.End, End: f.part.Start}
	for i := range f.keys {
		v, err := f.by.Eval(ctx, rows[f.part.Start+i])
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		if f.keys[i], err = measured(ctx, v); err != nil {
			return err
		}
		f.known.Start, f.known.End = min(f.known.Start, f.part.Start+i), f.part.Start+i+1
	}
	if f.known.Start > f.known.End {
		f.known = sql.WindowInterval{Start: f.part.End, End: f.part.End}
	}
	f.from, f.to = f.known.Start, f.known.Start
	return nil
}

// measured is a moment, or a number as a DECIMAL.
func measured(ctx *sql.Context, v any) (any, error) {
	if at, ok := v.(time.Time); ok {
		return at, nil
	}
	d, _, err := expr.Convert(ctx, types.InternalDecimalType, v)
	return d, err
}

// before reports whether a comes before b.
func (f *rangeFramer) before(a, b any) bool {
	n := 0
	switch a := a.(type) {
	case time.Time:
		n = a.Compare(b.(time.Time))
	case *apd.Decimal:
		n = a.Cmp(b.(*apd.Decimal))
	}
	if f.down {
		n = -n
	}
	return n < 0
}

// bound is key moved by a distance, if there is one.
func (f *rangeFramer) bound(ctx *sql.Context, key any, preceding, following sql.Expression) (any, error) {
	distance, back := preceding, !f.down
	if distance == nil {
		distance, back = following, f.down
	}
	if distance == nil {
		return key, nil
	}
	if at, ok := key.(time.Time); ok {
		move := function.NewDateAdd
		if back {
			move = function.NewDateSub
		}
		e, err := move(ctx, expression.NewLiteral(at, types.DatetimeMaxPrecision), distance)
		if err != nil {
			return nil, err
		}
		v, err := e.Eval(ctx, nil)
		if err != nil {
			return nil, err
		}
		if v == nil { // beyond the calendar
			if back {
				return time.Time{}, nil
			}
			return time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), nil
		}
		moved, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
		return moved, err
	}
	v, err := distance.Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	by, err := measured(ctx, v)
	if err != nil {
		return nil, err
	}
	out := new(apd.Decimal)
	if back {
		_, err = apd.BaseContext.Sub(out, key.(*apd.Decimal), by.(*apd.Decimal))
	} else {
		_, err = apd.BaseContext.Add(out, key.(*apd.Decimal), by.(*apd.Decimal))
	}
	return out, err
}

// FirstIdx implements sql.WindowFramer.
func (f *rangeFramer) FirstIdx() int { return f.last.Start }

// LastIdx implements sql.WindowFramer.
func (f *rangeFramer) LastIdx() int { return f.last.End }

// Interval implements sql.WindowFramer.
func (f *rangeFramer) Interval() (sql.WindowInterval, error) { return f.last, nil }
