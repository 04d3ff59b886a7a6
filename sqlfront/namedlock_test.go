package sqlfront_test

import (
	"context"
	"strings"
	"testing"
)

// TestNamedLocks: GET_LOCK and its like as MySQL has them, one lock for all servers.
func TestNamedLocks(t *testing.T) {
	d := newDatabase(t)
	one, two := d.serve(), d.serve()
	a, b := one.conn(""), two.conn("")
	want(t, a, "select get_lock('Job', 0), get_lock('job', 0), is_free_lock('JOB'), is_used_lock('job') = connection_id()", "1 1 0 1")
	want(t, b, "select get_lock('job', 0), is_free_lock('job'), release_lock('job'), is_used_lock('job') is null", "0 0 0 0")
	want(t, b, "select release_lock('nothing'), is_free_lock('nothing'), is_used_lock('nothing'), get_lock('nothing', null)", "NULL 1 NULL 1")
	run(t, a, "begin", "rollback") // not a lock's business
	want(t, a, "select release_lock('job')", "1")
	want(t, b, "select get_lock('job', 0)", "0") // taken twice
	waiting := make(chan error, 1)
	go func() {
		var n int
		err := b.QueryRowContext(context.Background(), "select get_lock('job', -1)").Scan(&n)
		waiting <- err
	}()
	want(t, a, "select release_lock('job')", "1")
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	want(t, a, "select is_free_lock('job'), is_used_lock('job') > 0", "0 1")
	want(t, b, "select get_lock('second', 1)", "1")
	want(t, b, "select release_all_locks()", "3") // with 'nothing'
	want(t, a, "select is_free_lock('job'), is_free_lock('second'), get_lock('job', 0)", "1 1 1")
	if err := a.Close(); err != nil { // back to its pool, which closes it
		t.Fatal(err)
	}
	for _, name := range []string{"''", "null", "'" + strings.Repeat("x", 65) + "'"} {
		_, err := b.ExecContext(context.Background(), "select get_lock("+name+", 0)")
		wantErr(t, name, err, 3057, "42000")
	}
	want(t, b, "select get_lock('"+strings.Repeat("ä", 64)+"', 0)", "1")

	c, other := two.open("root", "", ""), two.conn("")
	mine, err := c.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want(t, mine, "select get_lock('gone', 0)", "1")
	_ = mine.Close()
	if err := c.Close(); err != nil { // the connection
		t.Fatal(err)
	}
	want(t, other, "select get_lock('gone', 30)", "1")
}
