package catalog

import (
	"testing"

	"moka/txn"
)

// TestDropCopyOfIncremental: a table whose descriptor was copied from an incremental view's goes alone. It
// took the view's contributions and observers along.
func TestDropCopyOfIncremental(t *testing.T) {
	n := newCluster(t).node(t, Options{})
	bank(t, n, "anchor")
	plain := func(name string) *Table {
		d := accounts(t, name)
		d.ForeignKeys, d.Checks, d.Columns[0].AutoIncrement = nil, nil, false
		d.Indexes = nil
		return d
	}
	var view *Table
	n.do(t, func(tx *txn.Txn) error {
		v, of, err := n.CreateIncremental(ctx, tx, "bank", plain("v"), plain("v$contributions"))
		if err != nil {
			return err
		}
		anchor, _ := n.now(t).databases["bank"].Table("anchor")
		o, err := n.CreateObserver(ctx, tx, "bank", Observer{Name: "v", TableID: anchor.ID, View: v.ID})
		if err != nil {
			return err
		}
		return n.SetIncremental(ctx, tx, v.ID, &Incremental{Query: "SELECT 1", Contributions: of.ID,
			Uses: []Use{{Table: anchor.ID, Observer: o.ID}}})
	})
	view = n.table(t, "bank", "v")
	n.do(t, func(tx *txn.Txn) error {
		made := plain("copy")
		made.Incremental = view.Incremental
		_, err := n.CreateTable(ctx, tx, "bank", made)
		return err
	})
	made := n.table(t, "bank", "copy")
	n.do(t, func(tx *txn.Txn) error { return n.DropIncremental(ctx, tx, made) })
	s := n.now(t)
	if _, ok := s.TableByID(made.ID); ok {
		t.Error("the copy is still there")
	}
	if _, ok := s.TableByID(view.Incremental.Contributions); !ok {
		t.Error("the contributions of the view are gone")
	}
	if _, ok := s.ObserverByID(view.Incremental.Uses[0].Observer); !ok {
		t.Error("the view's observer is gone")
	}
	n.do(t, func(tx *txn.Txn) error { return n.DropIncremental(ctx, tx, view) })
	s = n.now(t)
	for _, id := range []uint32{view.ID, view.Incremental.Contributions} {
		if _, ok := s.TableByID(id); ok {
			t.Errorf("table %d of the view is still there", id)
		}
	}
	if os := s.AllObservers(); len(os) != 0 {
		t.Errorf("observers are left: %d", len(os))
	}
}
