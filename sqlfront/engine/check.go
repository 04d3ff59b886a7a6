package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"moka/kv"
	"moka/sqlfront/catalog"
	"moka/sqlfront/parse"
	"moka/sqlfront/rowenc"
	"moka/sqlfront/sqlerr"
	"moka/txn"
)

// checkFindings bounds what CHECK TABLE says about one table: the first of many are enough to know.
const checkFindings = 20

// CheckTable is CHECK TABLE t, … (and ADMIN CHECK TABLE t, …, which TiDB's users expect): at one snapshot, each row can be
// decoded, each index has exactly the entry that the row calls for, and no other entry. Memory is that of one batch.
//
// An index is right if every row's entries are there and there are as many entries as rows have, because two rows never share an
// entry. Only if the numbers differ are the entries looked at one by one.
func (e *Engine) CheckTable(_ context.Context, c parse.CheckTable) (ast.Statement, error) {
	auth := ast.AuthInformation{AuthType: ast.AuthType_SELECT, TargetType: ast.AuthTargetType_MultipleTableIdentifiers}
	for _, n := range c.Tables {
		auth.TargetNames = append(auth.TargetNames, n.Database, n.Name)
	}
	if c.Checksum {
		return e.checksumTables(c, auth), nil
	}
	return ast.InjectedStatement{Auth: auth, Statement: &checkTable{eng: e, tables: c.Tables}}, nil
}

// checkTable is the statement as go-mysql-server runs it.
type checkTable struct {
	eng    *Engine
	tables []parse.Name
}

var _ sql.ExecSourceRel = (*checkTable)(nil)

// EndsTransaction implements system.Ending.
func (*checkTable) EndsTransaction() bool { return true }

func (*checkTable) Resolved() bool                                             { return true }
func (*checkTable) Children() []sql.Node                                       { return nil }
func (*checkTable) IsReadOnly() bool                                           { return true }
func (*checkTable) String() string                                             { return "CHECK TABLE" }
func (c *checkTable) WithResolvedChildren(context.Context, []any) (any, error) { return c, nil }

func (c *checkTable) WithChildren(_ *sql.Context, ch ...sql.Node) (sql.Node, error) {
	if len(ch) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(ch), 0)
	}
	return c, nil
}

func (*checkTable) Schema(*sql.Context) (s sql.Schema) {
	for _, n := range []string{"Table", "Op", "Msg_type", "Msg_text"} {
		s = append(s, &sql.Column{Name: n, Type: types.LongText, Nullable: true})
	}
	return s
}

func (c *checkTable) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	var out []sql.Row
	for _, n := range c.tables {
		db := n.Database
		if db == "" {
			if db = ctx.GetCurrentDatabase(); db == "" {
				return nil, sql.ErrNoDatabaseSelected.New()
			}
		}
		full := db + "." + n.Name
		findings, err := c.eng.check(ctx, db, n.Name)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			findings = append(findings, sqlerr.Final(err, sqlerr.Statement{}).Message)
		}
		for _, f := range findings {
			out = append(out, sql.NewRow(full, "check", "Error", f))
		}
		switch {
		case err != nil && !errors.Is(err, kv.ErrCorrupt): // MySQL's word for what could not be looked at
			out = append(out, sql.NewRow(full, "check", "status", "Operation failed"))
		case len(findings) > 0:
			out = append(out, sql.NewRow(full, "check", "error", "Corrupt"))
		default:
			out = append(out, sql.NewRow(full, "check", "status", "OK"))
		}
	}
	return sql.RowsToRowIter(out...), nil
}

func (e *Engine) check(ctx *sql.Context, db, name string) ([]string, error) {
	d, err := e.sql.Analyzer.Catalog.Database(ctx, db) // which knows mysql, too
	if err != nil {
		return nil, err
	}
	found, ok, err := d.GetTableInsensitive(ctx, name)
	if err != nil {
		return nil, err
	}
	if views, is := d.(sql.ViewDatabase); is && !ok {
		if _, view, err := views.GetViewDefinition(ctx, name); view || err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, sqlerr.UnknownTable(db, name)
	}
	t := ownTable(found)
	if t == nil {
		return nil, nil // a view, or a table that is computed
	}
	tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	k := &checker{t: t, tx: tx}
	if err := k.rows(ctx); err != nil {
		return k.findings, err
	}
	for _, x := range t.all() {
		if x.state != catalog.StatePublic {
			continue
		}
		n, err := k.entries(ctx, x, nil)
		if err != nil {
			return k.findings, err
		}
		if n == k.called[x]-k.missing[x] {
			continue
		}
		if _, err := k.entries(ctx, x, k.orphan); err != nil {
			return k.findings, err
		}
	}
	return k.findings, nil
}

// ownTable finds our table in what the provider returns; nil for views and computed tables.
func ownTable(t sql.Table) *Table {
	for {
		switch v := t.(type) {
		case *Table:
			return v
		case *indexedTable:
			return v.Table
		case sql.TableWrapper:
			t = v.Underlying()
		default:
			return nil
		}
	}
}

// checker compares a table with its indexes.
type checker struct {
	t        *Table
	tx       *Tx
	called   map[*index]int // the entries that the rows call for
	missing  map[*index]int
	findings []string
}

func (k *checker) find(format string, args ...any) {
	if len(k.findings) < checkFindings {
		k.findings = append(k.findings, fmt.Sprintf(format, args...))
	}
}

// rows decodes every row and looks its entries up, a batch at a time.
func (k *checker) rows(ctx *sql.Context) error {
	k.called, k.missing = map[*index]int{}, map[*index]int{}
	it := &entryIter{tx: k.tx, spans: wholeSpan(indexSpan(k.t.desc.ID, k.t.desc.RowIndex))}
	defer it.Close()
	var batch []entry
	for {
		e, ok, err := it.Next(ctx)
		if err != nil {
			return err
		}
		if ok {
			batch = append(batch, e)
		}
		if len(batch) == lookupBatch || !ok {
			if err := k.rowBatch(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		if !ok {
			return nil
		}
	}
}

func (k *checker) rowBatch(ctx *sql.Context, batch []entry) error {
	type expected struct {
		x     *index
		row   entry
		value []byte
	}
	var want []kv.Column
	var of []expected
	prefix := len(indexPrefix(k.t.desc.ID, k.t.desc.RowIndex))
	for _, e := range batch {
		row, err := k.t.decode.Decode(e.value)
		if err != nil {
			k.find("row %x cannot be read: %v", e.key[prefix:], err)
			continue
		}
		for _, x := range k.t.all() {
			if x.state != catalog.StatePublic {
				continue
			}
			cells, err := x.cells(nil, row, e.key[prefix:])
			if err != nil {
				return err
			}
			k.called[x] += len(cells)
			for i := range cells {
				want, of = append(want, cell(cells[i].key)), append(of, expected{x, e, cells[i].value})
			}
		}
	}
	have, err := k.tx.store().BatchGet(ctx, want)
	if err != nil {
		return err
	}
	for i, h := range have {
		if h.OK && bytes.Equal(h.Data, of[i].value) {
			continue
		}
		k.missing[of[i].x]++
		what := "has no entry"
		if h.OK {
			what = "has an entry that leads to another row"
			if of[i].x.words != nil {
				what = "has an entry with another number of its word"
			}
			k.missing[of[i].x]-- // the entry is counted, if not as this row's
		}
		k.find("row %x %s in index %s", of[i].row.key[prefix:], what, of[i].x.id)
	}
	return nil
}

// entries counts the entries of an index and shows each to see, if that is set.
func (k *checker) entries(ctx *sql.Context, x *index, see func(*sql.Context, *index, entry) error) (n int, err error) {
	span := indexSpan(k.t.desc.ID, x.num)
	it := &entryIter{tx: k.tx, spans: []rowenc.Span{{Start: span.Start, End: span.End, Exact: true}}}
	defer it.Close()
	for {
		e, ok, err := it.Next(ctx)
		if err != nil || !ok {
			return n, err
		}
		n++
		if see != nil {
			if err := see(ctx, x, e); err != nil {
				return n, err
			}
		}
	}
}

// orphan reports an entry that no row calls for.
func (k *checker) orphan(ctx *sql.Context, x *index, e entry) error {
	pk, err := x.pkOf(e.key, e.value)
	if err != nil {
		k.find("entry %x of index %s cannot be read: %v", e.key[len(x.prefix):], x.id, err)
		return nil
	}
	key := append(indexPrefix(k.t.desc.ID, k.t.desc.RowIndex), pk...)
	value, ok, err := k.tx.store().Get(ctx, cell(key))
	if err != nil {
		return err
	}
	if !ok {
		k.find("entry %x of index %s leads to row %x, which is not there", e.key[len(x.prefix):], x.id, pk)
		return nil
	}
	row, err := k.t.decode.Decode(value)
	if err != nil {
		return nil // reported with the rows
	}
	called, err := x.cells(nil, row, pk)
	if err != nil || !slices.ContainsFunc(called, func(c indexCell) bool { return bytes.Equal(c.key, e.key) }) {
		k.find("entry %x of index %s leads to row %x, which calls for another", e.key[len(x.prefix):], x.id, pk)
	}
	return nil
}

// CheckAll is CHECK TABLE over every stored table, in a transaction of its own, and returns what is wrong.
func (e *Engine) CheckAll(ctx context.Context) ([]string, error) {
	s := e.NewSession(sql.NewBaseSessionWithClientServer("moka", sql.Client{User: "root", Address: "localhost"}, 0))
	defer s.SessionEnd()
	sctx := sql.NewContext(ctx, sql.WithSession(s))
	t := e.client.Begin(txn.TxnOptions{ReadOnly: true})
	defer t.Rollback()
	sctx.SetTransaction(e.Adopt(t))
	snap, err := e.CatalogSnapshot(sctx)
	if err != nil {
		return nil, err
	}
	var wrong []string
	for _, d := range snap.Databases() {
		for _, table := range d.Tables() {
			findings, err := e.check(sctx, d.Name, table.Name)
			if err != nil {
				return wrong, fmt.Errorf("%s.%s: %w", d.Name, table.Name, err)
			}
			for _, f := range findings {
				wrong = append(wrong, d.Name+"."+table.Name+": "+f)
			}
		}
	}
	return wrong, nil
}
