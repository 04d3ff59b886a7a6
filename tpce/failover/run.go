package failover

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Config configures Run. Zero values mean the defaults.
type Config struct {
	Program   []string      `json:"-"` // moka, and what comes before "start"
	Dir       string        `json:"-"`
	Nodes     int           `json:"nodes"`     // 3 or 5; default 3
	Kill      int           `json:"kill"`      // how many of them; default 1
	Clients   int           `json:"clients"`   // default 8
	Rows      int           `json:"rows"`      // of each of the tables; default 10,000
	Before    time.Duration `json:"before"`    // from the start of the load to the kill; default 10s
	Away      time.Duration `json:"away"`      // until the nodes are started again; default 20s
	After     time.Duration `json:"after"`     // from then to the end of the load; default 10s
	NodeFlags []string      `json:"nodeFlags"` // more settings of the nodes
	Progress  io.Writer     `json:"-"`
}

func (c Config) withDefaults() (Config, error) {
	c.Nodes, c.Kill = cmp.Or(c.Nodes, 3), cmp.Or(c.Kill, 1)
	c.Clients, c.Rows = cmp.Or(c.Clients, 8), cmp.Or(c.Rows, 10_000)
	c.Before, c.Away = cmp.Or(c.Before, 10*time.Second), cmp.Or(c.Away, 20*time.Second)
	c.After = cmp.Or(c.After, 10*time.Second)
	if c.Progress == nil {
		c.Progress = io.Discard
	}
	switch {
	case c.Nodes != 3 && c.Nodes != 5:
		return c, fmt.Errorf("%d nodes: a cluster has 3 or 5", c.Nodes)
	case c.Kill < 1 || c.Kill > c.Nodes/2:
		return c, fmt.Errorf("%d of %d nodes killed: 1 to %d may be, or nobody has a majority", c.Kill,
			c.Nodes, c.Nodes/2)
	case c.Before < 2*warmUp:
		return c, fmt.Errorf("killed after %v: the rate before needs %v at least", c.Before, 2*warmUp)
	case c.Away < within+settled:
		return c, fmt.Errorf("started again after %v: %v at least show whether the others are enough", c.Away,
			within+settled)
	}
	return c, nil
}

const (
	// step is that of the rate over time: a tenth of the paper's seconds.
	step = 100 * time.Millisecond
	// warmUp of the load is in no figure.
	warmUp = time.Second
	// within is the time that the rest of the nodes has to be as fast again.
	within = 5 * time.Second
	// settled is how long a rate must last to count.
	settled = time.Second
	// tables are so many, with a shard each.
	tables = 3
)

// Run starts a cluster and clients, kills the node that leads the first shard, with which go coordination and
// the timestamp oracle, and as many more as are asked for, starts them again, and counts what was
// acknowledged against what each node says is there.
func Run(ctx context.Context, c Config) (_ *Report, err error) {
	if c, err = c.withDefaults(); err != nil {
		return nil, err
	}
	fmt.Fprintf(c.Progress, "starting %d nodes\n", c.Nodes)
	cluster, err := StartCluster(ctx, ClusterOptions{Program: c.Program, Dir: c.Dir, Nodes: c.Nodes,
		Args: append([]string{"--shards", fmt.Sprint(tables), "--cache-mib", "64"}, c.NodeFlags...)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	l := &load{Config: c, cluster: cluster, kept: map[int64]bool{}}
	if err := l.create(ctx); err != nil {
		return nil, err
	}
	return l.run(ctx)
}

// load is the clients' side.
type load struct {
	Config
	cluster *Cluster

	mu       sync.Mutex
	began    time.Time
	steps    []int          // transactions that were acknowledged in each
	kept     map[int64]bool // acknowledged entries of journals
	refused  int            // nothing has happened
	unknown  int            // whether they are there nobody knows
	messages map[string]int
}

func dsn(n *Node, database string) string {
	return "root@tcp(" + n.SQL + ")/" + database + "?timeout=2s&interpolateParams=true"
}

// create makes the tables, one for each shard: accounts with 0, and a journal for each.
func (l *load) create(ctx context.Context) error {
	db, err := sql.Open("mysql", dsn(l.cluster.Nodes[0], ""))
	if err != nil {
		return err
	}
	defer db.Close()
	list := []string{"CREATE DATABASE failover"}
	for t := range tables {
		list = append(list,
			fmt.Sprintf("CREATE TABLE failover.account%d (id INT PRIMARY KEY, n BIGINT NOT NULL)", t))
		for _, ids := range slices.Collect(slices.Chunk(numbers(l.Rows), 1000)) {
			list = append(list, fmt.Sprintf("INSERT INTO failover.account%d VALUES %s", t,
				strings.Join(ids, ",")))
		}
	}
	for t := range tables {
		list = append(list, fmt.Sprintf("CREATE TABLE failover.journal%d (id BIGINT PRIMARY KEY, "+
			"account INT NOT NULL)", t))
	}
	for _, q := range list {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%.60s: %w", q, err)
		}
	}
	return nil
}

func numbers(n int) (rows []string) {
	for i := range n {
		rows = append(rows, fmt.Sprintf("(%d,0)", i))
	}
	return rows
}

func (l *load) run(ctx context.Context) (*Report, error) {
	victims, err := l.victims(ctx)
	if err != nil {
		return nil, err
	}
	loaded, stop := context.WithCancel(ctx)
	defer stop()
	var clients sync.WaitGroup
	defer clients.Wait()
	defer stop()
	l.began, l.messages = time.Now(), map[string]int{}
	for i := range l.Clients {
		clients.Go(func() { l.client(loaded, i) })
	}
	until := func(after time.Duration) error {
		t := time.NewTimer(time.Until(l.began.Add(after)))
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := until(l.Before); err != nil {
		return nil, err
	}
	fmt.Fprintf(l.Progress, "kill -9 of node %s\n", names(victims))
	killed := time.Since(l.began)
	for _, n := range victims {
		n.Kill()
	}
	if err := until(killed + l.Away); err != nil {
		return nil, err
	}
	fmt.Fprintf(l.Progress, "starting node %s again\n", names(victims))
	started := time.Since(l.began)
	for _, n := range victims {
		if err := n.Start(); err != nil {
			return nil, err
		}
	}
	if err := until(started + l.After); err != nil {
		return nil, err
	}
	stop()
	clients.Wait()
	ended := time.Since(l.began)
	wait, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for _, n := range victims {
		if err := n.Await(wait); err != nil {
			return nil, err
		}
	}
	r := l.report(names(victims), killed, started, min(ended, started+l.After))
	return r, l.verify(ctx, r)
}

// victims are the nodes that die: who leads the first shard, and others in their order.
func (l *load) victims(ctx context.Context) ([]*Node, error) {
	first, err := l.cluster.Leader(ctx, 1)
	if err != nil {
		return nil, err
	}
	list := []*Node{first}
	for _, n := range l.cluster.Nodes {
		if n != first && len(list) < l.Kill {
			list = append(list, n)
		}
	}
	return list, nil
}

func names(list []*Node) string {
	var ids []string
	for _, n := range list {
		ids = append(ids, fmt.Sprint(n.ID))
	}
	return strings.Join(ids, ", ")
}

// again is how long a client pauses that no node takes.
const again = 20 * time.Millisecond

// client is one of a closed loop. It stays with its node until the connection breaks, and goes to the next
// one then, as connectors with a list of servers do.
func (l *load) client(ctx context.Context, id int) {
	at, n := id%len(l.cluster.Nodes), int64(id)
	for ctx.Err() == nil {
		db, err := sql.Open("mysql", dsn(l.cluster.Nodes[at], "failover"))
		if err != nil {
			l.count(n, err)
			return // of the address's form: it would fail for ever
		}
		conn, err := db.Conn(ctx)
		for err == nil && ctx.Err() == nil {
			n += int64(l.Clients)
			err = l.transaction(ctx, conn, n)
			if u := (unknownOutcome{}); err == nil || ctx.Err() == nil || errors.As(err, &u) {
				l.count(n, err) // all but what is refused since the load is over
			}
			if !broken(err) {
				err = nil
			}
		}
		if conn != nil {
			_ = conn.Close() // it is broken, or the load is over
		}
		_ = db.Close()
		at = (at + 1) % len(l.cluster.Nodes)
		pause := time.NewTimer(again)
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
		pause.Stop()
	}
}

// outcome of a commit that failed.
type unknownOutcome struct{ error }

func (e unknownOutcome) Unwrap() error { return e.error }

// broken reports whether the session is over.
func broken(err error) bool {
	var refusal *mysql.MySQLError
	return err != nil && (!errors.As(err, &refusal) || refusal.Number == 1053)
}

// transaction adds one to an account and writes that into a journal, on another shard mostly.
func (l *load) transaction(ctx context.Context, conn *sql.Conn, n int64) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	account := rand.IntN(l.Rows)
	for _, q := range []string{
		fmt.Sprintf("UPDATE account%d SET n = n + 1 WHERE id = %d", rand.IntN(tables), account),
		fmt.Sprintf("INSERT INTO journal%d VALUES (%d, %d)", rand.IntN(tables), n, account),
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			_ = tx.Rollback() // its error would say the same, or that the session is over
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		var refusal *mysql.MySQLError
		if errors.As(err, &refusal) && (refusal.Number == 1213 || refusal.Number == 1205) {
			return err
		}
		return unknownOutcome{err}
	}
	return nil
}

// count notes what became of a transaction.
func (l *load) count(n int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		i := int(time.Since(l.began) / step)
		for len(l.steps) <= i {
			l.steps = append(l.steps, 0)
		}
		l.steps[i]++
		l.kept[n] = true
		return
	}
	if u := (unknownOutcome{}); errors.As(err, &u) {
		l.unknown++
	} else {
		l.refused++
	}
	if len(l.messages) < 100 { // they are few: the sort of error, not its rows
		l.messages[fmt.Sprintf("%.120s", err)]++
	}
}

// verify compares what each node says with what was acknowledged.
func (l *load) verify(ctx context.Context, r *Report) error {
	var wrong []error
	for _, n := range l.cluster.Nodes {
		db, err := sql.Open("mysql", dsn(n, "failover"))
		if err != nil {
			return err
		}
		lost, entries, sum, err := l.compare(ctx, db)
		_ = db.Close()
		if err != nil {
			return fmt.Errorf("node %d: %w", n.ID, err)
		}
		r.Lost = max(r.Lost, lost)
		if entries != sum {
			wrong = append(wrong, fmt.Errorf("node %d: the accounts have %d, the journals %d entries", n.ID,
				sum, entries))
		}
		if more := entries - int64(len(l.kept)); more > int64(l.unknown) {
			wrong = append(wrong, fmt.Errorf("node %d: %d entries were not acknowledged, and only %d are of "+
				"unknown outcome", n.ID, more, l.unknown))
		}
	}
	if r.Lost > 0 {
		wrong = append(wrong, fmt.Errorf("%d acknowledged transactions are lost", r.Lost))
	}
	if len(wrong) == 0 {
		r.Checks = append(r.Checks, fmt.Sprintf("all %d nodes: the accounts have as much as the journals, "+
			"which have every acknowledged transaction, and none that was refused", l.Nodes))
	}
	return errors.Join(wrong...)
}

func (l *load) compare(ctx context.Context, db *sql.DB) (lost int, entries, sum int64, err error) {
	there := map[int64]bool{}
	for t := range tables {
		var part int64
		err := db.QueryRowContext(ctx, fmt.Sprintf("SELECT SUM(n) FROM account%d", t)).Scan(&part)
		if err != nil {
			return 0, 0, 0, err
		}
		sum += part
		if err := journal(ctx, db, t, there); err != nil {
			return 0, 0, 0, err
		}
	}
	for n := range l.kept {
		if !there[n] {
			lost++
		}
	}
	return lost, int64(len(there)), sum, nil
}

func journal(ctx context.Context, db *sql.DB, t int, there map[int64]bool) error {
	rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT id FROM journal%d", t))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		there[id] = true
	}
	return rows.Err()
}
