package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"moka/kv"
	"moka/txn"
)

func TestNodesSeeEachOther(t *testing.T) {
	c := newCluster(t)
	a, b := c.node(t, Options{}), c.node(t, Options{})
	bank(t, a, "accounts", "other")
	before := b.now(t)
	db, ok := before.Database("BANK")
	if !ok {
		t.Fatal("node b does not see the database")
	}
	tbl, ok := db.Table("Accounts")
	if !ok || tbl.Name != "accounts" || len(tbl.Columns) != 3 {
		t.Fatalf("node b sees %+v", tbl)
	}
	other, _ := db.Table("other")

	b.do(t, func(tx *txn.Txn) error {
		n := tbl.Clone()
		n.Columns = append(n.Columns, Column{Name: "note", Type: Type{Kind: "int"}, Nullable: true})
		got, err := b.UpdateTable(ctx, tx, n)
		if err != nil {
			return err
		}
		if got.Columns[3].ID != 4 || got.Version <= tbl.Version {
			return fmt.Errorf("the new column has id %d, the table version %d after %d", got.Columns[3].ID,
				got.Version, tbl.Version)
		}
		// not yet seen by a
		if n := len(a.table(t, "bank", "accounts").Columns); n != 3 {
			return fmt.Errorf("node a sees %d columns before the commit", n)
		}
		return nil
	})
	if n := len(a.table(t, "bank", "accounts").Columns); n != 4 {
		t.Errorf("node a sees %d columns", n)
	}
	if len(tbl.Columns) != 3 || before.tableIDs[tbl.ID] != tbl {
		t.Error("an old snapshot changed")
	}
	if now := b.table(t, "bank", "other"); now != other {
		t.Error("a table that did not change has another address")
	}
	if s := b.now(t); s != b.now(t) || b.Latest() != s {
		t.Error("a second transaction does not get the cached snapshot")
	}
}

func TestConcurrentDDLConflicts(t *testing.T) {
	c := newCluster(t)
	a, b := c.node(t, Options{}), c.node(t, Options{})
	bank(t, a)
	ta, tb := a.client.Begin(txn.TxnOptions{}), b.client.Begin(txn.TxnOptions{})
	if _, err := a.CreateTable(ctx, ta, "bank", accounts(t, "x")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateTable(ctx, tb, "bank", accounts(t, "X")); err != nil {
		t.Fatal(err)
	}
	if _, err := ta.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := tb.Commit(ctx); !errors.Is(err, txn.ErrConflict) {
		t.Fatalf("two tables of one name: %v", err)
	}
	if err := b.try(func(tx *txn.Txn) error {
		_, err := b.CreateTable(ctx, tx, "bank", accounts(t, "X"))
		return err
	}); !errors.Is(err, ErrExists) {
		t.Errorf("run again: %v", err)
	}
}

// A writer that worked with an old descriptor cannot commit; writers with the same one do not disturb each
// other.
func TestFence(t *testing.T) {
	c := newCluster(t)
	a, b := c.node(t, Options{}), c.node(t, Options{})
	bank(t, a, "accounts")
	write := func(n *node, key byte) *txn.Txn {
		tx := n.client.Begin(txn.TxnOptions{})
		s, err := n.Snapshot(ctx, tx)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := s.Database("bank")
		tbl, _ := d.Table("accounts")
		n.Fence(tx, tbl)
		tx.Put(column(0x10, key), []byte("row"), txn.WriteOptions{})
		return tx
	}
	refused := func(what string, tx *txn.Txn) {
		t.Helper()
		_, err := tx.Commit(ctx)
		var ce *txn.ConstraintError
		switch {
		case errors.Is(err, txn.ErrConflict):
		case errors.As(err, &ce) && a.IsFence(ce.Column):
		default:
			t.Errorf("%s: %v", what, err)
		}
	}
	t1, t2 := write(a, 1), write(b, 2)
	for _, tx := range []*txn.Txn{t1, t2} {
		if _, err := tx.Commit(ctx); err != nil {
			t.Fatalf("two writers of one table: %v", err)
		}
	}

	stale := write(b, 3)
	a.do(t, func(tx *txn.Txn) error {
		n := a.table(t, "bank", "accounts").Clone()
		n.Comment = "changed"
		_, err := a.UpdateTable(ctx, tx, n)
		return err
	})
	refused("a writer from before ALTER TABLE", stale)

	stale = write(b, 3)
	id := a.table(t, "bank", "accounts").ID
	a.do(t, func(tx *txn.Txn) error {
		_, err := a.CreateObserver(ctx, tx, "bank",
			Observer{Name: "o", TableID: id, Events: OnInsert, Body: "SELECT 1", Enabled: true})
		return err
	})
	refused("a writer from before CREATE OBSERVER", stale)

	// the other way round: the writer was there first, DDL with an older snapshot has to give way
	ddl := a.client.Begin(txn.TxnOptions{})
	if err := a.DropTable(ctx, ddl, "bank", "accounts"); err != nil {
		t.Fatal(err)
	}
	if _, err := write(b, 4).Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := ddl.Commit(ctx); !errors.Is(err, txn.ErrConflict) {
		t.Errorf("DROP TABLE beside a committed writer: %v", err)
	}

	stale = write(b, 5)
	a.do(t, func(tx *txn.Txn) error { return a.DropTable(ctx, tx, "bank", "accounts") })
	refused("a writer from before DROP TABLE", stale)

	// a transaction may work with a table that it has made or changed itself
	a.do(t, func(tx *txn.Txn) error {
		tbl, err := a.CreateTable(ctx, tx, "bank", accounts(t, "copy"))
		if err != nil {
			return err
		}
		a.Fence(tx, tbl)
		tx.Put(column(0x10, 9), []byte("row"), txn.WriteOptions{})
		return nil
	})
}

// What a rolled back DDL transaction saw is not taken for the next change that gets the same number.
func TestRolledBackDDL(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a)
	tx := a.client.Begin(txn.TxnOptions{})
	lost, err := a.CreateTable(ctx, tx, "bank", accounts(t, "lost"))
	if err != nil {
		t.Fatal(err)
	}
	inside, err := a.Snapshot(ctx, tx)
	if err != nil {
		t.Fatal(err)
	}
	tx.Rollback()
	a.do(t, func(tx *txn.Txn) error {
		kept, err := a.CreateTable(ctx, tx, "bank", accounts(t, "kept"))
		if err == nil && kept.ID == lost.ID {
			err = fmt.Errorf("the id %d of a rolled back table was used again", lost.ID)
		}
		return err
	})
	s := a.now(t)
	if s.Version != inside.Version {
		t.Fatalf("versions %d and %d: the test does not test", s.Version, inside.Version)
	}
	d, _ := s.Database("bank")
	if _, ok := d.Table("lost"); ok {
		t.Error("the rolled back table is there")
	}
	if _, ok := d.Table("kept"); !ok {
		t.Error("the committed table is not there")
	}

	// the same within a transaction, by savepoint
	tx = a.client.Begin(txn.TxnOptions{})
	mark := tx.Savepoint()
	if err := a.DropTable(ctx, tx, "bank", "kept"); err != nil {
		t.Fatal(err)
	}
	tx.RollbackTo(mark)
	if s, err = a.Snapshot(ctx, tx); err != nil {
		t.Fatal(err)
	}
	d, _ = s.Database("bank")
	if _, ok := d.Table("kept"); !ok {
		t.Error("the table is not there after ROLLBACK TO SAVEPOINT")
	}
	tx.Rollback()
}

func TestSnapshotInThePast(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{Snapshots: 1})
	before, _ := c.clock.Next(ctx)
	bank(t, a, "accounts")
	then, _ := c.clock.Next(ctx)
	for i := range 5 {
		a.do(t, func(tx *txn.Txn) error { return a.PutBlob(ctx, tx, "x", []byte{byte(i)}) })
	}
	a.do(t, func(tx *txn.Txn) error { return a.DropTable(ctx, tx, "bank", "accounts") })
	tx := a.client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: then})
	s, err := a.Snapshot(ctx, tx)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := s.Database("bank"); !ok || len(d.Tables()) != 1 {
		t.Errorf("in the past there are %v", s.Databases())
	}
	if _, ok := s.Blob("x"); ok {
		t.Error("a blob from the future")
	}
	tx = a.client.Begin(txn.TxnOptions{ReadOnly: true, StartTS: before})
	if s, err = a.Snapshot(ctx, tx); err != nil || len(s.Databases()) != 0 {
		t.Errorf("before the first database: %v, %v", s, err)
	}
	if d, _ := a.now(t).Database("bank"); len(d.Tables()) != 0 {
		t.Error("the present was lost")
	}
}

func TestDropAndRename(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a, "parent")
	child := accounts(t, "child")
	child.ForeignKeys[0].ParentTable = "parent"
	a.do(t, func(tx *txn.Txn) error {
		if _, err := a.CreateDatabase(ctx, tx, "vault", ""); err != nil {
			return err
		}
		tbl, err := a.CreateTable(ctx, tx, "bank", child)
		if err != nil {
			return err
		}
		if _, err := a.CreateObserver(ctx, tx, "bank", Observer{Name: "watch", TableID: tbl.ID}); err != nil {
			return err
		}
		return a.CreateView(ctx, tx, "bank", View{Name: "v", Definition: "SELECT 1"})
	})
	parent := a.table(t, "bank", "parent")
	a.do(t, func(tx *txn.Txn) error {
		if _, err := a.RenameTable(ctx, tx, "bank", "parent", "bank", "V"); !errors.Is(err, ErrExists) {
			return fmt.Errorf("rename to the name of a view: %v", err)
		}
		_, err := a.RenameTable(ctx, tx, "bank", "parent", "vault", "Mother")
		return err
	})
	moved := a.table(t, "vault", "mother")
	if moved.ID != parent.ID || moved.Name != "Mother" || moved.Version == parent.Version {
		t.Errorf("moved to %+v", moved)
	}
	for _, tbl := range []*Table{moved, a.table(t, "bank", "child")} {
		if fk := tbl.ForeignKeys[0]; fk.ParentDatabase != "vault" || fk.ParentTable != "Mother" {
			t.Errorf("foreign key of %s names %s.%s", tbl.Name, fk.ParentDatabase, fk.ParentTable)
		}
	}
	if refs := a.now(t).References("VAULT", "mother"); len(refs) != 2 {
		t.Errorf("references: %v", refs)
	}
	a.do(t, func(tx *txn.Txn) error {
		_, err := a.RenameTable(ctx, tx, "bank", "child", "vault", "child")
		return err
	})
	if o, ok := a.now(t).databases["vault"].Observer("watch"); !ok ||
		o.TableID != a.table(t, "vault", "child").ID {
		t.Errorf("the observer did not follow its table: %+v", o)
	}

	old := a.table(t, "vault", "child")
	a.do(t, func(tx *txn.Txn) error {
		n := old.Clone()
		n.Indexes = n.Indexes[1:]
		n.Indexes = append(n.Indexes, Index{Name: "again", Columns: []IndexColumn{{Column: 2}}})
		got, err := a.UpdateTable(ctx, tx, n)
		if err == nil && got.Indexes[1].ID != 4 {
			err = fmt.Errorf("the new index has the id %d", got.Indexes[1].ID)
		}
		return err
	})
	a.do(t, func(tx *txn.Txn) error { return a.DropDatabase(ctx, tx, "vault") })
	s := a.now(t)
	if len(s.Databases()) != 1 || len(s.AllObservers()) != 0 || len(s.References("vault", "mother")) != 0 {
		t.Errorf("something survived DROP DATABASE: %s", dump(t, s))
	}
	a.do(t, func(tx *txn.Txn) error {
		graves, err := a.Graves(ctx, tx, 100)
		if err != nil {
			return err
		}
		want := []Grave{{parent.ID, 1}, {parent.ID, 2}, {parent.ID, 3}, {old.ID, 1}, {old.ID, 2}, {old.ID, 3},
			{old.ID, 4}}
		if fmt.Sprint(graves) != fmt.Sprint(want) {
			return fmt.Errorf("graves %v, want %v", graves, want)
		}
		for _, g := range graves {
			a.Bury(tx, g)
		}
		return nil
	})
	a.do(t, func(tx *txn.Txn) error {
		if graves, err := a.Graves(ctx, tx, 100); err != nil || len(graves) != 0 {
			return fmt.Errorf("graves left: %v, %v", graves, err)
		}
		return nil
	})
}

func TestErrors(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a, "accounts")
	cur := a.table(t, "bank", "accounts")
	with := func(change func(n *Table)) func(*txn.Txn) error {
		return func(tx *txn.Txn) error {
			n := cur.Clone()
			change(n)
			_, err := a.UpdateTable(ctx, tx, n)
			return err
		}
	}
	for _, tt := range []struct {
		name string
		f    func(tx *txn.Txn) error
		want error
		text string
	}{
		{"database twice", func(tx *txn.Txn) error {
			_, err := a.CreateDatabase(ctx, tx, "Bank", "")
			return err
		}, ErrExists, "database Bank already exists"},
		{"no database", func(tx *txn.Txn) error {
			_, err := a.CreateTable(ctx, tx, "nowhere", accounts(t, "x"))
			return err
		}, ErrNotFound, "database nowhere"},
		{"table twice", func(tx *txn.Txn) error {
			_, err := a.CreateTable(ctx, tx, "bank", accounts(t, "ACCOUNTS"))
			return err
		}, ErrExists, "table bank.ACCOUNTS"},
		{"no table", func(tx *txn.Txn) error {
			return a.DropTable(ctx, tx, "bank", "x")
		}, ErrNotFound, "table bank.x"},
		{"view over table", func(tx *txn.Txn) error {
			return a.CreateView(ctx, tx, "bank", View{Name: "Accounts"})
		}, ErrExists, "table bank.Accounts"},
		{"no view", func(tx *txn.Txn) error {
			return a.DropView(ctx, tx, "bank", "v")
		}, ErrNotFound, "view bank.v"},
		{"no trigger", func(tx *txn.Txn) error {
			return a.DropTrigger(ctx, tx, "bank", "", "v")
		}, ErrNotFound, "trigger bank.v"},
		{"no procedure", func(tx *txn.Txn) error {
			return a.DropProcedure(ctx, tx, "bank", "v")
		}, ErrNotFound, "procedure bank.v"},
		{"no event", func(tx *txn.Txn) error {
			return a.UpdateEvent(ctx, tx, "bank", "v", Event{})
		}, ErrNotFound, "event bank.v"},
		{"no observer", func(tx *txn.Txn) error {
			return a.DropObserver(ctx, tx, "bank", "v")
		}, ErrNotFound, "observer bank.v"},
		{"observer of nothing", func(tx *txn.Txn) error {
			_, err := a.CreateObserver(ctx, tx, "bank", Observer{Name: "o"})
			return err
		}, ErrNotFound, "table"},
		{"no blob", func(tx *txn.Txn) error { return a.DeleteBlob(ctx, tx, "x") }, ErrNotFound, "blob x"},
		{"column twice", with(func(n *Table) {
			n.Columns = append(n.Columns, Column{Name: "OWNER"})
		}), ErrExists, "column"},
		{"index twice", with(func(n *Table) {
			n.Indexes = append(n.Indexes, Index{Name: "By_Owner"})
		}), ErrExists, "index"},
		{"index named PRIMARY", with(func(n *Table) {
			n.Indexes = append(n.Indexes, Index{Name: "primary"})
		}), ErrExists, "index"},
		{"index over nothing", with(func(n *Table) {
			n.Indexes[0].Columns[0].Column = 77
		}), nil, "column 77"},
		{"no columns", with(func(n *Table) { n.Columns = nil }), nil, "no columns"},
		{"id twice", with(func(n *Table) { n.Columns[1].ID = 1 }), nil, "two columns have the id 1"},
		{"ids run backwards", with(func(n *Table) { n.NextColumnID = 1 }), nil, "given out twice"},
		{"not UTF-8", with(func(n *Table) { n.Comment = "\xff" }), nil, "UTF-8"},
		{"stale", with(func(n *Table) { n.Version-- }), ErrStale, "accounts"},
	} {
		err := a.try(tt.f)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) ||
			!strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %v with %q", tt.name, err, tt.want, tt.text)
		}
	}
}

func TestCorruptDescriptor(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a, "accounts")
	id := a.table(t, "bank", "accounts").ID
	d, _ := a.now(t).Database("bank")
	for _, junk := range []string{"", "\x02{}", "\x01{", "\x01{}"} {
		a.do(t, func(tx *txn.Txn) error {
			tx.Put(descriptorCell(idRow(kindTable, d.ID, id)), []byte(junk), txn.WriteOptions{})
			return nil
		})
		fresh := c.node(t, Options{})
		tx := fresh.client.Begin(txn.TxnOptions{})
		if s, err := fresh.Snapshot(ctx, tx); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v, %v", junk, s, err)
		}
		tx.Rollback()
	}
}

// Text that looks like what the encoder writes for broken text is kept, but for NUL, which is \0 in strings.
func TestOddText(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a)
	text := "\\ufffd \ufffd \\\\ufffd <a> & \x00 \u2028"
	a.do(t, func(tx *txn.Txn) error {
		return a.CreateView(ctx, tx, "bank", View{Name: "Ü\ufffd", Definition: text})
	})
	d, _ := c.node(t, Options{}).now(t).Database("bank")
	if v, ok := d.View("ü\ufffd"); !ok || v.Definition != shown(text) {
		t.Errorf("%q came back as %+v", text, v)
	}
}

// Random DDL on several nodes, some of it rolled back, some of it several changes long: a node that follows
// the change log sees what a node sees that reads everything anew.
func TestAdvanceEqualsLoad(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newCluster(t)
		nodes := []*node{c.node(t, Options{}), c.node(t, Options{Snapshots: 1}), c.node(t, Options{})}
		names := rapid.SampledFrom([]string{"a", "b", "C", "c"})
		bank(t, nodes[0], "a")
		for range rapid.IntRange(1, 12).Draw(rt, "transactions") {
			n := nodes[rapid.IntRange(0, 2).Draw(rt, "node")]
			tx := n.client.Begin(txn.TxnOptions{})
			for range rapid.IntRange(1, 3).Draw(rt, "changes") {
				err := randomDDL(rt, t, n, tx, names)
				if err != nil && !errors.Is(err, ErrExists) && !errors.Is(err, ErrNotFound) {
					rt.Fatal(err)
				}
				if err != nil {
					break // keeps what went before, as a statement's error does
				}
			}
			if rapid.IntRange(0, 3).Draw(rt, "rollback") == 0 {
				tx.Rollback()
			} else if _, err := tx.Commit(ctx); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "look") {
				nodes[2].now(t)
			}
		}
		want := dump(t, c.node(t, Options{}).now(t))
		for i, n := range nodes {
			if got := dump(t, n.now(t)); got != want {
				rt.Fatalf("node %d sees\n%s\nwant\n%s", i, got, want)
			}
		}
	})
}

func randomDDL(rt *rapid.T, t *testing.T, n *node, tx *txn.Txn, names *rapid.Generator[string]) error {
	db, name := "bank", names.Draw(rt, "name")
	if rapid.IntRange(0, 5).Draw(rt, "second database") == 0 {
		db = "vault"
	}
	s, err := n.Snapshot(ctx, tx)
	if err != nil {
		return err
	}
	var tbl *Table
	if d, ok := s.Database(db); ok {
		tbl, _ = d.Table(name)
	}
	switch rapid.IntRange(0, 12).Draw(rt, "change") {
	case 0:
		_, err = n.CreateDatabase(ctx, tx, db, "utf8mb4_bin")
	case 1:
		if db == "vault" {
			err = n.DropDatabase(ctx, tx, db)
		}
	case 2, 3:
		_, err = n.CreateTable(ctx, tx, db, accounts(t, name))
	case 4:
		err = n.DropTable(ctx, tx, db, name)
	case 5:
		to := "bank"
		if rapid.Bool().Draw(rt, "to the second database") {
			to = "vault"
		}
		_, err = n.RenameTable(ctx, tx, db, name, to, names.Draw(rt, "new name"))
	case 6:
		if tbl != nil {
			clone := tbl.Clone()
			clone.Comment += "x"
			_, err = n.UpdateTable(ctx, tx, clone)
		}
	case 7:
		if tbl != nil {
			_, err = n.CreateObserver(ctx, tx, db,
				Observer{Name: name, TableID: tbl.ID, Created: time.Unix(1, 0).UTC()})
		}
	case 8:
		err = n.DropObserver(ctx, tx, db, name)
	case 9:
		err = n.CreateView(ctx, tx, db, View{Name: name})
	case 10:
		err = n.DropView(ctx, tx, db, name)
	case 11:
		err = n.PutBlob(ctx, tx, name, []byte(db))
	case 12:
		err = n.CreateTrigger(ctx, tx, db, "", Trigger{Name: name})
	}
	return err
}

// The change log keeps logLength entries, and nobody misses those that are gone.
func TestChangeLogIsTrimmed(t *testing.T) {
	c := newCluster(t)
	a, late := c.node(t, Options{}), c.node(t, Options{})
	bank(t, a, "accounts")
	late.now(t)
	for i := 0; i < logLength+10; i += 5 {
		a.do(t, func(tx *txn.Txn) error {
			for j := range 5 {
				if err := a.PutBlob(ctx, tx, "n", []byte(fmt.Sprint(i+j))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if got, want := dump(t, late.now(t)), dump(t, a.now(t)); got != want {
		t.Errorf("after %d changes:\n%s\nwant\n%s", logLength, got, want)
	}
	entries := 0
	tx := a.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	scan := tx.Scan(ctx, txn.ScanOptions{
		Span: kv.Span{Start: column(prefixCatalog, kindLog).Row, End: column(prefixCatalog, kindLog+1).Row}})
	defer scan.Close()
	for scan.Next() {
		entries++
	}
	if scan.Err() != nil || entries != logLength {
		t.Errorf("the change log has %d entries, %v", entries, scan.Err())
	}
}

func TestIsCurrent(t *testing.T) {
	c := newCluster(t)
	a, b := c.node(t, Options{}), c.node(t, Options{})
	bank(t, a)
	s := a.now(t)
	read := func() []byte {
		tx := a.client.Begin(txn.TxnOptions{})
		defer tx.Rollback()
		v, _, err := tx.Get(ctx, a.VersionCell())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if !a.Latest().IsCurrent(read()) || a.Latest() != s {
		t.Error("the latest snapshot is not current")
	}
	b.do(t, func(tx *txn.Txn) error { return b.PutBlob(ctx, tx, "x", nil) })
	if a.Latest().IsCurrent(read()) {
		t.Error("an old snapshot claims to be current")
	}
}

func BenchmarkSnapshot(b *testing.B) {
	c := newCluster(b)
	a := c.node(b, Options{})
	bank(b, a, "accounts")
	a.now(b)
	b.ReportAllocs()
	for b.Loop() {
		tx := a.client.Begin(txn.TxnOptions{ReadOnly: true})
		if _, err := a.Snapshot(ctx, tx); err != nil {
			b.Fatal(err)
		}
		tx.Rollback()
	}
}

// A release without FULLTEXT indexes must not read and write entries of words as if they were those of
// columns.
func TestFullTextIndexesHaveAVersionOfTheirOwn(t *testing.T) {
	d := &Table{ID: 7, Name: "t", Columns: []Column{{ID: 1, Name: "a", Type: Type{Kind: "text"}}},
		Indexes: []Index{{ID: 2, Name: "ft", Columns: []IndexColumn{{Column: 1}}, FullText: true}}}
	b, err := encodeDescriptor(d)
	if err != nil || b[0] != fullTextVersion || !strings.Contains(string(b), `"fulltext":true`) {
		t.Errorf("%x %v", b, err)
	}
	var back Table
	if err := decodeDescriptor(nil, b, &back); err != nil || !back.Indexes[0].FullText {
		t.Errorf("%+v %v", back, err)
	}
	d.Indexes = nil
	if b, err = encodeDescriptor(d); err != nil || b[0] != formatVersion {
		t.Errorf("without the index: %x %v", b, err)
	}
	if rest, ok := TakeFullText(MarkFullText("a comment")); !ok || rest != "a comment" {
		t.Errorf("%q %v", rest, ok)
	}
}
