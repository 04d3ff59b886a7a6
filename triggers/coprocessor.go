package triggers

import (
	"time"

	"moka/kv"
)

// The shard's side. Command numbers are on the wire: never reuse one.
const (
	commandFetch   kv.CommandID = 64
	commandSettle  kv.CommandID = 65
	commandBacklog kv.CommandID = 66
	commandSweep   kv.CommandID = 67
	commandDrop    kv.CommandID = 68
	commandPending kv.CommandID = 69
)

// fetchWaitMost bounds a long poll, so that a worker that vanished without a word does not
// hold a goroutine for ever.
const fetchWaitMost = 30 * time.Second

// What a shard holds in memory of notifications and of their failures, which have a text each. The others are
// read from disk.
const (
	notifyBound = 16 << 10
	metaBound   = 4 << 10
)

type coprocessor struct {
	now                  func() time.Time
	bound                int // of a shard's queues
	notifyMost, metaMost int // of its groups
}

// NewCoprocessor returns what a node must host so that workers find notifications. now is the clock of
// leases; nil means time.Now.
func NewCoprocessor(now func() time.Time) kv.Coprocessor {
	if now == nil {
		now = time.Now
	}
	return &coprocessor{now: now, bound: queueBound, notifyMost: notifyBound, metaMost: metaBound}
}

func (*coprocessor) Name() string { return "triggers" }

func (c *coprocessor) Groups() []kv.GroupSpec {
	return []kv.GroupSpec{
		{ID: kv.GroupNotify, Name: "notify", InMemory: true, Bound: c.notifyMost},
		{ID: kv.GroupNotifyMeta, Name: "notify-meta", InMemory: true, Bound: c.metaMost},
	}
}

func (c *coprocessor) OpenShard(s kv.ShardHandle) (any, error) {
	return openReady(s, c.now, c.bound), nil
}

func (*coprocessor) Commands() []kv.Command {
	return []kv.Command{
		{
			ID: commandFetch, Name: "triggers.Fetch", Evaluate: fetch,
			NewRequest:  func() kv.Message { return new(fetchRequest) },
			NewResponse: func() kv.Message { return new(fetchResponse) },
		},
		{
			ID: commandSettle, Name: "triggers.Settle", Evaluate: settle, Write: true,
			NewRequest:  func() kv.Message { return new(settleRequest) },
			NewResponse: func() kv.Message { return new(empty) },
			Rows: func(m kv.Message, rows []kv.RowKey) []kv.RowKey {
				return append(rows, m.(*settleRequest).Column.Row)
			},
		},
		{
			ID: commandBacklog, Name: "triggers.Backlog", Evaluate: backlog,
			NewRequest:  func() kv.Message { return new(backlogRequest) },
			NewResponse: func() kv.Message { return new(backlogResponse) },
		},
		{
			ID: commandSweep, Name: "triggers.Sweep", Evaluate: sweep,
			NewRequest:  func() kv.Message { return new(sweepRequest) },
			NewResponse: func() kv.Message { return new(sweepResponse) },
		},
		{
			ID: commandDrop, Name: "triggers.Drop", Evaluate: drop, Write: true,
			NewRequest:  func() kv.Message { return new(dropRequest) },
			NewResponse: func() kv.Message { return new(empty) },
			Rows: func(m kv.Message, rows []kv.RowKey) []kv.RowKey {
				for _, c := range m.(*dropRequest).Columns {
					rows = append(rows, c.Row)
				}
				return rows
			},
		},
		{
			ID: commandPending, Name: "triggers.Pending", Evaluate: pending,
			NewRequest:  func() kv.Message { return new(pendingRequest) },
			NewResponse: func() kv.Message { return new(pendingResponse) },
		},
	}
}

// fetch waits until there is something to do. It blocks, holding nothing.
func fetch(e kv.Eval, m kv.Message) (kv.Message, error) {
	req, r := m.(*fetchRequest), e.State().(*ready)
	r.done(req.Worker, req.Done)
	if len(req.Observers) == 0 || req.Credits == 0 {
		return &fetchResponse{}, nil
	}
	deadline := r.now().Add(min(time.Duration(req.WaitMillis)*time.Millisecond, fetchWaitMost))
	lease := time.Duration(req.LeaseMillis) * time.Millisecond
	for {
		ds, due, signal := r.take(req.Worker, req.Observers, int(min(req.Credits, queueBound)), lease)
		wait := deadline.Sub(r.now())
		if len(ds) > 0 || wait <= 0 {
			return &fetchResponse{Deliveries: ds}, nil
		}
		if !due.IsZero() {
			wait = min(wait, max(due.Sub(r.now()), time.Millisecond))
		}
		timer := time.NewTimer(wait)
		select {
		case <-signal:
		case <-timer.C:
		case <-r.closed:
			timer.Stop()
			return nil, kv.Errorf(kv.CodeClosed, "triggers.Fetch",
				"the shard is shutting down; nothing happened")
		case <-e.Context().Done():
			timer.Stop()
			return nil, e.Context().Err()
		}
		timer.Stop()
	}
}

// settle is a write under the row's latch. What its batch does to memory it does through the groups: the
// queue files the notification anew by what they hold.
func settle(e kv.Eval, m kv.Message) (kv.Message, error) {
	req, r := m.(*settleRequest), e.State().(*ready)
	note := kv.Address{Group: kv.GroupNotify, Run: req.Observer, Column: req.Column}
	state := metaAddress(req.Observer, req.Column)
	v, exists, err := e.Latest(note, kv.MaxTimestamp)
	if err != nil {
		return nil, err
	}
	clearState := !exists // nothing is left that could have failed
	switch req.Kind {
	case settleClear:
		if err := deleteUpTo(e, note, req.UpTo); err != nil {
			return nil, err
		}
		// The failures of a newer change are not ours to forget.
		clearState = clearState || v.Timestamp <= req.UpTo
	case settleDrop:
		return drop(e, &dropRequest{req.Observer, []kv.Column{req.Column}})
	case settleRetry:
		clearState = true
	case settleFail, settlePark:
		if !exists {
			break // another worker was faster, and succeeded
		}
		if req.Kind == settleFail && r.meta(req.Observer, req.Column).parks(v.Timestamp) {
			break // it was parked while the attempt was under way
		}
		s := meta{
			Parked: req.Kind == settlePark, UpTo: req.UpTo, Attempts: req.Attempts, Error: req.Error,
			NotBefore: r.now().Add(time.Duration(req.RetryMillis) * time.Millisecond).UnixMilli(),
		}
		e.Set(state, metaTimestamp, s.encode())
		// A lost count costs one more attempt, no more.
		if req.Kind == settleFail {
			e.NoSync()
		}
	}
	if clearState {
		if err := deleteState(e, state); err != nil {
			return nil, err
		}
	}
	e.OnDurable(func() { r.refile(req.Observer, req.Column) })
	return &empty{}, nil
}

func deleteState(e kv.Eval, state kv.Address) error {
	_, ok, err := e.Get(state, metaTimestamp)
	if ok && err == nil {
		e.Delete(state, metaTimestamp)
	}
	return err
}

// drop is settle for cells of an observer that is gone: all of them in one write.
func drop(e kv.Eval, m kv.Message) (kv.Message, error) {
	req, r := m.(*dropRequest), e.State().(*ready)
	for _, c := range req.Columns {
		note := kv.Address{Group: kv.GroupNotify, Run: req.Observer, Column: c}
		if err := deleteUpTo(e, note, kv.MaxTimestamp); err != nil {
			return nil, err
		}
		if err := deleteState(e, metaAddress(req.Observer, c)); err != nil {
			return nil, err
		}
	}
	e.OnDurable(func() {
		for _, c := range req.Columns {
			r.refile(req.Observer, c)
		}
	})
	return &empty{}, nil
}

// deleteUpTo removes the notifications of a column that are at or below ts.
func deleteUpTo(e kv.Eval, a kv.Address, ts kv.Timestamp) error {
	for {
		v, ok, err := e.Latest(a, ts)
		if err != nil || !ok {
			return err
		}
		e.Delete(a, v.Timestamp)
		if v.Timestamp == 0 {
			return nil
		}
		ts = v.Timestamp - 1
	}
}

// backlog walks the groups in stretches, so that commits need not wait for the whole of it.
func backlog(e kv.Eval, m kv.Message) (kv.Message, error) {
	stretch := 4096
	req, r := m.(*backlogRequest), e.State().(*ready)
	notes := e.Shard().InMemory(kv.GroupNotify)
	res := &backlogResponse{}
	if req.List == listAll {
		stretch = min(stretch, int(req.Limit)+1)
	}
	for run := range notes.Runs() {
		if req.Observer != 0 && req.Observer != run {
			continue
		}
		b := backlogRun{r: r, req: req, res: res, count: backlogCount{Observer: run}}
		for next, more := req.From, true; more; more = len(next) > 0 && !b.full && e.Context().Err() == nil {
			es, end, err := entriesOf(notes, run, next, stretch)
			if err != nil {
				return nil, err
			}
			next = end
			for _, x := range es {
				if !b.entry(x.c, x.ts) {
					break
				}
			}
		}
		b.finish()
		res.Counts = append(res.Counts, b.count)
	}
	return res, e.Context().Err()
}

// backlogRun collects what is said of one observer. The entries of a cell come one after the other, newest
// first.
type backlogRun struct {
	r     *ready
	req   *backlogRequest
	res   *backlogResponse
	count backlogCount
	cell  delivery // under collection; CommitTS zero before the first
	full  bool     // listAll has its Limit
}

func (b *backlogRun) entry(c kv.Column, ts kv.Timestamp) bool {
	if b.cell.CommitTS != 0 && keyOf(b.count.Observer, c) == keyOf(b.count.Observer, b.cell.Column) {
		b.cell.OldestTS = ts
		return true
	}
	b.finish()
	if b.full = b.req.List == listAll && uint32(len(b.res.Items)) == b.req.Limit; b.full {
		return false
	}
	b.cell = delivery{Observer: b.count.Observer, Column: c, CommitTS: ts, OldestTS: ts}
	return true
}

func (b *backlogRun) finish() {
	if b.cell.CommitTS == 0 {
		return
	}
	m := b.r.meta(b.cell.Observer, b.cell.Column)
	parked := m.parks(b.cell.CommitTS)
	if parked {
		b.count.Parked++
	} else {
		b.count.Waiting++
		if b.count.Oldest == 0 || b.cell.OldestTS < b.count.Oldest {
			b.count.Oldest = b.cell.OldestTS
		}
	}
	wanted := parked
	switch b.req.List {
	case listWaiting:
		wanted = !parked
	case listFailing:
		wanted = m.Error != ""
	case listAll:
		wanted = true
	}
	if wanted && uint32(len(b.res.Items)) < b.req.Limit {
		b.cell.Attempts = m.Attempts
		b.res.Items = append(b.res.Items, backlogItem{b.cell, m.Error, parked})
	}
	b.cell = delivery{}
}

func sweep(e kv.Eval, m kv.Message) (kv.Message, error) {
	return e.State().(*ready).sweep(m.(*sweepRequest))
}
