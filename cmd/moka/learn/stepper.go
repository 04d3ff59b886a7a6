package learn

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"moka/kv"
	"moka/txn"
)

// Stepper is the store of a process whose commit is watched: with the rows that it was told of it does one
// thing after the other, says what it has done, and goes on when it is told to. Between the two it can be
// killed.
//
//	to the parent    prewrite N     the lock of row N is durable
//	                 commit         the primary's lock has become a write: the commit point
//	                 resolve        so have the others
//	                 end [error]    the statement has ended
//	from the parent  a line         go on
type Stepper struct {
	kv.Store
	out io.Writer
	in  *bufio.Reader

	commands map[kv.CommandID]kv.Command

	talk sync.Mutex // one says something at a time

	mu   sync.Mutex
	rows []kv.RowKey
	next *sync.Cond // done has grown
	done int        // rows that have been prewritten, in their order
}

// NewStepper makes a Stepper that talks to its parent by in and out. Over and Add say what it steps through.
func NewStepper(in io.Reader, out io.Writer) *Stepper {
	s := &Stepper{out: out, in: bufio.NewReader(in), commands: map[kv.CommandID]kv.Command{}}
	s.next = sync.NewCond(&s.mu)
	for _, c := range txn.NewCoprocessor(txn.CoprocessorOptions{}).Commands() {
		s.commands[c.ID] = c
	}
	return s
}

// Over makes it the one over a store.
func (s *Stepper) Over(store kv.Store) kv.Store {
	s.Store = store
	return s
}

// Add adds a row to those of which each step is told; they are prewritten in this order.
func (s *Stepper) Add(row kv.RowKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = append(s.rows, row)
}

// Say tells the parent, and waits until it lets go on.
func (s *Stepper) Say(format string, args ...any) error {
	s.talk.Lock()
	defer s.talk.Unlock()
	if _, err := fmt.Fprintf(s.out, format+"\n", args...); err != nil {
		return err
	}
	_, err := s.in.ReadString('\n')
	return err
}

// Call implements kv.Store. What is not a step, such as a sign of life, goes on meanwhile.
func (s *Stepper) Call(ctx context.Context, shard kv.ShardID, tablets []kv.TabletRef, id kv.CommandID,
	req kv.Message) (kv.Message, error) {
	step, row := s.step(id, req)
	if step == "prewrite" {
		return s.prewrite(row, func() (kv.Message, error) {
			return s.Store.Call(ctx, shard, tablets, id, req)
		})
	}
	resp, err := s.Store.Call(ctx, shard, tablets, id, req)
	if err != nil || step == "" {
		return resp, err
	}
	return resp, s.Say("%s", step)
}

// prewrite waits for the rows before.
func (s *Stepper) prewrite(row int, call func() (kv.Message, error)) (kv.Message, error) {
	s.mu.Lock()
	for s.done < row {
		s.next.Wait()
	}
	s.mu.Unlock()
	resp, err := call()
	if err == nil {
		err = s.Say("prewrite %d", row)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = max(s.done, row+1) // also if it has failed: then so will the others
	s.next.Broadcast()
	return resp, err
}

// step names what a command does, if it is one to step through, and of a prewrite the row.
func (s *Stepper) step(id kv.CommandID, req kv.Message) (string, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.commands[id]
	if len(s.rows) == 0 || c.Rows == nil {
		return "", 0
	}
	switch c.Name {
	case "txn.Prewrite":
		for _, r := range c.Rows(req, nil) {
			for i, w := range s.rows {
				if bytes.Equal(r, w) {
					return "prewrite", i
				}
			}
		}
	case "txn.Commit":
		return "commit", 0
	case "txn.Resolve":
		return "resolve", 0
	}
	return "", 0
}
