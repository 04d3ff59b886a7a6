package sqlfront_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
)

// TestNumbersOfOneInsertAreConsecutive: with two nodes that write, LAST_INSERT_ID()+1 was another session's
// row now and then, where a node's block of numbers ended within a statement. Drivers count up from it.
func TestNumbersOfOneInsertAreConsecutive(t *testing.T) {
	d := newDatabase(t)
	nodes := []*sql.Conn{d.serve().conn(""), d.serve().conn("")}
	run(t, nodes[0], "create database d",
		"create table d.t (id int auto_increment primary key, tag varchar(20))",
		"create table d.g (id int auto_increment primary key, tag varchar(20), g int as (id + 1))",
		"create trigger d.b before insert on d.g for each row set new.tag = concat(new.tag, '')")
	for round := range 40 {
		for _, table := range []string{"d.t", "d.g"} { // by a plan, and by the library
			for i, c := range nodes {
				tag := fmt.Sprintf("%d-%d", i, round)
				r, err := c.ExecContext(context.Background(), fmt.Sprintf("insert into %s (tag) values "+
					"('%s'), ('%[2]s'), ('%[2]s'), ('%[2]s'), ('%[2]s'), ('%[2]s'), ('%[2]s')", table, tag))
				if err != nil {
					t.Fatal(err)
				}
				first, err := r.LastInsertId()
				if err != nil {
					t.Fatal(err)
				}
				want(t, c, fmt.Sprintf("select min(id), max(id), count(*) from %s where tag = '%s'", table,
					tag), fmt.Sprintf("%d %d 7", first, first+6))
			}
		}
	}
	script{
		{"create table d.m (id int auto_increment primary key, x int)", ""},
		{"insert into d.m (id, x) values (null, 1), (5, 2), (null, 3), (2, 4), (null, 5)", ""},
		{"select * from d.m order by x", "1 1;5 2;6 3;2 4;7 5"},
		{"insert into d.m (x) values (6), (7)", ""},
		{"select count(*) from d.m a join d.m b on a.id + 1 = b.id where a.x = 6 and b.x = 7 and a.id > 7",
			"1"},
		{"create table d.b (id tinyint auto_increment primary key, x int)", ""},
		{"insert into d.b values (125, 1)", ""},
		{"insert into d.b (x) values (2), (3)", ""},
		{"insert into d.b (x) values (4), (5)", "error 1062"},
		{"select * from d.b", "125 1;126 2;127 3"},
		{"create table d.u (id bigint unsigned auto_increment primary key, x int)", ""},
		{"insert into d.u values (18446744073709551612, 1)", ""},
		{"insert into d.u (x) values (2), (3)", ""},
		{"select * from d.u", "18446744073709551612 1;18446744073709551613 2;18446744073709551614 3"},
	}.run(t, nodes[0])
}

// TestNumbersAddedUnderWriters is ALTER TABLE … ADD id INT AUTO_INCREMENT PRIMARY KEY while two nodes write:
// each row that was acknowledged is there once, with a number of its own, and new ones lie behind them.
func TestNumbersAddedUnderWriters(t *testing.T) {
	d := newDatabase(t)
	servers := []*server{d.serve(), d.serve()}
	c := servers[0].conn("")
	run(t, c, "create database d", "create table d.t (x int)", "insert into d.t values (-1), (-2), (-3)")
	altered := make(chan struct{})
	var wrote sync.WaitGroup
	kept := make([]int, len(servers))
	begun := make(chan struct{}, len(servers))
	for i, s := range servers {
		w := s.conn("")
		wrote.Go(func() {
			insert := func() bool {
				_, err := w.ExecContext(context.Background(),
					fmt.Sprintf("insert into d.t (x) values (%d)", kept[i]*len(servers)+i))
				if err == nil {
					kept[i]++
				} else if n := number(err); n != "1213" && n != "1412" && n != "1205" {
					t.Errorf("insert: %v", err)
				}
				return err == nil
			}
			for k := 0; ; k++ {
				insert()
				if k == 5 {
					begun <- struct{}{}
				}
				select {
				case <-altered:
					for range 100 { // the first may be told that the table has changed
						if insert() {
							return
						}
					}
					t.Error("nothing can be inserted afterwards")
					return
				default:
				}
			}
		})
	}
	for range servers {
		<-begun
	}
	_, err := c.ExecContext(context.Background(),
		"alter table d.t add id int auto_increment primary key first")
	close(altered)
	wrote.Wait()
	if err != nil {
		t.Fatal(err)
	}
	want(t, c, "select count(*), count(distinct x), count(distinct id), min(id) > 0 from d.t",
		fmt.Sprintf("%d %[1]d %[1]d 1", kept[0]+kept[1]+3))
	run(t, c, "insert into d.t (x) values (-4)")
	want(t, c, "select count(*) from d.t where x = -4 and id > 3", "1")
}
