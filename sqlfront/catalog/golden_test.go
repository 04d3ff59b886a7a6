package catalog

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"moka/kv"
	"moka/txn"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The cells of a small catalog. They are on people's disks: a difference is a new format
// version, not a file to update.
func TestGoldenCells(t *testing.T) {
	c := newCluster(t)
	a := c.node(t, Options{})
	bank(t, a, "accounts")
	a.do(t, func(tx *txn.Txn) error {
		tbl := a.table(t, "bank", "accounts")
		o := Observer{Name: "Totals", TableID: tbl.ID, Events: OnInsert | OnUpdate, Columns: []uint32{3},
			Body:    "UPDATE t SET n = n + 1",
			SQLMode: "STRICT_TRANS_TABLES", Enabled: true, Created: time.Unix(1700000000, 0).UTC(),
			MaxAttempts: 5, Backoff: time.Second}
		if _, err := a.CreateObserver(ctx, tx, "bank", o); err != nil {
			return err
		}
		if err := a.CreateView(ctx, tx, "bank",
			View{Name: "Rich", Definition: "SELECT 1",
				CreateStatement: "CREATE VIEW Rich AS SELECT 1"}); err != nil {
			return err
		}
		cur, err := a.tableByID(ctx, tx, tbl.ID)
		if err != nil {
			return err
		}
		n := cur.Clone()
		n.Indexes = n.Indexes[:1]
		n.Columns = append(n.Columns, Column{Name: "since", Type: Type{Kind: "datetime", Precision: 6},
			Nullable: true, Fill: []byte{1, 8}})
		if _, err := a.UpdateTable(ctx, tx, n); err != nil {
			return err
		}
		return a.PutBlob(ctx, tx, "privileges", []byte{0, 1, 2})
	})
	var b strings.Builder
	tx := a.client.Begin(txn.TxnOptions{})
	defer tx.Rollback()
	scan := tx.Scan(ctx, txn.ScanOptions{
		Span: kv.Span{Start: column(prefixCatalog).Row, End: column(prefixSequence + 1).Row}})
	defer scan.Close()
	for scan.Next() {
		row, value := scan.Column().Row.Row(), scan.Value()
		switch { // the random halves of marks
		case row[0] == prefixCatalog && row[1] == kindVersion:
			copy(value[len(value)-markSize:], bytes.Repeat([]byte{0xEE}, markSize))
		case row[0] == prefixCatalog && row[1] == kindLog:
			copy(value[1:], bytes.Repeat([]byte{0xEE}, 2*markSize))
		}
		text := fmt.Sprintf("%x", value)
		if len(value) > 1 && value[1] == '{' {
			text = fmt.Sprintf("%02x %s", value[0], value[1:])
		}
		fmt.Fprintf(&b, "%x\n    %s\n", row, text)
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/cells.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the cells are\n%swant\n%s", b.String(), want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{1, 5, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(change{rows: [][]byte{{kindBlob, 'x'}}}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := decodeMark(data); err == nil {
			if again, err := decodeMark(m.encode()); err != nil || again != m {
				t.Errorf("mark %+v became %+v, %v", m, again, err)
			}
		}
		if c, err := decodeChange(nil, data); err == nil {
			again, err := decodeChange(nil, c.encode())
			if err != nil || fmt.Sprint(again) != fmt.Sprint(c) {
				t.Errorf("change %v became %v, %v", c, again, err)
			}
		}
		// any row with any value: an error or a descriptor, no panic
		for kind := byte(kindDatabase); kind < kindEnd; kind++ {
			b := newBuilder(nil)
			row := append([]byte{kind}, data...)
			_ = b.set(row, data)
			_ = b.set(row, append([]byte{formatVersion}, data...))
			_ = b.unset(row)
			b.finish(1, nil)
		}
	})
}
