package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/fulltext"
	"moka/sqlfront/parse"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// FULLTEXT indexes. A row has an entry for each of its words:
//
//	┌────────────────────┬─────────────┬─────────────┐       ┌────┬─────────┐
//	│ the index's prefix │ word's key  │ primary key │   →   │ 01 │ uvarint │  how often the row has the word
//	└────────────────────┴─────────────┴─────────────┘       └────┴─────────┘
//
// The word's key is that of a text under the column's collation. Writers of different rows never write the same cell. The library's own
// full text counts words and rows in tables that all writers update, which under snapshot isolation is a conflict for each pair of
// writers; how many rows have a word is counted here when somebody asks for a rank.
//
// These indexes are none to the planner: they are in Table.texts, not in Table.keys, and GetIndexes does not list them but for those who
// want names (naming).

// newTextIndex is newIndex for a FULLTEXT index.
func (t *Table) newTextIndex(d *catalog.Index, position map[uint32]int) (*index, error) {
	x := &index{table: t, id: d.Name, num: d.ID, prefix: indexPrefix(t.desc.ID, d.ID), unordered: true, state: d.State, comment: d.Comment}
	collation := sql.Collation_Unspecified
	for _, c := range d.Columns {
		p, ok := position[c.Column]
		if !ok {
			return nil, fmt.Errorf("engine: index %s of %s.%s: column id %d is not public", d.Name, t.db, t.desc.Name, c.Column)
		}
		col := t.pk.Schema[p]
		typ, text := col.Type.(sql.StringType)
		if !text || !types.IsTextOnly(col.Type) || collation != sql.Collation_Unspecified && typ.Collation() != collation {
			return nil, badTextColumn(col.Name)
		}
		collation = typ.Collation()
		x.cols = append(x.cols, p)
		expr := t.desc.Name + "." + col.Name
		x.exprs = append(x.exprs, expr)
		x.types = append(x.types, sql.ColumnExpressionType{Expression: expr, Type: col.Type})
	}
	x.extended, x.extTypes, x.extCols = x.exprs, x.types, x.cols
	var err error
	if x.words, err = t.eng.analyzers.of(collation); err != nil {
		return nil, fmt.Errorf("engine: index %s of %s.%s: %w", d.Name, t.db, t.desc.Name, err)
	}
	x.codec = x.words.Codec()
	return x, nil
}

func badTextColumn(name string) error {
	return sqlerr.New(sqlerr.BadFullTextColumn, "Column '%s' cannot be part of FULLTEXT index", name)
}

// describeText makes the descriptor of a FULLTEXT index. Lengths of prefixes are taken and mean nothing, as in MySQL.
func describeText(t *catalog.Table, def sql.IndexDef, comment string) (catalog.Index, error) {
	x := catalog.Index{Name: def.Name, Comment: comment, FullText: true}
	collation := sql.Collation_Unspecified
	for _, c := range def.Columns {
		i := t.Column(hiddenName(c.Name))
		if i < 0 {
			return catalog.Index{}, sql.ErrKeyColumnDoesNotExist.New(c.Name)
		}
		col := &t.Columns[i]
		typ, err := col.Type.SQL()
		if err != nil {
			return catalog.Index{}, err
		}
		s, text := typ.(sql.StringType)
		switch {
		case !text || !types.IsTextOnly(typ) || collation != sql.Collation_Unspecified && s.Collation() != collation:
			return catalog.Index{}, badTextColumn(col.Name)
		case col.Virtual:
			return catalog.Index{}, sqlerr.New(sqlerr.UnsupportedOnGenerated, "'Fulltext index on virtual generated column' is not supported for generated columns.")
		}
		collation = s.Collation()
		x.Columns = append(x.Columns, catalog.IndexColumn{Column: col.ID})
	}
	return x, nil
}

// all are the secondary indexes and the FULLTEXT indexes.
func (t *Table) all() []*index {
	var xs []*index
	for _, x := range t.keys {
		if !x.primary {
			xs = append(xs, x)
		}
	}
	return append(xs, t.texts...)
}

// cells appends the entries that a row has in the index. pk is the row's key behind its prefix.
func (x *index) cells(dst []indexCell, row sql.Row, pk []byte) ([]indexCell, error) {
	if x.words == nil {
		key, value, err := x.entry(row, pk)
		if err != nil {
			return nil, err
		}
		return append(dst, indexCell{x, key, value, x.unique && !x.hasNull(row)}), nil
	}
	texts, err := x.texts(row)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	if err := x.words.Words(texts, counts); err != nil {
		return nil, err
	}
	n := len(dst)
	for word, count := range counts {
		key := make(kv.RowKey, 0, len(x.prefix)+len(word)+len(pk))
		key = append(append(append(key, x.prefix...), word...), pk...)
		dst = append(dst, indexCell{index: x, key: key, value: binary.AppendUvarint([]byte{entryVersion}, uint64(count))})
	}
	slices.SortFunc(dst[n:], func(a, b indexCell) int { return bytes.Compare(a.key, b.key) })
	return dst, nil
}

// texts are the values of the index's columns that are not NULL.
func (x *index) texts(row sql.Row) ([]string, error) {
	texts := make([]string, 0, len(x.cols))
	for _, c := range x.cols {
		s, ok, err := textOf(row[c])
		if err != nil {
			return nil, err
		}
		if ok {
			texts = append(texts, s)
		}
	}
	return texts, nil
}

func textOf(v any) (s string, ok bool, err error) {
	if v, err = sql.UnwrapAny(context.Background(), v); err != nil {
		return "", false, err
	}
	switch v := v.(type) {
	case nil:
		return "", false, nil
	case string:
		return v, true, nil
	case []byte:
		return string(v), true, nil
	}
	return "", false, fmt.Errorf("engine: a text is a %T", v)
}

// putWords writes the entries of a row's words.
func (w *written) putWords(st *txn.Txn, t *Table, row sql.Row) error {
	for _, x := range t.texts {
		cells, err := x.cells(nil, row, w.pk)
		if err != nil {
			return err
		}
		for i := range cells {
			st.Put(cell(cells[i].key), cells[i].value, txn.WriteOptions{})
		}
	}
	return nil
}

// deleteWords removes them.
func (w *written) deleteWords(st *txn.Txn, t *Table, row sql.Row) error {
	for _, x := range t.texts {
		cells, err := x.cells(nil, row, w.pk)
		if err != nil {
			return err
		}
		for i := range cells {
			st.Delete(cell(cells[i].key), txn.WriteOptions{})
		}
	}
	return nil
}

// moveWords writes what is different of two states of a row.
func (t *Table) moveWords(st *txn.Txn, was, is *written, old, row sql.Row) error {
	for _, x := range t.texts {
		same := bytes.Equal(was.pk, is.pk)
		for _, c := range x.cols {
			same = same && sameValue(old[c], row[c])
		}
		if same {
			continue
		}
		o, err := x.cells(nil, old, was.pk)
		if err != nil {
			return err
		}
		n, err := x.cells(nil, row, is.pk)
		if err != nil {
			return err
		}
		for len(o) > 0 || len(n) > 0 {
			c := 0
			switch {
			case len(o) == 0:
				c = 1
			case len(n) == 0:
				c = -1
			default:
				c = bytes.Compare(o[0].key, n[0].key)
			}
			if c < 0 {
				st.Delete(cell(o[0].key), txn.WriteOptions{})
			} else if c > 0 || !bytes.Equal(o[0].value, n[0].value) {
				st.Put(cell(n[0].key), n[0].value, txn.WriteOptions{})
			}
			if c <= 0 {
				o = o[1:]
			}
			if c >= 0 {
				n = n[1:]
			}
		}
	}
	return nil
}

func sameValue(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return sameText(a, b)
}

// The library validates the names of indexes that are dropped and renamed, makes up names for new ones, and copies the indexes of a table for
// CREATE TABLE … LIKE. It asks GetIndexes, and is told of FULLTEXT indexes for these purposes only.

type namingKey struct{}

// naming marks a context in which GetIndexes lists FULLTEXT indexes, too.
func naming(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, namingKey{}, true))
}

// listed is what GetIndexes returns.
func (t *Table) listed(ctx *sql.Context) []sql.Index {
	if len(t.texts) == 0 || ctx.Value(namingKey{}) == nil && !copiesTable(ctx) {
		return t.public
	}
	if !copiesTable(ctx) {
		return append(slices.Clip(t.public), t.publicTexts()...)
	}
	out := slices.Clip(t.public)
	for _, x := range t.publicTexts() {
		copied := *x.(*index)
		copied.comment = catalog.MarkFullText(copied.comment)
		out = append(out, &copied)
	}
	return out
}

func (t *Table) publicTexts() (xs []sql.Index) {
	for _, x := range t.texts {
		if x.state == catalog.StatePublic {
			xs = append(xs, x)
		}
	}
	return xs
}

// isText reports whether it is the name of a FULLTEXT index.
func (t *Table) isText(name string) bool {
	return slices.ContainsFunc(t.texts, func(x *index) bool { return equalFold(x.id, name) })
}

// textColumns are the names of the columns that a FULLTEXT index begins with.
func (t *Table) textColumns() map[string]bool {
	if t == nil {
		return nil
	}
	names := map[string]bool{}
	for _, x := range t.texts {
		names[t.pk.Schema[x.cols[0]].Name] = true
	}
	return names
}

// copiesTable reports whether the library plans a CREATE TABLE … LIKE.
func copiesTable(ctx *sql.Context) bool {
	s := sessionOf(ctx)
	return s != nil && s.planning && s.copies
}

var (
	_ parse.TableCopier    = (*Session)(nil)
	_ parse.SnapshotPinner = (*Session)(nil)
)

// CopiesTable implements parse.TableCopier.
func (s *Session) CopiesTable() { s.copies = true }

// GenerateIndexName implements sql.IndexNameGenerator.
func (d *Database) GenerateIndexName(ctx *sql.Context, _ string, def sql.IndexDef, t sql.Table) (string, error) {
	return sql.GenerateMySqlIndexName(naming(ctx), def, t)
}

// declareTexts writes what was declared FULLTEXT into the comments of indexes, where the library does not look.
func declareTexts(defs sql.IndexDefs) {
	for _, def := range defs {
		if def.IsFullText() {
			def.Constraint, def.Comment = sql.IndexConstraint_None, catalog.MarkFullText(def.Comment)
		}
	}
}

// alterText is declareTexts for ALTER TABLE and CREATE INDEX; nil if there is nothing to do.
func alterText(n *plan.AlterIndex) *plan.AlterIndex {
	if n.Action != plan.IndexAction_Create || n.Constraint != sql.IndexConstraint_Fulltext {
		return nil
	}
	again := *n
	again.Constraint, again.Comment = sql.IndexConstraint_None, catalog.MarkFullText(n.Comment)
	return &again
}

// namingTexts and copyingTexts are rules of the library that are told of FULLTEXT indexes.
func namingTexts(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		return apply(naming(ctx), a, n, scope, sel, flags)
	}
}

func copyingTexts(apply analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
		if c, ok := n.(*plan.CreateTable); ok {
			for _, def := range c.Indexes() {
				if rest, marked := catalog.TakeFullText(def.Comment); marked {
					def.Constraint, def.Comment = sql.IndexConstraint_Fulltext, rest
				}
			}
		}
		return apply(ctx, a, n, scope, sel, flags)
	}
}

// addTextRules puts them into the library's lists.
func addTextRules() error {
	for _, r := range []struct {
		name string
		in   []analyzer.Rule
		wrap func(analyzer.RuleFunc) analyzer.RuleFunc
	}{
		{"validateCreateTable", analyzer.OnceBeforeDefault, copyingTexts},
		{"ResolveAlterColumn", analyzer.OnceBeforeDefault, namingTexts},
		{"ResolveAlterColumn", analyzer.OnceBeforeDefault, findingChecks},
		{"resolveDropConstraint", analyzer.OnceBeforeDefault, findingChecks},
		{"validateDropConstraint", analyzer.OnceBeforeDefault, findingChecks},
	} {
		at := slices.IndexFunc(r.in, func(x analyzer.Rule) bool { return strings.EqualFold(x.Id.String(), r.name) })
		if at < 0 {
			return errors.New("engine: the library has no rule " + r.name + " any more")
		}
		r.in[at].Apply = r.wrap(r.in[at].Apply)
	}
	return nil
}

// analyzers are shared: one takes thousands of computations of weights.
type analyzers struct {
	mu sync.Mutex
	by map[sql.CollationID]*fulltext.Analyzer
}

func (s *analyzers) of(c sql.CollationID) (*fulltext.Analyzer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.by[c]; a != nil {
		return a, nil
	}
	a, err := fulltext.NewAnalyzer(c)
	if err != nil {
		return nil, err
	}
	if s.by == nil {
		s.by = map[sql.CollationID]*fulltext.Analyzer{}
	}
	s.by[c] = a
	return a, nil
}
