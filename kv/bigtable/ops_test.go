package bigtable_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"moka/kv"
	"moka/kv/bigtable"
	"moka/kv/node"
)

type store struct {
	t testing.TB
	n *node.Node
	// table is the one that a test works on.
	table bigtable.Table
}

func open(t testing.TB, o node.Options) *store {
	t.Helper()
	if o.FS == nil {
		o.FS = vfs.NewMem()
	}
	o.Dir, o.CacheBytes, o.BalanceEvery = "data", 8<<20, -1
	n, err := node.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return &store{t: t, n: n}
}

func (s *store) call(shard kv.ShardID, id kv.CommandID, req kv.Message) (kv.Message, error) {
	// Through the wire form both ways: what a remote caller would see.
	c, ok := s.n.Command(id)
	if !ok {
		s.t.Fatalf("no command %d", id)
	}
	in := c.NewRequest()
	if err := in.Decode(req.AppendTo(nil)); err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.n.Handle(context.Background(), shard, nil, id, in)
	if err != nil {
		return nil, err
	}
	out := c.NewResponse()
	if err := out.Decode(resp.AppendTo(nil)); err != nil {
		s.t.Fatal(err)
	}
	return out, nil
}

func (s *store) create(t bigtable.Table) {
	s.t.Helper()
	resp, err := s.call(node.MetaShard, bigtable.CommandCreateTable, &bigtable.CreateTableRequest{Table: t})
	if err != nil {
		s.t.Fatal(err)
	}
	s.table = resp.(*bigtable.TablesResponse).Tables[0]
}

func (s *store) row(name string) kv.RowKey { return kv.MakeRowKey(s.table.ID, []byte(name)) }

func (s *store) mutate(row string, ms ...bigtable.Mutation) {
	s.t.Helper()
	req := &bigtable.MutateRowRequest{RowMutations: bigtable.RowMutations{Row: s.row(row), Mutations: ms}}
	if _, err := s.call(1, bigtable.CommandMutateRow, req); err != nil {
		s.t.Fatal(err)
	}
}

func set(family, qualifier string, ts kv.Timestamp, value string) bigtable.Mutation {
	return bigtable.Mutation{Kind: bigtable.SetCell, Family: family, Qualifier: []byte(qualifier), Timestamp: ts, Value: []byte(value)}
}

func text(r bigtable.Row) string {
	var b strings.Builder
	for _, c := range r.Cells {
		fmt.Fprintf(&b, "%s:%s@%d=%s ", c.Family, c.Qualifier, c.Timestamp, c.Value)
	}
	return strings.TrimSpace(b.String())
}

func (s *store) read(row string, f bigtable.Filter) string {
	s.t.Helper()
	resp, err := s.call(1, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: s.row(row), Filter: f})
	if err != nil {
		s.t.Fatal(err)
	}
	return text(resp.(*bigtable.ReadRowResponse).Row)
}

func (s *store) want(got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Fatalf("got  %s\nwant %s", got, want)
	}
}

var webtable = bigtable.Table{
	Name: "webtable",
	LocalityGroups: []bigtable.LocalityGroup{
		{Name: "pages"}, {Name: "small", InMemory: true}, {Name: "fast", Compression: bigtable.CompressForSpeed},
	},
	Families: []bigtable.Family{
		{Name: "contents", LocalityGroup: "pages"},
		{Name: "anchor", LocalityGroup: "small"},
		{Name: "meta", LocalityGroup: "fast", MaxVersions: 2},
	},
}

// The paper's example (§2): a page's contents with several versions, and anchors in a family of their own.
func TestWebtable(t *testing.T) {
	s := open(t, node.Options{})
	s.create(webtable)
	s.mutate("com.cnn.www",
		set("contents", "", 3, "<html>3"), set("contents", "", 5, "<html>5"), set("contents", "", 6, "<html>6"),
		set("anchor", "cnnsi.com", 9, "CNN"), set("anchor", "my.look.ca", 8, "CNN.com"))
	s.want(s.read("com.cnn.www", bigtable.Filter{}),
		"contents:@6=<html>6 contents:@5=<html>5 contents:@3=<html>3 anchor:cnnsi.com@9=CNN anchor:my.look.ca@8=CNN.com")
	for _, c := range []struct {
		f    bigtable.Filter
		want string
	}{
		{bigtable.Filter{Families: []string{"anchor"}}, "anchor:cnnsi.com@9=CNN anchor:my.look.ca@8=CNN.com"},
		{bigtable.Filter{Families: []string{"contents"}, Versions: 1}, "contents:@6=<html>6"},
		{bigtable.Filter{Families: []string{"contents"}, To: 6}, "contents:@5=<html>5 contents:@3=<html>3"},
		{bigtable.Filter{Families: []string{"contents"}, From: 5, To: 6}, "contents:@5=<html>5"},
		{bigtable.Filter{Qualifiers: [][]byte{[]byte("my.look.ca")}}, "anchor:my.look.ca@8=CNN.com"},
		{bigtable.Filter{QualifierStart: []byte("d")}, "anchor:my.look.ca@8=CNN.com"},
		{bigtable.Filter{QualifierStart: []byte("a"), QualifierEnd: []byte("d")}, "anchor:cnnsi.com@9=CNN"},
		{bigtable.Filter{CellsPerRow: 4}, "contents:@6=<html>6 contents:@5=<html>5 contents:@3=<html>3 anchor:cnnsi.com@9=CNN"},
		{bigtable.Filter{HasValue: true, Value: []byte("CNN")}, "anchor:cnnsi.com@9=CNN"},
	} {
		s.want(s.read("com.cnn.www", c.f), c.want)
	}
	s.mutate("com.cnn.www",
		bigtable.Mutation{Kind: bigtable.DeleteColumn, Family: "contents", From: 4, To: 6},
		bigtable.Mutation{Kind: bigtable.DeleteFamily, Family: "anchor"},
		set("anchor", "new", 1, "x"))
	s.want(s.read("com.cnn.www", bigtable.Filter{}), "contents:@6=<html>6 contents:@3=<html>3 anchor:new@1=x")
	s.mutate("com.cnn.www", bigtable.Mutation{Kind: bigtable.DeleteRow})
	s.want(s.read("com.cnn.www", bigtable.Filter{}), "")
}

func (s *store) readRows(req *bigtable.ReadRowsRequest) (rows []bigtable.Row, calls int) {
	s.t.Helper()
	for {
		resp, err := s.call(1, bigtable.CommandReadRows, req)
		if err != nil {
			s.t.Fatal(err)
		}
		m := resp.(*bigtable.ReadRowsResponse)
		rows = append(rows, m.Rows...)
		if calls++; !m.More {
			return rows, calls
		}
		req.Spans[0].Start = m.Next
	}
}

// Rows come in order, in pieces as large as asked for, whether one locality group is read or several.
func TestReadRows(t *testing.T) {
	s := open(t, node.Options{})
	s.create(webtable)
	for i := range 25 {
		s.mutate(fmt.Sprintf("row%02d", i), set("contents", "", 1, fmt.Sprint(i)), set("anchor", "a", 1, "x"))
	}
	for _, families := range [][]string{nil, {"contents"}, {"anchor"}, {"contents", "anchor"}} {
		rows, calls := s.readRows(&bigtable.ReadRowsRequest{
			Spans: []kv.Span{{Start: s.row("row03"), End: s.row("row20")}}, Rows: 7, Filter: bigtable.Filter{Families: families},
		})
		if len(rows) != 17 || calls != 3 {
			t.Fatalf("families %v: %d rows in %d calls", families, len(rows), calls)
		}
		for i, r := range rows {
			if want := fmt.Sprintf("row%02d", i+3); string(r.Key.Row()) != want {
				t.Fatalf("row %d is %q, want %q", i, r.Key.Row(), want)
			}
		}
	}
}

func TestCheckAndMutate(t *testing.T) {
	s := open(t, node.Options{})
	s.create(webtable)
	cas := func(old, new string) bool {
		t.Helper()
		resp, err := s.call(1, bigtable.CommandCheckAndMutateRow, &bigtable.CheckAndMutateRowRequest{
			Row: s.row("r"), Predicate: bigtable.Filter{Families: []string{"meta"}, Versions: 1, HasValue: true, Value: []byte(old)},
			Then: []bigtable.Mutation{set("meta", "q", 0, new)},
			Else: []bigtable.Mutation{set("contents", "lost", 1, new)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return resp.(*bigtable.CheckAndMutateRowResponse).Matched
	}
	s.mutate("r", set("meta", "q", 1, "a"))
	if !cas("a", "b") || cas("a", "c") {
		t.Fatal("the condition was not checked")
	}
	s.want(s.read("r", bigtable.Filter{Families: []string{"contents"}}), "contents:lost@1=c")
}

// Concurrent increments lose nothing, and their versions are all distinct and ascending.
func TestReadModifyWrite(t *testing.T) {
	s := open(t, node.Options{})
	s.create(webtable)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				_, err := s.n.Handle(context.Background(), 1, nil, bigtable.CommandReadModifyWriteRow, &bigtable.ReadModifyWriteRowRequest{
					Row: s.row("r"), Rules: []bigtable.Rule{{Family: "contents", Qualifier: []byte("n"), Counter: true, Add: 2}, {Family: "meta", Qualifier: []byte("log"), Append: []byte("x")}},
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	resp, err := s.call(1, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: s.row("r")})
	if err != nil {
		t.Fatal(err)
	}
	cells := resp.(*bigtable.ReadRowResponse).Row.Cells
	if len(cells) != 202 { // all 200 versions of contents, two of meta
		t.Fatalf("%d cells", len(cells))
	}
	for i := range 200 {
		if n := binary.BigEndian.Uint64(cells[i].Value); n != uint64(400-2*i) {
			t.Fatalf("version %d is %d", i, n)
		}
	}
	if got := cells[200]; len(got.Value) != 200 {
		t.Fatalf("appended %d bytes", len(got.Value))
	}
	_, err = s.call(1, bigtable.CommandReadModifyWriteRow, &bigtable.ReadModifyWriteRowRequest{
		Row: s.row("r"), Rules: []bigtable.Rule{{Family: "meta", Qualifier: []byte("log"), Counter: true, Add: 1}},
	})
	if !errors.Is(err, kv.ErrInvalidArgument) {
		t.Fatalf("a counter that is none: %v", err)
	}
}

// stored counts the versions of a row that exist, whatever reads show.
func (s *store) stored(row string) int {
	h, _ := s.n.Shard(1)
	n := 0
	for _, g := range s.table.LocalityGroups {
		it, err := h.Reader().Iter(kv.IterOptions{Group: g.ID, Span: kv.Span{Start: s.row(row), End: s.row(row + "\x00")}})
		if err != nil {
			s.t.Fatal(err)
		}
		for it.NextColumn() {
			for ok := true; ok; ok = it.NextVersion() {
				n++
			}
		}
		it.Close()
	}
	return n
}

// What a policy drops is hidden at once, and goes with one of the next writes or the next sweep.
func TestGarbageCollection(t *testing.T) {
	s := open(t, node.Options{})
	s.create(bigtable.Table{Name: "t", Families: []bigtable.Family{{Name: "few", MaxVersions: 2}, {Name: "young", MaxAge: time.Hour}, {Name: "all"}}})
	now := time.Now()
	old := kv.TimestampAt(now.Add(-2 * time.Hour))
	for i := range kv.Timestamp(5) {
		s.mutate("r", set("few", "q", i+1, fmt.Sprint(i)), set("young", "q", old+i, "old"), set("all", "q", i+1, "x"))
	}
	s.want(s.read("r", bigtable.Filter{Families: []string{"few"}}), "few:q@5=4 few:q@4=3")
	s.want(s.read("r", bigtable.Filter{Families: []string{"few"}, To: 5}), "few:q@4=3")
	s.want(s.read("r", bigtable.Filter{Families: []string{"young"}}), "")
	if n := s.stored("r"); n < 2+5 || n > 5+5 { // an expired value is not even written
		t.Fatalf("%d versions are stored", n)
	}
	// Removing what is visible does not bring back what the policy has given up.
	s.mutate("r", bigtable.Mutation{Kind: bigtable.DeleteColumn, Family: "few", Qualifier: []byte("q"), From: 4})
	s.want(s.read("r", bigtable.Filter{Families: []string{"few"}}), "")
	// A column that is written to all the time stays short: one write in a few takes the garbage along.
	for i := range kv.Timestamp(1000) {
		s.mutate("r", set("few", "q", 10+i, "v"))
	}
	if n := s.stored("r"); n > 300 {
		t.Fatalf("%d versions are stored", n)
	}
	// Expiry comes with time alone; shift it by a value that was young when it was written.
	young := kv.TimestampAt(now.Add(-time.Hour + 300*time.Millisecond))
	s.mutate("r", set("young", "q", young, "v"))
	deadline := time.After(10 * time.Second)
	for s.read("r", bigtable.Filter{Families: []string{"young"}}) != "" {
		select {
		case <-deadline:
			t.Fatal("the value does not expire")
		default:
		}
	}
	if err := s.n.Balance(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := s.stored("r"); n != 7 {
		t.Fatalf("%d versions are stored after the sweep", n)
	}
}

// A table's life: the schema survives a restart, a dropped table's data goes, its number is not used again.
func TestTables(t *testing.T) {
	fs := vfs.NewMem()
	o := node.Options{FS: fs, Dir: "data", CacheBytes: 8 << 20, BalanceEvery: -1}
	n, err := node.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &store{t: t, n: n}
	s.create(webtable)
	s.mutate("r", set("contents", "", 1, "v"), set("anchor", "", 1, "w"))
	if _, err := s.call(1, bigtable.CommandCreateTable, &bigtable.CreateTableRequest{Table: webtable}); !errors.Is(err, kv.ErrAlreadyExists) {
		t.Fatalf("the table was created twice: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if s.n, err = node.Open(o); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.n.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	s.want(s.read("r", bigtable.Filter{}), "contents:@1=v anchor:@1=w")
	first := s.table
	if _, err := s.call(1, bigtable.CommandDropTable, &bigtable.DropTableRequest{Name: "webtable"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.call(1, bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: s.row("r")}); !errors.Is(err, kv.ErrNotFound) {
		t.Fatalf("a dropped table answers: %v", err)
	}
	if got := s.stored("r"); got != 2 {
		t.Fatalf("%d cells before the removal", got)
	}
	if err := s.n.Balance(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := s.stored("r"); got != 0 {
		t.Fatalf("%d cells after the removal", got)
	}
	s.create(webtable)
	if s.table.ID == first.ID {
		t.Fatal("the number was used again")
	}
	s.want(s.read("r", bigtable.Filter{}), "")
}

func TestBadRequests(t *testing.T) {
	s := open(t, node.Options{})
	s.create(webtable)
	for name, c := range map[string]struct {
		id   kv.CommandID
		req  kv.Message
		want error
	}{
		"no families":      {bigtable.CommandCreateTable, &bigtable.CreateTableRequest{Table: bigtable.Table{Name: "x"}}, kv.ErrInvalidArgument},
		"unknown group":    {bigtable.CommandCreateTable, &bigtable.CreateTableRequest{Table: bigtable.Table{Name: "x", Families: []bigtable.Family{{Name: "f", LocalityGroup: "g"}}}}, kv.ErrInvalidArgument},
		"unknown family":   {bigtable.CommandMutateRow, &bigtable.MutateRowRequest{RowMutations: bigtable.RowMutations{Row: s.row("r"), Mutations: []bigtable.Mutation{set("nope", "", 1, "")}}}, kv.ErrNotFound},
		"unknown table":    {bigtable.CommandReadRow, &bigtable.ReadRowRequest{Row: kv.MakeRowKey(99999, nil)}, kv.ErrNotFound},
		"unknown kind":     {bigtable.CommandMutateRow, &bigtable.MutateRowRequest{RowMutations: bigtable.RowMutations{Row: s.row("r"), Mutations: []bigtable.Mutation{{Kind: 9, Family: "meta"}}}}, kv.ErrInvalidArgument},
		"beyond the table": {bigtable.CommandReadRows, &bigtable.ReadRowsRequest{Spans: []kv.Span{{Start: s.row(""), End: kv.MakeRowKey(s.table.ID+2, nil)}}}, kv.ErrInvalidArgument},
		"drop nothing":     {bigtable.CommandDropTable, &bigtable.DropTableRequest{Name: "nope"}, kv.ErrNotFound},
	} {
		if _, err := s.call(1, c.id, c.req); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
