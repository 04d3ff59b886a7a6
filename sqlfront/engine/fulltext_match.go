package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/expr"
	"moka/sqlfront/fulltext"
	"moka/sqlfront/keyrange"
	"moka/sqlfront/operator"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// MATCH … AGAINST. Whether a row matches, and its rank, is computed from the row's own texts; the index tells how many rows have a word, and
// which rows are worth looking at:
//
//	Filter(MATCH (a, b) AGAINST ('+x y')) over t      the entries of x lead to the rows; the Filter stays above
//	MATCH (a, b) AGAINST (…) anywhere else            the rows are those of the rest of the plan
//
// So a join, a GROUP BY or an ORDER BY may do with the expression what they do with any other. df of a word is counted by reading the
// word's entries, once in a statement; N is what the statistics say. A condition needs neither.

// matches reports whether expressions have a MATCH.
func matches(ctx *sql.Context, exprs []sql.Expression) bool {
	found := false
	for _, e := range exprs {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if _, ok := e.(*expr.Match); ok {
				found = true
			}
			return !found
		})
	}
	return found
}

// matched gives the MATCHes of a node their index; nil if there are none.
func (b *execBuilder) matched(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	x, ok := n.(sql.Expressioner)
	if !ok {
		return nil, nil
	}
	exprs := x.Expressions()
	if !unboundMatch(ctx, exprs) {
		return nil, nil
	}
	out := make([]sql.Expression, len(exprs))
	for i, e := range exprs {
		var err error
		if _, filter := n.(*plan.Filter); filter {
			parts := expression.SplitConjunction(ctx, e)
			for j, p := range parts {
				_, truth := p.(*expr.Match)
				if parts[j], err = b.bindMatch(ctx, n, p, truth); err != nil {
					return nil, err
				}
			}
			out[i] = expression.JoinAnd(parts...)
			continue
		}
		if out[i], err = b.bindMatch(ctx, n, e, false); err != nil {
			return nil, err
		}
	}
	return x.WithExpressions(ctx, out...)
}

func unboundMatch(ctx *sql.Context, exprs []sql.Expression) bool {
	found := false
	for _, e := range exprs {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if m, ok := e.(*expr.Match); ok && !m.Bound() {
				found = true
			}
			return !found
		})
	}
	return found
}

func (b *execBuilder) bindMatch(ctx *sql.Context, n sql.Node, e sql.Expression, truth bool) (sql.Expression, error) {
	out, _, err := transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		m, ok := e.(*expr.Match)
		if !ok || m.Bound() {
			return e, transform.SameTree, nil
		}
		x, err := matchIndex(ctx, n, m)
		if err != nil {
			return nil, transform.SameTree, err
		}
		return m.Bind(&matcher{index: x, mode: m.Mode()}, truth), transform.NewTree, nil
	})
	return out, err
}

// matchIndex finds the index of a MATCH in a plan.
func matchIndex(ctx *sql.Context, n sql.Node, m *expr.Match) (*index, error) {
	name := ""
	for i, c := range m.Columns() {
		f, ok := c.(*expression.GetField)
		if !ok || i > 0 && !strings.EqualFold(name, f.Table()) {
			return nil, sqlerr.New(sqlerr.WrongExecuteArguments, "Incorrect arguments to MATCH")
		}
		name = f.Table()
	}
	var t *Table
	transform.Inspect(n, func(n sql.Node) bool {
		if t != nil {
			return false
		}
		switch n := n.(type) {
		case *plan.TableAlias:
			if inner, ok := n.Child.(sql.TableNode); ok && strings.EqualFold(n.Name(), name) {
				t = ownTable(inner.UnderlyingTable())
			}
			return false
		case *plan.ResolvedTable:
			if strings.EqualFold(n.Name(), name) {
				t = ownTable(n.UnderlyingTable())
			}
		case *plan.IndexedTableAccess:
			if strings.EqualFold(n.Name(), name) {
				t = ownTable(n.UnderlyingTable())
			}
			return false
		}
		return true
	})
	if t == nil {
		return nil, sqlerr.Unsupported("MATCH of columns of an outer query or of a derived table")
	}
	if x := t.base().textIndex(m); x != nil {
		return x, nil
	}
	return nil, sql.ErrNoFullTextIndexFound.New(t.desc.Name)
}

// textIndex is the index over the columns of a MATCH, in whatever order; nil if there is none.
func (t *Table) textIndex(m *expr.Match) *index {
	want := map[string]bool{}
	for _, c := range m.Columns() {
		if f, ok := c.(*expression.GetField); ok {
			want[strings.ToLower(f.Name())] = true
		}
	}
	for _, x := range t.texts {
		if x.state != catalog.StatePublic || len(x.cols) != len(want) || len(m.Columns()) != len(want) {
			continue
		}
		if !slices.ContainsFunc(x.cols, func(c int) bool { return !want[strings.ToLower(t.pk.Schema[c].Name)] }) {
			return x
		}
	}
	return nil
}

// matcher is the expr.Scorer of one MATCH in one plan that runs.
type matcher struct {
	index   *index
	mode    fulltext.Mode
	against string
	query   *fulltext.Query // for against
	idf     []float64       // nil as long as nobody has asked
}

// expandedRows and expandedWords bound WITH QUERY EXPANSION: the words of how many rows are taken, and how many words. The first is MyISAM's
// ft_query_expansion_limit.
const expandedRows, expandedWords = 20, 512

// Score implements expr.Scorer.
func (m *matcher) Score(ctx *sql.Context, texts []string, against string, truth bool) (float64, error) {
	if err := m.read(ctx, against); err != nil {
		return 0, err
	}
	c, err := m.query.Count(texts)
	if err != nil {
		return 0, err
	}
	if truth {
		if m.query.Matches(c) {
			return 1, nil
		}
		return 0, nil
	}
	if m.idf == nil {
		if m.idf, err = m.rarity(ctx, m.query); err != nil {
			return 0, err
		}
	}
	return m.query.Rank(c, m.idf), nil
}

// read makes the query of a text.
func (m *matcher) read(ctx *sql.Context, against string) error {
	if m.query != nil && m.against == against {
		return nil
	}
	q, err := fulltext.Parse(m.index.words, against, m.mode)
	if err != nil {
		var syntax *fulltext.SyntaxError
		if errors.As(err, &syntax) {
			return sqlerr.New(sqlerr.SyntaxError, "%s", syntax.Error())
		}
		return err
	}
	if m.mode == fulltext.Expansion {
		if err := m.expand(ctx, q); err != nil {
			return err
		}
	}
	m.query, m.against, m.idf = q, against, nil
	return nil
}

// wordCount names a count: of the entries of an index that begin with a key, in a state of the transaction.
type wordCount struct {
	index  uint32
	table  uint32
	key    string
	prefix bool
	store  *txn.Txn
	at     [2]int64
}

// rarity is the idf of the terms of a query.
func (m *matcher) rarity(ctx *sql.Context, q *fulltext.Query) ([]float64, error) {
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	total, _, err := m.index.table.RowCount(ctx)
	if err != nil {
		return nil, err
	}
	df := make([]uint64, len(q.Terms))
	for i, t := range q.Terms {
		if df[i], err = m.index.count(ctx, tx, t); err != nil {
			return nil, err
		}
		total = max(total, df[i])
	}
	idf := make([]float64, len(df))
	for i := range df {
		idf[i] = fulltext.Rare(total, df[i])
	}
	return idf, nil
}

// count is how many rows have a term.
func (x *index) count(ctx *sql.Context, tx *Tx, t fulltext.Term) (n uint64, err error) {
	held, dirty := tx.store().Size()
	id := wordCount{x.num, x.table.desc.ID, string(t.Key), t.Prefix, tx.store(), [2]int64{held, int64(dirty)}}
	if n, ok := tx.counts[id]; ok {
		return n, nil
	}
	d, err := x.term(ctx, tx, t)
	if err != nil {
		return 0, err
	}
	defer d.close()
	for {
		_, ok, err := d.next(ctx)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		n++
	}
	if len(tx.counts) > maxCounts {
		clear(tx.counts)
	}
	if tx.counts == nil {
		tx.counts = map[wordCount]uint64{}
	}
	tx.counts[id] = n
	return n, nil
}

// maxCounts bounds what a transaction remembers.
const maxCounts = 4096

// docs delivers the keys of rows behind their prefix, in order, each once.
type docs interface {
	next(ctx *sql.Context) (pk []byte, ok bool, err error)
	close()
}

// docs are the rows that may answer a query.
func (x *index) docs(ctx *sql.Context, tx *Tx, q *fulltext.Query, d *fulltext.Docs) (docs, error) {
	if d == nil {
		return &listDocs{}, nil
	}
	if d.Term >= 0 && len(d.Parts) == 0 {
		return x.term(ctx, tx, q.Terms[d.Term])
	}
	m := &mergeDocs{all: d.All}
	for _, part := range d.Parts {
		p, err := x.docs(ctx, tx, q, part)
		if err != nil {
			m.close()
			return nil, err
		}
		m.parts = append(m.parts, p)
	}
	return m, nil
}

// term are the rows with one term. Those of a word lie in the order of the rows; those of all words with a beginning are collected.
func (x *index) term(ctx *sql.Context, tx *Tx, t fulltext.Term) (docs, error) {
	start := keyrange.Concat(x.prefix, t.Key)
	e := &entryIter{
		tx: tx, table: x.table, index: x, batch: firstBatch, at: tx.readAt(), measure: measureOf(ctx),
		spans: []rowenc.Span{{Start: start, End: prefixEnd(start)}},
	}
	tx.look(e)
	w := &wordDocs{entries: e}
	if !t.Prefix {
		return w, nil
	}
	defer w.close()
	list := &listDocs{charge: x.table.eng.memory.Charge(ctx, "MATCH … AGAINST", sqlerr.CapacityExceeded)}
	for {
		pk, ok, err := w.next(ctx)
		if err == nil && ok {
			err = list.charge.Add(int64(32 + len(pk)))
		}
		if err != nil {
			list.close()
			return nil, err
		}
		if !ok {
			break
		}
		list.pks = append(list.pks, pk)
	}
	slices.SortFunc(list.pks, bytes.Compare)
	list.pks = slices.CompactFunc(list.pks, bytes.Equal)
	return list, nil
}

// prefixEnd is the first key behind those that begin so.
func prefixEnd(start []byte) []byte {
	end := slices.Clone(start)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

type wordDocs struct{ entries *entryIter }

func (w *wordDocs) next(ctx *sql.Context) ([]byte, bool, error) {
	e, ok, err := w.entries.Next(ctx)
	if !ok || err != nil {
		return nil, false, err
	}
	pk, err := w.entries.index.pkOf(e.key, e.value)
	return slices.Clone(pk), err == nil, err
}

func (w *wordDocs) close() { _ = w.entries.Close() }

type listDocs struct {
	pks    [][]byte
	charge *operator.Charge
}

func (l *listDocs) next(*sql.Context) ([]byte, bool, error) {
	if len(l.pks) == 0 {
		return nil, false, nil
	}
	pk := l.pks[0]
	l.pks = l.pks[1:]
	return pk, true, nil
}

func (l *listDocs) close() {
	l.pks = nil
	l.charge.Release()
}

// mergeDocs are the rows of all parts, or of any.
type mergeDocs struct {
	all   bool
	parts []docs
	heads [][]byte // nil: the part has ended
	begun bool
}

func (m *mergeDocs) next(ctx *sql.Context) ([]byte, bool, error) {
	if !m.begun {
		m.begun = true
		m.heads = make([][]byte, len(m.parts))
		for i := range m.parts {
			if err := m.step(ctx, i); err != nil {
				return nil, false, err
			}
		}
	}
	if m.all {
		return m.nextOfAll(ctx)
	}
	var least []byte
	for _, h := range m.heads {
		if h != nil && (least == nil || bytes.Compare(h, least) < 0) {
			least = h
		}
	}
	if least == nil {
		return nil, false, nil
	}
	for i, h := range m.heads {
		if h != nil && bytes.Equal(h, least) {
			if err := m.step(ctx, i); err != nil {
				return nil, false, err
			}
		}
	}
	return least, true, nil
}

func (m *mergeDocs) nextOfAll(ctx *sql.Context) ([]byte, bool, error) {
	for {
		var greatest []byte
		for _, h := range m.heads {
			if h == nil {
				return nil, false, nil
			}
			if bytes.Compare(h, greatest) > 0 {
				greatest = h
			}
		}
		same := true
		for i := range m.heads {
			for m.heads[i] != nil && bytes.Compare(m.heads[i], greatest) < 0 {
				same = false
				if err := m.step(ctx, i); err != nil {
					return nil, false, err
				}
			}
		}
		if !same {
			continue
		}
		for i := range m.heads {
			if err := m.step(ctx, i); err != nil {
				return nil, false, err
			}
		}
		return greatest, true, nil
	}
}

func (m *mergeDocs) step(ctx *sql.Context, i int) error {
	pk, ok, err := m.parts[i].next(ctx)
	if m.heads[i] = pk; !ok {
		m.heads[i] = nil
	}
	return err
}

func (m *mergeDocs) close() {
	for _, p := range m.parts {
		p.close()
	}
}

// matchRead is a MATCH by which a table is read.
type matchRead struct {
	index *index
	match *expr.Match
}

// textPath reads a table by the words of a MATCH that its rows have to answer. If the planner has an index for another condition, or an order
// to keep, that stays.
func textPath(c *pushCompiler, static *plan.IndexedTableAccess, filter sql.Expression) *path {
	if len(c.table.texts) == 0 {
		return nil
	}
	if static != nil { // its order may be wanted
		lookup, ok, err := static.GetLookup(c.ctx, nil)
		if x, own := lookup.Index.(*index); err != nil || !ok || !own || !x.primary || lookup.IsReverse || !unbound(lookup, 0) {
			return nil
		}
	}
	for _, e := range expression.SplitConjunction(c.ctx, filter) {
		m := positive(c.ctx, e)
		if m == nil {
			continue
		}
		x := c.table.base().textIndex(m)
		if x == nil {
			continue
		}
		return &path{
			table: c.table, kind: "fulltext", keys: []string{x.id}, rows: 1,
			part: &partition{table: c.table, index: x, match: &matchRead{x, m}},
		}
	}
	return nil
}

// byWords reports whether a condition on a table has a MATCH that leaves fewer rows than the lookup, which is not known, but taken for granted
// as MySQL does.
func byWords(ctx *sql.Context, filter sql.Expression, t *Table, lookup sql.IndexLookup) bool {
	x, ok := lookup.Index.(*index)
	if !ok || len(t.texts) == 0 || x.unique && lookup.IsPointLookup {
		return false
	}
	return slices.ContainsFunc(expression.SplitConjunction(ctx, filter), func(e sql.Expression) bool {
		m := positive(ctx, e)
		return m != nil && t.base().textIndex(m) != nil
	})
}

// merging reports whether a plan has a join that wants its sides in the order of an index.
func merging(n sql.Node) bool {
	found := false
	transform.Inspect(n, func(n sql.Node) bool {
		if j, ok := n.(*plan.JoinNode); ok && j.Op.IsMerge() {
			found = true
		}
		return !found
	})
	return found
}

// unsortedMatch keeps the library from reading a table in the order of ORDER BY by another index, where a MATCH would find the few rows that are
// to be sorted.
func unsortedMatch(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		found := false
		transform.Inspect(n, func(n sql.Node) bool {
			if f, ok := n.(*plan.Filter); ok {
				found = found || slices.ContainsFunc(expression.SplitConjunction(ctx, f.Expression), func(e sql.Expression) bool { return positive(ctx, e) != nil })
			}
			return !found
		})
		if found {
			return n, transform.SameTree, nil
		}
		return apply(ctx, a, n, scope, sel, flags)
	}
}

// ranked sorts what a query in natural language finds by its rank, best first, if the query does not say how: that is what MySQL promises of
// rows that are found by a FULLTEXT index, and of no join. It returns nil for all other queries.
func ranked(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	f, ok := n.(*plan.Filter)
	if !ok {
		switch n.(type) {
		case *plan.Project, *plan.Limit, *plan.Offset, *plan.Into:
		default:
			return nil, nil
		}
		now, err := ranked(ctx, n.Children()[0])
		if err != nil || now == nil {
			return nil, err
		}
		return n.WithChildren(ctx, now)
	}
	switch f.Child.(type) {
	case *plan.ResolvedTable, *plan.TableAlias, *plan.IndexedTableAccess:
	default:
		return nil, nil
	}
	for _, e := range expression.SplitConjunction(ctx, f.Expression) {
		if m, ok := e.(*expr.Match); ok && m.Mode() != fulltext.Boolean {
			return plan.NewSort(sql.SortConditions{{Expr: m, Order: sql.Descending, NullOrdering: sql.NullsLast}}, n), nil
		}
	}
	return nil, nil
}

// positive is the MATCH of a condition that holds for rows which match only: MATCH …, MATCH … > 0.
func positive(ctx *sql.Context, e sql.Expression) *expr.Match {
	var left, right sql.Expression
	strict := true
	switch c := e.(type) {
	case *expr.Match:
		return c
	case *expression.GreaterThan:
		left, right = c.Left(), c.Right()
	case *expression.GreaterThanOrEqual:
		left, right, strict = c.Left(), c.Right(), false
	case *expression.LessThan:
		left, right = c.Right(), c.Left()
	case *expression.LessThanOrEqual:
		left, right, strict = c.Right(), c.Left(), false
	default:
		return nil
	}
	m, ok := left.(*expr.Match)
	than, literal := right.(*expression.Literal)
	if !ok || !literal || than.Value() == nil {
		return nil
	}
	v, _, err := types.Float64.Convert(ctx, than.Value())
	n, number := v.(float64)
	if err != nil || !number || n < 0 || n == 0 && !strict {
		return nil
	}
	return m
}

// matching reads the rows that may answer.
func (t *Table) matching(ctx *sql.Context, tx *Tx, p *partition) (sql.RowIter, error) {
	against, ok, err := p.match.match.Against(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return sql.RowsToRowIter(), nil
	}
	m := &matcher{index: p.match.index, mode: p.match.match.Mode()}
	if err := m.read(ctx, against); err != nil {
		return nil, err
	}
	plain := *p
	plain.index = t.primary
	it := &matchIter{table: t, sink: newRowSink(t, tx, &plain), batch: cmp.Or(p.batch, firstBatch)}
	it.gets = &entryIter{tx: tx, table: t, index: t.primary, at: tx.readAt(), measure: measureOf(ctx)}
	tx.look(it.gets)
	if it.docs, err = m.index.docs(ctx, tx, m.query, m.query.Docs()); err != nil {
		return nil, err
	}
	return it, nil
}

// matchIter fetches rows in the order of the primary key, batch by batch.
type matchIter struct {
	table *Table
	docs  docs
	gets  *entryIter
	sink  *rowSink
	batch int
	rows  []entry
	done  bool
}

// Next implements sql.RowIter.
func (it *matchIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		for len(it.rows) > 0 {
			e := it.rows[0]
			it.rows = it.rows[1:]
			row, err := it.sink.row(ctx, e.key, e.value)
			if row != nil || err != nil {
				return row, err
			}
		}
		if it.done {
			return nil, io.EOF
		}
		if err := it.fill(ctx); err != nil {
			return nil, err
		}
	}
}

func (it *matchIter) fill(ctx *sql.Context) (err error) {
	it.rows, it.done, err = it.table.fetch(ctx, it.docs, it.gets, it.rows[:0], it.batch)
	it.batch = min(2*it.batch, lookupBatch)
	return err
}

// fetch gets the next rows that docs lead to; done says that there are no more.
func (t *Table) fetch(ctx *sql.Context, d docs, gets *entryIter, rows []entry, batch int) (_ []entry, done bool, err error) {
	prefix := indexPrefix(t.desc.ID, t.desc.RowIndex)
	var cells []kv.Column
	for len(cells) < batch {
		pk, ok, err := d.next(ctx)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			done = true
			break
		}
		cells = append(cells, cell(kv.RowKey(keyrange.Concat(prefix, pk))))
	}
	if len(cells) == 0 {
		return rows, done, nil
	}
	gets.note(txn.ScanStats{Requests: 1, Examined: len(cells)})
	vs, err := gets.tx.store().BatchGetAt(ctx, gets.at, cells)
	if err != nil {
		return nil, false, gets.tx.fail(ctx, err)
	}
	for i, v := range vs {
		if v.OK {
			rows = append(rows, entry{cells[i].Row, v.Data})
		} else if _, dirty := gets.tx.store().Size(); dirty == 0 {
			return nil, false, fmt.Errorf("engine: a FULLTEXT index of %s.%s has an entry without a row, key %x", t.db, t.desc.Name, []byte(cells[i].Row))
		}
	}
	return rows, done, nil
}

// Close implements sql.RowIter.
func (it *matchIter) Close(*sql.Context) error {
	it.rows, it.done = nil, true
	it.docs.close()
	return nil
}

// expand adds the words of the rows that answer a query best.
func (m *matcher) expand(ctx *sql.Context, q *fulltext.Query) error {
	tx, err := txOf(ctx)
	if err != nil {
		return err
	}
	idf, err := m.rarity(ctx, q)
	if err != nil {
		return err
	}
	t := m.index.table
	d, err := m.index.docs(ctx, tx, q, q.Docs())
	if err != nil {
		return err
	}
	defer d.close()
	gets := &entryIter{tx: tx, table: t, index: t.primary, at: tx.readAt(), measure: measureOf(ctx)}
	type found struct {
		rank  float64
		texts []string
	}
	var best []found
	for done := false; !done; {
		var rows []entry
		if rows, done, err = t.fetch(ctx, d, gets, nil, lookupBatch); err != nil {
			return err
		}
		for _, e := range rows {
			row, err := t.decode.Decode(e.value)
			if err != nil {
				return err
			}
			texts, err := m.index.texts(row)
			if err != nil {
				return err
			}
			c, err := q.Count(texts)
			if err != nil {
				return err
			}
			if rank := q.Rank(c, idf); q.Matches(c) {
				best = append(best, found{rank, texts})
			}
		}
		slices.SortStableFunc(best, func(a, b found) int { return cmp.Compare(b.rank, a.rank) })
		best = best[:min(len(best), expandedRows)]
	}
	for _, f := range best {
		if err := q.Expand(f.texts, expandedWords); err != nil {
			return err
		}
	}
	return nil
}
