package incview

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/rowenc"
	"moka/txn"
)

// total is what a group has, by its rows or by its contributions, as a check adds it up.
type total struct {
	rows int64
	n    []int64
	sums []*apd.Decimal
}

type digest [16]byte

func digestOf(b []byte) (d digest) {
	sum := sha256.Sum256(b)
	copy(d[:], sum[:])
	return d
}

// checkedBytes is about what a check holds of a group.
const checkedBytes = 160

// Checker compares a view with its query and with its contributions, in one snapshot.
type Checker struct {
	View *View
	Txn  *txn.Txn
	// Hold is asked before so many bytes are held; it may refuse.
	Hold func(bytes int64) error
	// Most is how many differences are told.
	Most int

	groups map[digest]digest // of the view: what is selected
	said   []string
}

// Said are the differences that were found, Most at most.
func (c *Checker) Said() []string { return c.said }

func (c *Checker) say(format string, args ...any) {
	if len(c.said) < c.Most {
		c.said = append(c.said, fmt.Sprintf(format, args...))
	}
}

// Sums compares the view with the sum of its contributions. They agree at every moment.
func (c *Checker) Sums(ctx *sql.Context) error {
	v := c.View
	totals := map[digest]*total{}
	err := c.scan(ctx, v.contributions, func(row sql.Row) error {
		group := digestOf(groupOf(row))
		g := totals[group]
		if g == nil {
			if err := c.Hold(checkedBytes * int64(1+len(v.summed))); err != nil {
				return err
			}
			g = v.newTotal()
			totals[group] = g
		}
		g.rows++
		for n, i := range v.summed {
			x := row[v.arg(i)]
			if x == nil {
				continue
			}
			g.n[n]++
			if !v.Shape.uses(i, Sum, Avg) {
				continue
			}
			d, _, err := v.view.types[v.sum(n)].Convert(ctx, x)
			if err != nil {
				return err
			}
			if _, err := exact.Add(g.sums[n], g.sums[n], d.(*apd.Decimal)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.groups = map[digest]digest{}
	err = c.scan(ctx, v.view, func(row sql.Row) error {
		key := digestOf(bytesOf(row[v.key()]))
		if err := c.Hold(checkedBytes); err != nil {
			return err
		}
		shown, err := v.digest(ctx, row[:v.outputs])
		if err != nil {
			return err
		}
		c.groups[key] = shown
		if g := totals[key]; g == nil || !v.equals(g, row) {
			c.say("%s is not the sum of its contributions", v.name(ctx, row))
		}
		delete(totals, key)
		return nil
	})
	if len(totals) > 0 {
		c.say("%d groups have contributions and are not in the view", len(totals))
	}
	return err
}

func (v *View) newTotal() *total {
	t := &total{n: make([]int64, len(v.summed)), sums: make([]*apd.Decimal, len(v.summed))}
	for i := range t.sums {
		t.sums[i] = new(apd.Decimal)
	}
	return t
}

func (v *View) equals(g *total, row sql.Row) bool {
	if g.rows != toInt(row[v.rows()]) {
		return false
	}
	for n := range v.summed {
		sum, ok := row[v.sum(n)].(*apd.Decimal)
		if !ok || g.n[n] != toInt(row[v.count(n)]) || g.sums[n].Cmp(sum) != 0 {
			return false
		}
	}
	return true
}

// scan reads all rows of a store.
func (c *Checker) scan(ctx context.Context, s *store, each func(sql.Row) error) (err error) {
	cells := c.Txn.Scan(ctx, txn.ScanOptions{Span: s.table.Span(), Batch: 1024})
	defer func() { err = errors.Join(err, cells.Close()) }()
	for cells.Next() {
		if col := cells.Column(); col.Family != 0 || len(col.Qualifier) > 0 {
			continue
		}
		row, err := s.table.DecodeRow(cells.Value())
		if err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return cells.Err()
}

// Query compares the view, of which Sums has taken notes, with the rows of its query.
func (c *Checker) Query(ctx *sql.Context, rows sql.RowIter) (err error) {
	v := c.View
	defer func() { err = errors.Join(err, rows.Close(ctx)) }()
	for {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		is := make(sql.Row, v.outputs)
		var group []any
		for i := range is {
			if row[i] != nil {
				if is[i], _, err = v.view.types[i].Convert(ctx, row[i]); err != nil {
					return err
				}
			}
		}
		for i := range v.Shape.Groups {
			group = append(group, is[v.Shape.outputOf(i)])
		}
		key, err := v.groupKey.Encode(ctx, nil, group...)
		if err != nil {
			return err
		}
		at := digestOf(compact(key, keyBytes))
		want, err := v.digest(ctx, is)
		if err != nil {
			return err
		}
		switch has, ok := c.groups[at]; {
		case !ok:
			c.say("%s is missing", v.name(ctx, is))
		case has != want:
			c.say("%s differs: the query has %s", v.name(ctx, is), v.words(ctx, is))
		}
		delete(c.groups, at)
	}
	if len(c.groups) == 0 {
		return nil
	}
	return c.scan(ctx, v.view, func(row sql.Row) error {
		if _, left := c.groups[digestOf(bytesOf(row[v.key()]))]; left {
			c.say("%s is in the view alone", v.name(ctx, row))
		}
		return nil
	})
}

// digest is that of what is selected, by the keys of the values: what a collation takes for equal is equal.
func (v *View) digest(ctx context.Context, outputs sql.Row) (digest, error) {
	var all []byte
	for i, x := range outputs {
		if x == nil {
			all = append(all, 0)
			continue
		}
		key, ok := rowenc.KeyOf(ctx, v.view.types[i], x)
		if !ok {
			return digest{}, fmt.Errorf("incview: %v has no key", x)
		}
		all = append(append(all, 1), key...)
	}
	return digestOf(all), nil
}

// name is a group for people.
func (v *View) name(ctx *sql.Context, row sql.Row) string {
	var parts []string
	for i, o := range v.Shape.Outputs {
		if o.Kind == Group {
			parts = append(parts, v.view.desc.Columns[i].Name+"="+v.word(ctx, i, row[i]))
		}
	}
	return "Group " + strings.Join(parts, ", ")
}

func (v *View) words(ctx *sql.Context, row sql.Row) string {
	var parts []string
	for i, o := range v.Shape.Outputs {
		if o.Kind != Group {
			parts = append(parts, v.view.desc.Columns[i].Name+"="+v.word(ctx, i, row[i]))
		}
	}
	return strings.Join(parts, ", ")
}

func (v *View) word(ctx *sql.Context, i int, x any) string {
	if x == nil {
		return "NULL"
	}
	text, err := v.view.types[i].SQL(ctx, nil, x)
	if err != nil {
		return "?"
	}
	const most = 100
	if s := text.ToString(); len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return text.ToString()
}
