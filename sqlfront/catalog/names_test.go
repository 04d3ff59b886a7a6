package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"moka/kv"
	"moka/txn"
)

// TestNamesHaveNoNUL: whoever has TRIGGER on one table ended the dumps of all, or made what follows in them a
// comment, by an observer or a trigger that has a NUL in its name.
func TestNamesHaveNoNUL(t *testing.T) {
	n := newCluster(t).node(t, Options{})
	bank(t, n, "a")
	id := n.table(t, "bank", "a").ID
	for what, try := range map[string]func(tx *txn.Txn, name string) error{
		"database": func(tx *txn.Txn, name string) error {
			_, err := n.CreateDatabase(ctx, tx, name, "utf8mb4_0900_ai_ci")
			return err
		},
		"table": func(tx *txn.Txn, name string) error {
			_, err := n.CreateTable(ctx, tx, "bank", accounts(t, name))
			return err
		},
		"column": func(tx *txn.Txn, name string) error {
			x := accounts(t, "b")
			x.Columns[1].Name = name
			_, err := n.CreateTable(ctx, tx, "bank", x)
			return err
		},
		"index": func(tx *txn.Txn, name string) error {
			x := accounts(t, "b")
			x.Indexes[0].Name = name
			_, err := n.CreateTable(ctx, tx, "bank", x)
			return err
		},
		"check": func(tx *txn.Txn, name string) error {
			x := accounts(t, "b")
			x.Checks[0].Name = name
			_, err := n.CreateTable(ctx, tx, "bank", x)
			return err
		},
		"foreign key": func(tx *txn.Txn, name string) error {
			x := accounts(t, "b")
			x.ForeignKeys[0].Name = name
			_, err := n.CreateTable(ctx, tx, "bank", x)
			return err
		},
		"view": func(tx *txn.Txn, name string) error {
			return n.CreateView(ctx, tx, "bank", View{Name: name})
		},
		"trigger": func(tx *txn.Txn, name string) error {
			return n.CreateTrigger(ctx, tx, "bank", "", Trigger{Name: name})
		},
		"procedure": func(tx *txn.Txn, name string) error {
			return n.CreateProcedure(ctx, tx, "bank", Procedure{Name: name})
		},
		"function": func(tx *txn.Txn, name string) error {
			return n.CreateFunction(ctx, tx, "bank", Procedure{Name: name})
		},
		"event": func(tx *txn.Txn, name string) error {
			return n.CreateEvent(ctx, tx, "bank", Event{Name: name})
		},
		"observer": func(tx *txn.Txn, name string) error {
			_, err := n.CreateObserver(ctx, tx, "bank", Observer{Name: name, TableID: id})
			return err
		},
	} {
		var refused *LimitError
		err := n.try(func(tx *txn.Txn) error { return try(tx, "a\x00b") })
		if !errors.As(err, &refused) || refused.Limit != LimitCharacters ||
			strings.Contains(err.Error(), "\x00") {
			t.Errorf("%s with a NUL: %v, want %d", what, err, LimitCharacters)
		}
		for _, name := range []string{"", "a "} {
			switch what {
			case "column", "index", "check", "foreign key":
				continue
			}
			err := n.try(func(tx *txn.Txn) error { return try(tx, name) })
			if !errors.As(err, &refused) || refused.Limit == LimitCharacters {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
}

// TestNamesWithNULOfOlderReleases: they are shown without, can be changed, and dropped by what is shown.
func TestNamesWithNULOfOlderReleases(t *testing.T) {
	c := newCluster(t)
	n, other := c.node(t, Options{}), c.node(t, Options{})
	bank(t, n, "a")
	_ = other.now(t) // which learns of changes one by one
	d, _ := n.now(t).Database("bank")
	const text = "CREATE TRIGGER `a\x00b` SET @x = 'c\x00d', @y = '\\u0000'"
	const without = "CREATE TRIGGER `a\\0b` SET @x = 'c\\0d', @y = '\\u0000'"
	rows := map[byte]any{
		kindView:      &View{Name: "a\x00b", Definition: text, CreateStatement: text},
		kindTrigger:   &Trigger{Name: "a\x00b", CreateStatement: text},
		kindProcedure: &Procedure{Name: "a\x00b", CreateStatement: text},
		kindFunction:  &Procedure{Name: "a\x00b", CreateStatement: text},
		kindEvent:     &Event{Name: "a\x00b", Body: text},
	}
	put := func(tx *txn.Txn, row []byte, v any) error {
		value, err := encodeDescriptor(v)
		if err != nil {
			return err
		}
		tx.Put(descriptorCell(row), value, txn.WriteOptions{})
		return n.bump(ctx, tx, row)
	}
	n.do(t, func(tx *txn.Txn) error {
		for kind, v := range rows {
			if err := put(tx, nameRow(kind, d.ID, "a\x00b"), v); err != nil {
				return err
			}
		}
		x := accounts(t, "t\x00u")
		x.ID, x.DatabaseID, x.Version = 900, d.ID, 1
		x.Columns[0].ID, x.Columns[1].ID, x.Columns[2].ID = 1, 2, 3
		x.Columns[1].Default = "'c\x00d'"
		x.Indexes[0].ID, x.Indexes[1].ID = 2, 3
		if err := put(tx, idRow(kindTable, d.ID, x.ID), x); err != nil {
			return err
		}
		o := &Observer{ID: 901, DatabaseID: d.ID, TableID: x.ID, Name: "a\x00b", CreateStatement: text}
		return put(tx, idRow(kindObserver, d.ID, o.ID), o)
	})
	n.do(t, func(tx *txn.Txn) error {
		e, err := n.Snapshot(ctx, tx)
		if err != nil {
			return err
		}
		in, _ := e.Database("bank")
		was, ok := in.Event(`a\0b`)
		if !ok {
			return errors.New("no event")
		}
		changed := *was
		changed.Comment = "changed"
		return n.UpdateEvent(ctx, tx, "bank", `a\0b`, changed)
	})
	for _, s := range []*Snapshot{n.now(t), other.now(t), c.node(t, Options{}).now(t)} {
		d, _ := s.Database("bank")
		v, _ := d.View(`a\0b`)
		tr, _ := d.Trigger(`a\0b`)
		p, _ := d.Procedure(`a\0b`)
		f, _ := d.Function(`a\0b`)
		e, _ := d.Event(`a\0b`)
		o, _ := d.Observer(`a\0b`)
		x, _ := d.Table(`t\0u`)
		if v == nil || tr == nil || p == nil || f == nil || e == nil || o == nil || x == nil {
			t.Fatalf("not found: %v %v %v %v %v %v %v", v, tr, p, f, e, o, x)
		}
		for _, got := range []string{v.CreateStatement, tr.CreateStatement, p.CreateStatement,
			f.CreateStatement, e.Body, o.CreateStatement} {
			if got != without {
				t.Errorf("%q, want %q", got, without)
			}
		}
		if e.Comment != "changed" || len(d.Events()) != 1 || x.Columns[1].Default != "'c\x00d'" {
			t.Errorf("%+v of %d, %q", e, len(d.Events()), x.Columns[1].Default)
		}
		if shown := fmt.Sprintf("%q %q %q", v.Name, tr.Name, o.Name); strings.Contains(shown, `\x00`) {
			t.Error(shown)
		}
	}
	n.do(t, func(tx *txn.Txn) error {
		return errors.Join(n.DropView(ctx, tx, "bank", `a\0b`), n.DropTrigger(ctx, tx, "bank", "", `a\0b`),
			n.DropProcedure(ctx, tx, "bank", `a\0b`), n.DropEvent(ctx, tx, "bank", `a\0b`),
			n.DropObserver(ctx, tx, "bank", `a\0b`))
	})
	for _, s := range []*Snapshot{n.now(t), other.now(t), c.node(t, Options{}).now(t)} {
		d, _ := s.Database("bank")
		if len(d.Views())+len(d.Triggers())+len(d.Procedures())+len(d.Events())+len(d.Observers()) != 0 {
			t.Errorf("left: %v %v %v %v %v", d.Views(), d.Triggers(), d.Procedures(), d.Events(),
				d.Observers())
		}
	}
	n.do(t, func(tx *txn.Txn) error { return n.DropDatabase(ctx, tx, "bank") }) // the function, too
	tx := n.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	scan := tx.Scan(ctx, txn.ScanOptions{Span: kv.Span{Start: column(prefixCatalog, kindDatabase).Row,
		End: column(prefixCatalog, kindEnd).Row}})
	defer scan.Close()
	for scan.Next() {
		t.Errorf("left in the store: %x", scan.Column().Row)
	}
}
