package operator

import (
	"context"
	"io"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/collate"
	"moka/sqlfront/expr"
	"moka/sqlfront/sqlerr"
)

// Joins by a hash table. The right side is read into a table by the values that are compared, the left side
// goes by it. If the right side is more than the statement may keep (spillsAt), both are cut into partitions
// on disk by a hash of those values, and each pair of partitions is joined by itself; one that is still too
// large is cut again, and one that cannot be cut, since most of it has the same value, is joined a piece at a
// time, with a note for each left row of what the pieces before have said.
//
//	right ──▶ table ──(too much)──▶ r0 r1 … r15                 left ──▶ l0 l1 … l15
//	                                 │                                    │
//	                                 └── table ◀── rows of l0 ask ────────┘   then r1, l1 …
//
// NOT IN is another matter (excludes): a NULL on either side is neither in nor not in. Right rows with a NULL
// stay in memory, as every left row has to look at them; left rows with a NULL look at all right rows.
//
// The library's own hash join keeps everything in memory, takes texts for different that are equal
// under their collation if there is more than one pair of values, and looks at some rows of its table,
// instead of these, for NOT IN.

const (
	joinParts  = 16
	joinLevels = 4 // of partitions of partitions
)

// hashJoin is the iterator of a JoinNode over a HashLookup.
type hashJoin struct {
	pool          *Pool
	n             *plan.JoinNode
	keys          *plan.HashLookup
	types         []sql.Type // in which the values are compared
	lefts, rights []sql.Expression
	// the join is run more than once, and its table is kept in the plan
	again  bool
	build  func(ctx *sql.Context) (sql.RowIter, error) // of the right side
	left   sql.RowIter
	charge *Charge
	own    Meter

	scope, parents, leftLen, rightLen int
	outer                             sql.Row // parents, then the left row
	full                              sql.Row // and the right row

	table   joinTable
	read    int // right rows
	ready   bool
	pairs   []*joinPair // on disk, yet to be joined; the last is next
	current *joinPair   // being joined; nil while the left side is read directly
	next    func() (probe, error)

	asking  bool
	asked   probe
	matches []sql.Row // right rows to look at for the left row
	all     bool      // then all of the table, too
	verdict verdict
}

// probe is a left row.
type probe struct {
	key  uint64
	row  sql.Row // as the left side gave it
	null bool    // of values that are compared, if the join excludes NULLs
	at   int     // its place in its partition
}

// verdict is what the right rows have said of a left row so far.
type verdict uint8

const (
	unmatched verdict = iota
	matched
	rejected // by a NULL
)

// joinTable is the right side, or a part of it.
type joinTable struct {
	rows  map[uint64][]sql.Row
	nulls []sql.Row // those with a NULL, if the join excludes NULLs
	size  int64
}

// joinPair is a partition of both sides.
type joinPair struct {
	right, left *run
	level       int
	whole       bool // each left row looks at each right row
	read        func() (sql.Row, error)
	seen        []verdict // by left rows, if the right side is read a piece at a time
	pieces      bool
	last        bool // the right side has been read to the end
}

func (p *joinPair) close() {
	if p == nil {
		return
	}
	p.right.close()
	p.left.close()
}

type hashChildKey struct{}

// keptTable is a table as it is kept in the plan, among what would be the library's: by keys that the
// library has no use for.
type keptTable struct{ joinTable }

// buildHashJoin builds a join by a hash table; nil if it is another join.
func (b *Builder) buildHashJoin(ctx *sql.Context, n *plan.JoinNode, row sql.Row) (sql.RowIter, error) {
	keys, ok := n.Right().(*plan.HashLookup)
	if !ok || !n.Op.IsHash() || n.Op.IsCross() {
		return nil, nil
	}
	types, ok := comparedTypes(ctx, keys)
	if !ok {
		return nil, nil
	}
	root, _ := ctx.Value(hashChildKey{}).(sql.Node)
	left, err := b.Base.Build(ctx, n.Left(), row)
	if err != nil {
		return nil, err
	}
	j := &hashJoin{
		pool: b.Pool, n: n, keys: keys, types: types, lefts: parts(keys.LeftProbeKey),
		rights: parts(keys.RightEntryKey), again: len(row) > 0 && !runsOnce(root, n), left: left,
		charge: b.Pool.Charge(ctx, "hash join", sqlerr.CapacityExceeded), own: meterOf(ctx),
		scope: n.ScopeLen, parents: len(row), leftLen: len(n.Left().Schema(ctx)),
		rightLen: len(keys.Child.Schema(ctx)),
	}
	j.outer = make(sql.Row, j.parents+j.leftLen)
	copy(j.outer, row)
	j.full = make(sql.Row, j.parents+j.leftLen+j.rightLen)
	copy(j.full, row)
	at := make(sql.Row, len(j.outer))
	copy(at, row)
	j.build = func(ctx *sql.Context) (sql.RowIter, error) {
		return b.Base.Build(ctx.WithContext(context.WithValue(ctx, hashChildKey{}, keys.Child)),
			keys.Child, at)
	}
	return j, nil
}

// parts are the values of a key, rows spelled out.
func parts(e sql.Expression) (out []sql.Expression) {
	t, ok := e.(expression.Tuple)
	if !ok {
		return []sql.Expression{e}
	}
	for _, p := range t {
		out = append(out, parts(p)...)
	}
	return out
}

// comparedTypes are the types in which the pairs of values are compared.
func comparedTypes(ctx *sql.Context, keys *plan.HashLookup) ([]sql.Type, bool) {
	left, right := parts(keys.LeftProbeKey), parts(keys.RightEntryKey)
	if len(left) != len(right) {
		return nil, false
	}
	out := make([]sql.Type, len(left))
	for i := range left {
		l, r := left[i].Type(ctx), right[i].Type(ctx)
		if types.IsTuple(l) || types.IsTuple(r) {
			return nil, false
		}
		out[i] = types.GetCompareType(l, r)
		if types.IsTextOnly(out[i]) {
			out[i] = collate.ComparedAs(ctx, out[i], left[i], right[i])
		}
	}
	return out, true
}

// key hashes the values of a row that are compared; null says that one is NULL. As with any hash, the join's
// condition has the last word.
func (j *hashJoin) key(ctx *sql.Context, parts []sql.Expression, row sql.Row) (key uint64, null bool,
	err error) {
	for i, p := range parts {
		v, err := p.Eval(ctx, row)
		if err != nil {
			return 0, false, err
		}
		h := uint64(0)
		if collation, pads := collate.Pads(j.types[i]); v != nil && pads {
			weight, err := expr.WeightOf(ctx, collation, v)
			if err != nil {
				return 0, false, err
			}
			if h, _, err = hash.HashOfSimple(ctx, weight, types.LongBlob); err != nil {
				return 0, false, err
			}
		} else if v != nil {
			if v, _, err = expr.Convert(ctx, j.types[i], v); err != nil &&
				!sql.ErrTruncatedIncorrect.Is(err) && !types.ErrValueNotNil.Is(err) {
				return 0, false, err
			}
			if h, _, err = hash.HashOfSimple(ctx, v, j.types[i]); err != nil {
				return 0, false, err
			}
		} else {
			null = true
		}
		key = (key^h)*0xFF51AFD7ED558CCD + uint64(i)
		key ^= key >> 32
	}
	return key, null, nil
}

// runsOnce reports whether n is run once when root is, which is the right side of a hash join.
func runsOnce(root, n sql.Node) bool {
	if root == n {
		return true
	}
	switch r := root.(type) {
	case *plan.Project:
		return runsOnce(r.Child, n)
	case *plan.Filter:
		return runsOnce(r.Child, n)
	case *plan.JoinNode:
		if keys, ok := r.Right().(*plan.HashLookup); ok && r.Op.IsHash() && runsOnce(keys.Child, n) {
			return true
		}
		return runsOnce(r.Left(), n)
	}
	return false
}

// excludes reports whether a NULL decides: NOT IN.
func (j *hashJoin) excludes() bool { return j.n.Op.IsExcludeNulls() }

// Next implements sql.RowIter.
func (j *hashJoin) Next(ctx *sql.Context) (sql.Row, error) {
	if !j.ready {
		if err := j.start(ctx); err != nil {
			return nil, err
		}
		j.ready = true
	}
	for {
		if ctx.Err() != nil { // both sides may be in memory
			return nil, context.Cause(ctx)
		}
		if !j.asking {
			p, err := j.next()
			if err == io.EOF {
				if err = j.advance(ctx); err != nil {
					return nil, err
				}
				continue
			}
			if err != nil {
				return nil, err
			}
			if err := j.ask(ctx, p); err != nil {
				return nil, err
			}
		}
		row, err := j.answer(ctx)
		if row != nil || err != nil {
			return row, err
		}
	}
}

// start reads the right side.
func (j *hashJoin) start(ctx *sql.Context) error {
	began := time.Now()
	if kept := j.kept(); kept != nil {
		j.table = kept.joinTable
		j.readLeft(ctx)
		return nil
	}
	it, err := j.build(ctx)
	if err != nil {
		return err
	}
	parts, err := j.readRight(ctx, it)
	if closing := it.Close(ctx); err == nil {
		err = closing
	}
	if err != nil {
		closeRuns(parts)
		return err
	}
	if j.own != nil {
		j.own.Built(j.keys, j.read, time.Since(began))
	}
	if parts != nil {
		return j.spillLeft(ctx, parts)
	}
	if j.again {
		j.keys.Lookup = &map[any][]sql.Row{"": {{&keptTable{j.table}}}}
	}
	j.readLeft(ctx)
	return nil
}

// kept is the table of an earlier run, nil if there was none.
func (j *hashJoin) kept() *keptTable {
	if j.keys.Lookup == nil {
		return nil
	}
	if rows := (*j.keys.Lookup)[""]; len(rows) == 1 && len(rows[0]) == 1 {
		k, _ := rows[0][0].(*keptTable)
		return k
	}
	return nil
}

// readLeft joins the left side row by row, as it comes.
func (j *hashJoin) readLeft(ctx *sql.Context) {
	j.next = func() (probe, error) {
		row, err := j.left.Next(ctx)
		if err != nil {
			return probe{}, err
		}
		return j.probe(ctx, row)
	}
}

// readRight reads the right side into the table, or, if it is too much, into partitions.
func (j *hashJoin) readRight(ctx *sql.Context, it sql.RowIter) (parts []*run, err error) {
	most := j.pool.spillsAt(j.charge)
	j.table.rows = map[uint64][]sql.Row{}
	kept := j.again // or a row cannot be put on disk
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			return parts, finishRuns(parts)
		}
		if err != nil {
			return parts, err
		}
		j.read++
		key, null, err := j.key(ctx, j.rights, row)
		switch {
		case err != nil:
		case null && j.excludes():
			j.table.nulls = append(j.table.nulls, row)
			err = j.charge.Add(RowBytes(row) + 24)
		case parts != nil:
			err = j.spill(ctx, parts, 0, key, row)
		default:
			err = j.keep(key, row)
			if kept = kept || !spillable(row); err == nil && j.table.size >= most && !kept {
				parts, err = j.spillTable(ctx)
			}
		}
		if err != nil {
			return parts, err
		}
	}
}

// keep puts a right row into the table.
func (j *hashJoin) keep(key uint64, row sql.Row) error {
	n := RowBytes(row) + 48
	j.table.size += n
	j.table.rows[key] = append(j.table.rows[key], row)
	return j.charge.Add(n)
}

// probe makes a left row one.
func (j *hashJoin) probe(ctx *sql.Context, row sql.Row) (p probe, err error) {
	p.row = row
	copy(j.outer[j.parents:], row[len(row)-j.leftLen:])
	p.key, p.null, err = j.key(ctx, j.lefts, j.outer)
	p.null = p.null && j.excludes()
	return p, err
}

// ask begins with a left row.
func (j *hashJoin) ask(ctx *sql.Context, p probe) error {
	j.asked, j.asking = p, true
	left := p.row[len(p.row)-j.leftLen:]
	copy(j.outer[j.parents:], left)
	copy(j.full[j.parents:], left)
	j.verdict = unmatched
	if c := j.current; c != nil && c.seen != nil {
		j.verdict = c.seen[p.at]
	}
	if p.null {
		j.matches = nil
		for _, rows := range j.table.rows {
			j.matches = append(j.matches, rows...)
		}
	} else {
		j.matches = j.table.rows[p.key]
	}
	if len(j.table.nulls) > 0 {
		j.matches = append(j.matches[:len(j.matches):len(j.matches)], j.table.nulls...)
	}
	return nil
}

// answer looks at right rows until one makes a row of the result; nil if there is none.
func (j *hashJoin) answer(ctx *sql.Context) (sql.Row, error) {
	op := j.n.Op
	for len(j.matches) > 0 && j.verdict != rejected && !(op.IsPartial() && j.verdict == matched) {
		right := j.matches[0]
		j.matches = j.matches[1:]
		copy(j.full[j.parents+j.leftLen:], right[len(right)-j.rightLen:])
		v, err := sql.EvaluateCondition(ctx, j.n.Filter, j.full)
		if err != nil {
			return nil, err
		}
		switch {
		case v == nil && j.excludes():
			j.verdict = rejected
		case sql.IsTrue(v):
			j.verdict = matched
			if !op.IsPartial() {
				return j.row(j.leftLen + j.rightLen), nil
			}
		}
	}
	j.asking, j.matches = false, nil
	before := unmatched
	if c := j.current; c != nil && c.seen != nil {
		before = c.seen[j.asked.at]
		c.seen[j.asked.at] = j.verdict
		if op.IsSemi() && j.verdict == matched && before == unmatched {
			return j.row(j.leftLen), nil
		}
		if !c.last || op.IsSemi() {
			return nil, nil // what follows may say something else
		}
	}
	switch {
	case op.IsSemi() && j.verdict == matched, op.IsAnti() && j.verdict == unmatched:
		return j.row(j.leftLen), nil
	case op.IsLeftOuter() && j.verdict == unmatched:
		clear(j.full[j.parents+j.leftLen:])
		return j.row(j.leftLen + j.rightLen), nil
	}
	return nil, nil
}

// row is the result so far: what is of the outer query, and columns behind the parents.
func (j *hashJoin) row(n int) sql.Row {
	out := make(sql.Row, j.scope+n)
	copy(out, j.full[:j.scope])
	copy(out[j.scope:], j.full[j.parents:j.parents+n])
	return out
}

// Close implements sql.RowIter.
func (j *hashJoin) Close(ctx *sql.Context) error {
	for _, p := range j.pairs {
		p.close()
	}
	if j.current != nil {
		j.current.close()
	}
	j.pairs, j.current, j.table = nil, nil, joinTable{}
	if !j.again {
		j.charge.Release()
	}
	return j.left.Close(ctx)
}
