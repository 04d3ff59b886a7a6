package itest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// trio is a cluster of three processes on this machine, each with addresses that it keeps.
type trio struct {
	t       testing.TB
	dirs    [3]string
	nodes   [3]string // addresses
	listens [3]string // where the nodes listen, if it is somewhere else
	sql     [3]string
	args    []string
	servers [3]*server
	pools   [3]*sql.DB
	// grown says that the first node founds the cluster alone, and the others join it.
	grown bool
	// launched is told of each process, unless it is nil.
	launched func(i int, s *server)
}

// newTrio starts three nodes with new directories.
func newTrio(t testing.TB, args ...string) *trio {
	t.Helper()
	return planTrio(t, args...).begin()
}

// planTrio gives three nodes their directories and addresses.
func planTrio(t testing.TB, args ...string) *trio {
	t.Helper()
	c := &trio{t: t, args: args}
	ports := freePorts(t, 6)
	for i := range c.dirs {
		c.dirs[i] = filepath.Join(t.TempDir(), "data")
		c.nodes[i], c.sql[i] = ports[i], ports[3+i]
	}
	return c
}

// begin starts them.
func (c *trio) begin() *trio {
	t := c.t
	t.Helper()
	for i := range c.servers {
		c.servers[i] = c.launch(i)
	}
	c.ready()
	c.connect()
	return c
}

// connect makes a pool of connections for each node.
func (c *trio) connect() {
	t := c.t
	t.Helper()
	for i := range c.pools {
		db, err := sql.Open("mysql", "root@tcp("+c.sql[i]+")/")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		c.pools[i] = db
	}
}

func (c *trio) launch(i int) *server {
	s := launch(c.t, c.command(i)...)
	if c.launched != nil {
		c.launched(i, s)
	}
	return s
}

func (c *trio) command(i int) []string {
	args := []string{"start", "--data", c.dirs[i], "--node-addr", c.nodes[i], "--sql-addr", c.sql[i],
		"--http-addr", "127.0.0.1:0"}
	switch {
	case !c.grown:
		args = append(args, "--cluster", "--members", c.members())
	case i == 0:
		args = append(args, "--cluster")
	default:
		args = append(args, "--join", c.nodes[0])
	}
	if c.listens[i] != "" {
		args = append(args, "--node-listen", c.listens[i])
	}
	return append(args, c.args...)
}

func (c *trio) members() string {
	return fmt.Sprintf("1=%s,2=%s,3=%s", c.nodes[0], c.nodes[1], c.nodes[2])
}

func (c *trio) ready() {
	c.t.Helper()
	for i, s := range c.servers {
		if s != nil && !s.waitReady() {
			c.t.Fatalf("node %d did not become ready:\n%s", i+1, s.logs())
		}
	}
}

func (c *trio) kill(i int) {
	c.servers[i].kill()
	c.servers[i] = nil
}

func (c *trio) start(i int) {
	c.t.Helper()
	c.servers[i] = c.launch(i)
	c.ready()
}

// stand makes a process stand still while f goes on.
func (c *trio) stand(i int, f func()) {
	_ = c.servers[i].cmd.Process.Signal(syscall.SIGSTOP)
	f()
	_ = c.servers[i].cmd.Process.Signal(syscall.SIGCONT)
}

// stopAll asks all processes to end, at once.
func (c *trio) stopAll() {
	c.t.Helper()
	var wg sync.WaitGroup
	for _, s := range c.servers {
		wg.Go(func() {
			if err := s.stop(); err != nil {
				c.t.Error(err)
			}
		})
	}
	wg.Wait()
}

// logs are those of all nodes, for who looks for the reason.
func (c *trio) logs() string {
	var b strings.Builder
	for i, s := range c.servers {
		if s != nil {
			fmt.Fprintf(&b, "node %d:\n%s", i+1, s.logs())
		}
	}
	return b.String()
}

// freePorts returns addresses that nobody has and that the system gives to nobody who asks for any
// port. They are free now and taken later, by processes that are started several times, so they are of
// a loopback address of this test's own: on 127.0.0.1 another run of the tests has found the same port
// free meanwhile.
func freePorts(t testing.TB, n int) (addrs []string) {
	t.Helper()
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	if l, err := net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		host = "127.0.0.1" // not Linux: there is one
	} else {
		l.Close()
	}
	for range 1000 {
		addr := fmt.Sprintf("%s:%d", host, 20000+rand.IntN(10000))
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue
		}
		defer l.Close()
		if addrs = append(addrs, addr); len(addrs) == n {
			return addrs
		}
	}
	t.Fatal("no free ports")
	return nil
}

// clusterLoad moves money between the accounts of three tables, each on a shard of its own, and counts.
type clusterLoad struct {
	c         *trio
	next      atomic.Int64
	stop      chan struct{}
	wg        sync.WaitGroup
	progress  chan struct{}
	mu        sync.Mutex
	transfers map[int64]bool // acknowledged
	counted   [2]int64       // increments: acknowledged, of unknown outcome
	refused   int
	snapshots int
}

const clusterAccounts = 30 // in each of three tables

func (l *clusterLoad) setUp() {
	t, db := l.c.t, l.c.pools[0]
	mustExec(t, db, "CREATE DATABASE bank")
	for i := range 3 {
		mustExec(t, db, fmt.Sprintf("CREATE TABLE bank.account%d (id INT PRIMARY KEY, balance BIGINT NOT "+
			"NULL)", i))
		var rows []string
		for id := range clusterAccounts {
			rows = append(rows, fmt.Sprintf("(%d, 100)", id))
		}
		mustExec(t, db, fmt.Sprintf("INSERT INTO bank.account%d VALUES %s", i, strings.Join(rows, ",")))
	}
	mustExec(t, db, "CREATE TABLE bank.journal (id BIGINT PRIMARY KEY)")
	mustExec(t, db, "CREATE TABLE bank.counter (id INT PRIMARY KEY, n BIGINT NOT NULL)")
	mustExec(t, db, "CREATE TABLE bank.seen (id INT PRIMARY KEY, n BIGINT NOT NULL)")
	mustExec(t, db, "INSERT INTO bank.counter VALUES (1, 0)")
	mustExec(t, db, "INSERT INTO bank.seen VALUES (1, 0)")
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range []string{"USE bank", "CREATE OBSERVER counting AFTER INSERT ON journal FOR EACH ROW " +
		"UPDATE seen SET n = n + 1 WHERE id = 1"} {
		if _, err := conn.ExecContext(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
}

// newLoad is what clients of a cluster are to do.
func newLoad(c *trio) *clusterLoad {
	return &clusterLoad{c: c, stop: make(chan struct{}), progress: make(chan struct{}, 4096),
		transfers: map[int64]bool{}}
}

// thinking is how long a client of a cluster waits between two transactions. Without ("make soak") they take
// all the processors that there are, and what a test waits for, starts and elections and observers that catch
// up, gets few of them.
var thinking = time.Duration(soaked(20, 0)) * time.Millisecond

// run begins; at each moment statements go to all nodes.
func (l *clusterLoad) run() {
	for w := range 6 {
		l.client(func() {
			if pause := l.transfer(l.c.pools[w%3]); pause != nil {
				<-pause
			}
		})
	}
	l.client(func() { l.count(l.c.pools[rand.IntN(3)]) })
	l.client(func() { l.snapshot(l.c.pools[rand.IntN(3)]) })
}

// client does something again and again.
func (l *clusterLoad) client(f func()) {
	l.wg.Go(func() {
		for {
			f()
			select {
			case <-l.stop:
				return
			case <-time.After(thinking):
			}
		}
	})
}

// transfer moves money and writes a journal. It returns how long to wait before the next, nil for not at all.
func (l *clusterLoad) transfer(db *sql.DB) (pause <-chan time.Time) {
	id := l.next.Add(1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		from, to := rand.IntN(3), rand.IntN(3)
		for _, x := range []struct{ table, by int }{{from, -1}, {to, 1}} {
			q := fmt.Sprintf("UPDATE bank.account%d SET balance = balance + ? WHERE id = ?", x.table)
			if _, err := tx.ExecContext(ctx, q, x.by, rand.IntN(clusterAccounts)); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO bank.journal VALUES (?)", id); err != nil {
			return err
		}
		return tx.Commit()
	}()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if l.refused++; errors.Is(err, syscall.ECONNREFUSED) {
			pause = time.After(50 * time.Millisecond) // its node is down
		}
		return pause
	}
	l.transfers[id] = true
	select {
	case l.progress <- struct{}{}:
	default:
	}
	return pause
}

func (l *clusterLoad) count(db *sql.DB) {
	_, err := db.ExecContext(context.Background(), "UPDATE bank.counter SET n = n + 1 WHERE id = 1")
	l.mu.Lock()
	defer l.mu.Unlock()
	var refusal *mysql.MySQLError
	switch {
	case err == nil:
		l.counted[0]++
	case errors.As(err, &refusal) && (refusal.Number == 1213 || refusal.Number == 1205): // nothing happened
	default:
		l.counted[1]++
	}
}

// snapshot adds up what is on three shards, as of one moment.
func (l *clusterLoad) snapshot(db *sql.DB) {
	var sum, n int64
	err := db.QueryRowContext(context.Background(), `SELECT SUM(balance), COUNT(*) FROM (
		SELECT balance FROM bank.account0 UNION ALL SELECT balance FROM bank.account1
		UNION ALL SELECT balance FROM bank.account2) AS a`).Scan(&sum, &n)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.snapshots++
	if sum != 3*clusterAccounts*100 || n != 3*clusterAccounts {
		l.c.t.Errorf("a snapshot saw %d accounts with %d in all, want %d with %d", n, sum, 3*clusterAccounts,
			3*clusterAccounts*100)
	}
}

// await waits for so many transfers to be acknowledged from now on.
func (l *clusterLoad) await(n int) {
	l.c.t.Helper()
	deadline := time.After(2 * time.Minute)
	for n += len(l.progress); n > 0; n-- {
		select {
		case <-l.progress:
		case <-deadline:
			l.c.t.Fatalf("no progress; logs:\n%s", l.c.logs())
		}
	}
}

// verify compares what is stored with what was acknowledged, as each node sees it.
func (l *clusterLoad) verify() {
	t := l.c.t
	t.Helper()
	for i, db := range l.c.pools {
		var n, rows int64
		if err := db.QueryRow("SELECT n FROM bank.counter WHERE id = 1").Scan(&n); err != nil {
			t.Fatalf("node %d: %v; logs:\n%s", i+1, err, l.c.logs())
		}
		if n < l.counted[0] || n > l.counted[0]+l.counted[1] {
			t.Errorf("node %d: the counter is %d; %d were acknowledged, of %d nobody knows", i+1, n,
				l.counted[0],
				l.counted[1])
		}
		stored := map[int64]bool{}
		found, err := db.Query("SELECT id FROM bank.journal")
		if err != nil {
			t.Fatal(err)
		}
		for found.Next() {
			var id int64
			if err := found.Scan(&id); err != nil {
				t.Fatal(err)
			}
			stored[id] = true
			rows++
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		for id := range l.transfers {
			if !stored[id] {
				t.Errorf("node %d: transfer %d was acknowledged and is not there", i+1, id)
			}
		}
		l.snapshot(db)
		seen := int64(-1)
		t.Cleanup(func() {
			if t.Failed() && seen < rows { // are they lost, or still to do?
				backlog, _ := l.c.servers[i].tryCtl("observers")
				t.Logf("node %d: the observer has counted %d transfers of %d:\n%s", i+1, seen, rows, backlog)
			}
		})
		for seen < rows {
			before := seen
			eventually(t, "the observer goes on", time.Minute, func() bool { // it may have much to do still
				err := db.QueryRow("SELECT n FROM bank.seen WHERE id = 1").Scan(&seen)
				return err == nil && (seen >= rows || seen > before)
			})
		}
		if seen != rows {
			t.Errorf("node %d: the observer has counted %d transfers of %d", i+1, seen, rows)
		}
	}
}

// TestClusterSurvivesKills kills the nodes in turn, whatever they lead (coordination and the oracle among
// it), under transfers between shards, an observer, a counter and snapshots through all nodes; and starts
// them again. Nothing acknowledged is lost, no snapshot is torn, and the observer runs once for each change.
func TestClusterSurvivesKills(t *testing.T) {
	t.Parallel()
	c := newTrio(t, "--shards", "3", "--gc-retention", "1s")
	l := newLoad(c)
	l.setUp()
	l.run()
	for round := range soaked(3, 100) {
		victim := round % 3
		l.await(20 + rand.IntN(50))
		c.kill(victim)
		l.await(20)
		c.start(victim)
		l.await(20)
		c.stand((victim+1)%3, func() { l.await(20) })
	}
	l.await(20)
	close(l.stop)
	l.wg.Wait()
	l.verify()
	for range 2 {
		c.stopAll()
		for i := range c.servers {
			c.servers[i] = c.launch(i)
		}
		c.ready()
	}
	l.verify()
	t.Logf("%d transfers acknowledged, %d refused or unknown, %d snapshots, counter %v", len(l.transfers),
		l.refused,
		l.snapshots, l.counted)
	if l.snapshots == 0 || l.counted[0] == 0 {
		t.Error("too little happened")
	}
}

// TestClusterRollingRestart stops one node after the other and starts it again, under load through the other
// two: they see no error but those that a client repeats a transaction for, for who leads hands over first.
// An SQL server that joined a node goes on without it.
func TestClusterRollingRestart(t *testing.T) {
	t.Parallel()
	c := newTrio(t, "--shards", "3")
	joined := join(t, c.nodes[0])
	mustExec(t, c.pools[0], "CREATE DATABASE d")
	mustExec(t, c.pools[0], "CREATE TABLE d.a (id INT PRIMARY KEY, n BIGINT NOT NULL)")
	mustExec(t, c.pools[0], "CREATE TABLE d.b (id INT PRIMARY KEY, n BIGINT NOT NULL)")
	mustExec(t, c.pools[0], "INSERT INTO d.a VALUES (1, 0), (2, 0)")
	mustExec(t, c.pools[0], "INSERT INTO d.b VALUES (1, 0), (2, 0)")
	clients := []*sql.DB{c.pools[0], c.pools[1], c.pools[2], joined.db("")}
	var acknowledged atomic.Int64
	for i := range c.servers {
		stop, progress := make(chan struct{}), make(chan struct{}, 1024)
		var wg sync.WaitGroup
		for j, db := range clients {
			if j == i {
				continue
			}
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					err := bothTables(db)
					var refusal *mysql.MySQLError
					switch {
					case err == nil:
						acknowledged.Add(1)
						select {
						case progress <- struct{}{}:
						default:
						}
					case errors.As(err, &refusal) && (refusal.Number == 1213 || refusal.Number == 1205):
					default:
						t.Errorf("client %d while node %d is stopped: %v", j, i+1, err)
						return
					}
				}
			})
		}
		some := func(n int) {
			for range n {
				select {
				case <-progress:
				case <-time.After(2 * time.Minute):
					t.Fatalf("no progress; logs:\n%s", c.logs())
				}
			}
		}
		some(10)
		id, other := fmt.Sprint(i+1), c.servers[(i+1)%3]
		other.ctl("maintenance", id, "10m")
		if row := nodeRow(other, id); len(row) != 8 || row[7] != "10m0s" {
			t.Errorf("node %s in maintenance: %v", id, row)
		}
		if err := c.servers[i].stop(); err != nil {
			t.Error(err)
		}
		some(10)
		c.start(i)
		eventually(t, "the maintenance of node "+id+" is over", time.Minute, func() bool {
			return len(nodeRow(other, id)) == 7
		})
		other.ctl("status", "--wait", "--timeout", "1m")
		some(10)
		close(stop)
		wg.Wait()
	}
	a := one[int64](t, joined.db(""), "SELECT SUM(n) FROM d.a")
	b := one[int64](t, joined.db(""), "SELECT SUM(n) FROM d.b")
	if n := acknowledged.Load(); a != n || b != n {
		t.Errorf("%d transactions were acknowledged, the tables say %d and %d", n, a, b)
	}
}

// bothTables adds one in two tables, which are on two shards.
func bothTables(db *sql.DB) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, table := range []string{"a", "b"} {
		q := "UPDATE d." + table + " SET n = n + 1 WHERE id = ?"
		if _, err := tx.ExecContext(ctx, q, 1+rand.IntN(2)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// TestClusterSessionLost: a node that stood still until its session was over does not end. What others have
// done meanwhile stays, its open transaction says that it is lost, and new ones go on under another session.
func TestClusterSessionLost(t *testing.T) {
	t.Parallel()
	c := newTrio(t)
	ctx := context.Background()
	mustExec(t, c.pools[0], "CREATE DATABASE d")
	mustExec(t, c.pools[0], "CREATE TABLE d.t (id INT PRIMARY KEY, n BIGINT NOT NULL)")
	mustExec(t, c.pools[0], "INSERT INTO d.t VALUES (1, 0)")
	tx, err := c.pools[2].BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE d.t SET n = n + 1 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	c.stand(2, func() {
		eventually(t, "the session of the node that stands still is over", time.Minute, func() bool {
			list := c.servers[0].ctl("gc")
			return strings.Count(list, c.sql[2]) == 0 && strings.Contains(list, c.sql[0])
		})
		mustExec(t, c.pools[0], "UPDATE d.t SET n = 10 WHERE id = 1")
	})
	_, err = tx.ExecContext(ctx, "UPDATE d.t SET n = n + 1 WHERE id = 1")
	if err == nil {
		err = tx.Commit()
	}
	if err == nil {
		t.Error("a transaction whose locks were taken is committed")
	}
	eventually(t, "the node has a new session", time.Minute, func() bool {
		return strings.Contains(c.servers[2].logs(), "this process has a new session")
	})
	mustExec(t, c.pools[2], "UPDATE d.t SET n = n + 1 WHERE id = 1")
	if n := one[int](t, c.pools[1], "SELECT n FROM d.t"); n != 11 {
		t.Errorf("n is %d, want 11", n)
	}
	eventually(t, "the node reports what it reads under its new session", time.Minute, func() bool {
		return strings.Contains(c.servers[0].ctl("gc"), c.sql[2])
	})
}

// TestClusterDirectories: a directory is opened as what it is, and a member keeps it for life.
func TestClusterDirectories(t *testing.T) {
	t.Parallel()
	c := newTrio(t)
	mustExec(t, c.pools[2], "CREATE DATABASE d")
	c.kill(1)
	refuses(t, []string{"belongs to node 2 of cluster", "--cluster"},
		"start", "--data", c.dirs[1], "--sql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0")
	theirs := c.dirs[1]
	c.dirs[1] = filepath.Join(t.TempDir(), "data")
	refuses(t, []string{"node 2 of this cluster has had another directory"}, c.command(1)...)
	single := filepath.Join(t.TempDir(), "data")
	if err := start(t, single).stop(); err != nil {
		t.Fatal(err)
	}
	c.dirs[1] = single
	refuses(t, []string{"holds a database of one node", "without --cluster"}, c.command(1)...)
	if err := start(t, single).stop(); err != nil { // and has not changed
		t.Error(err)
	}
	// The first node's directory is lost: another cluster begins, and the old members have no part in it.
	c.kill(0)
	c.kill(2)
	c.dirs[0], c.dirs[1] = filepath.Join(t.TempDir(), "data"), theirs
	foreign := c.launch(0)
	refuses(t, []string{"belongs to cluster", "correct --data or --members"}, c.command(1)...)
	if strings.Contains(foreign.logs(), "is ready") {
		t.Error("one node of three is ready by itself")
	}
}

// TestClusterOldDirectory: a directory that was put back from a copy has forgotten what the node has promised
// to the others since; it is noticed before it is listened to, and the node ends with a message (R20).
func TestClusterOldDirectory(t *testing.T) {
	t.Parallel()
	c := newTrio(t)
	c.kill(2)
	old := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(old, os.DirFS(c.dirs[2])); err != nil {
		t.Fatal(err)
	}
	c.start(2) // one start more than the copy knows
	mustExec(t, c.pools[2], "CREATE DATABASE d")
	c.kill(2)
	newest := c.dirs[2]
	c.dirs[2] = old
	refuses(t, []string{"put back from a copy", "Start the node with the directory that it had last"},
		c.command(2)...)
	c.dirs[2] = newest
	c.start(2)
	mustExec(t, c.pools[2], "CREATE DATABASE e")
}

// TestClusterFlags: what makes no sense is refused before anything is touched.
func TestClusterFlags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	const three = "1=127.0.0.1:4001,2=127.0.0.1:4002,3=127.0.0.1:4003"
	for want, args := range map[string][]string{
		"--cluster needs --node-addr":       {"--cluster", "--members", three},
		"--node-listen without --node-addr": {"--node-listen", "127.0.0.1:4001"},
		"has a port of its own": {"--node-listen", "127.0.0.1:4001", "--node-addr",
			"127.0.0.1:0"},
		// What is behind --node-addr is asked for certificates by where it can be reached.
		"--node-listen 0.0.0.0:0 is not on this machine's loopback": {"--memory", "--node-listen",
			"0.0.0.0:0",
			"--node-addr", "127.0.0.1:4001", "--sql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0"},
		"--node-addr 10.0.0.1:4001 is not on this machine's loopback": {"--memory", "--node-listen",
			"127.0.0.1:0", "--node-addr", "10.0.0.1:4001", "--sql-addr", "127.0.0.1:0", "--http-addr",
			"127.0.0.1:0"},
		"--zone is for a node of a cluster": {"--zone", "a"},
		"without spaces":                    {"--cluster", "--zone", "a b", "--node-addr", "127.0.0.1:4001"},
		"say --cluster too":                 {"--members", three},
		"is none of --members": {"--cluster", "--members", three, "--node-addr",
			"127.0.0.1:4004"},
		"a cluster has 3 or 5": {"--cluster", "--members", "1=127.0.0.1:4001",
			"--node-addr", "127.0.0.1:4001"},
		"is not NUMBER=HOST:PORT": {"--cluster", "--members", "1=nobody", "--node-addr",
			"127.0.0.1:4001"},
		"twice": {"--cluster", "--members", three + ",3=127.0.0.1:4005",
			"--node-addr", "127.0.0.1:4001"},
		"has no node 1": {"--cluster", "--members", "2=a:1,3=a:2,4=a:3",
			"--node-addr", "a:1"},
		"a member that forgets": {"--cluster", "--memory", "--members", three,
			"--node-addr", "127.0.0.1:4001"},
		"a member is named by --members": {"--cluster", "--join", "127.0.0.1:4001", "--roles", "sql"},
		"--cluster is for processes with the": {"--cluster", "--roles", "sql", "--members", three,
			"--node-addr", "127.0.0.1:4001"},
	} {
		refuses(t, []string{want}, append([]string{"start", "--data", dir}, args...)...)
	}
	if found, _ := filepath.Glob(dir); found != nil {
		t.Error("a start that was refused has made the directory")
	}
}
