package observer_test

import (
	"strings"
	"testing"
)

// TestExplainObserver: it tells of each statement how it finds its rows, and what its writes lead to.
func TestExplainObserver(t *testing.T) {
	_, c := start(t)
	c.exec("create table t (id int primary key, g int)", "create table sums (g int primary key, n int)",
		"create table part (id int primary key, g int, foreign key (g) references sums (g) on delete "+
			"cascade)",
		"create table free (v int)",
		"create trigger tr after update on sums for each row insert into free values (new.n)",
		"create observer o after insert or update on t for each row begin declare x int; "+
			"update sums set n = n + 1 where g = new.g; select count(*) into x from free where v = old.g; "+
			"end",
		"create observer back after update on sums for each row update t set g = new.n where id = new.g",
		"create observer asked after notify on sums for each row delete from free")
	got := strings.Split(c.text("explain observer o"), "; ")
	starts := []string{"observer o AFTER INSERT OR UPDATE ON d.t, definer root@localhost, ENABLED",
		"statement 1 update sums set n = n + 1 where g = ", "plan 1 id=1 select_type=",
		"statement 2 select count(*)", "plan 2 id=1 select_type=SIMPLE table=free ",
		"writes d.sums named in the body", "trigger d.sums tr AFTER UPDATE",
		"wakes d.sums back AFTER UPDATE",
		"cascade d.sums d.part by part_ibfk_1: ON DELETE CASCADE, ON UPDATE NO ACTION",
		"cycle o o → back → o"}
	if len(got) != len(starts) {
		t.Fatalf("%d rows:\n%s", len(got), strings.Join(got, "\n"))
	}
	for i, want := range starts {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("row %d is %s, want %s", i, got[i], want)
		}
	}
	if !strings.Contains(got[2], "table=sums") || !strings.Contains(got[2], "key=PRIMARY") {
		t.Error(got[2])
	}
	// What runs have written, through whatever they call, is there as well.
	c.exec("insert into sums values (1, 1)", "insert into t values (1, 1)", "alter observer back disable",
		"wait for observers o")
	if got := c.text("explain observer o"); !strings.Contains(got, "writes d.free runs of this server have") {
		t.Error(got)
	}
	c.wantCode("explain observer none", 1360, "")
	c.wantCode("explain observer", 1146, "observer")
	c.wantCode("explain observer o x", 1064, "")
	c.exec("create table observer (a int)")
	c.want("explain observer", "a int YES  NULL ")
}
