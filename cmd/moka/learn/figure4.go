package learn

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"moka/kv"
)

// Cell is one stored version or lock of a row.
type Cell struct {
	Record  string       // write, data, lock, rollback
	At      kv.Timestamp // commit_ts of a write, start_ts of the others
	StartTS kv.Timestamp // of a write
	What    string
	Value   string
	Primary string // of a lock: where the primary is, empty if this is it
}

// Figure4 is the tutorial of the paper's figure 4.
type Figure4 struct {
	Tour
	// Cells are those of a row of bank.account.
	Cells func(ctx context.Context, name string) ([]Cell, error)
	// Separate puts the rows from name on into a tablet of their own, on a shard of its own.
	Separate func(ctx context.Context, name string) error
	// Coordinator is the command line of a process that serves SQL, runs a statement, which is appended, and
	// tells by a Stepper on its standard input and output what it does.
	Coordinator []string

	numbers []kv.Timestamp
}

// transfer is one statement, so that it needs no locks before it commits.
const transfer = `UPDATE bank.account SET balance = balance + IF(name = 'Bob', -7, 7) ` +
	`WHERE name IN ('Bob', 'Joe')`

// stepTime bounds how long the coordinator may take for a step.
const stepTime = time.Minute

// Run shows it all.
func (f *Figure4) Run(ctx context.Context) error {
	f.say(`Percolator, figure 4: Bob has 10, Joe has 2, and Bob gives 7 to Joe. Their rows are in two
shards, so that no single write of the store can do it. Timestamps are numbered as in the paper,
from 5 on.`)
	for _, statement := range []string{
		"CREATE DATABASE bank",
		"CREATE TABLE bank.account (name VARCHAR(20) PRIMARY KEY, balance INT NOT NULL)",
		"INSERT INTO bank.account VALUES ('Bob', 10), ('Joe', 2)",
	} {
		if err := f.do(ctx, statement); err != nil {
			return err
		}
	}
	if err := f.Separate(ctx, "Joe"); err != nil {
		return err
	}
	fmt.Fprintln(f.Out)
	f.say(`(1) The initial state: one write record each, of the transaction that started at 5 and committed
at 6. Short values lie in the write record itself; the paper has them in the data column, at 5.`)
	if err := f.showCells(ctx, "Bob write 6; Joe write 6"); err != nil {
		return err
	}
	if err := f.whole(ctx); err != nil {
		return fmt.Errorf("the transfer: %w", err)
	}
	if err := f.killedBefore(ctx); err != nil {
		return fmt.Errorf("the transfer that is killed before its commit point: %w", err)
	}
	if err := f.killedBehind(ctx); err != nil {
		return fmt.Errorf("the transfer that is killed behind its commit point: %w", err)
	}
	f.say(`That is all there is to it: the primary's one cell decides, in one atomic write, and whoever
meets a lock can find out what became of it. Look at rows of your own with: moka ctl cells
DB.TABLE KEY --watch`)
	return nil
}

// whole is the figure.
func (f *Figure4) whole(ctx context.Context) error {
	f.say("Now the transfer, in a process of its own that stops behind each of its steps.")
	f.show(transfer + ";")
	fmt.Fprintln(f.Out)
	c, err := f.start(ctx)
	if err != nil {
		return err
	}
	defer c.kill()
	for _, s := range []struct{ step, text, cells string }{
		{"prewrite 0",
			`(2) Bob's row is locked, with the new balance. It is the transaction's primary.`,
			"Bob write 6 lock 7; Joe write 6"},
		{"prewrite 1",
			`(3) So is Joe's. Its lock says where the primary is.`,
			"Bob write 6 lock 7; Joe write 6 lock 7 at Bob"},
		{"commit",
			`(4) The commit point: the primary's lock is replaced by a write record at 8. From here on
Bob has given 7 to Joe, whatever happens.`,
			"Bob write 8 write 6; Joe write 6 lock 7 at Bob"},
		{"resolve",
			`(5) Joe's lock follows. Whoever reads Joe before that finds the lock, asks Bob's row, and
does it himself.`,
			"Bob write 8 write 6; Joe write 8 write 6"},
	} {
		if err := c.until(s.step); err != nil {
			return err
		}
		f.pause()
		f.say("%s", s.text)
		if err := f.showCells(ctx, s.cells); err != nil {
			return err
		}
		if err := c.goOn(); err != nil {
			return err
		}
	}
	if err := c.until("end"); err != nil {
		return err
	}
	return f.balances(ctx, "Bob 3; Joe 9")
}

const balances = "SELECT name, balance FROM bank.account ORDER BY name"

// killedBefore is a transfer whose process dies when all is locked and nothing committed.
func (f *Figure4) killedBefore(ctx context.Context) error {
	f.pause()
	f.say(`Once more, and the process is killed (kill -9) when both rows are locked and nothing is
committed.`)
	if err := f.kill(ctx, "prewrite 1"); err != nil {
		return err
	}
	if err := f.showCells(ctx, "Bob write 8 write 6 lock 9; Joe write 8 write 6 lock 9 at Bob"); err != nil {
		return err
	}
	f.pause()
	f.say(`A client reads. For all it knows the process lives. In the paper it would wait; here it tells
the primary's lock to commit above the reader's snapshot, if ever, and reads what is committed.`)
	if err := f.balances(ctx, "Bob 3; Joe 9"); err != nil {
		return err
	}
	f.say(`A client writes to Joe. Now the lock is in the way, until its time to live is over (3 seconds
without a sign of life). Then the client removes the primary's lock, and leaves a note in its
place that the transaction of 9 never commits. Joe's lock goes after that, and the write is
done.`)
	if err := f.do(ctx, "UPDATE bank.account SET balance = balance + 100 WHERE name = 'Joe'"); err != nil {
		return err
	}
	fmt.Fprintln(f.Out)
	// Joe's row has a note of its own: whoever comes late with the prewrite is to find it there.
	return f.showCells(ctx, "Bob write 8 write 6 rollback 9; Joe write 11 write 8 write 6")
}

// killedBehind is one whose process dies when its primary is committed, and Joe's row still locked.
func (f *Figure4) killedBehind(ctx context.Context) error {
	f.pause()
	f.say("And once more, killed just behind the commit point.")
	if err := f.kill(ctx, "commit"); err != nil {
		return err
	}
	if err := f.showCells(ctx, "Bob write 13 write 8 write 6 rollback 9; "+
		"Joe write 11 write 8 write 6 lock 12 at Bob"); err != nil {
		return err
	}
	f.pause()
	f.say(`A client reads. It finds Joe's lock, and at Bob's row the write record of the same start_ts: the
transaction has committed. It rolls Joe's row forward.`)
	if err := f.balances(ctx, "Bob -4; Joe 116"); err != nil {
		return err
	}
	return f.showCells(ctx, "Bob write 13 write 8 write 6 rollback 9; Joe write 13 write 11 write 8 write 6")
}

func (f *Figure4) balances(ctx context.Context, want string) error {
	rows, err := f.ask(ctx, balances)
	if err != nil {
		return err
	}
	return expect(rows, want)
}

// kill starts a transfer and kills its process when it has done a step.
func (f *Figure4) kill(ctx context.Context, at string) error {
	c, err := f.start(ctx)
	if err != nil {
		return err
	}
	defer c.kill()
	for {
		step, err := c.step()
		if err != nil || step == at {
			return err
		}
		if err := c.goOn(); err != nil {
			return err
		}
	}
}

// showCells prints the rows as the figure does; want is what the tutorial tells of them.
func (f *Figure4) showCells(ctx context.Context, want string) error {
	columns := []string{"write", "data", "lock", "rollback"}
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 2, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "      key\t"+strings.Join(columns, "\t"))
	type row struct {
		name  string
		cells []Cell
	}
	var rows []row
	for _, name := range []string{"Bob", "Joe"} {
		cells, err := f.Cells(ctx, name)
		if err != nil {
			return err
		}
		for _, c := range cells {
			f.number(c.At)
			f.number(c.StartTS)
		}
		rows = append(rows, row{name, cells})
	}
	for _, r := range rows {
		texts := map[string][]string{}
		for _, c := range r.cells {
			texts[c.Record] = append(texts[c.Record], f.text(c))
		}
		name := r.name
		for i := 0; i == 0 || len(texts) > 0; i++ {
			line := "      " + name
			for _, c := range columns {
				line += "\t"
				if ts := texts[c]; len(ts) > 0 {
					line, texts[c] = line+ts[0], ts[1:]
				}
				if len(texts[c]) == 0 {
					delete(texts, c)
				}
			}
			fmt.Fprintln(tw, line)
			name = ""
		}
	}
	_ = tw.Flush() // to memory
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(f.Out, strings.TrimRight(line, " \n"))
	}
	fmt.Fprintln(f.Out)
	var found []string
	for _, r := range rows {
		line := r.name
		for _, c := range r.cells {
			line += fmt.Sprintf(" %s %d", c.Record, f.called(c.At))
			if strings.Contains(c.Primary, "Bob") {
				line += " at Bob"
			}
		}
		found = append(found, line)
	}
	if got := strings.Join(found, "; "); got != want {
		return fmt.Errorf("the store has %q, where the tutorial tells %q", got, want)
	}
	return nil
}

// firstNumber is the paper's first timestamp.
const firstNumber = 5

// number remembers a timestamp. Later ones are larger, so what it is called does not change.
func (f *Figure4) number(ts kv.Timestamp) {
	if at, found := slices.BinarySearch(f.numbers, ts); ts != 0 && !found {
		f.numbers = slices.Insert(f.numbers, at, ts)
	}
}

func (f *Figure4) called(ts kv.Timestamp) int {
	at, _ := slices.BinarySearch(f.numbers, ts)
	return firstNumber + at
}

func (f *Figure4) text(c Cell) string {
	s := fmt.Sprintf("%d:", f.called(c.At))
	switch c.Record {
	case "write":
		return fmt.Sprintf("%s start %d, %s", s, f.called(c.StartTS), c.Value)
	case "lock":
		if c.Primary == "" {
			return s + " " + c.Value + ", I am primary"
		}
		return s + " " + c.Value + ", primary @ " + c.Primary
	case "rollback":
		return s + " never commits"
	}
	return s + " " + c.Value
}

// coordinator is the process that transfers.
type coordinator struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	steps chan string // closed at the end of its output
	err   strings.Builder
	ended bool // the statement has
}

func (f *Figure4) start(ctx context.Context) (*coordinator, error) {
	argv := append(slices.Clone(f.Coordinator), transfer)
	c := &coordinator{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), steps: make(chan string)}
	c.cmd.Stderr = &c.err
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.steps)
		for s := bufio.NewScanner(out); s.Scan(); {
			c.steps <- s.Text()
		}
	}()
	return c, nil
}

// step is the next thing that it has done.
func (c *coordinator) step() (string, error) {
	select {
	case s, ok := <-c.steps:
		if !ok {
			return "", fmt.Errorf("the process has ended early: %s", strings.TrimSpace(c.err.String()))
		}
		if why, failed := strings.CutPrefix(s, "end "); failed {
			return "", fmt.Errorf("the transfer has failed: %s", why)
		}
		return s, nil
	case <-time.After(stepTime):
		return "", fmt.Errorf("the process has said nothing for %v", stepTime)
	}
}

// until waits for a step. That the statement has ended may be said before the last one: a client is told as
// soon as the primary is committed.
func (c *coordinator) until(step string) error {
	for step != "end" || !c.ended {
		s, err := c.step()
		if err != nil || s == step {
			return err
		}
		if s != "end" {
			return fmt.Errorf("the process has done %q, where %q was to come", s, step)
		}
		c.ended = true
		if err := c.goOn(); err != nil {
			return err
		}
	}
	return nil
}

func (c *coordinator) goOn() error {
	_, err := io.WriteString(c.in, "\n")
	return err
}

// kill ends the process as kill -9 does, and waits until it is gone.
func (c *coordinator) kill() {
	_ = c.cmd.Process.Kill() // it may be gone
	for range c.steps {      // what it has still said
	}
	_ = c.cmd.Wait()
}
