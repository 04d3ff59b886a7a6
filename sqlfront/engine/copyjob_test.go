package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"moka/sqlfront/catalog"
)

// copies are changes that copy the table, with what they make of its rows: see fill.
var copies = map[string]struct{ statement, check string }{
	"same keys":   {"alter table t modify b varchar(10) not null, add column c int not null default (a + 1), add index bi (b)", "b = concat('b', id) and c = a + 1"},
	"other keys":  {"alter table t drop primary key, add column n int not null first, modify a varchar(5), add primary key (b, id)", "n = 0 and b = concat('b', id)"},
	"no key":      {"alter table t drop primary key, add unique index u (id)", "b = concat('b', id)"},
	"numbered":    {"alter table t drop primary key, add column n int not null auto_increment primary key first", "n > 0 and b = concat('b', id)"},
	"renumbered":  {"alter table t modify id int not null, drop primary key, add column n int not null auto_increment primary key, add index (id)", "n > 0 and b = concat('b', id)"},
	"collation":   {"alter table t modify b varchar(20) character set latin1 collate latin1_bin", "b = concat('b', id)"},
	"wider types": {"alter table t modify id bigint not null, modify a decimal(10, 2), add unique index u (id, a)", "b = concat('b', id)"},
}

// TestCopyGoesOnElsewhere kills the process that copies a table at many places, changes rows, and looks at what another one makes of it.
func TestCopyGoesOnElsewhere(t *testing.T) {
	for name, change := range copies {
		for _, after := range []int64{8, 30, 60, 120, 180} {
			t.Run(fmt.Sprint(name, " ", after), func(t *testing.T) {
				c := newCluster(t)
				a, way := c.process(time.Hour)
				s := a.session("")
				fill(s)
				before := s.text("show create table t")
				// Who writes does not take the job up: the changes are to be there, in the old form, when somebody else does.
				writer, _ := c.process(time.Hour)
				w := writer.session("d")
				var at catalog.Job // the record at the moment of death
				way.onEnd = func() {
					if all, err := writer.eng.Jobs(context.Background()); err == nil && len(all) > 0 {
						at = all[0]
					}
					w.exec("update t set id = id + 1000, b = concat('b', id) where id % 50 = 7")
					w.exec("delete from t where id % 50 = 8")
					w.exec("insert into t (id, a, b) values (-5, 3, 'b-5')")
				}
				way.die(after)
				if s.code(change.statement) == 0 {
					t.Fatalf("the statement takes fewer than %d requests", after)
				}
				if way.left.Load() > 0 {
					t.Fatal("the statement failed by itself")
				}
				<-way.ended
				if at.ID == 0 { // before anything was published
					if now := w.text("show create table t"); now != before {
						t.Error(now)
					}
					return
				}
				b, _ := c.process(testLease)
				j := b.job(catalog.JobDone)
				if j.Resumed != 1 || j.Owner == at.Owner || at.Rows >= jobRows && at.Phase == catalog.PhaseCopy {
					t.Errorf("when it died: %+v\nin the end: %+v", at, j)
				}
				t.Logf("died after %d rows, %s", at.Rows, at.Phase)
				w.want("select count(*), sum("+change.check+") from t", "393 | 393")
				w.want("select count(*) from t where id between 1000 and 1400", "8")
				b.checked()
			})
		}
	}
}

// TestCopyUnderWriters: rows come, go and change on two servers while the table changes its form several times. Each writer knows what its rows
// have to be in the end. The table is several times larger than a transaction may be.
func TestCopyUnderWriters(t *testing.T) {
	c := newCluster(t)
	c.opts.MaxBytes = 64 << 10
	a, _ := c.process(time.Hour)
	b, _ := c.process(time.Hour)
	s := a.session("")
	s.exec("create database d")
	s.sess.SetCurrentDatabase("d")
	s.exec("create table t (id int primary key, a int not null, b varchar(40), unique key (a))")
	const writers, rows = 4, 100
	model := make([]map[int]string, writers)
	for w := range writers {
		model[w] = map[int]string{}
		for from := 0; from < rows; from += 20 {
			var values []string
			for i := from; i < from+20; i++ {
				id := w*10000 + i
				model[w][id] = fmt.Sprintf("%d %d-%d", id, id, 0)
				values = append(values, fmt.Sprintf("(%d, %d, '%d-0')", id, id, id))
			}
			s.exec("insert into t values " + strings.Join(values, ","))
		}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			s := []*server{a, b}[w%2].session("d")
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				write(s, r, model[w], w*10000+r.IntN(rows+50), n)
			}
		})
	}
	for _, q := range []string{
		"alter table t modify b varchar(50) not null, add index bi (b)",
		"alter table t drop primary key, add primary key (a, id)",
		"alter table t drop primary key, drop index a, add unique index ua (a)",
		"alter table t add column n bigint not null auto_increment unique",
		"alter table t drop column n, add primary key (id), modify b varchar(60) character set latin1",
		"alter table t modify a bigint not null, drop index bi, add column c int as (a + 1) stored",
	} {
		if _, _, err := s.run(q); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	close(stop)
	wg.Wait()
	var want int
	for w := range writers {
		want += len(model[w])
		for id, row := range model[w] {
			if got := s.text(fmt.Sprintf("select concat(a, ' ', b) from t where id = %d", id)); strings.TrimSpace(got) != row {
				t.Errorf("row %d is %q, should be %q", id, got, row)
			}
		}
	}
	s.want("select count(*) from t", fmt.Sprint(want))
	a.checked()
	all, err := a.eng.Jobs(context.Background())
	if err != nil || len(all) != 6 {
		t.Errorf("%d jobs, %v", len(all), err)
	}
	for _, j := range all {
		if j.State != catalog.JobDone {
			t.Errorf("%+v", j)
		}
	}
}

// write changes a row, and the model if that was done. Values of the unique column wander from row to row.
func write(s *session, r *rand.Rand, model map[int]string, id, n int) {
	base := id / 10000 * 10000
	switch row, ok := model[id]; {
	case !ok:
		if s.code(fmt.Sprintf("insert into t (id, a, b) values (%d, %d, '%d-%d')", id, id, id, n)) == 0 {
			model[id] = fmt.Sprintf("%d %d-%d", id, id, n)
		}
	case r.IntN(4) == 0:
		if s.code(fmt.Sprintf("delete from t where id = %d", id)) == 0 {
			delete(model, id)
		}
	case r.IntN(3) == 0:
		other := base + r.IntN(250)
		was, ok := model[other]
		if !ok || other == id {
			return
		}
		// Two rows exchange their values of the unique column.
		var x, y int
		var bx, by string
		fmt.Sscanf(row, "%d %s", &x, &bx)
		fmt.Sscanf(was, "%d %s", &y, &by)
		s.exec("begin")
		for _, q := range []string{
			fmt.Sprintf("update t set a = %d where id = %d", -id-1, id), fmt.Sprintf("update t set a = %d where id = %d", x, other),
			fmt.Sprintf("update t set a = %d where id = %d", y, id), "commit",
		} {
			if s.code(q) != 0 {
				_ = s.code("rollback")
				return
			}
		}
		model[id], model[other] = fmt.Sprintf("%d %s", y, bx), fmt.Sprintf("%d %s", x, by)
	default:
		var x int
		fmt.Sscanf(row, "%d", &x)
		if s.code(fmt.Sprintf("update t set b = '%d-%d' where id = %d", id, n, id)) == 0 {
			model[id] = fmt.Sprintf("%d %d-%d", x, id, n)
		}
	}
}

// TestCopyThatFails: what does not fit ends the change and leaves everything as it was.
func TestCopyThatFails(t *testing.T) {
	c := newCluster(t)
	a, _ := c.process(time.Hour)
	s := a.session("")
	fill(s)
	s.exec("update t set a = 300, b = 'b200 ' where id = 333")
	s.exec("insert into t values (777, null, 'x12')")
	before, rows := s.text("show create table t"), s.text("select * from t order by id")
	for statement, code := range map[string]int{
		"alter table t modify a tinyint":                                                 1264,
		"alter table t modify a int not null":                                            1138,
		"alter table t modify b int":                                                     1366,
		"alter table t modify b varchar(3)":                                              1265,
		"alter table t modify b varchar(20) collate utf8mb4_general_ci, add unique (b)":  1062,
		"alter table t drop primary key, add primary key (b(3))":                         1062,
		"alter table t modify b enum('b1', 'b2')":                                        1265,
		"alter table t modify b datetime":                                                1292,
		"alter table t modify b varchar(30) character set latin1, add check (id < 777)":  3819,
		"alter table t modify b varchar(30) character set latin1, add column id int":     1060,
		"alter table t modify b varchar(30) character set latin1, drop column nowhere":   1054,
		"alter table t add column x int as (a + 1) stored not null, modify b varchar(9)": 1048,
	} {
		if got := s.code(statement); got != code {
			_, _, err := s.run(statement)
			t.Errorf("%s: %d, want %d: %v", statement, got, code, err)
		}
		if now := s.text("show create table t"); now != before {
			t.Fatalf("%s: the table is now\n%s", statement, now)
		}
	}
	s.want("select count(*) from t", "401")
	if now := s.text("select * from t order by id"); now != rows {
		t.Error("rows have changed")
	}
	a.checked()
}

// TestCopyOfNumbers: another column becomes AUTO_INCREMENT, in a small table and in a large one.
func TestCopyOfNumbers(t *testing.T) {
	c := newCluster(t)
	a, _ := c.process(time.Hour)
	s := a.session("")
	s.exec("create database d")
	s.sess.SetCurrentDatabase("d")
	for _, rows := range []int{3, 40} {
		s.exec("create table t (id int auto_increment primary key, a int)")
		s.exec("insert into t (id, a) values (100, 0)" + strings.Repeat(", (null, 1)", rows-1))
		s.exec("alter table t modify id int not null, drop primary key, add column n int not null auto_increment primary key first, add key (id)")
		s.exec("insert into t (id, a) values (7, 7)")
		s.want("select count(*), max(n), min(n), max(id) from t", fmt.Sprintf("%d | %d | 1 | %d", rows+1, rows+1, 99+rows))
		s.exec("alter table t modify n int not null, drop primary key, modify id int not null auto_increment, add primary key (id)")
		s.exec("insert into t (n, a) values (0, 8)")
		s.want("select id from t where a = 8", fmt.Sprint(100+rows))
		a.checked()
		s.exec("drop table t")
	}
}
